/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies tensors with the driver. */
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/stream.h"
#include "lib/tensor/tensor.h"
#include "lib/tensor/array.h"
#include "lib/tensor/copy_plan.h"
#include "lib/tensor/use.h"

/* One side of a copy. */
struct side {
    CUdeviceptr ptr;
    const int64_t *strides;
    bool host;
    bool array;        /* whether `ptr` is a CUarray */
    CUcontext context; /* the context of device memory; NULL for host memory */
    CUdevice device;
};

static bool is_on_host(const gr_tensor *tensor)
{
    return tensor->info.memory == GR_MEMORY_HOST || tensor->info.memory == GR_MEMORY_PINNED;
}

static struct side side_of(const gr_tensor *tensor)
{
    bool host = is_on_host(tensor);
    return (struct side){.ptr = tensor->ptr,
                         .strides = tensor->strides,
                         .host = host,
                         .array = gr_tensor_is_array(tensor),
                         .context = host ? NULL : tensor->context.handle,
                         .device = tensor->info.device};
}

/* ---- One block ------------------------------------------------------------------------------- */

/*
 * Selects the memory type. The software driver gets CU_MEMORYTYPE_UNIFIED, because it refuses
 * CU_MEMORYTYPE_DEVICE for memory that it did not allocate.
 */
static CUmemorytype type_of(const struct side *side)
{
    if (side->host)
        return CU_MEMORYTYPE_HOST;
    return gr_driver_traits()->host_memory ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

static bool between_devices(const struct side *to, const struct side *from)
{
    return !to->host && !from->host && to->device != from->device;
}

static CUresult copy_bytes(const struct side *to, const struct side *from, CUdeviceptr at,
                           CUdeviceptr source, size_t bytes, CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    if (between_devices(to, from))
        return cu->MemcpyPeerAsync(at, to->context, source, from->context, bytes, stream);
    if (type_of(to) == CU_MEMORYTYPE_UNIFIED || type_of(from) == CU_MEMORYTYPE_UNIFIED)
        return cu->MemcpyAsync(at, source, bytes, stream);
    if (to->host)
        return cu->MemcpyDtoHAsync((void *)(uintptr_t)at, source, bytes, stream);
    if (from->host)
        return cu->MemcpyHtoDAsync(at, (const void *)(uintptr_t)source, bytes, stream);
    return cu->MemcpyDtoDAsync(at, source, bytes, stream);
}

static CUDA_MEMCPY3D describe(const struct gr_copy_plan *plan, const struct side *to,
                              const struct side *from, CUdeviceptr at, CUdeviceptr source)
{
    size_t to_pitch = plan->rows > 1 ? (size_t)plan->row.to : plan->width;
    size_t from_pitch = plan->rows > 1 ? (size_t)plan->row.from : plan->width;
    return (CUDA_MEMCPY3D){
        .srcMemoryType = type_of(from),
        .srcHost = (const void *)(uintptr_t)(from->host ? source : 0),
        .srcDevice = from->host ? 0 : source,
        .srcPitch = from_pitch,
        .srcHeight = plan->slices > 1 ? (size_t)plan->slice.from / from_pitch : plan->rows,
        .dstMemoryType = type_of(to),
        .dstHost = (void *)(uintptr_t)(to->host ? at : 0),
        .dstDevice = to->host ? 0 : at,
        .dstPitch = to_pitch,
        .dstHeight = plan->slices > 1 ? (size_t)plan->slice.to / to_pitch : plan->rows,
        .WidthInBytes = plan->width,
        .Height = plan->rows,
        .Depth = plan->slices,
    };
}

static CUresult copy_between(const CUDA_MEMCPY3D *c, const struct side *to, const struct side *from,
                             CUstream stream)
{
    CUDA_MEMCPY3D_PEER peer = {
        .srcMemoryType = c->srcMemoryType,
        .srcDevice = c->srcDevice,
        .srcContext = from->context,
        .srcPitch = c->srcPitch,
        .srcHeight = c->srcHeight,
        .dstMemoryType = c->dstMemoryType,
        .dstDevice = c->dstDevice,
        .dstContext = to->context,
        .dstPitch = c->dstPitch,
        .dstHeight = c->dstHeight,
        .WidthInBytes = c->WidthInBytes,
        .Height = c->Height,
        .Depth = c->Depth,
    };
    return gr_driver()->Memcpy3DPeerAsync(&peer, stream);
}

/*
 * Copies one block. A plain copy costs less than a 3D copy, but the driver has no plain copy from
 * host to host.
 */
static CUresult copy_block(const struct gr_copy_plan *plan, const struct side *to,
                           const struct side *from, CUdeviceptr at, CUdeviceptr source,
                           CUstream stream)
{
    if (plan->rows == 1 && !(to->host && from->host))
        return copy_bytes(to, from, at, source, plan->width, stream);
    CUDA_MEMCPY3D block = describe(plan, to, from, at, source);
    return between_devices(to, from) ? copy_between(&block, to, from, stream)
                                     : gr_driver()->Memcpy3DAsync(&block, stream);
}

static gr_status copy_blocks(const struct gr_copy_plan *plan, const struct side *to,
                             const struct side *from, CUstream stream, const char *call)
{
    int64_t at[GR_TENSOR_DIMS] = {0};
    int64_t to_offset = plan->to_first, from_offset = plan->from_first;
    CUresult result;
    do {
        result = copy_block(plan, to, from, to->ptr + (CUdeviceptr)to_offset,
                            from->ptr + (CUdeviceptr)from_offset, stream);
    } while (result == CUDA_SUCCESS && gr_copy_plan_next(plan, at, &to_offset, &from_offset));
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_work(result, plan->rows == 1 ? "cuMemcpyAsync" : "cuMemcpy3DAsync",
                        "%s: the driver refused to copy a block of %zu row%s of %zu byte%s. Does "
                        "the memory match its description?",
                        call, plan->rows * plan->slices, gr_s(plan->rows * plan->slices),
                        plan->width, gr_s(plan->width));
}

/* ---- CUDA arrays ----------------------------------------------------------------------------- */

/* Whether the elements form rows of texels, one after the other at any pitch. */
static bool has_rows(const struct side *side, const gr_tensor *like)
{
    int64_t size = (int64_t)gr_dtype_get_info(like->info.dtype)->size;
    int64_t texel = size * like->shape[2], row = texel * like->shape[1];
    return side->array || ((like->shape[2] == 1 || side->strides[2] == size) &&
                           (like->shape[1] == 1 || side->strides[1] == texel) &&
                           (like->shape[0] == 1 || side->strides[0] >= row));
}

static gr_status copy_arrays(const gr_tensor *like, const struct side *to, const struct side *from,
                             CUstream stream, const char *call)
{
    size_t row = like->info.bytes / (size_t)like->shape[0];
    if (between_devices(to, from) || !has_rows(to, like) || !has_rows(from, like))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "A CUDA array can be copied only in whole rows and on one device. Copy "
                       "through a compact tensor on the device of the array, such as one from "
                       "gr_tensor_clone().");
    const CUDA_MEMCPY3D block = {
        .srcMemoryType = from->array ? CU_MEMORYTYPE_ARRAY : type_of(from),
        .srcArray = from->array ? (CUarray)(uintptr_t)from->ptr : NULL,
        .srcHost = (const void *)(uintptr_t)(from->host ? from->ptr : 0),
        .srcDevice = from->host || from->array ? 0 : from->ptr,
        .srcPitch = from->array          ? 0
                    : like->shape[0] > 1 ? (size_t)from->strides[0]
                                         : row,
        .dstMemoryType = to->array ? CU_MEMORYTYPE_ARRAY : type_of(to),
        .dstArray = to->array ? (CUarray)(uintptr_t)to->ptr : NULL,
        .dstHost = (void *)(uintptr_t)(to->host ? to->ptr : 0),
        .dstDevice = to->host || to->array ? 0 : to->ptr,
        .dstPitch = to->array            ? 0
                    : like->shape[0] > 1 ? (size_t)to->strides[0]
                                         : row,
        .WidthInBytes = row,
        .Height = (size_t)like->shape[0],
        .Depth = 1,
    };
    GR_TRY_WORK(gr_driver()->Memcpy3DAsync(&block, stream), "cuMemcpy3DAsync",
                "%s: the driver refused to copy a CUDA array.", call);
    return GR_OK;
}

