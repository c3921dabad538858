/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Allocations, mappings and imports for the cases of shared memory. */
#define _GNU_SOURCE
#include "conformance_share.h"

#include <fcntl.h>
#include <stdlib.h>

CUmemAllocationProp share_properties(CUmemAllocationHandleType types)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = types,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
    };
}

size_t share_granule(void)
{
    const CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    size_t size = 0;
    CU(MemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return size;
}

CUmemGenericAllocationHandle share_create(size_t size)
{
    const CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle handle = 0;
    CU(MemCreate(&handle, size, &prop, 0));
    return handle;
}

CUmemAccessDesc share_access(CUmemAccess_flags flags)
{
    return (CUmemAccessDesc){
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
        .flags = flags,
    };
}

CUdeviceptr share_map(CUmemGenericAllocationHandle handle, size_t size)
{
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr pointer = 0;
    CU(MemAddressReserve(&pointer, size, 0, 0, 0));
    CU(MemMap(pointer, size, 0, handle, 0));
    CU(MemSetAccess(pointer, size, &access, 1));
    return pointer;
}

void share_unmap(CUdeviceptr pointer, size_t size)
{
    CU(CtxSynchronize()); /* copies and fills of a GPU may still be running */
    CU(MemUnmap(pointer, size));
    CU(MemAddressFree(pointer, size));
}

int share_export(CUmemGenericAllocationHandle handle)
{
    int fd = -1;
    CU(MemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ck_assert_int_ge(fd, 0);
    return fd;
}

void share_write(CUdeviceptr pointer, size_t size, unsigned seed)
{
    unsigned char *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    CU(MemcpyHtoD(pointer, bytes, size));
    free(bytes);
    CU(CtxSynchronize());
}

void share_assert(CUdeviceptr pointer, size_t size, unsigned seed)
{
    unsigned char *bytes = must_allocate(size);
    CU(MemcpyDtoH(bytes, pointer, size));
    assert_no_difference(pattern_differs_once(bytes, size, seed));
}

CUDA_EXTERNAL_MEMORY_HANDLE_DESC share_description(int fd, size_t size)
{
    return (CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = size};
}

bool share_is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

CUexternalMemory share_import(CUmemGenericAllocationHandle handle, size_t size)
{
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = share_description(share_export(handle), size);
    CUexternalMemory memory = NULL;
    CU(ImportExternalMemory(&memory, &d));
    ck_assert(!share_is_open(d.handle.fd));
    return memory;
}

CUdeviceptr share_map_buffer(CUexternalMemory memory, size_t offset, size_t size)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.offset = offset, .size = size};
    CUdeviceptr pointer = 0;
    CU(ExternalMemoryGetMappedBuffer(&pointer, memory, &d));
    return pointer;
}
