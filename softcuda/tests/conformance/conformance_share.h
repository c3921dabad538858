/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the cases of virtual and of external memory; implemented in conformance_share.c. */
#ifndef GR_TESTS_CONFORMANCE_SHARE_H
#define GR_TESTS_CONFORMANCE_SHARE_H

#include "conformance.h"

/* ---- Virtual memory -------------------------------------------------------------------------- */

/* Pinned memory of the device, and access from it. */
CUmemAllocationProp share_properties(CUmemAllocationHandleType types);
CUmemAccessDesc share_access(CUmemAccess_flags flags);
size_t share_granule(void);

/* An allocation that can be exported, and a new descriptor for it. */
CUmemGenericAllocationHandle share_create(size_t size);
int share_export(CUmemGenericAllocationHandle handle);

/* Maps the whole allocation to new addresses, accessible; and unmaps it. */
CUdeviceptr share_map(CUmemGenericAllocationHandle handle, size_t size);
void share_unmap(CUdeviceptr pointer, size_t size);

/* Write the pattern of this seed, and check it. */
void share_write(CUdeviceptr pointer, size_t size, unsigned seed);
void share_assert(CUdeviceptr pointer, size_t size, unsigned seed);

/* ---- External memory ------------------------------------------------------------------------- */

/* The size of the allocations that the cases import. */
#define SHARE_SIZE ((size_t)2 << 20)

/* Memory of cuMemCreate, imported. A GPU driver may not support importing such a descriptor. */
#define IMPORT_TEST(...)                                                                           \
    TEST_UNLESS(gr_cuda_is_software() ? NULL                                                       \
                                      : "external memory must come from a graphics API here",      \
                __VA_ARGS__)

CUDA_EXTERNAL_MEMORY_HANDLE_DESC share_description(int fd, size_t size);
CUexternalMemory share_import(CUmemGenericAllocationHandle handle, size_t size);
CUdeviceptr share_map_buffer(CUexternalMemory memory, size_t offset, size_t size);

bool share_is_open(int fd);

#endif