/* ---- A whole copy ---------------------------------------------------------------------------- */

/* Copies in the CUDA context of the device memory, because default streams belong to it. */
static gr_status copy_sides(const gr_tensor *like, const struct side *to, const struct side *from,
                            const struct gr_context *context, CUstream stream, const char *call)
{
    bool pushed;
    struct gr_copy_plan plan;
    if (!like->info.bytes)
        return GR_OK;
    GR_TRY(gr_context_enter(context, &pushed, call));
    gr_status status;
    if (to->array || from->array) {
        status = copy_arrays(like, to, from, stream, call);
    } else {
        gr_copy_plan_make(&plan, like->info.ndim, like->shape, to->strides, from->strides,
                          gr_dtype_get_info(like->info.dtype)->size);
        status = copy_blocks(&plan, to, from, stream, call);
    }
    gr_context_leave(pushed);
    if (status == GR_OK)
        gr_count_bytes_moved(like->info.bytes);
    return status;
}

static gr_status check_same(const gr_tensor *to, const gr_tensor *from, const char *call)
{
    if (to->info.dtype != from->info.dtype)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The tensors have the types %s and %s, but a copy does not convert: use a "
                       "view for the same bits, or gr_publish(), which converts.",
                       gr_dtype_get_info(to->info.dtype)->name,
                       gr_dtype_get_info(from->info.dtype)->name);
    bool same = to->info.ndim == from->info.ndim;
    for (unsigned i = 0; same && i < to->info.ndim; i++)
        same = to->shape[i] == from->shape[i];
    if (same)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The shapes differ: the destination is %s, the source is %s.",
                   gr_shape_format(to->info.ndim, to->shape).text,
                   gr_shape_format(from->info.ndim, from->shape).text);
}

