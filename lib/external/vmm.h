/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that CUDA allocates and can export (virtual memory management), for storage shared with
 * OpenGL.
 */
#ifndef GR_LIB_EXTERNAL_VMM_H
#define GR_LIB_EXTERNAL_VMM_H

#include <cuda.h>

#include "lib/context.h"

/* An allocation of `size` bytes, and a device pointer to all of it. */
struct gr_vmm {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr;
    size_t size; /* a multiple of the driver's granularity */
};

/*
 * Allocates at least `bytes` on `device`, and maps them for that device and for the current CUDA
 * context's, which must reach it, to read and write.
 */
gr_status gr_vmm_create(struct gr_vmm *vmm, CUdevice device, size_t bytes);

/* The same for memory of another process: `size` as it was created. The caller keeps the fd. */
gr_status gr_vmm_import(struct gr_vmm *vmm, CUdevice device, int fd, size_t size);

/* Returns a file descriptor of the memory, which the caller owns. */
gr_status gr_vmm_export(CUmemGenericAllocationHandle handle, int *fd);

/* Unmaps the pointer and drops this reference to the memory. Nothing may use it any more. */
void gr_vmm_end(struct gr_vmm *vmm);

#endif
