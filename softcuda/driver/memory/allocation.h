/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of cuMemCreate, as allocation.c keeps it for the address space, virtual_memory.c. */
#ifndef GR_SOFTCUDA_DRIVER_ALLOCATION_H
#define GR_SOFTCUDA_DRIVER_ALLOCATION_H

#include "softcuda/driver/memory/memfd.h"

/* What sizes, offsets and addresses are multiples of: 2 MiB, as on GPUs. */
#define SOFT_GRANULARITY ((size_t)2 << 20)

typedef struct {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    soft_memfd file;
    size_t size;
    size_t booked;     /* bytes on the device's account: none for imported memory */
    unsigned holders;  /* cuMemRelease ends one */
    unsigned mappings; /* the memory lives while it has either */
} soft_allocation;

/* The allocation with one mapping more, or NULL for what is no handle of one. */
soft_allocation *soft_allocation_map(CUmemGenericAllocationHandle handle);

/* Ends one mapping. */
void soft_allocation_unmap(soft_allocation *allocation);

/* One holder more, for an allocation that is mapped. */
void soft_allocation_hold(soft_allocation *allocation);

/* Checks where memory is to be, or accessed from: CUDA_ERROR_INVALID_DEVICE for what is no device,
 * CUDA_ERROR_NOT_SUPPORTED, with a line, for the host. */
CUresult soft_allocation_check_location(const CUmemLocation *location);

#endif
