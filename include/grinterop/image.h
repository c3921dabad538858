/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mapped images: textures and renderbuffers as CUDA arrays, surfaces and textures. Mapped images
 * have no pointer.
 *
 *     gr_resource *picture = gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
 *
 *     gr_buffer *image = gr_map(picture, stream);
 *     CUsurfObject surface = gr_buffer_surface(image, 0, 0);
 *     ... launch a kernel on `stream` that writes to `surface` by surf2Dwrite ...
 *     gr_buffer_release(image);
 *
 * Which function to use:
 *
 *     gr_buffer_surface()           kernels write texels, or read them unfiltered
 *     gr_buffer_texture()           kernels sample with filters, also beyond the edges and between
 *                                   levels
 *     gr_buffer_array()             for driver calls
 *     gr_buffer_copy_to_linear()    one copy to linear memory
 *     gr_map_linear()               for kernels with pointers; copies at map and release
 *
 * Level 0 is the largest mip level. A layer is an array layer, or a cube face in the order +x, -x,
 * +y, -y, +z, -z. All other images, including 3D images, have layer 0 only.
 *
 * For all functions here:
 *
 * Owner    the mapping owns the returned objects: do not free or destroy them
 * Valid    until the buffer is released, unmapped or closed, for work in the stream of the map and
 *          in streams that wait for the map. In the next mapping the same call returns the same
 *          surface or texture, unless the driver gives the image other memory, which no known
 *          driver does
 * Thread   where the resource may be mapped
 *
 * Errors of every function that takes a buffer:
 *     GR_ERR_INVALID_VALUE  the buffer is NULL
 *     GR_ERR_STATE          the buffer is not a mapping of an image, or the mapping has ended
 */
#ifndef GR_IMAGE_H
#define GR_IMAGE_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mapped image, as the driver describes it. Owned by the library. */
typedef struct gr_image_info {
    size_t width;      /* of level 0 in texels */
    size_t height;     /* of level 0 in texels, at least 1 */
    size_t depth;      /* of level 0 in texels, at least 1 */
    unsigned levels;   /* mip levels with storage */
    unsigned layers;   /* array layers, or the 6 faces of a cube; at least 1 */
    bool cube;         /* the layers are the faces of a cube */
    bool layered;      /* the CUDA array of a level contains all layers */
    bool srgb;         /* colours are sRGB encoded */
    bool normalized;   /* the graphics API reads integers as numbers from 0 to 1, or -1 to 1 */
    unsigned format;   /* of one channel, such as GR_FORMAT_FLOAT; or packed or compressed */
    unsigned channels; /* 1, 2 or 4, because CUDA sees 3 as 4; 3 only in BC6H and packed texels */
    unsigned texel_bytes; /* the size of a texel in bytes; 0: the texels are compressed in blocks */
} gr_image_info;

/* Describes the mapped image. NULL on error. Valid and constant until the mapping ends. */
GR_API const gr_image_info *gr_buffer_get_image_info(gr_buffer *buffer);

/* ---- Arrays ---------------------------------------------------------------------------------- */

/*
 * The array of one level and layer, for driver calls. NULL on error.
 *
 * If gr_image_info.layered is set (imported memory, such as Vulkan images), the array contains all
 * layers of the level, and kernels pass the index of the layer (surf2DLayeredwrite, tex2DLayered).
 * The same holds for surfaces and textures.
 *
 * Errors: those of every function that takes a buffer (top of this file), and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer; the message says how many there are
 *
 * Wraps cuGraphicsSubResourceGetMappedArray or cuMipmappedArrayGetLevel.
 */
