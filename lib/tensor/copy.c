/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies tensors with the driver. */
#include "lib/cuda/copy_3d.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/stream.h"
#include "lib/tensor/tensor.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct dim {
    int64_t n, to, from; /* the number of elements, and the strides in bytes on both sides */
};

/*
 * A plan divides a copy between two tensors of the same shape into blocks that the driver copies in
 * one call: rows of bytes at a fixed pitch, in slices.
 */
struct plan {
    int64_t to_first, from_first; /* byte offsets of the first block from element 0 */
    size_t width, rows, slices;
    struct dim row, slice; /* the strides of rows and slices in a block */
    /* the number of remaining dimensions: there is one block for each of their elements */
    unsigned outer;
    struct dim dims[GR_TENSOR_DIMS];
};

/* The maximum pitch that the driver supports: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices. */
#define MAX_PITCH ((int64_t)0x7fffffff)

/*
 * Drops dimensions of 1, sorts the other dimensions by decreasing stride of `to`, and makes these
 * strides positive. This is possible because the order in which elements are copied does not
 * matter.
 */
static unsigned sort(struct plan *plan, unsigned ndim, const int64_t *shape, const int64_t *to,
                     const int64_t *from)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ndim; i++) {
        struct dim dim = {shape[i], to[i], from[i]};
        if (dim.n == 1)
            continue;
        if (dim.to < 0) {
            plan->to_first += (dim.n - 1) * dim.to;
            plan->from_first += (dim.n - 1) * dim.from;
            dim.to = -dim.to;
            dim.from = -dim.from;
        }
        unsigned place = count++;
        for (; place > 0 && plan->dims[place - 1].to < dim.to; place--)
            plan->dims[place] = plan->dims[place - 1];
        plan->dims[place] = dim;
    }
    return count;
}

/* Merges adjacent dimensions that are contiguous on both sides. */
static unsigned join(struct dim dims[], unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < count; i++) {
        struct dim *outer = &dims[kept];
        const struct dim *inner = &dims[i];
        if (outer->to == inner->n * inner->to && outer->from == inner->n * inner->from)
            *outer = (struct dim){outer->n * inner->n, inner->to, inner->from};
        else
            dims[++kept] = *inner;
    }
    return count ? kept + 1 : 0;
}

static bool can_be_rows(const struct dim *dim, size_t width)
{
    return dim->to >= (int64_t)width && dim->from >= (int64_t)width && dim->to <= MAX_PITCH &&
           dim->from <= MAX_PITCH;
}

/*
 * Whether the dimension can be the slices of a block: the driver counts the distance between slices
 * in rows.
 */
static bool can_be_slices(const struct dim *dim, const struct dim *row)
{
    return dim->to % row->to == 0 && dim->to / row->to >= row->n && dim->from % row->from == 0 &&
           dim->from / row->from >= row->n;
}

/*
 * Plans a copy. No dimension may be 0, and strides of `to` must not be 0 in dimensions larger than
 * 1.
 */
static void make_plan(struct plan *plan, unsigned ndim, const int64_t *shape, const int64_t *to,
                      const int64_t *from, size_t element)
{
    *plan = (struct plan){.width = element, .rows = 1, .slices = 1};
    unsigned count = sort(plan, ndim, shape, to, from);
    struct dim *dims = plan->dims;
    count = join(dims, count);
    if (count && dims[count - 1].to == (int64_t)element && dims[count - 1].from == (int64_t)element)
        plan->width *= (size_t)dims[--count].n;
    if (count && can_be_rows(&dims[count - 1], plan->width)) {
        plan->row = dims[--count];
        plan->rows = (size_t)plan->row.n;
    }
    if (count && plan->rows > 1 && can_be_slices(&dims[count - 1], &plan->row)) {
        plan->slice = dims[--count];
        plan->slices = (size_t)plan->slice.n;
    }
    plan->outer = count;
}

/* Steps from one block to the next. False after the last block. `at` must be all 0 at first. */
static bool next_block(const struct plan *plan, int64_t at[GR_TENSOR_DIMS], int64_t *to_offset,
                       int64_t *from_offset)
{
    for (unsigned i = plan->outer; i-- > 0;) {
        const struct dim *dim = &plan->dims[i];
        *to_offset += dim->to;
        *from_offset += dim->from;
        if (++at[i] < dim->n)
            return true;
        *to_offset -= dim->n * dim->to;
        *from_offset -= dim->n * dim->from;
        at[i] = 0;
    }
    return false;
}

