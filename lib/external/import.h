/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Imported memory, which several resources may lie in, and memory of CUDA's own that is exported.
 */
#ifndef GR_LIB_EXTERNAL_IMPORT_H
#define GR_LIB_EXTERNAL_IMPORT_H

#include <cuda.h>
#include <grinterop/external.h>

#include "lib/external/vmm.h"

/*
 * Mesa's CPU drivers take a buffer in imported memory only if there are 48 bytes more than the
 * buffer; some to spare.
 */
#define GR_MESA_ROOM 64

/* Memory as it was imported. Counted: each resource in it holds it. */
struct gr_import {
    unsigned holds;          /* changed atomically */
    CUexternalMemory handle; /* NULL where `vmm` is used */
    struct gr_vmm vmm;       /* memory of CUDA's own, which has one resource, all of it or less */
    CUexternalMemoryHandleType type;
    size_t size;
    bool dedicated;
    /*
     * Of a part of a larger memory of CUDA's own: ends it, instead of the memory and the struct.
     * What lies beside it is not its own, so it is not exported.
     */
    void (*end_part)(struct gr_import *import, bool alive);
};

/*
 * Imports what was checked; the caller has the one hold. The file descriptor stays the caller's.
 * NULL after an error, which is recorded. The CUDA context is current.
 */
struct gr_import *gr_import_memory(const gr_external_memory_desc *info, const char *call);

/* Likewise new memory of CUDA's own on a device, of at least `size` bytes. */
struct gr_import *gr_import_new(CUdevice device, size_t size, const char *call);

/* Likewise memory of another process's CUDA on a device: `size` as it was exported. */
struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size, const char *call);

/*
 * Lets go of one hold; `alive` says whether the CUDA context, then current, still is. NULL is fine.
 */
void gr_import_drop(struct gr_import *import, bool alive);

#endif
