/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The lifetime of resources in Vulkan device memory: code that buffers and images share. */
#ifndef GR_VK_RESOURCE_H
#define GR_VK_RESOURCE_H

#include "lib/external/external.h"
#include "vk/memory.h"

/* A resource made from a Vulkan buffer or image, or created with one. */
struct vk_resource {
    struct gr_external external;
    struct vk_binding binding;         /* holds the device */
    gr_external_image_desc cuda_image; /* images only: the description that CUDA received */
    bool concurrent;                   /* shared between queue families, so that none owns it */
    bool owned;                        /* the Vulkan objects are destroyed with the resource */
    char transport[520];               /* for gr_resource_describe(), if it is copied */
    VkImageAspectFlags aspect;         /* this field and those below: images only */
    const char *format;
    VkExtent3D extent;
    uint32_t levels, layers;
};

/* The struct of a resource made in vk/; NULL for any other. */
struct vk_resource *vk_resource_of(const gr_resource *resource);

/* The same for public queries: records an error if it is NULL. */
struct vk_resource *vk_resource_checked(const gr_resource *resource, const char *call);

/* Allocates a zeroed struct with a hold on the device; NULL, with the error, if out of memory. */
struct vk_resource *vk_resource_begin(gr_vk_device *device, const char *call);

/*
 * Frees a struct that has not become a resource, with the Vulkan objects that it owns. Always
 * returns NULL.
 */
gr_resource *vk_resource_discard(struct vk_resource *r);

/*
 * Imports the memory and makes `r` a resource of a part of it. On an error, which is recorded,
 * frees `r` and returns NULL.
 */
gr_resource *vk_resource_register(struct vk_resource *r, const gr_external_part_desc *part,
                                  unsigned flags, const char *call);

#endif
