/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources in memory that another API allocated and exported: Vulkan, Direct3D, NvSciBuf, or
 * OpenGL through one of them. What comes out is a gr_resource like any other.
 *
 *     gr_external_memory_desc memory =
 *         GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
 *                 .fd = fd, .size = allocation_size);            exported by vkGetMemoryFdKHR
 *     GR_AUTO(gr_resource) *resource = gr_from_external_memory(&memory, GR_READ_WRITE);
 *     if (!resource)
 *         close(fd);
 *     gr_resource_set_sync(resource, acquire, release);          who comes when: submit.h
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
 *
 * For Vulkan's own objects vk.h does this, with less to fill in.
 */
#ifndef GR_EXTERNAL_H
#define GR_EXTERNAL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What is imported ------------------------------------------------------------------------ */

/* An image within external memory, as the API that made it describes it. */
typedef struct gr_external_image_desc {
    size_t struct_size;

    /* Of level 0, in texels. Height and depth are 0 where there is none. */
    size_t width, height, depth;

    /* Mip levels. 0: one. */
    unsigned levels;

    /*
     * Of an image with layers: the levels that the other API placed them by, if more than it has;
     * NVIDIA's Vulkan takes the whole chain. 0: `levels`.
     */
    unsigned placed_levels;

    /* Layers of an array, of cubes 6 for each. 0: the image is no array. */
    unsigned layers;

    /* The layers are faces of cubes. */
    bool cube;

    /* The format of one channel. 0: refused. */
    CUarray_format format;

    /* Channels: 1, 2 or 4. 0: refused. */
    unsigned channels;

    /* The graphics API may render to it. */
    bool color_attachment;

    /* It holds depth values. */
    bool depth_texture;

    /* The colours are stored by the sRGB curve. */
    bool srgb;

    /* Integers stand for numbers from 0 to 1, or from -1 to 1. */
    bool normalized;
} gr_external_image_desc;

/* Which part of the memory a resource is. */
typedef struct gr_external_part_desc {
    size_t struct_size;

    /* Bytes from the memory's start. */
    size_t offset;

    /* Bytes of a buffer. 0: up to the memory's end, and for every image. */
    size_t size;

    /* The image that lies there; it has to live until the call returns. NULL: a buffer. */
    const gr_external_image_desc *image;
} gr_external_part_desc;

/*
 * Memory, and a resource in it. The type says which handle counts; the others are 0.
 *
 *     type (CU_EXTERNAL_MEMORY_HANDLE_TYPE_...)  handle        dedicated
 *     OPAQUE_FD                                  fd            as it was allocated
 *     OPAQUE_WIN32, D3D12_HEAP                   win32_*       as it was allocated
 *     OPAQUE_WIN32_KMT                           win32_handle  as it was allocated
 *     D3D12_RESOURCE, D3D11_RESOURCE             win32_*       always
 *     D3D11_RESOURCE_KMT                         win32_handle  always
 *     NVSCIBUF                                   nvscibuf      as it was allocated
 *     DMABUF_FD (CUDA 13, Tegra only)            fd            never, and no images
 */
typedef struct gr_external_memory_desc {
    size_t struct_size;

    /* What is imported, as in the table above. 0: refused. */
    CUexternalMemoryHandleType type;

    /* A file descriptor. Taken by the driver on success; after an error still the caller's. */
    int fd;

    /* A HANDLE, which stays the caller's. One of the type KMT does not keep the memory alive. */
    void *win32_handle;

    /* The name of a handle in its place: UTF-16, ended by a zero. NULL: `win32_handle` counts. */
    const void *win32_name;

    /* A NvSciBufObj, which stays the caller's. Its barriers are points of semaphore.h. */
    const void *nvscibuf;

    /* Bytes of the whole memory, as it was allocated. 0: refused. */
    size_t size;

    /* The memory was allocated for this one buffer or image. */
    bool dedicated;

    /* What the resource is of it; it has to live until the call returns. NULL: all, a buffer. */
    const gr_external_part_desc *part;
} gr_external_memory_desc;

/* ---- Importing ------------------------------------------------------------------------------- */

/*
 * Imports memory, and makes a resource of all or a part of it.
 *
 * A map costs little, since the import stays: only semaphores are waited for and signalled. Which
 * ones is undecided at first, and gr_map() is GR_ERR_STATE until gr_resource_set_sync() says it.
 *
 * A buffer takes the flags GR_READ_ONLY and GR_WRITE_DISCARD, an image all of gr.h's.
 * GR_SURFACE_LOAD_STORE and GR_TEXTURE_GATHER are given to CUDA; the others are a promise. The
 * array of an image's level has all of its layers.
 *
 * Owner    the caller frees the resource, which keeps the memory imported; who made the memory may
 *          free its own handle any time, the bytes live on
 * Context  the current CUDA context; where there is none, the primary one of device 0
 * Closing  does not wait for streams that use the resource. What they need is ended later, by a
 *          call that makes or ends such a resource; it waits for all work of the CUDA context
 *          (cuMemFree does), so close none while a stream waits for what this thread has yet to do
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a rule of the handle type, of offset and size, or of the image is
 *                           broken; the message cites it
 *     GR_ERR_UNSUPPORTED    this platform does not have the type; the driver's answer is there
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 *     GR_ERR_NO_MEMORY
 *
 * Wraps cuImportExternalMemory, and cuExternalMemoryGetMappedBuffer or
 * cuExternalMemoryGetMappedMipmappedArray.
 */
GR_API gr_resource *gr_from_external_memory(const gr_external_memory_desc *memory, unsigned flags);

/*
 * Makes another resource in the memory that `resource` was imported with, which is not dedicated.
 * `part` may be NULL: all of the memory, as a buffer.
 *
 * Owner    the caller; both resources keep the import alive
 *
 * Errors: as for gr_from_external_memory(), and
 *     GR_ERR_STATE  the resource is closed, or is not in external memory
 */
GR_API gr_resource *gr_from_same_memory(gr_resource *resource, const gr_external_part_desc *part,
                                        unsigned flags);

#ifdef __cplusplus
}
#endif
#endif
