/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped images: a texture or renderbuffer as CUDA sees it. A map of one gives no pointer, but
 * arrays, surfaces and textures for kernels.
 *
 *     gr_resource *picture = gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
 *
 *     gr_buffer *image = gr_map(picture, stream);
 *     CUsurfObject surface = gr_buffer_surface(image, 0, 0);
 *     ... launch a kernel on `stream` that writes to `surface` by surf2Dwrite ...
 *     gr_buffer_release(image);
 *
 * Which function to take:
 *
 *     gr_buffer_surface()           kernels write texels, or read them as they are
 *     gr_buffer_texture()           kernels sample: filtered, beyond the edges, between levels
 *     gr_buffer_array()             what the driver's own calls want
 *     gr_buffer_copy_from_image()   the texels are wanted as plain memory, once
 *     gr_map_linear()               kernels know pointers only; it copies at map and release
 *
 * A level is a mip level; 0 is the largest. A layer is an array layer or a cube's face (+x, -x, +y,
 * -y, +z, -z). An image without layers has layer 0 only; the slices of a 3D image are no layers.
 *
 * What holds for everything here:
 *
 * Owner    the mapping: nothing that is returned is freed or destroyed by the caller
 * Valid    until the buffer is released, unmapped or closed, in work on the map's stream and on
 *          streams that wait for the map
 * Thread   where the resource may be mapped
 *
 * Errors of every function that takes a buffer:
 *     GR_ERR_INVALID_VALUE  the buffer is NULL
 *     GR_ERR_STATE          it is no image, or not mapped any more
 *     GR_ERR_CUDA           the driver refused
 */
#ifndef GR_IMAGE_H
#define GR_IMAGE_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mapped image, as the driver describes it at this map. The library's. */
typedef struct gr_image_info {
    /* The size of level 0 in texels. Height and depth are at least 1. */
    size_t width, height, depth;

    /* Mip levels that the image has storage for. */
    unsigned levels;

    /* Array layers, or a cube's 6 faces. At least 1. */
    unsigned layers;

    /* Whether the layers are a cube's faces. */
    bool cube;

    /* Whether the array of a level has all of its layers, whichever is asked for. */
    bool layered;

    /* Whether the colours are stored by the sRGB curve. */
    bool srgb;

    /* Whether the graphics API reads the integers as numbers from 0 to 1, or -1 to 1. */
    bool normalized;

    /* The format of one channel. */
    CUarray_format format;

    /* 1, 2 or 4: CUDA sees images of 3 channels as ones of 4. */
    unsigned channels;

    /* The bytes of all channels. 0: the format has no plain channels. */
    unsigned texel_bytes;
} gr_image_info;

/* Describes the mapped image. NULL on error, and the answer is the same until the mapping ends. */
GR_API const gr_image_info *gr_buffer_image_info(gr_buffer *buffer);

/* ---- Arrays ---------------------------------------------------------------------------------- */

/*
 * Gives the array of one level and layer, for the driver's own calls. NULL on error.
 *
 * Where gr_image_info.layered is set (memory that CUDA imported, as Vulkan's) there is no array of
 * a single layer: this is the array of all the level's layers, and kernels take the layer's number
 * (surf2DLayeredwrite, tex2DLayered). So it is for surfaces and textures.
 *
 * Errors: those above, and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer; the message says how many there are
 *
 * Wraps cuGraphicsSubResourceGetMappedArray or cuMipmappedArrayGetLevel.
 */
