/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of virtual memory and of external memory share; conformance_share.c has it. */
#ifndef GR_TESTS_CONFORMANCE_SHARE_H
#define GR_TESTS_CONFORMANCE_SHARE_H

#include "conformance.h"

/* ---- Virtual memory -------------------------------------------------------------------------- */

/* Pinned memory of the device, and access from there. */
CUmemAllocationProp share_properties(CUmemAllocationHandleType types);
CUmemAccessDesc share_access(CUmemAccess_flags flags);
size_t share_granule(void);

/* An allocation that can be exported, and a new descriptor for it. */
CUmemGenericAllocationHandle share_create(size_t size);
int share_export(CUmemGenericAllocationHandle handle);

/* Addresses of their own for the whole allocation, accessible; and their end. */
CUdeviceptr share_map(CUmemGenericAllocationHandle handle, size_t size);
void share_unmap(CUdeviceptr pointer, size_t size);

/* Write the pattern of this seed, and check it. */
void share_write(CUdeviceptr pointer, size_t size, unsigned seed);
void share_assert(CUdeviceptr pointer, size_t size, unsigned seed);

/* ---- External memory ------------------------------------------------------------------------- */

/* Of the allocations that the cases import. */
#define SHARE_SIZE ((size_t)2 << 20)

/* Memory of cuMemCreate, imported. On a GPU such a descriptor need not be one that imports. */
#define need_imports()                                                                             \
    do {                                                                                           \
        if (!gr_cuda_is_software())                                                                \
            skip("here external memory has to be a graphics API's");                               \
    } while (0)

CUDA_EXTERNAL_MEMORY_HANDLE_DESC share_description(int fd, size_t size);
CUexternalMemory share_import(CUmemGenericAllocationHandle handle, size_t size);
CUdeviceptr share_map_buffer(CUexternalMemory memory, size_t offset, size_t size);

bool share_is_open(int fd);

#endif
