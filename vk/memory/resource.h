/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The lifetime of resources in Vulkan device memory: code that buffers and images have in common.
 */
#ifndef GR_VK_MEMORY_RESOURCE_H
#define GR_VK_MEMORY_RESOURCE_H

#include "lib/external/external.h"
#include "vk/memory/memory.h"

/* A resource made from a Vulkan buffer or image, or created with one. */
struct vk_resource {
    struct gr_external external;
    struct vk_binding binding;         /* buffer or image, and memory; the device is held */
    gr_external_image_desc cuda_image; /* for images only: the description that CUDA received */
    /* several queue families use the resource, so no family owns it */
    bool concurrent;
    bool owned;                /* the Vulkan objects are destroyed with the resource */
    char transport[520];       /* for gr_resource_describe(), if the resource is copied */
    VkImageAspectFlags aspect; /* the fields from here on are for images only */
    const char *format;
    VkExtent3D extent;
    uint32_t levels, layers;
};

/* Casts a resource made in vk/; NULL for any other resource. */
struct vk_resource *vk_resource_of(const gr_resource *resource);

/* Like vk_resource_of(), for public queries: records an error if the result is NULL. */
struct vk_resource *vk_resource_checked(const gr_resource *resource, const char *call);

/*
 * Imports the memory of `draft` into CUDA, or copies it if `copied`, and makes a resource of a part
 * of it. `draft` has the fields after `external`. The resource holds the device, and takes over the
 * objects if they are owned. After an error, which is recorded, returns NULL.
 */
gr_resource *vk_resource_make(const struct vk_resource *draft, bool copied,
                              const gr_external_part_desc *part, unsigned flags, const char *call);

#endif
