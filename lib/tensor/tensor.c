/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates tensors, checks them, and describes them. free.c ends them. */
#include "lib/tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compiler.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/public_atomic.h"
#include "lib/base/exit.h"
#include "lib/base/live_objects.h"

gr_status gr_tensor_check(const gr_tensor *tensor)
{
    GR_REFUSE_IF(!tensor,
                 "The tensor is NULL: did the call that creates it fail? Call gr_last_error() "
                 "right after that call for the reason.");
    gr_status status = gr_live_check(GR_LIVE_TENSOR, tensor);
    if (status != GR_OK ||
        !atomic_load_explicit(GR_PUBLIC_ATOMIC(bool, tensor->info.revoked), memory_order_acquire))
        return status;
    return gr_fail(
        GR_ERR_STATE,
        "The tensor's mapping has ended, since the buffer was released, or the resource unmapped "
        "or closed: map the resource again, or acquire another slot of its ring, and create a "
        "tensor of that mapping.");
}

gr_tensor *gr_tensor_make(const gr_tensor_desc *desc, const struct gr_shape *shape)
{
    /* faster than calloc(); gcc would merge malloc() and memset() into calloc() */
    gr_tensor *tensor = gr_check_memory(malloc(sizeof(*tensor)));
    if (!tensor)
        return NULL;
    *tensor = (gr_tensor){.holds = 1,
                          .info = {.dtype = desc->dtype,
                                   .layout = desc->layout,
                                   .memory = desc->memory,
                                   .read_only = desc->read_only,
                                   .ndim = shape->ndim,
                                   .bytes = shape->bytes,
                                   .compact = shape->compact},
                          .negative_strides = desc->negative_strides,
                          .context.primary_of = -1,
                          .stream = GR_STREAM_NONE};
    memcpy(tensor->shape, shape->shape, sizeof(tensor->shape));
    memcpy(tensor->strides, shape->strides, sizeof(tensor->strides));
    gr_uses_init(&tensor->user.uses, GR_LOCK_STREAM_USES);
    return tensor;
}

gr_status gr_tensor_set_context(gr_tensor *tensor, const struct gr_context *context)
{
    GR_TRY(context ? gr_context_hold(context, &tensor->context)
                   : gr_context_choose(&tensor->context, gr_device_first));
    GR_ENTER(&tensor->context);
    return gr_current_device(&tensor->info.device);
}

void gr_tensor_set_memory(gr_tensor *tensor, CUdeviceptr ptr, CUdeviceptr low, size_t room)
{
    atomic_store_explicit(&tensor->ptr, ptr, memory_order_relaxed);
    tensor->low = low;
    tensor->room = room;
}

gr_tensor *gr_tensor_expose(gr_tensor *tensor, gr_status status)
{
    gr_tensor_info *info = &tensor->info;
    if (status != GR_OK) {
        gr_context_drop(&tensor->context);
        gr_uses_free(&tensor->user.uses, false);
        free(tensor);
        return NULL;
    }
    if (gr_tensor_is_array(tensor))
        info->array = (CUarray)(uintptr_t)tensor->ptr;
    else
        info->ptr = tensor->ptr;
    /* NULL for device memory, even that of the software driver */
    if (!gr_tensor_is_array(tensor) && info->memory != GR_MEMORY_DEVICE)
        info->data = (void *)(uintptr_t)tensor->ptr;
    info->context = tensor->context.handle;
    info->shape = tensor->shape;
    info->strides = tensor->strides;
    gr_exit_watch();
    gr_live_add(GR_LIVE_TENSOR, tensor);
    return tensor;
}

const gr_tensor_info *gr_tensor_get_info(const gr_tensor *tensor)
{
    GR_CALL();
    if (!tensor)
        gr_fail(GR_ERR_INVALID_VALUE, "The tensor is NULL: did its creation fail?");
    bool there = tensor && gr_live_check(GR_LIVE_TENSOR, tensor) == GR_OK;
    return there ? &tensor->info : NULL;
}

/* Describes a tensor for the list of leaked objects at process exit. */
static bool describe(const void *object, char *text, size_t size)
{
    const gr_tensor *tensor = object;
    snprintf(text, size, "%s of %s%s", gr_shape_format(tensor->info.ndim, tensor->shape).text,
             gr_dtype_get_info(tensor->info.dtype)->name, tensor->info.revoked ? ", revoked" : "");
    return true;
}

GR_AT_LOAD static void register_describe(void)
{
    gr_live_describe_by(GR_LIVE_TENSOR, describe);
}
