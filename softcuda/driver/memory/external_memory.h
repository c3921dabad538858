/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imported memory: functions that external_memory.c provides to external_image.c. */
#ifndef GR_SOFTCUDA_DRIVER_EXTERNAL_MEMORY_H
#define GR_SOFTCUDA_DRIVER_EXTERNAL_MEMORY_H

#include "softcuda/driver/memory/memfd.h"
#include "softcuda/driver/owned.h"

typedef struct {
    soft_owned owned;
    soft_memfd file;
    size_t size;       /* the size that the application passed */
    bool is_elsewhere; /* the memory is on another device than the context */
} soft_external;

/*
 * Checks the current context and finds imported memory by its handle. CUDA_ERROR_INVALID_HANDLE for
 * an invalid handle.
 */
CUresult soft_external_get(CUexternalMemory handle, soft_external **external);

/*
 * Maps a view of a part of the imported memory. Adds the view as a range with the memory's context
 * and this owner; a view without an owner (NULL) can be freed by cuMemFree. The view keeps the
 * bytes alive. CUDA_ERROR_INVALID_VALUE if the part is not inside the memory.
 */
CUresult soft_external_map(const soft_external *external, uint64_t offset, uint64_t size,
                           void *owner, unsigned char **bytes);

#endif
