/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that CUDA and a Vulkan device copy from and to: host memory, or memory of the Vulkan
 * device if CUDA computes on another one.
 */
#ifndef GR_VK_COPY_STAGING_H
#define GR_VK_COPY_STAGING_H

#include "vk/memory/memory.h"

/* How both sides access the bytes. */
enum vk_staging_way {
    VK_STAGING_PEER,       /* memory of the Vulkan device, imported by CUDA on another device */
    VK_STAGING_IMPORTED,   /* registered with CUDA, imported by Vulkan */
    VK_STAGING_REGISTERED, /* allocated by Vulkan, registered with CUDA */
    VK_STAGING_BY_CPU      /* two memories; the CPU copies between them, in stream order */
};

struct vk_staging {
    enum vk_staging_way way;
    struct vk_binding binding; /* the Vulkan buffer; its device is held by the caller */
    VkDeviceSize offset;       /* of the bytes in the buffer */
    size_t size;
    /* the bytes that CUDA accesses; for VK_STAGING_PEER an address of device memory */
    unsigned char *bytes;
    /* the mapping of the Vulkan memory; for VK_STAGING_REGISTERED and VK_STAGING_BY_CPU */
    unsigned char *mapped;
    /* NULL, or host memory: of the process for VK_STAGING_IMPORTED, otherwise of CUDA */
    void *allocated;
    struct gr_import *import; /* for VK_STAGING_PEER */
};

/*
 * Allocates `size` bytes for staging->binding.device; host memory is zero. After an error
 * vk_staging_end() frees what exists. The CUDA context is current.
 */
gr_status vk_staging_make(struct vk_staging *staging, size_t size, const char *call);

/*
 * For VK_STAGING_BY_CPU, enqueues the copy by the CPU: call it with `in` before CUDA copies from
 * `bytes`, and without after CUDA has copied to `bytes`.
 */
gr_status vk_staging_copy(struct vk_staging *staging, bool in, CUstream stream);

/* Frees the staging memory. `alive`: the CUDA context still exists, and is current. */
void vk_staging_end(struct vk_staging *staging, bool alive);

/* Describes how both sides access the bytes. */
static inline const char *vk_staging_text(enum vk_staging_way way)
{
    return way == VK_STAGING_PEER       ? "through memory of the Vulkan GPU that CUDA imported"
           : way == VK_STAGING_IMPORTED ? "through pinned memory that Vulkan imported"
           : way == VK_STAGING_REGISTERED
               ? "through Vulkan memory that CUDA registered"
               : "through pinned memory, from and to which the CPU copies";
}

#endif
