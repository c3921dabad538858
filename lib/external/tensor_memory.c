/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The memory of a tensor as that of a buffer of OpenGL or Vulkan. */
#include "lib/external/tensor_memory.h"

#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/cuda/driver.h"

static struct gr_tensor_memory *memory_of(const struct gr_import *import)
{
    return (struct gr_tensor_memory *)import;
}

/* The streams of the mappings belong to the context of the tensor. */
static gr_status begin_use(const struct gr_import *import, CUstream stream, bool writes)
{
    const gr_tensor *tensor = memory_of(import)->tensor;
    return gr_tensor_begin_use(tensor, stream, &tensor->context, writes);
}

static void end_use(const struct gr_import *import, CUstream stream, bool writes)
{
    const gr_tensor *tensor = memory_of(import)->tensor;
    gr_tensor_end_use(tensor, stream, &tensor->context, writes);
}

/* The memory belongs to a device, so the reference ends without the context, too. */
static void end(struct gr_import *import, bool alive)
{
    struct gr_tensor_memory *memory = memory_of(import);
    (void)alive;
    gr_driver()->MemRelease(import->allocation);
    gr_tensor_drop(memory->tensor);
    free(memory);
}

static gr_status check(const gr_tensor *tensor, unsigned flags)
{
    GR_TRY(gr_tensor_check(tensor));
    GR_TRY(gr_flags_check(flags, false));
    const gr_tensor_info *info = &tensor->info;
    GR_REFUSE_IF(info->memory != GR_MEMORY_DEVICE || !info->bytes,
                 "The tensor %s: pass one with elements in memory of a CUDA device that other APIs "
                 "can import (gr_tensor_desc.exportable).",
                 info->bytes ? "is not in device memory" : "has no elements");
    GR_REFUSE_IF((tensor->root ? tensor->root : tensor)->user.revoke,
                 "The tensor is that of a mapping, whose memory already belongs to a resource: use "
                 "that resource.");
    GR_REFUSE_IF(info->read_only && !(flags & GR_READ_ONLY),
                 "The tensor is read-only, but `flags` let CUDA write: pass GR_READ_ONLY.");
    return GR_OK;
}

struct gr_tensor_memory *gr_tensor_memory_make(gr_tensor *tensor, unsigned flags)
{
    struct gr_allocation found;
    if (check(tensor, flags) != GR_OK)
        return NULL;
    GR_ENTERED entered = 0;
    if (gr_context_enter(&tensor->context, &entered) != GR_OK ||
        gr_allocation_find(tensor->low, tensor->room, &found) != GR_OK)
        return NULL;
    struct gr_tensor_memory *memory = gr_check_memory(calloc(1, sizeof(*memory)));
    if (!memory) {
        gr_driver()->MemRelease(found.handle);
        return NULL;
    }
    /* the memory that views of an allocated or wrapped tensor may use is that of its elements */
    *memory = (struct gr_tensor_memory){.import = {.holds = 1,
                                                   .allocation = found.handle,
                                                   .ptr = tensor->low,
                                                   .size = found.size,
                                                   .dedicated = true,
                                                   .end_part = end,
                                                   .begin_use = begin_use,
                                                   .end_use = end_use},
                                        .tensor = tensor,
                                        .offset = found.offset,
                                        .size = tensor->room,
                                        .device = found.device};
    gr_tensor_hold(tensor);
    return memory;
}

void gr_tensor_memory_drop(struct gr_tensor_memory *memory)
{
    GR_KEEP_ERROR();
    gr_import_drop(&memory->import, true);
}
