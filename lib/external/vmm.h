/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory of CUDA's own that can be exported (virtual memory management), for storage that OpenGL
 * shares.
 */
#ifndef GR_LIB_EXTERNAL_VMM_H
#define GR_LIB_EXTERNAL_VMM_H

#include <cuda.h>

#include "lib/context.h"

/* A device pointer to the whole of a memory, which has `size` bytes. */
struct gr_vmm {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr;
    size_t size; /* a multiple of the driver's granularity */
};

/*
 * At least `bytes` of memory on `device`, which the current CUDA context's device reaches, mapped
 * for both to read and write.
 */
gr_status gr_vmm_create(struct gr_vmm *vmm, CUdevice device, size_t bytes);

/* Another process's, likewise: `size` as it was created. The fd stays the caller's. */
gr_status gr_vmm_import(struct gr_vmm *vmm, CUdevice device, int fd, size_t size);

/* A file descriptor of the memory, the caller's. */
gr_status gr_vmm_export(CUmemGenericAllocationHandle handle, int *fd);

/* Ends the pointer and this hold of the memory; nothing uses it any more. */
void gr_vmm_end(struct gr_vmm *vmm);

#endif
