/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies tensors that kernels cannot access, in host memory or an array, to and from device memory.
 */
#include "lib/publish/publish.h"

#include <stdlib.h>

#include "lib/tensor/tensor.h"

/*
 * A publish also copies gaps of up to this many bytes between elements, because one large copy is
 * faster than many small ones. A fetch must not write to gaps.
 */
#define MOST_GAP 64

/* Rows that are copied without the gaps between them begin at multiples of this number. */
#define ROW_ALIGNMENT 16

/* The dimensions with more than one element, by increasing distance between elements. */
static unsigned sort(const gr_tensor *tensor, unsigned order[GR_TENSOR_DIMS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < tensor->info.ndim; i++) {
        if (tensor->shape[i] == 1 || tensor->strides[i] == 0)
            continue;
        unsigned place = count++;
        for (; place > 0 && llabs(tensor->strides[order[place - 1]]) > llabs(tensor->strides[i]);
             place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    return count;
}

/*
 * Lays out the elements on the device in the order that they have on the host, without large gaps.
 * Returns the size in bytes. `ptr` of the device side becomes the offset of element 0.
 */
static size_t lay_out(const gr_tensor *host, bool fetch, struct gr_moved_tensor *moved)
{
    unsigned order[GR_TENSOR_DIMS];
    const unsigned count = sort(host, order);
    const int64_t size = (int64_t)gr_dtype_size(host->info.dtype);
    int64_t extent = size;
    struct gr_runs *runs = &moved->runs;
    moved->device.ptr = 0;
    for (unsigned i = 0; i < count; i++) {
        const int64_t n = host->shape[order[i]], apart = llabs(host->strides[order[i]]);
        int64_t stride = apart;
        if (runs->ndim > 0 || apart - extent > (fetch ? 0 : MOST_GAP) || apart % size) {
            stride = (extent + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
            runs->shape[runs->ndim] = n;
            runs->host[runs->ndim] = apart;
            runs->device[runs->ndim++] = stride;
        }
        extent += (n - 1) * stride;
        if (runs->ndim == 0)
            runs->bytes = (size_t)extent;
        if (host->strides[order[i]] < 0) {
            moved->device.ptr += (CUdeviceptr)((n - 1) * stride);
            runs->at -= (CUdeviceptr)((n - 1) * apart);
        }
        moved->device.strides[order[i]] = host->strides[order[i]] < 0 ? -stride : stride;
    }
    return (size_t)extent;
}

/* The copy of an array is compact. */
static gr_status begin_array(const gr_tensor **tensor, bool fetch, const struct gr_context *at,
                             CUstream stream, struct gr_moved_tensor *moved)
{
    const gr_tensor *array = *tensor;
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = array->info.dtype, .ndim = array->info.ndim,
                .shape = array->shape, .layout = array->info.layout);
    moved->memory = gr_tensor_alloc_taken(&desc, at, stream);
    if (!moved->memory)
        return gr_last_error()->status;
    moved->array = array;
    moved->device = *moved->memory;
    *tensor = &moved->device;
    return fetch ? GR_OK : gr_tensor_copy_used(moved->memory, array, at, stream);
}

gr_status gr_moved_tensor_begin(const gr_tensor **tensor, bool fetch, const struct gr_context *at,
                                CUstream stream, struct gr_moved_tensor *moved)
{
    const gr_tensor *host = *tensor;
    if (host && gr_tensor_is_array(host))
        return begin_array(tensor, fetch, at, stream, moved);
    if (!host || host->info.memory != GR_MEMORY_HOST)
        return GR_OK;
    moved->device = *host;
    moved->device.info.memory = GR_MEMORY_DEVICE;
    moved->runs = (struct gr_runs){.at = host->ptr, .bytes = gr_dtype_size(host->info.dtype)};
    const int64_t size = (int64_t)lay_out(host, fetch, moved);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &size);
    moved->memory = gr_tensor_alloc_taken(&desc, at, stream);
    if (!moved->memory)
        return gr_last_error()->status;
    moved->device.ptr += moved->memory->ptr;
    *tensor = &moved->device;
    return fetch ? GR_OK : gr_runs_copy(&moved->runs, moved->memory->ptr, true, stream);
}

gr_status gr_moved_tensor_read_back(const struct gr_moved_tensor *moved, CUstream stream)
{
    if (!moved->memory)
        return GR_OK;
    return moved->array
               ? gr_tensor_copy_used(moved->array, moved->memory, &moved->memory->context, stream)
               : gr_runs_copy(&moved->runs, moved->memory->ptr, false, stream);
}

void gr_moved_tensor_end(struct gr_moved_tensor *moved)
{
    gr_tensor_free(moved->memory);
}
