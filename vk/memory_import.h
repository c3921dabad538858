/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a Vulkan device's memory into CUDA: Vulkan exports its handle, and CUDA imports that.
 */
#ifndef GR_VK_MEMORY_IMPORT_H
#define GR_VK_MEMORY_IMPORT_H

#include "lib/external/external.h"
#include "vk/memory.h"

/*
 * Exports the memory, and makes `resource` a resource of a part of it, as gr_external_make() does.
 * The handle is CUDA's afterwards, or closed.
 */
gr_status vk_memory_import(const struct vk_binding *binding, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags, const char *call);

/* Exports the memory once more, for another process; the descriptor is the caller's. */
gr_status vk_memory_export(const struct vk_binding *binding, struct gr_memory_export *memory);

#endif
