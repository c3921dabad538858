/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped images: a texture or renderbuffer as CUDA sees it. What gr_map() returns for a resource that
 * was made from an image has no pointer, but arrays, surfaces and textures, one for each mip level and
 * layer:
 *
 *     GR_AUTO(gr_buffer) *image = gr_map(texture, stream);
 *     CUsurfObject surface = gr_buffer_surface(image, 0, 0);
 *     ... launch a kernel on `stream` that writes to `surface` ...
 *
 * A level is a mip level, 0 the largest. A layer is an array layer or a cube's face (+x, -x, +y, -y, +z,
 * -z); images without layers have layer 0 only. The slices of a 3D image are no layers.
 *
 * Everything that these functions return belongs to the mapping: it is valid until the buffer is
 * released, unmapped or closed, in work on the map's stream and on streams that wait for the map. The
 * functions are called on the thread that may map the resource. For a buffer that is no image they
 * record GR_ERR_STATE.
 */
#ifndef GR_IMAGE_H
#define GR_IMAGE_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mapped image, as the driver describes it at this map. */
typedef struct gr_image_info {
    size_t width, height, depth; /* of level 0, in texels; height and depth are at least 1 */
    unsigned levels;             /* mip levels that the image's storage has */
    unsigned layers;             /* array layers, or a cube's 6 faces; at least 1 */
    bool cube;                   /* the layers are a cube's faces */
    bool layered;          /* the array of a level has all of its layers, whichever is asked for */
    bool srgb;             /* the colours are stored by the sRGB curve */
    bool normalized;       /* integers stand for numbers from 0 to 1 or -1 to 1 */
    CUarray_format format; /* of one channel */
    unsigned channels;     /* 1, 2 or 4: CUDA sees images of 3 channels as ones of 4 */
    unsigned texel_bytes;  /* channels times the channel's size */
} gr_image_info;

/* Errors: GR_ERR_INVALID_VALUE (NULL), GR_ERR_STATE (no image, not mapped any more), GR_ERR_CUDA. */
GR_API gr_status gr_buffer_image_info(const gr_buffer *buffer, gr_image_info *info);

/*
 * The array of one level and layer; NULL on error. CUDA has no array of a single layer of external memory
 * (Vulkan): there (gr_image_info.layered) it is the array of all layers of the level, kernels take the layer's
 * number (surf2DLayeredwrite, tex2DLayered), and so it is for surfaces and textures. GR_ERR_INVALID_VALUE says how many of both there are.
 * Wraps cuGraphicsSubResourceGetMappedArray or cuMipmappedArrayGetLevel.
 */
