/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports Vulkan device memory into CUDA: Vulkan exports a handle, and CUDA imports it. */
#ifndef GR_VK_MEMORY_MEMORY_IMPORT_H
#define GR_VK_MEMORY_MEMORY_IMPORT_H

#include "lib/external/external.h"
#include "lib/external/import.h"
#include "vk/memory/memory.h"

/*
 * Exports the memory and makes `resource` a resource of a part of it, like gr_external_make().
 * Afterwards either CUDA owns the handle, or the handle is closed.
 */
gr_status vk_memory_import(const struct vk_binding *binding, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags, const char *call);

/* Exports the memory and imports all of it, like gr_import_memory(). */
struct gr_import *vk_memory_import_whole(const struct vk_binding *binding, const char *call);

/* Exports the memory once more, for another process. The caller owns the descriptor. */
gr_status vk_memory_export(const struct vk_binding *binding, struct gr_memory_export *memory);

#endif
