/* SPDX-License-Identifier: Apache-2.0 */
/* Imported memory, as external_memory.c keeps it for external_image.c. */
#ifndef GR_SOFTCUDA_DRIVER_EXTERNAL_MEMORY_H
#define GR_SOFTCUDA_DRIVER_EXTERNAL_MEMORY_H

#include "softcuda/driver/memory/memfd.h"
#include "softcuda/driver/owned.h"

typedef struct {
    soft_owned owned;
    soft_memfd file;
    size_t size;       /* as the application gave it */
    bool is_elsewhere; /* on another device than its context */
} soft_external;

/*
 * Checks the current context and finds imported memory by its handle, or gives
 * CUDA_ERROR_INVALID_HANDLE.
 */
CUresult soft_external_get(CUexternalMemory handle, soft_external **external);

/* A view of a part of it, known as a range, which has the memory's context and this owner (NULL:
 * what cuMemFree may free). It keeps the bytes alive by itself. CUDA_ERROR_INVALID_VALUE if the
 * part isn't inside. */
CUresult soft_external_map(const soft_external *external, uint64_t offset, uint64_t size,
                           void *owner, unsigned char **bytes);

#endif
