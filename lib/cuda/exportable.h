/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory of cuMemCreate(), which other APIs and processes import. */
#ifndef GR_LIB_CUDA_EXPORTABLE_H
#define GR_LIB_CUDA_EXPORTABLE_H

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

/*
 * Room after a buffer: Mesa's CPU drivers accept a buffer in imported memory only if at least 48
 * more bytes follow it.
 */
#define GR_MESA_ROOM 64

/* An allocation, and its mapping to an address. */
struct gr_exportable {
    CUmemGenericAllocationHandle allocation;
    CUdeviceptr ptr;
    size_t size; /* of both, in bytes */
};

/*
 * Allocates at least `size` bytes on a device, with read and write access for it and for the device
 * of the current CUDA context.
 */
gr_status gr_exportable_make(struct gr_exportable *memory, CUdevice device, size_t size);

/*
 * Likewise, but opens memory that another process exported. `size` is the exported size. The caller
 * keeps the fd.
 */
gr_status gr_exportable_open(struct gr_exportable *memory, CUdevice device, int fd, size_t size);

/* Needs no CUDA context, since the memory belongs to its device. */
void gr_exportable_end(const struct gr_exportable *memory);

/* Exports an allocation as a file descriptor, which the caller owns. */
gr_status gr_allocation_export(CUmemGenericAllocationHandle allocation, int *fd);

/* The bytes of an allocation of cuMemCreate(), which somebody else made and mapped. */
struct gr_allocation {
    CUmemGenericAllocationHandle handle; /* a reference, which cuMemRelease() drops */
    CUdevice device;                     /* the device with the memory */
    size_t offset, size;                 /* of the bytes, and of the whole allocation */
};

/*
 * Finds the allocation that contains `size` bytes from `ptr` on, and adds a reference. Errors:
 * GR_ERR_UNSUPPORTED if there is none, or if it cannot be exported as a file descriptor.
 */
gr_status gr_allocation_find(CUdeviceptr ptr, size_t size, struct gr_allocation *found);

#endif