GR_API CUarray gr_buffer_array(gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * All levels and layers as one mipmapped array; NULL on error. CUDA counts the levels of a full chain
 * as soon as there is more than one, also those that the storage lacks: keep to gr_image_info.levels.
 * Wraps cuGraphicsResourceGetMappedMipmappedArray or cuExternalMemoryGetMappedMipmappedArray.
 */
GR_API CUmipmappedArray gr_buffer_mipmapped_array(gr_buffer *buffer);

/*
 * A surface object, to read and write one level and layer in kernels (surf2Dread, surf2Dwrite, for a 3D
 * image surf3D...); 0 on error. The image has to be registered with GR_SURFACE_LOAD_STORE, else
 * GR_ERR_STATE. Asked again for the same level and layer it is the same object.
 * Wraps cuSurfObjectCreate; the object is destroyed in stream order after the release.
 */
GR_API CUsurfObject gr_buffer_surface(gr_buffer *buffer, unsigned level, unsigned layer);

/* What a texture gives outside of the image. */
typedef enum gr_address {
    GR_ADDRESS_CLAMP = 0, /* the nearest edge's texel */
    GR_ADDRESS_BORDER,    /* gr_texture_options.border */
    GR_ADDRESS_WRAP,      /* the image repeated; only with normalized coordinates */
    GR_ADDRESS_MIRROR     /* the image mirrored at each edge; only with normalized coordinates */
} gr_address;

typedef enum gr_filter { GR_FILTER_POINT = 0, GR_FILTER_LINEAR } gr_filter;

/* A question that has the graphics API's own answer by default. */
typedef enum gr_choice { GR_AS_DRAWN = 0, GR_YES, GR_NO } gr_choice;

/* Options of gr_buffer_texture(). Zero is the good default for every field. */
typedef struct gr_texture_options {
    gr_address address[3]; /* for x, y and z */
    gr_filter filter;      /* within a level */
    bool
        normalized_coordinates; /* 0 to 1 across the image; default: in texels, but not for a level of an
                                    image of external memory with layers and several levels */
    gr_choice as_float;    /* 8 and 16 bit integers are read as 0..1 or -1..1: by default as the
                                   graphics API samples the image, so RGBA8 is and RGBA8UI is not */
    gr_choice srgb;        /* sRGB colours are made linear: by default if the image is sRGB */
    float border[4];       /* the colour of GR_ADDRESS_BORDER */
    bool whole;            /* all levels and layers, for tex2DLod and tex2DLayered; coordinates
                                   are then normalized, `level` and `layer` ignored; not for OpenGL's cubes */
    unsigned level, layer; /* otherwise: which one */
    gr_filter mip_filter;  /* between levels, with `whole` */
    float mip_bias;        /* added to the level */
    float min_level, max_level; /* bounds for the level; max_level 0: the last one */
    unsigned anisotropy;        /* the most samples along one axis, up to 16; default 1 */
} gr_texture_options;

/*
 * A texture object, to sample the image in kernels; 0 on error. `options` may be NULL, and need only live
 * until the call returns.
 * Errors: GR_ERR_INVALID_VALUE (an option, and the one it does not go with), GR_ERR_STATE, GR_ERR_CUDA.
 * Wraps cuTexObjectCreate; the object is destroyed in stream order after the release.
 */
GR_API CUtexObject gr_buffer_texture(gr_buffer *buffer, const gr_texture_options *options);

/* ---- Linear memory --------------------------------------------------------------------------- */

/* Linear memory of the caller's, on the device or the host: one of `device` and `host` is given. */
typedef struct gr_linear_desc {
    CUdeviceptr device;
    void *host;
    size_t pitch; /* bytes from one row to the next; default 0: rows follow each other */
    size_t slice; /* bytes from one slice of a 3D image to the next, a multiple of pitch; default 0:
                     slices follow each other */
} gr_linear_desc;

/*
 * Copies one level and layer, all of it, out of the image or into it, in order on `stream` (which may be
 * GR_STREAM_OF_MAP). Texels are as gr_image_info describes them, rows in the graphics API's order.
 * Host memory follows the driver's rules for asynchronous copies: it must live until the stream is
 * there, and copies with pageable memory may block.
 * Errors: GR_ERR_INVALID_VALUE (level, layer, a pitch that is too small, both or no memory), GR_ERR_STATE
 * (also a copy into an image that is read_only), GR_ERR_CUDA. Wraps cuMemcpy3DAsync.
 */
GR_API gr_status gr_buffer_copy_from_image(gr_buffer *buffer, unsigned level, unsigned layer,
                                           const gr_linear_desc *to, CUstream stream);
GR_API gr_status gr_buffer_copy_to_image(gr_buffer *buffer, unsigned level, unsigned layer,
                                         const gr_linear_desc *from, CUstream stream);

/*
 * Maps one level and layer of an image as linear memory, for code that only knows pointers:
 * gr_buffer_ptr() and gr_buffer_size() describe it, gr_buffer_pitch() its rows. This COPIES: out of the
 * image at the map, unless the resource is write_discard, and back into it at the release, unless it is
 * read_only; both on the stream. The memory stays with the resource and is used again by the next such map.
 * A resource made from a buffer is mapped as by gr_map(), without a copy; its level and layer are 0.
 * Otherwise like gr_map(); the functions above work on the buffer too. Where there is no device memory for
 * the copy, GR_ERR_CUDA, an image that is write_discard has lost its contents.
 */
GR_API gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer,
                                CUstream stream);

/* Bytes from one row to the next of what gr_map_linear() mapped; 0 for any other buffer. */
GR_API size_t gr_buffer_pitch(const gr_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
