/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport: CUDA has memory of its own, and the bytes pass through staging memory.
 *
 *     submit that hands over    Vulkan: object -> staging     record.h     unless write_discard
 *     map                       CUDA: staging -> own memory   copy_in      unless write_discard
 *     release                   CUDA: own memory -> staging   copy_out     unless read_only
 *     submit that takes back    Vulkan: staging -> object     record.h     unless read_only
 *
 * The semaphores of a resource order these steps, as they order the two sides of shared memory. So
 * each resource needs only one staging memory, and no thread waits.
 */
#ifndef GR_VK_COPY_COPY_H
#define GR_VK_COPY_COPY_H

#include "lib/external/external.h"
#include "vk/copy/staging.h"

/* The maximum number of mip levels of an image. */
#define VK_COPY_MOST_LEVELS 32

/* A level in staging memory: rows, slices and layers follow each other without gaps. */
struct vk_copy_level {
    size_t offset, row; /* bytes */
    size_t rows;        /* of texels or of compressed blocks */
    VkExtent3D extent;
    CUarray array; /* in CUDA */
};

/* Level 0 is first. */
struct vk_copy_image {
    unsigned levels, layers;
    bool is_3d;
    struct vk_copy_level level[VK_COPY_MOST_LEVELS];
};

/* Bytes that CUDA wrote, and that the Vulkan object does not have yet. */
struct vk_owed {
    VkBufferCopy *parts; /* ranges of the object: `srcOffset` and `size`; no two touch */
    uint32_t count, room;
};

/* The copy of a resource. gr_external.memory points to it. */
struct vk_copy {
    struct gr_import import;   /* without a handle */
    struct vk_staging staging; /* its device is held */
    CUdeviceptr ptr;           /* of a buffer, owned */
    struct vk_owed owed;
    struct vk_copy_image *image; /* for an image; the resource owns the arrays. NULL: a buffer */
};

/* The copy of a resource; NULL if the resource shares memory, or is closed. */
static inline struct vk_copy *vk_copy_of(const struct gr_external *r)
{
    return gr_external_is_copied(r) ? (struct vk_copy *)r->memory : NULL;
}

/*
 * Allocates the memory of both sides, for gr_external_make_mapped(). Sets r->mipmapped for an
 * image. NULL after recording an error.
 */
struct vk_copy *vk_copy_make(struct gr_external *r, gr_vk_device *device,
                             const struct gr_context *context, const gr_external_part_desc *part,
                             unsigned flags, const char *call);

/* Operations of struct gr_backend. */
gr_status vk_copy_map(gr_resource *const resources[], size_t n, CUstream stream);
gr_status vk_copy_unmap(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * Returns the bytes that the Vulkan object does not have yet. There are none after a committed
 * submit: commands of grinterop or of the application have copied them to the object.
 */
const struct vk_owed *vk_copy_owed(const struct gr_external *r);

#endif
