/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Access of one device to the memory of another device. */
#include "soft_devices.h"

#include <unistd.h>

#define HALF (SIZE / 2)

GROUP("access between peers", add_two_case)

TWO_TEST(peer_support_is_reported)
{
    int can = 9;
    CU_READS(can, 0, DeviceCanAccessPeer(&can, two.device[0], two.device[0]));
    CU(DeviceCanAccessPeer(&can, two.device[0], two.device[1]));
    if (gr_cuda_is_software())
        ck_assert_int_eq(can, 1);
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, DeviceCanAccessPeer(&can, two.device[0], 99));
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, DeviceCanAccessPeer(&can, 99, two.device[0]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, DeviceCanAccessPeer(NULL, two.device[0], two.device[1]));

    CU_GIVES(CUDA_SUCCESS, DeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
                                                 two.device[0], two.device[1]));
    ck_assert_int_eq(can, gr_cuda_is_software() ? 0 : can);
    CU_GIVES(CUDA_SUCCESS, DeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
                                                 two.device[0], two.device[1]));
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE,
             DeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, two.device[0],
                                   two.device[0]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE,
             DeviceGetP2PAttribute(&can, 0, two.device[0], two.device[1]));
}

TWO_TEST(peer_access_can_be_enabled_only_once)
{
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(two.context[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, CtxEnablePeerAccess(two.context[1], 1));
    CU(CtxEnablePeerAccess(two.context[1], 0));
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CtxEnablePeerAccess(two.context[1], 0));
    use_device(1); /* peer access in the other direction is independent */
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(two.context[0]));
    use_device(0);
    CU(CtxDisablePeerAccess(two.context[1]));
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(two.context[1]));

    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, CtxEnablePeerAccess(NULL, 0));
    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, CtxDisablePeerAccess(NULL));
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CtxEnablePeerAccess(two.context[0], 0));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, CtxEnablePeerAccess(two.context[0], 1));
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(two.context[0]));
    CU(CtxSetCurrent(NULL));
    /*
     * A GPU driver returns this code or CUDA_ERROR_INVALID_CONTEXT. The context that was current
     * before determines which.
     */
    SOFT_GIVES(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CtxEnablePeerAccess(two.context[1], 0));
    SOFT_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(two.context[1]));
}

/*
 * Two contexts of one device need no peer access. Peer access to a destroyed context does not apply
 * to a new context.
 */
TWO_TEST(destroyed_context_leaves_no_peer_access)
{
    CUcontext same = NULL, peer = NULL, next = NULL;
    CU(CtxCreate(&same, 0, two.device[0]));
    CU(CtxCreate(&peer, 0, two.device[1]));
    use_device(0);
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CtxEnablePeerAccess(same, 0));
    CU(CtxEnablePeerAccess(peer, 0));
    CU(CtxDestroy(peer));
    CU_GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, CtxDisablePeerAccess(peer));
    CU(CtxCreate(&next, 0, two.device[1]));
    use_device(0);
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CtxDisablePeerAccess(next));
    CU(CtxDestroy(next));
    CU(CtxDestroy(same));
}

