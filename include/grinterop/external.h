/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources in memory that another API allocated and exported: Vulkan, Direct3D, NvSciBuf, or
 * OpenGL through one of them.
 *
 *     gr_external_memory_desc memory =
 *         GR_INIT(gr_external_memory_desc, .type = GR_EXTERNAL_MEMORY_OPAQUE_FD,
 *                 .fd = fd, .size = allocation_size);            exported by vkGetMemoryFdKHR
 *     GR_AUTO(gr_resource) *resource = gr_from_external_memory(&memory, GR_READ_WRITE);
 *     if (!resource)
 *         close(fd);
 *     gr_resource_set_sync(resource, acquire, release);          defines the order: submit.h
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
 *
 * For Vulkan objects vk.h is simpler.
 */
#ifndef GR_EXTERNAL_H
#define GR_EXTERNAL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Descriptions ---------------------------------------------------------------------------- */

/* An image in external memory, as the other API created it. */
typedef struct gr_external_image_desc {
    size_t struct_size;

    /* The size of level 0 in texels. Height is 0 for a 1D image, depth for a 1D or 2D image. */
    size_t width, height, depth;

    /* Mip levels. 0: one. */
    unsigned levels;

    /*
     * For an image with layers: the number of levels for which the other API reserved memory in
     * each layer, if more than `levels`. The NVIDIA Vulkan driver reserves memory for a complete
     * mip chain. 0: the same as `levels`.
     */
    unsigned placed_levels;

    /* The number of array layers; 6 for each cube. 0: not an array. */
    unsigned layers;

    /* The layers are cube faces. */
    bool cube;

    /* Required: the format of one channel (GR_FORMAT_FLOAT), or a packed or compressed format. */
    unsigned format;

    /* Required: 1, 2 or 4 channels, or those of the packed or compressed format. */
    unsigned channels;

    /* The graphics API may render to the image. */
    bool color_attachment;

    /* Values are depths. */
    bool depth_texture;

    /* Colours are sRGB encoded. */
    bool srgb;

    /* Integers represent numbers from 0 to 1, or from -1 to 1. */
    bool normalized;
} gr_external_image_desc;

/* The part of the memory that a resource occupies. */
typedef struct gr_external_part_desc {
    size_t struct_size;

    /* Offset in bytes. */
    size_t offset;

    /* The size of a buffer in bytes; 0: up to the end of the memory. For an image always 0. */
    size_t size;

    /* The image in this part, read during the call. NULL: a buffer. */
    const gr_external_image_desc *image;
} gr_external_part_desc;

/*
 * Memory, and a resource in it. The type selects the handle field, and whether `dedicated` is set:
 * leave the other handle fields 0.
 *
 *     type (GR_EXTERNAL_MEMORY_...)              handle        dedicated
 *     OPAQUE_FD                                  fd            as allocated
 *     OPAQUE_WIN32, D3D12_HEAP                   win32_*       as allocated
 *     OPAQUE_WIN32_KMT                           win32_handle  as allocated
 *     D3D12_RESOURCE, D3D11_RESOURCE             win32_*       always
 *     D3D11_RESOURCE_KMT                         win32_handle  always
 *     NVSCIBUF                                   nvscibuf      as allocated
 *     DMABUF_FD (CUDA 13, Tegra; no images)      fd            never
 */
typedef struct gr_external_memory_desc {
    size_t struct_size;

    /* The type, from the table above. Required. */
    unsigned type;

    /* A file descriptor. After success the CUDA driver owns it; after an error, the caller. */
    int fd;

    /* A HANDLE, which the caller still owns. A KMT handle does not keep the memory alive. */
    void *win32_handle;

    /* The name of a handle, zero-terminated UTF-16, instead of `win32_handle`. */
    const void *win32_name;

    /*
     * An NvSciBufObj, which the caller still owns after the call. Signals and waits of NvSciSync
     * semaphores include its memory barriers, unless gr_semaphore_point.skip_nvscibuf is set.
     */
    const void *nvscibuf;

    /* The size of the whole allocation in bytes. Required. */
    size_t size;

    /* The memory was allocated for this one buffer or image. */
    bool dedicated;

    /* The part of the memory, read during the call. NULL: all of the memory, as a buffer. */
    const gr_external_part_desc *part;
} gr_external_memory_desc;

/* ---- Importing ------------------------------------------------------------------------------- */

/*
 * Imports memory, and creates a resource in all or a part of it.
 *
 * A map is cheap: the memory stays imported, and the stream only waits for a semaphore. gr_map()
 * returns GR_ERR_STATE until gr_resource_set_sync() sets the semaphores.
 *
 * Buffers accept the flags GR_READ_ONLY and GR_WRITE_DISCARD; images accept all flags of gr.h.
 * GR_SURFACE_LOAD_STORE and GR_TEXTURE_GATHER are passed to CUDA; the other flags are promises of
 * the caller. The CUDA array of an image level contains all layers of that level.
 *
 * Owner    the caller frees the resource, which keeps the memory imported; the exporter may free
 *          its own handle at any time
 * Context  the current CUDA context, or else the primary context of device 0
 * Closing  does not wait for streams that use the resource. Its memory is freed once they are done:
 *          by this call, or by a later call that creates or frees a resource in external memory.
 *          Freeing waits for all work in the CUDA context, as cuMemFree does. So such a call never
 *          returns if a stream waits for work that the calling thread has yet to submit
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  the handle, offset, size or image breaks a rule; the message cites the
 *                           rule
 *     GR_ERR_UNSUPPORTED    this platform does not support the type; the message has the driver's
 *                           code
 *     GR_ERR_SYSTEM         the process can open no more file descriptors
 *
 * Wraps cuImportExternalMemory, and cuExternalMemoryGetMappedBuffer or
 * cuExternalMemoryGetMappedMipmappedArray.
 */
GR_API gr_resource *gr_from_external_memory(const gr_external_memory_desc *memory, unsigned flags);

/*
 * Creates another resource in the memory of `resource`. That memory must not be dedicated. `part`
 * may be NULL: all of the memory, as a buffer.
 *
 * Owner    the caller; both resources keep the import alive
 * Overlap  parts may overlap. CUDA may map overlapping parts at two addresses, and a write through
 *          one address may not be visible through the other (CUDA driver API,
 *          cuExternalMemoryGetMappedBuffer). So release one resource before you map the other in
 *          the same stream. Or use one resource for the whole range, and add offsets to its
 *          pointer. A map does not wait for the release of another resource
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