/* ---- One block ------------------------------------------------------------------------------- */

/* One side of a copy: a tensor, or host memory of the program. */
struct side {
    const gr_tensor *tensor; /* NULL for host memory of the program */
    CUdeviceptr ptr;         /* the address of element 0, or the CUarray */
    const int64_t *strides;
    CUmemorytype type;
};

static struct side side_of(const gr_tensor *tensor)
{
    return (struct side){tensor, tensor->ptr, tensor->strides,
                         gr_driver_traits()->copy_types[tensor->info.memory]};
}

static bool is_on_host(const struct side *side)
{
    return side->type == CU_MEMORYTYPE_HOST;
}

static bool between_devices(const struct side *to, const struct side *from)
{
    return !is_on_host(to) && !is_on_host(from) &&
           to->tensor->info.device != from->tensor->info.device;
}

static CUresult copy_bytes(const struct side *to, const struct side *from, CUdeviceptr at,
                           CUdeviceptr source, size_t bytes, CUstream stream)
{
    const struct gr_driver_api *cu = gr_driver();
    if (between_devices(to, from))
        return cu->MemcpyPeerAsync(at, to->tensor->context.handle, source,
                                   from->tensor->context.handle, bytes, stream);
    if (to->type == CU_MEMORYTYPE_UNIFIED || from->type == CU_MEMORYTYPE_UNIFIED)
        return cu->MemcpyAsync(at, source, bytes, stream);
    if (is_on_host(to))
        return cu->MemcpyDtoHAsync((void *)(uintptr_t)at, source, bytes, stream);
    if (is_on_host(from))
        return cu->MemcpyHtoDAsync(at, (const void *)(uintptr_t)source, bytes, stream);
    return cu->MemcpyDtoDAsync(at, source, bytes, stream);
}

/* Describes one side of a block at `at`. `row` and `slice` are the strides of that side. */
static struct gr_copy_side describe_side(const struct plan *plan, const struct side *side,
                                         CUdeviceptr at, int64_t row, int64_t slice)
{
    const size_t pitch = plan->rows > 1 ? (size_t)row : plan->width;
    return (struct gr_copy_side){
        .type = side->type,
        .at = at,
        .pitch = pitch,
        .rows = plan->slices > 1 ? (size_t)slice / pitch : plan->rows,
    };
}

static CUDA_MEMCPY3D describe(const struct plan *plan, const struct side *to,
                              const struct side *from, CUdeviceptr at, CUdeviceptr source)
{
    return gr_copy_3d(describe_side(plan, to, at, plan->row.to, plan->slice.to),
                      describe_side(plan, from, source, plan->row.from, plan->slice.from),
                      plan->width, plan->rows, plan->slices);
}