TWO_TEST(fills_need_peer_access)
{
    use_device(1);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(two.memory[0], 1, SIZE));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD32Async(two.memory[0], 1, 4, two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD2D8Async(two.memory[0], 64, 1, 8, 8, two.stream[1]));
    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, StreamWriteValue32(two.stream[1], two.memory[0], 1, 0));
    assert_memory(two.memory[0], SIZE, DEVICE_BYTE(0));
    CU(CtxEnablePeerAccess(two.context[0], 0));
    CU(MemsetD8Async(two.memory[0], 0x33, SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(two.memory[0], SIZE, 0x33);
    CU(CtxDisablePeerAccess(two.context[0]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(two.memory[0], 1, SIZE));
    assert_memory(two.memory[0], SIZE, 0x33);
}

GROUP("memory of another device", add_two_case)

TWO_TEST(all_devices_access_pinned_memory)
{
    void *pinned = NULL;
    CUdeviceptr address = 0;
    use_device(0);
    CU(MemAllocHost(&pinned, SIZE));
    use_device(1);
    CU(MemHostGetDevicePointer(&address, pinned, 0));
    CU(MemsetD8Async(address, 0x35, SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_bytes(pinned, SIZE, 0x35);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static CUmemAccess_flags pool_access(CUmemoryPool pool, int i)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = two.device[i]};
    CUmemAccess_flags flags = (CUmemAccess_flags)9;
    CU(MemPoolGetAccess(&flags, pool, &location));
    return flags;
}

/* Creates a pool on the first device. */
static CUmemoryPool make_pool(void)
{
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = two.device[0]}};
    CUmemoryPool pool = NULL;
    CU(MemPoolCreate(&pool, &props));
    return pool;
}

static CUdeviceptr pool_memory(CUmemoryPool pool)
{
    CUdeviceptr memory = 0;
    use_device(0);
    CU(MemAllocFromPoolAsync(&memory, SIZE, pool, two.stream[0]));
    set_memory(0, memory, SIZE, 0x41);
    return memory;
}

static int ordinal_of(CUdeviceptr memory)
{
    int ordinal = -9;
    CU(PointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    return ordinal;
}

TWO_TEST(each_device_has_its_own_pool)
{
    CUmemoryPool pool[2] = {NULL, NULL};
    CUdeviceptr memory = 0;
    CU(DeviceGetDefaultMemPool(&pool[0], two.device[0]));
    CU(DeviceGetDefaultMemPool(&pool[1], two.device[1]));
    ck_assert_ptr_ne(pool[0], pool[1]);
    use_device(0);
    CU(MemAllocAsync(&memory, SIZE, two.stream[1]));
    ck_assert_int_eq(ordinal_of(memory), two.device[1]);
    CU(MemFreeAsync(memory, two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, DeviceGetDefaultMemPool(&pool[0], 99));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, DeviceSetMemPool(two.device[0], pool[1]));
    CU(DeviceSetMemPool(two.device[1], pool[1]));
}

TWO_TEST(pool_access_can_be_set_per_device)
{
    CUmemoryPool pool = make_pool();
    CUmemAccessDesc access = access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemLocation none = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 999},
                  host = {.type = (CUmemLocationType)2}; /* CUDA 12.0 has no name for it */
    CUmemAccess_flags flags;
    ck_assert_int_eq(pool_access(pool, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ck_assert_int_eq(pool_access(pool, 1), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CU(MemPoolSetAccess(pool, &access, 1));
    ck_assert_int_eq(pool_access(pool, 1), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CU(MemPoolSetAccess(pool, &access, 1));
    ck_assert_int_eq(pool_access(pool, 1), CU_MEM_ACCESS_FLAGS_PROT_NONE);

    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolGetAccess(&flags, pool, &none));
    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolGetAccess(&flags, pool, &host));
    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolGetAccess(NULL, pool, &access.location));
    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolGetAccess(&flags, pool, NULL));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolSetAccess(pool, NULL, 1));
    CU(MemPoolSetAccess(pool, &access, 0));
    SOFT_GIVES(CUDA_SUCCESS, MemPoolSetAccess(pool, NULL, 0));
    access.location.id = 99;
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, MemPoolSetAccess(pool, &access, 1));
    access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CU_GIVES(CUDA_ERROR_INVALID_DEVICE, MemPoolSetAccess(pool, &access, 1));
    access = access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READ);
    CU_GIVES(CUDA_ERROR_NOT_SUPPORTED, MemPoolSetAccess(pool, &access, 1));
    access = access_of(1, (CUmemAccess_flags)7);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemPoolSetAccess(pool, &access, 1));
    access.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CU_GIVES(CUDA_ERROR_NOT_SUPPORTED, MemPoolSetAccess(pool, &access, 1));
    access.location = host;
    SOFT_GIVES(CUDA_ERROR_NOT_SUPPORTED, MemPoolSetAccess(pool, &access, 1));
    access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    SOFT_GIVES(CUDA_SUCCESS, MemPoolSetAccess(pool, &access, 1));
    CU(MemPoolDestroy(pool));
}

