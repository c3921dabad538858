/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imported memory, which several resources can share, and memory that CUDA allocates for export. */
#ifndef GR_LIB_EXTERNAL_IMPORT_H
#define GR_LIB_EXTERNAL_IMPORT_H

#include <cuda.h>
#include <grinterop/external.h>

#include "lib/cuda/context.h"

/*
 * Room after a buffer: Mesa's CPU drivers accept a buffer in imported memory only if at least 48
 * more bytes follow it.
 */
#define GR_MESA_ROOM 64

/* An allocation of `size` bytes by CUDA, and a device pointer to its first byte. */
struct gr_vmm {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr;
    size_t size; /* a multiple of the driver's granularity */
};

/* An import of memory, reference-counted: each resource in the memory holds a reference. */
struct gr_import {
    unsigned holds;          /* the number of references, changed atomically */
    CUexternalMemory handle; /* NULL if `vmm` is used */
    struct gr_vmm vmm;       /* memory allocated by CUDA, used by one resource */
    CUexternalMemoryHandleType type;
    size_t size;
    bool dedicated;
    /*
     * For a part of a larger allocation: frees the part, but neither the memory nor the struct.
     * Such a part is never exported, because other resources use the rest of the memory. Otherwise
     * NULL.
     */
    void (*end_part)(struct gr_import *import, bool alive);
};

/*
 * Imports memory whose description was checked. The caller gets the only reference, and still owns
 * the file descriptor. NULL after recording an error. The CUDA context must be current.
 */
struct gr_import *gr_import_memory(const gr_external_memory_desc *info, const char *call);

/*
 * Like gr_import_memory(), but allocates at least `size` bytes on a device, with read and write
 * access for it and for the device of the current CUDA context.
 */
struct gr_import *gr_import_new(CUdevice device, size_t size, const char *call);

/*
 * Like gr_import_new(), for memory that CUDA allocated in another process. `size` is the exported
 * size. The caller keeps the fd.
 */
struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size, const char *call);

/* Exports memory of gr_import_new() as a file descriptor, which the caller owns. */
gr_status gr_import_export(const struct gr_import *import, int *fd);

/*
 * Drops one reference. `alive`: the CUDA context still exists, and is current. `import` may be
 * NULL.
 */
void gr_import_drop(struct gr_import *import, bool alive);

#endif
