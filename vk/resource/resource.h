/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources of Vulkan buffers and images, those of the application and created ones. */
#ifndef GR_VK_RESOURCE_RESOURCE_H
#define GR_VK_RESOURCE_RESOURCE_H

#include "vk/memory/memory.h"

/* Casts a resource made in vk/; NULL for any other resource. */
struct vk_resource *vk_resource_of(const gr_resource *resource);

/* A buffer or image for which a transport is chosen. */
struct vk_object {
    /*
     * Makes the resource of `draft` by draft->binding.transport. `info` and `flags` are those
     * below. NULL after recording an error; the created objects in `draft` are then destroyed.
     */
    gr_resource *(*make)(struct vk_resource *draft, const void *info, unsigned flags);
    const void *info; /* the description of the application */
    unsigned flags;
    bool crosses; /* CUDA also imports the object on a device other than its own */
    /* for the message if it does not: the kind of objects, and advice */
    const char *what, *instead;
};

/*
 * Makes a resource by the best transport that works. `draft` has the device, and for an existing
 * object its memory. After an error, which is recorded, returns NULL.
 */
gr_resource *vk_resource_choose(const struct vk_resource *draft, const struct vk_object *object);

/* Refuses frames in flight that are impossible with this device and these flags. */
gr_status vk_check_in_flight(const gr_vk_device *device, unsigned in_flight, unsigned flags);

/*
 * Imports the memory of `draft` into CUDA, or copies it, as draft->binding.transport says, and
 * makes a resource of a part of it. `draft` has the fields after `external`. The resource holds the
 * device, and takes over the objects if they are owned. If draft->external.memory is set, CUDA has
 * that memory already, and the resource adds a reference. After an error, which is recorded,
 * returns NULL.
 */
gr_resource *vk_resource_make(const struct vk_resource *draft, const gr_external_part_desc *part,
                              unsigned flags);

#endif