/*
 * Refuses a stride of 0, because the value of an element that is written twice is undefined. A
 * tensor without elements is accepted.
 */
static gr_status check_target(const gr_tensor *to, const char *call)
{
    for (unsigned i = 0; i < to->info.ndim && to->info.bytes; i++)
        if (!to->strides[i] && to->shape[i] > 1)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "The destination of shape %s has stride 0 in dimension %u: its elements "
                           "share bytes.",
                           gr_shape_format(to->info.ndim, to->shape).text, i);
    return GR_OK;
}

/* Copies a tensor. After an error a part of the copy may be in the stream. */
static gr_status copy(gr_tensor *to, const gr_tensor *from, CUstream stream, const char *call)
{
    GR_TRY(gr_tensor_check(from, call));
    GR_TRY(gr_tensor_check(to, call));
    GR_TRY(check_same(to, from, call));
    GR_TRY(check_target(to, call));
    const struct gr_context *at = is_on_host(to) ? &from->context : &to->context;
    GR_TRY(gr_tensor_begin_copy(to, stream, at, true, call));
    GR_TRY(gr_tensor_begin_copy(from, stream, at, false, call));
    struct side target = side_of(to), source = side_of(from);
    gr_status status = copy_sides(to, &target, &source, at, stream, call);
    gr_tensor_end_use(to, stream, at, true);
    gr_tensor_end_use(from, stream, at, false);
    return status;
}

gr_status gr_tensor_copy(gr_tensor *to, const gr_tensor *from, CUstream stream)
{
    return copy(to, from, stream, __func__);
}

gr_tensor *gr_tensor_clone(gr_tensor *tensor, gr_memory memory, CUstream stream)
{
    if (gr_tensor_check(tensor, __func__) != GR_OK ||
        gr_stream_check_given(stream, false, __func__) != GR_OK)
        return NULL;
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = tensor->info.dtype, .ndim = tensor->info.ndim,
                .shape = tensor->shape, .layout = tensor->info.layout, .memory = memory);
    gr_tensor *made = gr_tensor_alloc_taken(&desc, &tensor->context, stream, __func__);
    if (!made)
        return NULL;
    made->copied = true;
    if (copy(made, tensor, stream, __func__) == GR_OK)
        return made;
    gr_tensor_free(made);
    return NULL;
}

/* ---- Host memory ----------------------------------------------------------------------------- */

static gr_status check_host(const gr_tensor *tensor, const void *memory, size_t bytes,
                            const char *call)
{
    GR_TRY(gr_tensor_check(tensor, call));
    if (bytes != tensor->info.bytes)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`bytes` is %zu, but the elements of shape %s and type %s have %zu: pass "
                       "%zu.",
                       bytes, gr_shape_format(tensor->info.ndim, tensor->shape).text,
                       gr_dtype_get_info(tensor->info.dtype)->name, tensor->info.bytes,
                       tensor->info.bytes);
    if (!memory && bytes)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "The pointer to host memory is NULL.");
    return GR_OK;
}

static struct side host_side(const gr_tensor *like, const void *memory,
                             int64_t strides[GR_TENSOR_DIMS])
{
    gr_shape_compact(like->info.ndim, like->shape, gr_dtype_get_info(like->info.dtype)->size,
                     strides);
    return (struct side){.ptr = (CUdeviceptr)(uintptr_t)memory, .strides = strides, .host = true};
}

gr_status gr_tensor_copy_to_host(const gr_tensor *tensor, void *to, size_t bytes, CUstream stream)
{
    int64_t strides[GR_TENSOR_DIMS];
    GR_TRY(check_host(tensor, to, bytes, __func__));
    GR_TRY(gr_tensor_begin_copy(tensor, stream, &tensor->context, false, __func__));
    struct side target = host_side(tensor, to, strides), source = side_of(tensor);
    gr_status status = copy_sides(tensor, &target, &source, &tensor->context, stream, __func__);
    gr_tensor_end_use(tensor, stream, &tensor->context, false);
    return status;
}

gr_status gr_tensor_copy_from_host(gr_tensor *tensor, const void *from, size_t bytes,
                                   CUstream stream)
{
    int64_t strides[GR_TENSOR_DIMS];
    GR_TRY(check_host(tensor, from, bytes, __func__));
    GR_TRY(check_target(tensor, __func__));
    GR_TRY(gr_tensor_begin_copy(tensor, stream, &tensor->context, true, __func__));
    struct side target = side_of(tensor), source = host_side(tensor, from, strides);
    gr_status status = copy_sides(tensor, &target, &source, &tensor->context, stream, __func__);
    gr_tensor_end_use(tensor, stream, &tensor->context, true);
    return status;
}
