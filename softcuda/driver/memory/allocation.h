/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory allocated by cuMemCreate: functions that allocation.c provides to virtual_memory.c. */
#ifndef GR_SOFTCUDA_DRIVER_ALLOCATION_H
#define GR_SOFTCUDA_DRIVER_ALLOCATION_H

#include "softcuda/driver/memory/memfd.h"

typedef struct {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    soft_memfd file;
    size_t size;
    size_t booked;     /* bytes counted as used on the device; 0 for imported memory */
    unsigned holders;  /* the number of holders; each cuMemRelease removes one */
    unsigned mappings; /* the number of mappings; holders and mappings keep the memory alive */
} soft_allocation;

/* Adds a mapping to the allocation; NULL for an invalid handle. */
soft_allocation *soft_allocation_map(CUmemGenericAllocationHandle handle);

/* Removes a mapping. */
void soft_allocation_unmap(soft_allocation *allocation);

/* Adds a holder to a mapped allocation. */
void soft_allocation_hold(soft_allocation *allocation);

/*
 * Checks a location, which describes where memory is or who accesses it. CUDA_ERROR_INVALID_DEVICE
 * for an invalid device; CUDA_ERROR_NOT_SUPPORTED, with a message, for the host.
 */
CUresult soft_allocation_check_location(const CUmemLocation *location);

#endif
