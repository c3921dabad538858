/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Determines which memory is managed, and which is host memory. */
#ifndef GR_SOFTCUDA_DRIVER_MANAGED_MEMORY_H
#define GR_SOFTCUDA_DRIVER_MANAGED_MEMORY_H

#include "softcuda/driver/memory/managed_advice.h"

/* The flags of a range of stream-ordered memory: the kind of memory of its pool. */
#define SOFT_POOL_OF_DEVICE  0u
#define SOFT_POOL_OF_HOST    1u
#define SOFT_POOL_OF_MANAGED 2u

/* Memory from cuMemAllocManaged or a managed pool, or a managed variable. */
static inline bool soft_is_managed(const soft_range *range)
{
    return range->kind == SOFT_MEMORY_MANAGED ||
           (range->kind == SOFT_MEMORY_POOL && range->flags == SOFT_POOL_OF_MANAGED);
}

/* Pinned host memory, including memory that the application registered. */
static inline bool soft_is_host(const soft_range *range)
{
    return range->kind == SOFT_MEMORY_HOST || range->kind == SOFT_MEMORY_REGISTERED ||
           (range->kind == SOFT_MEMORY_POOL && range->flags == SOFT_POOL_OF_HOST);
}

/* CUDA_ERROR_INVALID_VALUE unless all bytes are managed memory of one allocation. */
CUresult soft_managed_check(CUdeviceptr pointer, size_t size);

/*
 * Converts the location that the first versions of the functions take: a device ordinal or
 * CU_DEVICE_CPU.
 */
soft_place soft_place_of_device(CUdevice device);

soft_place soft_place_of_location(const CUmemLocation *location);

/*
 * Checks a location: CUDA_ERROR_INVALID_VALUE or CUDA_ERROR_INVALID_DEVICE if it is invalid. For
 * this driver the host has one NUMA node.
 */
CUresult soft_place_check(soft_place place);

#endif
