/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Allocates tensors that own their memory. */
#include "lib/tensor/tensor.h"

#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/* The alignment of host memory, which is that of CUDA memory. Windows has no aligned_alloc(). */
#define ALIGNMENT ((size_t)256)

static gr_status refuse(CUresult result, const char *function, size_t bytes)
{
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, function, "%s: cannot allocate %zu byte%s for the tensor.", gr_call,
                        bytes, gr_s(bytes));
}

static bool has_pools(CUdevice device)
{
    int has = 0;
    const struct gr_driver_api *cu = gr_driver();
    return GR_DRIVER_HAS(cu, MemAllocAsync) && GR_DRIVER_HAS(cu, MemFreeAsync) &&
           cu->DeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device) ==
               CUDA_SUCCESS &&
           has;
}

/* Allocates in a new stream, which is idle, so that the memory can be used at once. */
static CUresult allocate_now(CUdeviceptr *made, size_t bytes)
{
    const struct gr_driver_api *cu = gr_driver();
    CUstream stream;
    CUresult result = cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return result;
    result = cu->MemAllocAsync(made, bytes, stream);
    if (result == CUDA_SUCCESS)
        result = gr_event_poll(NULL, stream, GR_WAIT_FOREVER);
    cu->StreamDestroy(stream);
    return result;
}

/* Allocates from a memory pool if the device has one, because cuMemFree() waits for all streams. */
static gr_status allocate_device(gr_tensor *tensor, size_t bytes, CUdeviceptr *made)
{
    const struct gr_driver_api *cu = gr_driver();
    bool pool = has_pools(tensor->info.device);
    tensor->how = pool ? GR_TENSOR_ASYNC : GR_TENSOR_FREE;
    if (!pool)
        return refuse(cu->MemAlloc(made, bytes), "cuMemAlloc", bytes);
    return refuse(tensor->stream == GR_STREAM_NONE ? allocate_now(made, bytes)
                                                   : cu->MemAllocAsync(made, bytes, tensor->stream),
                  "cuMemAllocAsync", bytes);
}

/* Mesa's drivers need room after a buffer in imported memory. */
static gr_status allocate_exportable(gr_tensor *tensor, size_t bytes, CUdeviceptr *made)
{
    const size_t room = gr_driver_traits()->mesa_draws ? GR_MESA_ROOM : 0;
    if (bytes > SIZE_MAX - room)
        return gr_fail_memory();
    GR_TRY(gr_exportable_make(&tensor->exportable, tensor->info.device, bytes + room));
    tensor->how = GR_TENSOR_EXPORTABLE;
    *made = tensor->exportable.ptr;
    return GR_OK;
}

static gr_status allocate_managed(gr_tensor *tensor, size_t bytes, CUdeviceptr *made)
{
    const struct gr_driver_api *cu = gr_driver();
    int has = 0;
    tensor->how = GR_TENSOR_FREE;
    GR_TRY_CUDA(
        cu->DeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, tensor->info.device),
        "cuDeviceGetAttribute",
        "%s: the driver does not report whether CUDA device %d has managed memory.", gr_call,
        (int)tensor->info.device);
    if (!has)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA device %d has no managed memory: use GR_MEMORY_DEVICE.",
                       tensor->info.device);
    return refuse(cu->MemAllocManaged(made, bytes, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged",
                  bytes);
}

static gr_status allocate_pinned(gr_tensor *tensor, size_t bytes, CUdeviceptr *made)
{
    void *memory = NULL;
    tensor->how = GR_TENSOR_PINNED;
    CUresult result = gr_driver()->MemAllocHost(&memory, bytes);
    *made = (CUdeviceptr)(uintptr_t)memory;
    return refuse(result, "cuMemAllocHost", bytes);
}

static gr_status allocate_host(gr_tensor *tensor, size_t bytes, CUdeviceptr *made)
{
    tensor->how = GR_TENSOR_MALLOC;
    tensor->block = bytes > SIZE_MAX - ALIGNMENT ? NULL : malloc(bytes + ALIGNMENT - 1);
    if (!tensor->block)
        return gr_fail_memory();
    *made = ((uintptr_t)tensor->block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return GR_OK;
}

/* Allocates in the context `like`, or in the current one if `like` is NULL. */
static gr_status allocate(gr_tensor *tensor, const struct gr_context *like, size_t bytes,
                          bool exportable)
{
    CUdeviceptr made = 0;
    gr_status status;
    GR_TRY(gr_tensor_set_context(tensor, like));
    if (!bytes)
        return GR_OK;
    GR_ENTER(&tensor->context);
    if (exportable)
        status = allocate_exportable(tensor, bytes, &made);
    else if (tensor->info.memory == GR_MEMORY_DEVICE)
        status = allocate_device(tensor, bytes, &made);
    else if (tensor->info.memory == GR_MEMORY_MANAGED)
        status = allocate_managed(tensor, bytes, &made);
    else if (tensor->info.memory == GR_MEMORY_PINNED)
        status = allocate_pinned(tensor, bytes, &made);
    else
        status = allocate_host(tensor, bytes, &made);
    if (status == GR_OK)
        gr_tensor_set_memory(tensor, made, made, bytes);
    return status;
}

/* Checks a description and the stream, and computes the shape. */
static gr_status check(const gr_tensor_desc *desc, struct gr_shape *shape,
                       const struct gr_context *like, CUstream stream)
{
    GR_TRY(gr_shape_init(shape, desc));
    if (desc->memory == GR_MEMORY_ARRAY)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "grinterop creates no CUDA arrays: create one by cuArrayCreate(), and "
                       "wrap it by gr_tensor_from_memory().");
    GR_REFUSE_IF(desc->exportable && desc->memory != GR_MEMORY_DEVICE,
                 "`exportable` is for memory of a CUDA device: leave `memory` GR_MEMORY_DEVICE.");
    GR_REFUSE_IF(desc->offset,
                 "`offset` is %zu, but only views and mappings have an offset: leave it 0.",
                 desc->offset);
    GR_REFUSE_IF(shape->before || !gr_shape_is_disjoint(shape, gr_dtype_size(desc->dtype)),
                 "The strides %s of the shape %s are negative or let elements share bytes: only "
                 "views can have such strides.",
                 gr_shape_format(shape->ndim, shape->strides).text,
                 gr_shape_format(shape->ndim, shape->shape).text);
    return stream == GR_STREAM_NONE ? GR_OK : gr_stream_check(like, stream, false);
}

gr_tensor *gr_tensor_alloc_taken(const gr_tensor_desc *desc, const struct gr_context *like,
                                 CUstream stream)
{
    struct gr_shape shape;
    if (check(desc, &shape, like, stream) != GR_OK || !gr_driver_load())
        return NULL;
    gr_endings_collect(); /* free memory before new memory is allocated */
    gr_tensor *tensor = gr_tensor_make(desc, &shape);
    if (!tensor)
        return NULL;
    tensor->stream = stream;
    return gr_tensor_expose(tensor, allocate(tensor, like, shape.span, desc->exportable));
}

gr_tensor *gr_tensor_create(const gr_tensor_desc *desc, CUstream stream)
{
    GR_CALL();
    gr_tensor_desc own;
    if (!desc) {
        gr_fail(GR_ERR_INVALID_VALUE, "`desc` is NULL: pass the description of the tensor.");
        return NULL;
    }
    if (GR_TAKE(gr_tensor_desc, &own, desc) != GR_OK)
        return NULL;
    return gr_tensor_alloc_taken(&own, NULL, stream);
}
