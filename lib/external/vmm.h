/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that CUDA allocates and can export (virtual memory management), for storage shared with
 * OpenGL.
 */
#ifndef GR_LIB_EXTERNAL_VMM_H
#define GR_LIB_EXTERNAL_VMM_H

#include <cuda.h>

#include "lib/cuda/context.h"

/* An allocation of `size` bytes, and a device pointer to its first byte. */
struct gr_vmm {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr;
    size_t size; /* a multiple of the driver's granularity */
};

/*
 * Allocates at least `bytes` on `device`. Maps the memory with read and write access for `device`
 * and for the current CUDA context's device.
 */
gr_status gr_vmm_create(struct gr_vmm *vmm, CUdevice device, size_t bytes);

/* Maps memory of another process; `size` is its size at creation. The caller keeps the fd. */
gr_status gr_vmm_import(struct gr_vmm *vmm, CUdevice device, int fd, size_t size);

/* Returns a file descriptor of the memory, which the caller owns. */
gr_status gr_vmm_export(CUmemGenericAllocationHandle handle, int *fd);

/*
 * Unmaps the pointer and drops this reference to the memory. No work may use the pointer any more.
 */
void gr_vmm_end(struct gr_vmm *vmm);

#endif
