/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions that the cases of virtual memory and of external memory share; implemented in
 * conformance_share.c.
 */
#ifndef GR_TESTS_CONFORMANCE_SHARE_H
#define GR_TESTS_CONFORMANCE_SHARE_H

#include "conformance.h"

/* ---- Virtual memory -------------------------------------------------------------------------- */

/* The properties of pinned memory on the fixture's device, and the access of this device to it. */
CUmemAllocationProp share_properties(CUmemAllocationHandleType types);
CUmemAccessDesc share_access(CUmemAccess_flags flags);
size_t share_granule(void);

/* Create an allocation that can be exported, and export a new descriptor for it. */
CUmemGenericAllocationHandle share_create(size_t size);
int share_export(CUmemGenericAllocationHandle handle);

/* Map the whole allocation to new addresses and make them accessible; unmap it. */
CUdeviceptr share_map(CUmemGenericAllocationHandle handle, size_t size);
void share_unmap(CUdeviceptr pointer, size_t size);

/* Write the pattern of this seed, and check that memory contains it. */
void share_write(CUdeviceptr pointer, size_t size, unsigned seed);
void share_assert(CUdeviceptr pointer, size_t size, unsigned seed);

/* ---- External memory ------------------------------------------------------------------------- */

/* The size of the allocations that the cases import. */
#define SHARE_SIZE ((size_t)2 << 20)

/*
 * A case that imports memory of cuMemCreate. A GPU driver may not support the import of such a
 * descriptor.
 */
#define IMPORT_TEST(...)                                                                           \
    TEST_UNLESS(gr_cuda_is_software() ? NULL                                                       \
                                      : "external memory must come from a graphics API here",      \
                __VA_ARGS__)

CUDA_EXTERNAL_MEMORY_HANDLE_DESC share_description(int fd, size_t size);
CUexternalMemory share_import(CUmemGenericAllocationHandle handle, size_t size);
CUdeviceptr share_map_buffer(CUexternalMemory memory, size_t offset, size_t size);

bool share_is_open(int fd);

#endif
