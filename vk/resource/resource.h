/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources of Vulkan buffers and images, those of the application and created ones. */
#ifndef GR_VK_RESOURCE_RESOURCE_H
#define GR_VK_RESOURCE_RESOURCE_H

#include "vk/memory/memory.h"

/* Casts a resource made in vk/; NULL for any other resource. */
struct vk_resource *vk_resource_of(const gr_resource *resource);

/*
 * Imports the memory of `draft` into CUDA, or copies it if draft->binding.copied is set, and makes
 * a resource of a part of it. `draft` has the fields after `external`. The resource holds the
 * device, and takes over the objects if they are owned. After an error, which is recorded, returns
 * NULL.
 */
gr_resource *vk_resource_make(const struct vk_resource *draft, const gr_external_part_desc *part,
                              unsigned flags, const char *call);

#endif