/* Memory of pools can be copied only with access to it, or if the copy names its context. */
TWO_TEST(copies_of_pool_memory_need_access)
{
    CUmemoryPool pool = make_pool();
    CUdeviceptr memory = pool_memory(pool), mine = two.memory[1];
    CUmemAccessDesc access = access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    unsigned char bytes[SIZE] = {0};
    use_device(1);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyDtoDAsync(mine, memory, SIZE, two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, Memcpy(memory, mine, SIZE));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyDtoH(bytes, memory, SIZE));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(memory, 1, SIZE));
    CU(CtxEnablePeerAccess(two.context[0], 0)); /* peer access does not apply to pools */
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(memory, 1, SIZE));
    CU(CtxDisablePeerAccess(two.context[0]));
    assert_memory(memory, SIZE, 0x41);

    CU(MemcpyPeerAsync(mine, two.context[1], memory, two.context[0], SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(mine, SIZE, 0x41);
    CU(MemPoolSetAccess(pool, &access, 1));
    CU(MemsetD8Async(memory, 0x42, SIZE, two.stream[1]));
    CU(MemcpyDtoDAsync(mine, memory, SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(mine, SIZE, 0x42);
    CU(MemFreeAsync(memory, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    CU(MemPoolDestroy(pool));
}

/* ---- Virtual memory -------------------------------------------------------------------------- */

static unsigned long long access_to(CUdeviceptr memory, int i)
{
    unsigned long long flags = 99;
    const CUmemAccessDesc of = access_of(i, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CU(MemGetAccess(&flags, &of.location, memory));
    return flags;
}

static void end_virtual(CUdeviceptr memory, size_t size)
{
    CU(MemUnmap(memory, size));
    CU(MemAddressFree(memory, size));
}

TWO_TEST(virtual_memory_access_can_be_set_per_device)
{
    size_t size = 0;
    CUdeviceptr memory = virtual_memory(0, &size, NULL), mine = two.memory[1];
    CUmemAccessDesc access[2] = {access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                                 access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)};
    CU(MemSetAccess(memory, size, &access[0], 1));
    ck_assert_uint_eq(access_to(memory, 1), 0);
    ck_assert_int_eq(ordinal_of(memory), two.device[0]);
    set_memory(0, memory, SIZE, 0x51);
    use_device(1);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(memory, 1, SIZE));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyDtoDAsync(mine, memory, SIZE, two.stream[1]));
    CU(MemcpyPeerAsync(mine, two.context[1], memory, two.context[0], SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(mine, SIZE, 0x51);

    /*
     * For a fill, the context of the stream must have access to the memory. For a copy, the current
     * context must have access, or the contexts that the call names.
     */
    CU(MemsetD8Async(memory, 0x51, SIZE, two.stream[0]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyDtoDAsync(mine, memory, SIZE, two.stream[0]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE,
             MemcpyPeerAsync(mine, two.context[1], memory, two.context[1], SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[0]));
    CU(MemSetAccess(memory, size, &access[1], 1));
    ck_assert_uint_eq(access_to(memory, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ck_assert_uint_eq(access_to(memory, 1), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(MemsetD8Async(memory, 0x52, SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(memory, SIZE, 0x52);
    end_virtual(memory, size);
}

/* Catches: if only another device had access, the memory was still accessible to its own device. */
TWO_TEST(virtual_memory_needs_access_for_its_own_device)
{
    size_t size = 0;
    CUdeviceptr memory = virtual_memory(0, &size, NULL);
    CUmemAccessDesc access[2] = {access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                                 access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)};
    CU(MemSetAccess(memory, size, access, 1));
    use_device(1);
    CU(MemsetD8Async(memory, 0x53, SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    CU(MemcpyDtoDAsync(two.memory[1], memory, SIZE, two.stream[0]));
    CU(StreamSynchronize(two.stream[0]));
    assert_memory(two.memory[1], SIZE, 0x53);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyPeerAsync(two.memory[1], two.context[1], memory,
                                                       two.context[0], SIZE, two.stream[1]));
    use_device(0);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(memory, 1, SIZE));
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CU(MemSetAccess(memory, size, access, 2));
    ck_assert_uint_eq(access_to(memory, 1), 0);
    assert_memory(memory, SIZE, 0x53);
    access[0].location.id = 99;
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemSetAccess(memory, size, access, 2));
    ck_assert_uint_eq(access_to(memory, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    end_virtual(memory, size);
}

/* Catches: a copy across two mappings only checked the access to the first mapping. */
SOFT_TEST(copy_across_mappings_needs_access_to_both)
{
    size_t size = 0;
    CUdeviceptr first = virtual_memory(0, &size, NULL), both = 0;
    CUmemGenericAllocationHandle handle[2] = {0, 0};
    const CUmemAccessDesc access[2] = {access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                                       access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)};
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = access[0].location};
    end_virtual(first, size);
    CU(MemAddressReserve(&both, 2 * size, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CU(MemCreate(&handle[i], size, &prop, 0));
        CU(MemMap(both + (CUdeviceptr)i * size, size, 0, handle[i], 0));
        CU(MemRelease(handle[i]));
    }
    CU(MemSetAccess(both, size, access, 2));
    CU(MemSetAccess(both + size, size, access, 1));
    use_device(1);
    CU(MemsetD8Async(both, 1, size, two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8Async(both, 1, size + 1, two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE,
             MemcpyDtoDAsync(two.memory[1], both + size - HALF, SIZE, two.stream[1]));
    CU(MemSetAccess(both + size, size, &access[1], 1));
    CU(MemsetD8Async(both, 0x55, 2 * size, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(both + size - HALF, SIZE, 0x55);
    end_virtual(both, 2 * size);
}

/*
 * Memory of cuMemCreate can be imported on any device. All devices can copy the imported memory,
 * but not fill it.
 */
TWO_TEST(external_memory_can_be_imported_on_any_device, 2)
{
    size_t size = 0;
    CUexternalMemory imported = NULL;
    CUdeviceptr buffer = 0;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC import = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                               .flags = _i ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0};
    CUdeviceptr memory = virtual_memory(0, &size, &import.handle.fd);
    const CUmemAccessDesc access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC view = {.size = size};
    CU(MemSetAccess(memory, size, &access, 1));
    import.size = size;
    use_device(1);
    CU(ImportExternalMemory(&imported, &import));
    CU(ExternalMemoryGetMappedBuffer(&buffer, imported, &view));
    ck_assert_int_eq(ordinal_of(buffer), two.device[1]);
    set_memory(1, buffer, SIZE, 0x54);
    assert_memory(memory, SIZE, 0x54);

    use_device(0);
    CU(CtxEnablePeerAccess(two.context[1], 0));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(buffer, 1, SIZE));
    CU(CtxDisablePeerAccess(two.context[1]));
    CU(MemcpyDtoD(two.memory[0], buffer, SIZE));
    assert_memory(two.memory[0], SIZE, 0x54);
    use_device(1);
    CU(MemFree(buffer));
    CU(DestroyExternalMemory(imported));
    end_virtual(memory, size);
}

/* Imported memory stays on the device on which it was allocated. */
SOFT_TEST(imported_allocation_stays_on_its_device)
{
    size_t size = 0;
    int fd = -1;
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop;
    CUdeviceptr memory = virtual_memory(1, &size, &fd);
    CU(MemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CU(MemGetAllocationPropertiesFromHandle(&prop, handle));
    ck_assert_int_eq(prop.location.id, two.device[1]);
    CU(MemRelease(handle));
    close(fd);
    end_virtual(memory, size);
}

TWO_TEST(pointer_queries_report_the_device)
{
    CUcontext context = NULL;
    CUdeviceptr seen = 0;
    ck_assert_int_eq(ordinal_of(two.memory[0]), two.device[0]);
    ck_assert_int_eq(ordinal_of(two.memory[1]), two.device[1]);
    CU_READS(context, two.context[1],
             PointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, two.memory[1]));
    use_device(0);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE,
             PointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, two.memory[1]));
    CU_GIVES(CUDA_ERROR_NOT_FOUND, MemGetAddressRange(&seen, NULL, two.memory[1]));
    CU(CtxEnablePeerAccess(two.context[1], 0));
    CU_READS(seen, two.memory[1],
             PointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, two.memory[1]));
    CU(CtxDisablePeerAccess(two.context[1]));
}

TWO_TEST(memory_can_be_freed_from_another_device)
{
    CUdeviceptr a = 0, b = 0;
    use_device(0);
    CU(MemAlloc(&a, SIZE));
    CU(MemAlloc(&b, SIZE));
    use_device(1);
    CU(MemFree(a));
    CU(MemFreeAsync(b, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemFree(a));
}