GR_API CUarray gr_buffer_array(gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * Returns all levels and layers as one mipmapped array. NULL on error.
 *
 * Use only the first gr_image_info.levels levels. If an image has several levels, CUDA reports a
 * complete mip chain, including levels without storage.
 *
 * Wraps cuGraphicsResourceGetMappedMipmappedArray or cuExternalMemoryGetMappedMipmappedArray.
 */
GR_API CUmipmappedArray gr_buffer_mipmapped_array(gr_buffer *buffer);

/* ---- Surfaces -------------------------------------------------------------------------------- */

/*
 * A surface object, with which kernels read and write one level and layer. 0 on error.
 *
 * In kernels use surf2Dread and surf2Dwrite, or surf3D... for a 3D image, with x in bytes. The
 * resource keeps its surfaces and textures until its registration ends. Beyond 512 of them, those
 * that the current mapping has not asked for may end earlier.
 *
 * gr_resource_surface() takes the resource in place of its mapping.
 *
 * Errors: those of every function that takes a buffer (top of this file), and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer
 *     GR_ERR_STATE          the image was not registered with GR_SURFACE_LOAD_STORE; or the
 *                           resource is not mapped
 *
 * Wraps cuSurfObjectCreate.
 */
GR_API CUsurfObject gr_buffer_surface(gr_buffer *buffer, unsigned level, unsigned layer);
GR_API CUsurfObject gr_resource_surface(gr_resource *resource, unsigned level, unsigned layer);

/* ---- Textures -------------------------------------------------------------------------------- */

/* How a texture addresses texels outside of the image. */
typedef enum gr_address {
    GR_ADDRESS_CLAMP = 0,  /* the texel of the nearest edge */
    GR_ADDRESS_BORDER = 1, /* gr_texture_options.border */
    GR_ADDRESS_WRAP = 2,   /* the image repeats; with normalized coordinates only */
    GR_ADDRESS_MIRROR = 3  /* the image repeats, mirrored; with normalized coordinates only */
} gr_address;

/* How a texture filters between texels or levels: nearest, or linear. */
typedef enum gr_filter { GR_FILTER_POINT = 0, GR_FILTER_LINEAR = 1 } gr_filter;

/* Yes, no, or the default, which the field's comment defines. */
typedef enum gr_choice { GR_CHOICE_DEFAULT = 0, GR_CHOICE_YES = 1, GR_CHOICE_NO = 2 } gr_choice;

/* Options of gr_buffer_texture() and gr_resource_texture(). */
typedef struct gr_texture_options {
    size_t struct_size;
    gr_address address[3]; /* the addressing in x, y and z */
    gr_filter filter;      /* the filter between the texels of a level */

    /*
     * GR_CHOICE_YES: coordinates go from 0 to 1 across the image. GR_CHOICE_NO: coordinates are in
     * texels; refused with `whole`, and for an image that is layered (gr_image_info) and has
     * several levels. GR_CHOICE_DEFAULT: in texels if possible, otherwise from 0 to 1.
     */
    gr_choice normalized_coordinates;

    /*
     * Read 8 and 16 bit integers as numbers from 0 to 1, or -1 to 1. GR_CHOICE_DEFAULT: as the
     * graphics API reads them; so yes for GL_RGBA8, and no for GL_RGBA8UI.
     */
    gr_choice as_float;

    gr_choice srgb;  /* convert sRGB colours to linear; GR_CHOICE_DEFAULT: if the image is sRGB */
    float border[4]; /* the colour of GR_ADDRESS_BORDER */

    /*
     * The texture has all levels and layers, for tex2DLod and tex2DLayered; `level` and `layer` are
     * ignored. Not for OpenGL cube maps. false: the texture has one level and layer.
     */
    bool whole;

    unsigned level; /* without `whole` */
    unsigned layer; /* without `whole` */

    gr_filter mip_filter; /* with `whole`: the filter between levels */
    float mip_bias;       /* with `whole`: is added to the level that a kernel passes */
    float min_level;      /* with `whole`: the smallest level to sample; 0.5 is between the first
                           * two levels */
    unsigned level_count; /* with `whole`: the number of levels to sample, beginning with level
                           * floor(`min_level`); 0: up to the last level */
    unsigned anisotropy;  /* the maximum anisotropy, up to 16; 0 means 1 */
} gr_texture_options;

/*
 * A texture object, with which kernels sample the image. 0 on error.
 *
 *     CUtexObject texture = gr_buffer_texture(
 *         image, &GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR));
 *
 * NULL as `options` means level 0 and layer 0 with all defaults. The same options return the same
 * object, which the resource keeps like its surfaces.
 *
 * Errors: those of every function that takes a buffer (top of this file), and
 *     GR_ERR_STATE          the resource is not mapped
 *     GR_ERR_INVALID_VALUE  an option does not fit the format, or two options exclude each other;
 *                           the message names them
 *     GR_ERR_UNSUPPORTED    the NVIDIA driver would give wrong results: for a whole OpenGL cube
 *                           map, or for coordinates in texels of a layered image with several
 *                           levels
 *
 * Wraps cuTexObjectCreate.
 */
GR_API CUtexObject gr_buffer_texture(gr_buffer *buffer, const gr_texture_options *options);
GR_API CUtexObject gr_resource_texture(gr_resource *resource, const gr_texture_options *options);

/* ---- Linear memory --------------------------------------------------------------------------- */

/* The caller's linear memory, on the device or on the host. */
typedef struct gr_linear_desc {
    size_t struct_size;
    CUdeviceptr device; /* memory on the device, or 0 */
    void *host;         /* memory on the host, or NULL */

    /* Bytes from one row to the next, of texels or of compressed blocks. 0: no padding. */
    size_t pitch;

    /* Bytes from one slice or layer to the next, a multiple of `pitch`. 0: no padding. */
    size_t slice;

    /* Of a 3D image: the first slice, and the number of slices. A depth of 0: to the last slice. */
    unsigned z, depth;

    /* The number of layers, from that of the call on. 0: one. */
    unsigned layers;

    /*
     * The rectangle in texels, in each slice and layer. A width or height of 0 extends it to the
     * edge. That of a compressed image has whole blocks. The memory begins with its first texel.
     */
    unsigned x, y, width, height;
} gr_linear_desc;

/*
 * Copies one level and layer from or to the image, or several layers, in stream order: all of it,
 * or the rectangle and the slices of the description.
 *
 *     gr_buffer_copy_to_linear(image, 0, 0, &GR_INIT(gr_linear_desc, .host = pixels), stream);
 *     gr_cuda()->StreamSynchronize(stream);
 *
 * `stream` may be GR_STREAM_OF_MAP. Texels are as gr_image_info describes them; rows are in the
 * order of the graphics API, for OpenGL from the bottom.
 *
 * Valid    the memory must live until the stream has done the copy. Copies with pageable host
 *          memory may block the thread
 *
 * Errors: those of every function that takes a buffer (top of this file), and
 *     GR_ERR_INVALID_VALUE  the level, a layer, the slices, the rectangle, the pitch or `slice` is
 *                           invalid; or `device` and `host` are both set, or both 0
 *     GR_ERR_STATE          the call copies into an image that was registered or mapped read_only
 *     GR_ERR_UNSUPPORTED    the format has no plain channels
 *
 * Wraps cuMemcpy3DAsync.
 */
GR_API gr_status gr_buffer_copy_to_linear(gr_buffer *buffer, unsigned level, unsigned layer,
                                          const gr_linear_desc *to, CUstream stream);
GR_API gr_status gr_buffer_copy_from_linear(gr_buffer *buffer, unsigned level, unsigned layer,
                                            const gr_linear_desc *from, CUstream stream);

/*
 * Maps one level and layer of an image as linear memory, for kernels that use pointers.
 *
 *     gr_buffer *pixels = gr_map_linear(picture, 0, 0, stream);
 *     ... kernels use gr_buffer_ptr(pixels), with rows gr_buffer_get_info(pixels)->pitch apart ...
 *     gr_buffer_release(pixels);
 *
 * This COPIES in the stream: from the image at the map, unless the resource is write_discard, and
 * to the image at the release, unless it is read_only. The resource keeps the linear memory for its
 * next gr_map_linear(). The functions above also work on the returned buffer. A resource that is a
 * buffer is mapped as by gr_map(), without a copy; pass level 0 and layer 0.
 *
 * Owner    the caller releases the buffer
 *
 * Errors: those of gr_map(), and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer
 *     GR_ERR_UNSUPPORTED    the format has no plain channels
 *     GR_ERR_NO_MEMORY      there is no memory for the copy; a write_discard image has lost its
 *                           contents
 */
GR_API gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer,
                                CUstream stream);

#ifdef __cplusplus
}
#endif
#endif