static CUresult copy_between(const CUDA_MEMCPY3D *c, const struct side *to, const struct side *from,
                             CUstream stream)
{
    CUDA_MEMCPY3D_PEER peer = {
        .srcMemoryType = c->srcMemoryType,
        .srcDevice = c->srcDevice,
        .srcContext = from->tensor->context.handle,
        .srcPitch = c->srcPitch,
        .srcHeight = c->srcHeight,
        .dstMemoryType = c->dstMemoryType,
        .dstDevice = c->dstDevice,
        .dstContext = to->tensor->context.handle,
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
static CUresult copy_block(const struct plan *plan, const struct side *to, const struct side *from,
                           CUdeviceptr at, CUdeviceptr source, CUstream stream)
{
    if (plan->rows == 1 && !(is_on_host(to) && is_on_host(from)))
        return copy_bytes(to, from, at, source, plan->width, stream);
    CUDA_MEMCPY3D block = describe(plan, to, from, at, source);
    return between_devices(to, from) ? copy_between(&block, to, from, stream)
                                     : gr_driver()->Memcpy3DAsync(&block, stream);
}

static gr_status copy_blocks(const struct plan *plan, const struct side *to,
                             const struct side *from, CUstream stream)
{
    int64_t at[GR_TENSOR_DIMS] = {0};
    int64_t to_offset = plan->to_first, from_offset = plan->from_first;
    CUresult result;
    do {
        result = copy_block(plan, to, from, to->ptr + (CUdeviceptr)to_offset,
                            from->ptr + (CUdeviceptr)from_offset, stream);
    } while (result == CUDA_SUCCESS && next_block(plan, at, &to_offset, &from_offset));
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_work(result, plan->rows == 1 ? "cuMemcpyAsync" : "cuMemcpy3DAsync",
                        "%s: the driver refused to copy a block of %zu row%s of %zu byte%s. Does "
                        "the memory match its description?",
                        gr_call, plan->rows * plan->slices, gr_s(plan->rows * plan->slices),
                        plan->width, gr_s(plan->width));
}

gr_status gr_runs_copy(const struct gr_runs *runs, CUdeviceptr device, bool to_device,
                       CUstream stream)
{
    const CUmemorytype *types = gr_driver_traits()->copy_types;
    const struct side host = {NULL, runs->at, runs->host, types[GR_MEMORY_HOST]};
    const struct side other = {NULL, device, runs->device, types[GR_MEMORY_DEVICE]};
    const struct side *to = to_device ? &other : &host, *from = to_device ? &host : &other;
    struct plan plan;
    make_plan(&plan, runs->ndim, runs->shape, to->strides, from->strides, runs->bytes);
    return copy_blocks(&plan, to, from, stream);
}

/* ---- CUDA arrays ----------------------------------------------------------------------------- */

/* Whether the elements form rows of texels, one after the other at any pitch. */
static bool has_rows(const struct side *side, const gr_tensor *like)
{
    int64_t size = (int64_t)gr_dtype_size(like->info.dtype);
    int64_t texel = size * like->shape[2], row = texel * like->shape[1];
    return side->type == CU_MEMORYTYPE_ARRAY ||
           ((like->shape[2] == 1 || side->strides[2] == size) &&
            (like->shape[1] == 1 || side->strides[1] == texel) &&
            (like->shape[0] == 1 || side->strides[0] >= row));
}

static gr_status copy_arrays(const gr_tensor *like, const struct side *to, const struct side *from,
                             CUstream stream)
{
    const struct plan rows = {
        .width = like->info.bytes / (size_t)like->shape[0],
        .rows = (size_t)like->shape[0],
        .slices = 1,
        .row = {.to = to->strides[0], .from = from->strides[0]},
    };
    if (between_devices(to, from) || !has_rows(to, like) || !has_rows(from, like))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "A CUDA array can be copied only in whole rows and on one device. Copy "
                       "through a compact tensor on the device of the array, such as one from "
                       "gr_tensor_clone().");
    const CUDA_MEMCPY3D block = describe(&rows, to, from, to->ptr, from->ptr);
    GR_TRY_WORK(gr_driver()->Memcpy3DAsync(&block, stream), "cuMemcpy3DAsync",
                "%s: the driver refused to copy a CUDA array.", gr_call);
    return GR_OK;
}

/* ---- A whole copy ---------------------------------------------------------------------------- */

/* Copies in the CUDA context of the device memory, because default streams belong to it. */
static gr_status copy_elements(const struct side *to, const struct side *from,
                               const struct gr_context *at, CUstream stream)
{
    const gr_tensor *like = to->tensor ? to->tensor : from->tensor;
    struct plan plan;
    if (!like->info.bytes)
        return GR_OK;
    GR_ENTER(at);
    if (to->type == CU_MEMORYTYPE_ARRAY || from->type == CU_MEMORYTYPE_ARRAY)
        return copy_arrays(like, to, from, stream);
    make_plan(&plan, like->info.ndim, like->shape, to->strides, from->strides,
              gr_dtype_size(like->info.dtype));
    return copy_blocks(&plan, to, from, stream);
}

/* Copies one side to the other. After an error a part of the copy may be in the stream. */
static gr_status copy(const struct side *to, const struct side *from, CUstream stream)
{
    const gr_tensor *placed = is_on_host(to) && from->tensor ? from->tensor : to->tensor;
    const struct gr_context *at = &placed->context;
    if (to->tensor)
        GR_TRY(gr_tensor_begin_copy(to->tensor, stream, at, true));
    if (from->tensor)
        GR_TRY(gr_tensor_begin_copy(from->tensor, stream, at, false));
    gr_status status = copy_elements(to, from, at, stream);
    if (to->tensor)
        gr_tensor_end_use(to->tensor, stream, at, true);
    if (from->tensor)
        gr_tensor_end_use(from->tensor, stream, at, false);
    return status;
}

gr_status gr_tensor_copy_used(const gr_tensor *to, const gr_tensor *from,
                              const struct gr_context *at, CUstream stream)
{
    const struct side target = side_of(to), source = side_of(from);
    return copy_elements(&target, &source, at, stream);
}

static gr_status check_same(const gr_tensor *to, const gr_tensor *from)
{
    GR_REFUSE_IF(to->info.dtype != from->info.dtype,
                 "The tensors have the types %s and %s, but a copy does not convert: use a view "
                 "for the same bits, or gr_publish(), which converts.",
                 gr_dtype_get_info(to->info.dtype)->name,
                 gr_dtype_get_info(from->info.dtype)->name);
    bool same = to->info.ndim == from->info.ndim;
    for (unsigned i = 0; same && i < to->info.ndim; i++)
        same = to->shape[i] == from->shape[i];
    if (same)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The shapes differ: the destination is %s, the source is %s.",
                   gr_shape_format(to->info.ndim, to->shape).text,
                   gr_shape_format(from->info.ndim, from->shape).text);
}

