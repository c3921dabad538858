/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Wraps existing memory in tensors. */
#include "lib/tensor/tensor.h"

#include "lib/cuda/driver.h"
#include "lib/base/cuda_error_text.h"
#include "lib/base/error.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/*
 * Checks that CUDA can access the memory. Sets *device, unless it is known, to the device of device
 * memory.
 */
static gr_status query_device(const gr_tensor *tensor, int *device)
{
    const gr_tensor_info *info = &tensor->info;
    int found, can = 0;
    if (!info->bytes || info->memory == GR_MEMORY_HOST || info->memory == GR_MEMORY_ARRAY)
        return GR_OK;
    CUresult result =
        gr_driver()->PointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, tensor->ptr);
    if (result == CUDA_SUCCESS && info->memory == GR_MEMORY_DEVICE && *device < 0)
        *device = found;
    if (result != CUDA_ERROR_INVALID_VALUE)
        return GR_OK;
    /* on some systems kernels can access all memory of the process, as with Linux HMM */
    (void)gr_driver()->DeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                          info->device);
    if (can)
        return GR_OK;
    return gr_fail_code(
        GR_ERR_INVALID_VALUE, GR_DOMAIN_CUDA, CUDA_ERROR_INVALID_VALUE,
        gr_cuda_error_name(CUDA_ERROR_INVALID_VALUE), "cuPointerGetAttribute",
        "%s: the CUDA driver does not know the memory at 0x%llx, so CUDA cannot access it: set "
        "`memory` to GR_MEMORY_HOST if malloc() or NumPy has allocated it. Or has device memory "
        "been freed?",
        gr_call, (unsigned long long)tensor->ptr);
}

/*
 * Chooses the current context if it belongs to the device of the memory, otherwise the primary
 * context of that device.
 */
static gr_status find_context(gr_tensor *tensor, int ordinal)
{
    CUdevice device;
    gr_status status = gr_tensor_set_context(tensor, NULL);
    if (status == GR_OK)
        status = query_device(tensor, &ordinal);
    if (status != GR_OK || ordinal < 0 ||
        gr_driver()->DeviceGet(&device, ordinal) != CUDA_SUCCESS || device == tensor->info.device)
        return status;
    struct gr_context other = {.primary_of = device};
    gr_context_drop(&tensor->context);
    return gr_tensor_set_context(tensor, &other);
}

static gr_status check(const gr_tensor_desc *desc, const struct gr_shape *shape, const void *data,
                       CUstream ready_on)
{
    GR_REFUSE_IF(desc->offset,
                 "`offset` is %zu, but only views and mappings have an offset: add it to `data`.",
                 desc->offset);
    GR_REFUSE_IF(!data && shape->bytes, "`data` is NULL, but the shape %s has elements.",
                 gr_shape_format(shape->ndim, shape->shape).text);
    uint64_t at = (uintptr_t)data;
    GR_REFUSE_IF(shape->bytes &&
                     (at < shape->before || at - shape->before > UINT64_MAX - shape->span),
                 "The shape %s with strides of %s bytes from %p on exceeds the address space.",
                 gr_shape_format(shape->ndim, shape->shape).text,
                 gr_shape_format(shape->ndim, shape->strides).text, data);
    return ready_on == GR_STREAM_NONE ? GR_OK : gr_stream_check(NULL, ready_on, false);
}

gr_tensor *gr_tensor_wrap_as(const gr_tensor_desc *desc, void *data, int device, CUstream ready_on,
                             gr_tensor_end_fn end, void *user)
{
    struct gr_shape shape;
    int64_t dims[3];
    gr_tensor_desc own = *desc;
    const bool array = desc->memory == GR_MEMORY_ARRAY;
    if (array && (!gr_driver_load() || gr_array_describe(data, &own, dims) != GR_OK))
        return NULL;
    gr_status status = gr_shape_init(&shape, &own);
    if (status == GR_OK)
        status = check(&own, &shape, data, ready_on);
    if (status != GR_OK || !gr_driver_load())
        return NULL;
    gr_endings_collect();
    gr_tensor *tensor = gr_tensor_make(&own, &shape);
    if (!tensor)
        return NULL;
    CUdeviceptr ptr = (CUdeviceptr)(uintptr_t)data;
    gr_tensor_set_memory(tensor, ptr, ptr - shape.before, array ? 0 : shape.span);
    tensor->stream = ready_on;
    tensor->end = end;
    tensor->end_user = user;
    return gr_tensor_expose(tensor, find_context(tensor, device));
}

gr_tensor *gr_tensor_from_memory(const gr_tensor_desc *desc, void *data, CUstream ready_on,
                                 gr_tensor_end_fn end, void *user)
{
    GR_CALL();
    gr_tensor_desc own;
    if (!desc) {
        gr_fail(GR_ERR_INVALID_VALUE, "`desc` is NULL: pass the description of `data`.");
        return NULL;
    }
    if (GR_TAKE(gr_tensor_desc, &own, desc) != GR_OK)
        return NULL;
    return gr_tensor_wrap_as(&own, data, -1, ready_on, end, user);
}
