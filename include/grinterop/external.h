/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources made from memory that another API allocated and exported: Vulkan, Direct3D, NvSciBuf, or
 * OpenGL through one of them. What comes out is a gr_resource like any other. vk.h does this for Vulkan,
 * with less to fill in.
 *
 *     int fd = ...;                                               exported by vkGetMemoryFdKHR
 *     gr_external_memory_desc info = {
 *         .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .fd = fd, .size = allocation_size};
 *     GR_AUTO(gr_resource) *resource = gr_from_external_memory(&info, GR_READ_WRITE);
 *     if (!resource) close(fd);
 *
 * Who may touch the bytes when is agreed upon by semaphores: see semaphore.h.
 */
#ifndef GR_EXTERNAL_H
#define GR_EXTERNAL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An image within external memory, as the API that made it describes it. */
typedef struct gr_external_image_desc {
    size_t width, height, depth; /* of level 0, in texels; height and depth 0 where there is none */
    unsigned levels;             /* mip levels; 0 is 1 */
    unsigned
        placed_levels; /* of an image with layers: the levels that the other API placed them by, if
                               more than it has; NVIDIA's Vulkan takes the whole chain; 0: `levels` */
    unsigned layers;   /* array layers, for cubes 6 a cube; 0: the image is no array */
    bool cube;         /* the layers are faces of cubes */
    CUarray_format format; /* of one channel */
    unsigned channels;     /* 1, 2 or 4 */
    bool color_attachment; /* the graphics API may render to it */
    bool depth_texture;    /* it holds depth values */
    bool srgb;             /* the colours are stored by the sRGB curve */
    bool normalized;       /* integers stand for numbers from 0 to 1 or -1 to 1 */
} gr_external_image_desc;

/* Which part of the memory a resource is. */
typedef struct gr_external_part_desc {
    size_t offset; /* bytes from the memory's start */
    size_t size;   /* of a buffer in bytes, 0: up to the memory's end; not for images */
    const gr_external_image_desc *image; /* NULL for a buffer; need only live until the call returns */
} gr_external_part_desc;

/*
 * Memory and a resource in it. `type` says which of fd, win32_handle, win32_name and nvscibuf counts:
 *
 *   OPAQUE_FD                     fd. Taken by the driver on success; after an error still the caller's.
 *   OPAQUE_WIN32                  win32_handle or win32_name. The handle stays the caller's.
 *   OPAQUE_WIN32_KMT              win32_handle, which holds no reference: keep the memory alive.
 *   D3D12_HEAP                    win32_handle or win32_name; the handle stays the caller's.
 *   D3D12_RESOURCE                likewise, always dedicated.
 *   D3D11_RESOURCE                likewise, always dedicated.
 *   D3D11_RESOURCE_KMT            win32_handle, which holds no reference; always dedicated.
 *   NVSCIBUF                      nvscibuf; stays the caller's. Barriers: semaphore.h's NvSciSync points.
 *   DMABUF_FD (CUDA 13)           fd, like OPAQUE_FD; not dedicated, no images; Tegra only.
 */
typedef struct gr_external_memory_desc {
    CUexternalMemoryHandleType type;
    int fd;
    void *win32_handle;     /* a HANDLE */
    const void *win32_name; /* UTF-16, ended by a zero */
    const void *nvscibuf;   /* a NvSciBufObj */
    size_t size;            /* of the whole memory, in bytes, as it was allocated */
    bool dedicated;         /* the memory was allocated for this one buffer or image */
    gr_external_part_desc part;
} gr_external_memory_desc;

/*
 * Imports memory and makes a resource of a part of it. The CUDA context is the current one, else the
 * primary context of device 0. Flags: a buffer takes GR_READ_ONLY and GR_WRITE_DISCARD; an image all of
 * gr.h's: GR_SURFACE_LOAD_STORE and GR_TEXTURE_GATHER are given to CUDA, the others are a promise.
 *
 * The resource keeps the memory imported; the API that made the memory may free its own handle any time,
 * the bytes live on. Mapping is cheap: the import stays; only semaphores are waited for and signalled.
 * An image's array of a level has all of its layers: see gr_image_info.layered.
 * Closing does not wait for the streams that use the resource: what they still need is ended when they have passed,
 * by a later call that makes or ends such a resource. Ending it is the driver's cuMemFree, which waits for all work of
 * the CUDA context: do not close resources while a stream waits for something that this thread has yet to do.
 * gr_handle() of such a resource is its CUexternalMemory.
 * Errors: GR_ERR_INVALID_VALUE (a rule of the handle type, of size and offset, of the image; the message
 * cites the rule), GR_ERR_CUDA (the driver refused), GR_ERR_UNSUPPORTED (a handle type that this platform
 * does not have, with the driver's answer), GR_ERR_NO_DRIVER.
 * Wraps cuImportExternalMemory and cuExternalMemoryGetMappedBuffer or
 * cuExternalMemoryGetMappedMipmappedArray (CUDA driver API, External Resource Interoperability).
 */
GR_API gr_resource *gr_from_external_memory(const gr_external_memory_desc *info, unsigned flags);

/*
 * Another resource in the memory that `resource` was imported with, which must not be dedicated. Both keep
 * the import alive. Errors as above; GR_ERR_STATE for a resource that is closed or of another kind.
 */
GR_API gr_resource *gr_from_same_memory(gr_resource *resource, const gr_external_part_desc *part,
                                        unsigned flags);

#ifdef __cplusplus
}
#endif
#endif