/*
 * Refuses a stride of 0, because the value of an element that is written twice is undefined. A
 * tensor without elements is accepted.
 */
static gr_status check_target(const gr_tensor *to)
{
    for (unsigned i = 0; i < to->info.ndim && to->info.bytes; i++)
        GR_REFUSE_IF(
            !to->strides[i] && to->shape[i] > 1,
            "The destination of shape %s has stride 0 in dimension %u: its elements share bytes.",
            gr_shape_format(to->info.ndim, to->shape).text, i);
    return GR_OK;
}

static gr_status copy_tensor(gr_tensor *to, const gr_tensor *from, CUstream stream)
{
    GR_TRY(gr_tensor_check(from));
    GR_TRY(gr_tensor_check(to));
    GR_TRY(check_same(to, from));
    GR_TRY(check_target(to));
    const struct side target = side_of(to), source = side_of(from);
    return copy(&target, &source, stream);
}

gr_status gr_tensor_copy(gr_tensor *to, const gr_tensor *from, CUstream stream)
{
    GR_CALL();
    return copy_tensor(to, from, stream);
}

gr_tensor *gr_tensor_clone(gr_tensor *tensor, gr_memory memory, CUstream stream)
{
    GR_CALL();
    if (gr_tensor_check(tensor) != GR_OK || gr_stream_check_given(stream, false) != GR_OK)
        return NULL;
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = tensor->info.dtype, .ndim = tensor->info.ndim,
                .shape = tensor->shape, .layout = tensor->info.layout, .memory = memory);
    gr_tensor *made = gr_tensor_alloc_taken(&desc, &tensor->context, stream);
    if (!made)
        return NULL;
    made->copied = true;
    if (copy_tensor(made, tensor, stream) == GR_OK)
        return made;
    gr_tensor_free(made);
    return NULL;
}

/* ---- Host memory ----------------------------------------------------------------------------- */

static gr_status check_host(const gr_tensor *tensor, const void *memory, size_t bytes)
{
    GR_TRY(gr_tensor_check(tensor));
    GR_REFUSE_IF(bytes != tensor->info.bytes,
                 "`bytes` is %zu, but the elements of shape %s and type %s have %zu: pass %zu.",
                 bytes, gr_shape_format(tensor->info.ndim, tensor->shape).text,
                 gr_dtype_get_info(tensor->info.dtype)->name, tensor->info.bytes,
                 tensor->info.bytes);
    GR_REFUSE_IF(!memory && bytes, "The pointer to host memory is NULL.");
    return GR_OK;
}

static struct side host_side(const gr_tensor *like, const void *memory,
                             int64_t strides[GR_TENSOR_DIMS])
{
    gr_shape_compact(like->info.ndim, like->shape, gr_dtype_size(like->info.dtype), strides);
    return (struct side){NULL, (CUdeviceptr)(uintptr_t)memory, strides, CU_MEMORYTYPE_HOST};
}

gr_status gr_tensor_copy_to_host(const gr_tensor *tensor, void *to, size_t bytes, CUstream stream)
{
    GR_CALL();
    int64_t strides[GR_TENSOR_DIMS];
    GR_TRY(check_host(tensor, to, bytes));
    const struct side target = host_side(tensor, to, strides), source = side_of(tensor);
    return copy(&target, &source, stream);
}

gr_status gr_tensor_copy_from_host(gr_tensor *tensor, const void *from, size_t bytes,
                                   CUstream stream)
{
    GR_CALL();
    int64_t strides[GR_TENSOR_DIMS];
    GR_TRY(check_host(tensor, from, bytes));
    GR_TRY(check_target(tensor));
    const struct side target = side_of(tensor), source = host_side(tensor, from, strides);
    return copy(&target, &source, stream);
}
