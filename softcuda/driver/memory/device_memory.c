/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Device memory: pages of the process. New pages are filled with a poison byte, and freed pages
 * become inaccessible.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/ipc_export.h"
#include "softcuda/driver/memory/managed_advice.h"
#include "softcuda/driver/memory/managed_memory.h"

#include <stdatomic.h>

static _Atomic size_t in_use[SOFT_MAX_DEVICES];

/* The NVIDIA driver uses about 1/256 of device memory for itself: 552 MB of 150 GB on an H200. */
#define OWN_PART 256

/* The number of bytes of device memory that applications can use. */
static size_t usable_size(size_t total)
{
    return total - total / OWN_PART;
}

void soft_device_memory_count(CUdevice device, size_t *unused, size_t *total)
{
    size_t used = atomic_load(&in_use[device]);
    *total = 0;
    cuDeviceTotalMem_v2(total, device);
    *unused = usable_size(*total) > used ? usable_size(*total) - used : 0;
}

bool soft_device_memory_charge(CUdevice device, size_t size)
{
    size_t total = 0;
    cuDeviceTotalMem_v2(&total, device);
    size_t before = atomic_fetch_add(&in_use[device], size);
    if (size <= usable_size(total) && before <= usable_size(total) - size)
        return true;
    soft_device_memory_uncharge(device, size);
    return false;
}

void soft_device_memory_uncharge(CUdevice device, size_t size)
{
    atomic_fetch_sub(&in_use[device], size);
}

CUresult soft_device_memory_new(soft_range *range)
{
    if (range->context)
        range->device = soft_context_device(range->context);
    SOFT_FAIL_IF(!soft_device_memory_charge(range->device, range->size), CUDA_ERROR_OUT_OF_MEMORY);
    range->base = soft_pages_new(range->size, SOFT_ALIGNMENT, true);
    if (!range->base) {
        soft_device_memory_uncharge(range->device, range->size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = soft_range_add(range);
    if (result != CUDA_SUCCESS)
        soft_device_memory_free(range, "device memory of a failed allocation");
    return result;
}

void soft_device_memory_free(const soft_range *range, const char *what)
{
    if (soft_is_managed(range))
        soft_advice_drop(range->base, range->size);
    if (range->kind == SOFT_MEMORY_DEVICE)
        soft_ipc_unexport(range->base);
    soft_pages_retire(range->base, range->size, what);
    if (range->kind != SOFT_MEMORY_EXTERNAL)
        soft_device_memory_uncharge(range->device, range->size);
}
