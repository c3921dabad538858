/* SPDX-License-Identifier: Apache-2.0 */
/* The life of resources in a Vulkan device's memory: what buffers and images have in common. */
#ifndef GR_VK_RESOURCE_H
#define GR_VK_RESOURCE_H

#include "lib/external/external.h"
#include "vk/memory.h"

/* A resource made from or with a Vulkan buffer or image. */
struct vk_resource {
    struct gr_external external;
    struct vk_binding binding;         /* its device is held */
    gr_external_image_desc cuda_image; /* of an image, as CUDA was told of it */
    bool concurrent;                   /* shared among queue families: none of them owns it */
    bool owned;                /* Vulkan's objects are the resource's and destroyed with it */
    VkImageAspectFlags aspect; /* of an image, as the following are */
    const char *format;
    VkExtent3D extent;
    uint32_t levels, layers;
};

/* The struct of a resource that vk/ made; NULL for any other. */
struct vk_resource *vk_resource_of(const gr_resource *resource);

/* Likewise for the program's questions: records why there is none. */
struct vk_resource *vk_resource_asked(const gr_resource *resource, const char *call);

/* Zeroed, and with a hold of the device; NULL, with the error, if there is no memory. */
struct vk_resource *vk_resource_begin(gr_vk_device *device, const char *call);

/* Ends what has not become a resource, with the Vulkan objects that it owns. Always NULL. */
gr_resource *vk_resource_discard(struct vk_resource *r);

/*
 * Imports the memory, and makes `r` a resource of a part of it. On an error, which is recorded, `r`
 * is ended and NULL returned.
 */
gr_resource *vk_resource_register(struct vk_resource *r, const gr_external_part_desc *part,
                                  unsigned flags, const char *call);

#endif
