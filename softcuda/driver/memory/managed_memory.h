/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory is managed, and which the host's. */
#ifndef GR_SOFTCUDA_DRIVER_MANAGED_MEMORY_H
#define GR_SOFTCUDA_DRIVER_MANAGED_MEMORY_H

#include "softcuda/driver/memory/managed_advice.h"

/* Of a range of stream-ordered memory, the flags say which memory its pool has. */
#define SOFT_POOL_OF_DEVICE  0u
#define SOFT_POOL_OF_HOST    1u
#define SOFT_POOL_OF_MANAGED 2u

/* By cuMemAllocManaged, from a pool of such memory, or a variable of the program. */
static inline bool soft_is_managed(const soft_range *range)
{
    return range->kind == SOFT_MEMORY_MANAGED ||
           (range->kind == SOFT_MEMORY_POOL && range->flags == SOFT_POOL_OF_MANAGED);
}

/* Pinned memory of the host's, the application's own included. */
static inline bool soft_is_host(const soft_range *range)
{
    return range->kind == SOFT_MEMORY_HOST || range->kind == SOFT_MEMORY_REGISTERED ||
           (range->kind == SOFT_MEMORY_POOL && range->flags == SOFT_POOL_OF_HOST);
}

/* CUDA_ERROR_INVALID_VALUE unless all of it is managed memory of one allocation. */
CUresult soft_managed_check(CUdeviceptr pointer, size_t size);

/* A place as the first functions named it: a device's number, or CU_DEVICE_CPU. */
soft_place soft_place_of_device(CUdevice device);

soft_place soft_place_of_location(const CUmemLocation *location);

/* CUDA_ERROR_INVALID_VALUE or CUDA_ERROR_INVALID_DEVICE for what is no place. The host's memory is
 * one node here. */
CUresult soft_place_check(soft_place place);

#endif
