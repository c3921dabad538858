/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: plain pages of the process, filled with a poison byte and out of reach once
 * freed. */
#include "softcuda/device_memory.h"

#include <stdatomic.h>

static _Atomic size_t in_use;

static CUresult total_memory(size_t *total)
{
    return cuDeviceTotalMem_v2(total, 0);
}

void soft_device_memory_count(size_t *unused, size_t *total)
{
    size_t used = atomic_load(&in_use);
    *total = 0;
    total_memory(total);
    *unused = *total > used ? *total - used : 0;
}

bool soft_device_memory_book(size_t size)
{
    size_t total = 0;
    total_memory(&total);
    size_t before = atomic_fetch_add(&in_use, size);
    if (size <= total && before <= total - size)
        return true;
    soft_device_memory_unbook(size);
    return false;
}

void soft_device_memory_unbook(size_t size)
{
    atomic_fetch_sub(&in_use, size);
}

CUresult soft_device_memory_new(soft_range *range)
{
    if (!soft_device_memory_book(range->size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    range->base = soft_pages_new(range->size, SOFT_ALIGNMENT, true);
    if (!range->base) {
        soft_device_memory_unbook(range->size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = soft_range_add(range);
    if (result != CUDA_SUCCESS)
        soft_device_memory_free(range, "device memory that was never given out");
    return result;
}

void soft_device_memory_free(const soft_range *range, const char *what)
{
    soft_pages_retire(range->base, range->size, what);
    if (range->kind != SOFT_MEMORY_EXTERNAL)
        soft_device_memory_unbook(range->size);
}