GR_API CUarray gr_buffer_array(gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * Gives all levels and layers as one mipmapped array. NULL on error.
 *
 * Keep to the levels of gr_image_info: CUDA counts those of a whole chain as soon as there is more
 * than one, also levels that have no storage.
 *
 * Wraps cuGraphicsResourceGetMappedMipmappedArray or cuExternalMemoryGetMappedMipmappedArray.
 */
GR_API CUmipmappedArray gr_buffer_mipmapped_array(gr_buffer *buffer);

/* ---- Surfaces -------------------------------------------------------------------------------- */

/*
 * Gives a surface object, by which kernels read and write one level and layer. 0 on error.
 *
 * In kernels: surf2Dread and surf2Dwrite, surf3D... for a 3D image, x in bytes. Asked again for the
 * same level and layer it is the same object. It is destroyed after the release, in the order of
 * the stream.
 *
 * Errors: those above, and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer
 *     GR_ERR_STATE          the image was not registered with GR_SURFACE_LOAD_STORE
 *
 * Wraps cuSurfObjectCreate.
 */
GR_API CUsurfObject gr_buffer_surface(gr_buffer *buffer, unsigned level, unsigned layer);

/* ---- Textures -------------------------------------------------------------------------------- */

/* What a texture gives outside of the image. */
typedef enum gr_address {
    /* The texel of the nearest edge. */
    GR_ADDRESS_CLAMP = 0,

    /* gr_texture_options.border. */
    GR_ADDRESS_BORDER = 1,

    /* The image again and again. With normalized coordinates only. */
    GR_ADDRESS_WRAP = 2,

    /* The image, mirrored at each edge. With normalized coordinates only. */
    GR_ADDRESS_MIRROR = 3
} gr_address;

/* What a texture gives between texels, or between levels: the nearest, or a mixture. */
typedef enum gr_filter { GR_FILTER_POINT = 0, GR_FILTER_LINEAR = 1 } gr_filter;

/* A yes or no that has a default, which the field's comment tells. */
typedef enum gr_choice { GR_DEFAULT = 0, GR_YES = 1, GR_NO = 2 } gr_choice;

/* How gr_buffer_texture() samples. */
typedef struct gr_texture_options {
    size_t struct_size;

    /* Outside of the image, for x, y and z. 0: the nearest edge's texel. */
    gr_address address[3];

    /* Between the texels of a level. 0: the nearest one. */
    gr_filter filter;

    /*
     * Whether coordinates go from 0 to 1 across the image. GR_DEFAULT: they are in texels where
     * that is possible, else normalized. It is impossible with `whole`, and for a level of an image
     * that is layered (gr_image_info) and has several levels; there GR_NO is refused.
     */
    gr_choice normalized_coordinates;

    /*
     * Whether 8 and 16 bit integers are read as numbers from 0 to 1, or -1 to 1. GR_DEFAULT: as the
     * graphics API reads them, so GL_RGBA8 is and GL_RGBA8UI is not.
     */
    gr_choice as_float;

    /* Whether sRGB colours are made linear. GR_DEFAULT: if the image is sRGB. */
    gr_choice srgb;

    /* The colour of GR_ADDRESS_BORDER. 0: black that is transparent. */
    float border[4];

    /*
     * All levels and layers, for tex2DLod and tex2DLayered. `level` and `layer` are ignored then.
     * Not for OpenGL's cubes. false: one level and layer.
     */
    bool whole;

    /* Which level and layer, without `whole`. 0: the largest level, the first layer. */
    unsigned level, layer;

    /* With `whole`, between levels. 0: the nearest one. */
    gr_filter mip_filter;

    /* With `whole`, added to the level that a kernel asks for. */
    float mip_bias;

    /* With `whole`, the least level that is sampled; 0.5 is between the first two. */
    float min_level;

    /* With `whole`, how many levels there are from the one that `min_level` is in. 0: to the last.
     */
    unsigned level_count;

    /* The most samples along one axis, up to 16. 0: 1. */
    unsigned anisotropy;
} gr_texture_options;

/*
 * Gives a texture object, by which kernels sample the image. 0 on error.
 *
 *     CUtexObject texture = gr_buffer_texture(
 *         image, &GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR));
 *
 * NULL as `options` is level 0 and layer 0 by all defaults. The object is destroyed after the
 * release, in the order of the stream.
 *
 * Errors: those above, and
 *     GR_ERR_INVALID_VALUE  an option that the format has not, or two that don't go together; the
 *                           message names them
 *     GR_ERR_UNSUPPORTED    what NVIDIA's driver does wrong: a whole cube of OpenGL's, coordinates
 *                           in texels for layers of several levels
 *
 * Wraps cuTexObjectCreate.
 */
GR_API CUtexObject gr_buffer_texture(gr_buffer *buffer, const gr_texture_options *options);

/* ---- Linear memory --------------------------------------------------------------------------- */

/* Linear memory of the caller's, on the device or on the host. */
typedef struct gr_linear_desc {
    size_t struct_size;

    /* Memory on the device. 0: it is on the host. */
    CUdeviceptr device;

    /* Memory on the host. NULL: it is on the device. */
    void *host;

    /* Bytes from one row to the next. 0: rows follow each other. */
    size_t pitch;

    /* Bytes from a slice of a 3D image to the next, a multiple of `pitch`. 0: they follow. */
    size_t slice;
} gr_linear_desc;

/*
 * Copies one level and layer out of the image, or into it, all of it, in the order of `stream`.
 *
 *     gr_buffer_copy_from_image(image, 0, 0, &GR_INIT(gr_linear_desc, .host = pixels), stream);
 *     cuStreamSynchronize(stream);
 *
 * `stream` may be GR_STREAM_OF_MAP. Texels are as gr_image_info describes them; rows come in the
 * graphics API's order, OpenGL's from the bottom.
 *
 * Valid    memory has to live until the stream has come so far. Copies with pageable memory of the
 *          host may block the thread
 *
 * Errors: those above, and
 *     GR_ERR_INVALID_VALUE  the level, the layer, the pitch or the slice; or not just one of
 *                           `device` and `host` is set
 *     GR_ERR_STATE          a copy into an image that was registered read_only
 *     GR_ERR_UNSUPPORTED    the format has no plain channels
 *
 * Wraps cuMemcpy3DAsync.
 */
GR_API gr_status gr_buffer_copy_from_image(gr_buffer *buffer, unsigned level, unsigned layer,
                                           const gr_linear_desc *to, CUstream stream);
GR_API gr_status gr_buffer_copy_to_image(gr_buffer *buffer, unsigned level, unsigned layer,
                                         const gr_linear_desc *from, CUstream stream);

/*
 * Maps one level and layer of an image as linear memory, for kernels that know pointers only.
 *
 *     gr_buffer *pixels = gr_map_linear(picture, 0, 0, stream);
 *     ... kernels use gr_buffer_ptr(pixels), whose rows are gr_buffer_pitch(pixels) bytes apart ...
 *     gr_buffer_release(pixels);
 *
 * This COPIES on the stream: out of the image at the map, unless the resource is write_discard, and
 * back into it at the release, unless it is read_only. The memory stays with the resource for the
 * next such map. The functions above work on the buffer too. A resource that was made from a buffer
 * is mapped as by gr_map(), without a copy; its level and layer are 0.
 *
 * Owner    the caller releases the buffer
 *
 * Errors: those of gr_map(), and
 *     GR_ERR_INVALID_VALUE  there is no such level or layer
 *     GR_ERR_UNSUPPORTED    the format has no plain channels
 *     GR_ERR_NO_MEMORY      there is none for the copy; an image that is write_discard has lost its
 *                           contents
 */
GR_API gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer,
                                CUstream stream);

/*
 * The bytes from one row to the next of what gr_map_linear() mapped. 0 for any other buffer, and
 * for NULL, which is GR_ERR_INVALID_VALUE.
 */
GR_API size_t gr_buffer_pitch(const gr_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
