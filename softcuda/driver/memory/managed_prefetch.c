/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls that announce the use of managed memory: prefetches, singly and in batches, discarded
 * bytes, and streams to which memory is attached. A prefetch is stored but moves nothing.
 */
#include "softcuda/driver/memory/managed_advice.h"
#include "softcuda/driver/memory/managed_memory.h"

#include <string.h>

static void store_prefetch(soft_advice *advice, const void *how)
{
    advice->prefetched = *(const soft_place *)how;
}

static CUresult prefetch(CUdeviceptr pointer, size_t size, soft_place place, CUstream stream)
{
    SOFT_GET(soft_stream *, ordered, soft_stream_get(stream, &ordered));
    SOFT_TRY(soft_managed_check(pointer, size));
    SOFT_TRY(soft_place_check(place));
    SOFT_TRY(soft_advise((uintptr_t)pointer, (uintptr_t)pointer + size, store_prefetch, &place));
    return soft_stream_order(ordered);
}

SOFT_API_ptsz(cuMemPrefetchAsync,
              (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
              (devPtr, count, dstDevice, hStream))
{
    return prefetch(devPtr, count, soft_place_of_device(dstDevice), hStream);
}

#if CUDA_VERSION >= 12020
SOFT_API_ptsz(cuMemPrefetchAsync_v2,
              (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
               CUstream hStream),
              (devPtr, count, location, flags, hStream))
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(flags != 0, CUDA_ERROR_INVALID_VALUE);
    return prefetch(devPtr, count, soft_place_of_location(&location), hStream);
}
#endif

/* ---- Batches --------------------------------------------------------------------------------- */

#if CUDA_VERSION >= 13000
/* A batch of ranges, and the location to which each is prefetched. */
struct batch {
    const CUdeviceptr *pointers;
    const size_t *sizes;
    size_t count;
    const CUmemLocation *places;
    const size_t *first_of; /* for each location, the index of its first range */
    size_t place_count;
};

static CUresult check_batch(const struct batch *batch, unsigned long long flags, CUstream stream)
{
    soft_stream *ordered;
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!batch->pointers || !batch->sizes || !batch->count || flags != 0 || !stream ||
                     stream == CU_STREAM_LEGACY,
                 CUDA_ERROR_INVALID_VALUE);
    CUresult result = soft_stream_get(stream, &ordered);
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++)
        result = soft_managed_check(batch->pointers[i], batch->sizes[i]);
    return result;
}

static CUresult check_places(const struct batch *batch)
{
    SOFT_FAIL_IF(!batch->places || !batch->first_of || !batch->place_count ||
                     batch->place_count > batch->count || batch->first_of[0] != 0,
                 CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < batch->place_count && result == CUDA_SUCCESS; i++) {
        /* A location without ranges is rejected, as on a GPU. */
        SOFT_FAIL_IF(batch->first_of[i] >= batch->count ||
                         (i > 0 && batch->first_of[i] < batch->first_of[i - 1]),
                     CUDA_ERROR_INVALID_VALUE);
        result = soft_place_check(soft_place_of_location(&batch->places[i]));
    }
    return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

/*
 * The bytes are undefined after a discard. Here they become poison when the stream reaches the
 * discard.
 */
static void run_discard(void *copy)
{
    const soft_range *part = copy;
    memset(part->base, SOFT_POISON, part->size);
}

static CUresult discard_batch(const struct batch *batch, CUstream handle)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        const soft_range part = {.base = (unsigned char *)(uintptr_t)batch->pointers[i],
                                 .size = batch->sizes[i]};
        result = soft_stream_push_copy(stream, run_discard, &part, sizeof(part));
    }
    return result;
}

static CUresult prefetch_batch(const struct batch *batch, unsigned long long flags, CUstream stream,
                               bool discards)
{
    SOFT_TRY(check_batch(batch, flags, stream));
    SOFT_TRY(check_places(batch));
    size_t place = 0;
    for (size_t i = 0; i < batch->count; i++) {
        while (place + 1 < batch->place_count && batch->first_of[place + 1] == i)
            place++;
        SOFT_TRY(prefetch(batch->pointers[i], batch->sizes[i],
                          soft_place_of_location(&batch->places[place]), stream));
    }
    return discards ? discard_batch(batch, stream) : CUDA_SUCCESS;
}

SOFT_API_ptsz(cuMemDiscardBatchAsync,
              (CUdeviceptr * dptrs, size_t *sizes, size_t count, unsigned long long flags,
               CUstream hStream),
              (dptrs, sizes, count, flags, hStream))
{
    const struct batch batch = {.pointers = dptrs, .sizes = sizes, .count = count};
    SOFT_TRY(check_batch(&batch, flags, hStream));
    return discard_batch(&batch, hStream);
}

#define PREFETCH_BATCH(name, discards)                                                             \
    SOFT_API_ptsz(name,                                                                            \
                  (CUdeviceptr * pointers, size_t * sizes, size_t count, CUmemLocation * places,   \
                   size_t * first_of, size_t place_count, unsigned long long flags,                \
                   CUstream stream),                                                               \
                  (pointers, sizes, count, places, first_of, place_count, flags, stream))          \
    {                                                                                              \
        const struct batch batch = {pointers, sizes, count, places, first_of, place_count};        \
        return prefetch_batch(&batch, flags, stream, discards);                                    \
    }
PREFETCH_BATCH(cuMemPrefetchBatchAsync, false)
PREFETCH_BATCH(cuMemDiscardAndPrefetchBatchAsync, true)
#endif

/* ---- Attaching to streams -------------------------------------------------------------------- */

/*
 * Attaching announces which stream will use the memory. Here every thread and device can use it
 * anyway.
 */
SOFT_API_ptsz(cuStreamAttachMemAsync,
              (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags),
              (hStream, dptr, length, flags))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    soft_range range;
    void *address = (void *)(uintptr_t)dptr;
    SOFT_FAIL_IF(!soft_range_find(address, &range) || !soft_is_managed(&range) ||
                     (void *)range.base != address || (length && length != range.size),
                 CUDA_ERROR_INVALID_VALUE);
    bool is_single = flags == CU_MEM_ATTACH_SINGLE;
    SOFT_FAIL_IF(!is_single && flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(is_single && (!hStream || hStream == CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
    return soft_stream_order(stream);
}
