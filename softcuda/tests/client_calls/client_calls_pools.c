/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Pools of stream-ordered memory that is not on a device: host pools of pinned memory, and pools of
 * managed memory.
 */
#define _GNU_SOURCE
#include "client_calls.h"

#include <string.h>

#if CUDA_VERSION >= 13000
static const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST},
                           nowhere = {.type = CU_MEM_LOCATION_TYPE_NONE};

static CUmemLocation device(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device};
}

static bool has_pools_of_the_host(void)
{
    int has = 0;
    DRV(cuDeviceGetAttribute, (&has, CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, fx.device));
    return has;
}

#define HOST_POOL_TEST(...)                                                                        \
    TEST_UNLESS(has_pools_of_the_host() ? NULL : "the device has no pools of host memory",         \
                __VA_ARGS__)

static CUmemoryPool new_pool(CUmemAllocationType type, CUmemLocation location)
{
    const CUmemPoolProps properties = {.allocType = type, .location = location};
    CUmemoryPool pool = NULL;
    DRV(cuMemPoolCreate, (&pool, &properties));
    return pool;
}

static unsigned attribute_of(CUdeviceptr memory, CUpointer_attribute attribute)
{
    unsigned value = 99;
    DRV(cuPointerGetAttribute, (&value, attribute, memory));
    return value;
}

GROUP("pools", add_case)

/*
 * The host writes the memory directly, and a copy in the stream reads the bytes that the host
 * wrote.
 */
HOST_POOL_TEST(host_pool_memory_is_accessible_to_host_and_device)
{
    CUmemoryPool pool = new_pool(CU_MEM_ALLOCATION_TYPE_PINNED, host);
    CUmemAccessDesc access = {.location = device(), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr memory = 0, copy = 0;
    CUmemLocation there = host;
    DRV(cuMemPoolSetAccess, (pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    DRV(cuMemPoolGetAccess, (&access.flags, pool, &there));
    ck_assert_int_eq(access.flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DRV(cuMemAllocFromPoolAsync, (&memory, SIZE, pool, fx.stream));
    CU(StreamSynchronize(fx.stream));
    memset((void *)(uintptr_t)memory, 9, SIZE);
    ck_assert_uint_eq(attribute_of(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
    ck_assert_uint_eq(attribute_of(memory, CU_POINTER_ATTRIBUTE_IS_MANAGED), 0);
    DRV(cuMemAlloc_v2, (&copy, SIZE));
    DRV(cuMemcpyAsync, (copy, memory, SIZE, fx.stream));
    DRV(cuMemsetD8Async, (memory, 4, SIZE / 2, fx.stream));
    CU(StreamSynchronize(fx.stream));
    unsigned char last = 0;
    READS(last, 9, cuMemcpyDtoH_v2, (&last, copy + SIZE - 1, 1));
    ck_assert_int_eq(*(unsigned char *)(uintptr_t)memory, 4);
    DRV(cuMemFreeAsync, (memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    DRV(cuMemFree_v2, (copy));
    DRV(cuMemPoolDestroy, (pool));
}

TEST(managed_pool_allocates_managed_memory)
{
    CUmemoryPool pool = new_pool(CU_MEM_ALLOCATION_TYPE_MANAGED, nowhere);
    CUdeviceptr memory = 0;
    int mostly = 0;
    DRV(cuMemAllocFromPoolAsync, (&memory, SIZE, pool, fx.stream));
    DRV(cuMemsetD8Async, (memory, 6, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(((unsigned char *)(uintptr_t)memory)[SIZE - 1], 6);
    ck_assert_uint_eq(attribute_of(memory, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
    GIVES(ERROR_NOT_SUPPORTED, cuMemAdvise,
          (memory, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    READS(mostly, 0, cuMemRangeGetAttribute,
          (&mostly, sizeof(mostly), CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, SIZE));
    DRV(cuMemPrefetchAsync, (memory, SIZE, fx.device, fx.stream));
    DRV(cuMemFreeAsync, (memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    DRV(cuMemPoolDestroy, (pool));
}

static CUmemoryPool pool_of(CUmemLocation location, CUmemAllocationType type)
{
    CUmemoryPool pool = NULL, normal = NULL;
    DRV(cuMemGetMemPool, (&pool, &location, type));
    DRV(cuMemGetDefaultMemPool, (&normal, &location, type));
    ck_assert_ptr_ne(pool, NULL);
    ck_assert_ptr_eq(pool, normal);
    return pool;
}

HOST_POOL_TEST(current_pool_can_be_set_per_location)
{
    CUmemLocation here = device(), there = host;
    CUmemoryPool of_device = NULL, current = NULL;
    DRV(cuDeviceGetMemPool, (&of_device, fx.device));
    ck_assert_ptr_eq(pool_of(here, CU_MEM_ALLOCATION_TYPE_PINNED), of_device);
    CUmemoryPool pinned = pool_of(host, CU_MEM_ALLOCATION_TYPE_PINNED);
    ck_assert_ptr_ne(pinned, of_device);
    ck_assert_ptr_ne(pool_of(nowhere, CU_MEM_ALLOCATION_TYPE_MANAGED), pinned);

    CUmemoryPool other = new_pool(CU_MEM_ALLOCATION_TYPE_PINNED, host);
    DRV(cuMemSetMemPool, (&there, CU_MEM_ALLOCATION_TYPE_PINNED, other));
    READS(current, other, cuMemGetMemPool, (&current, &there, CU_MEM_ALLOCATION_TYPE_PINNED));
    INVALID(cuMemSetMemPool, (&here, CU_MEM_ALLOCATION_TYPE_PINNED, other));
    /*
     * When the current host pool is destroyed, the NVIDIA driver uses the pool of the device
     * instead.
     */
    if (!gr_cuda_is_software())
        DRV(cuMemSetMemPool, (&there, CU_MEM_ALLOCATION_TYPE_PINNED, pinned));
    DRV(cuMemPoolDestroy, (other));
    ck_assert_ptr_eq(pool_of(host, CU_MEM_ALLOCATION_TYPE_PINNED), pinned);
}

/* Each location has two pools of its own: one for pinned and one for managed memory. */
HOST_POOL_TEST(each_location_and_kind_has_its_own_pool)
{
    const CUmemLocation places[] = {device(), host, {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA}};
    CUmemoryPool pools[6];
    for (int i = 0; i < 6; i++) {
        pools[i] = pool_of(places[i / 2],
                           i % 2 ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED);
        for (int j = 0; j < i; j++)
            ck_assert_ptr_ne(pools[i], pools[j]);
    }
}

TEST(locations_without_a_pool_are_refused)
{
    CUmemLocation none = nowhere;
    CUmemoryPool pool = NULL;
    CUmemPoolProps bad = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = nowhere};
    INVALID(cuMemPoolCreate, (&pool, &bad));
    INVALID(cuMemGetMemPool, (&pool, &none, CU_MEM_ALLOCATION_TYPE_PINNED));
    INVALID(cuMemGetMemPool, (&pool, &none, CU_MEM_ALLOCATION_TYPE_INVALID));
    INVALID(cuMemGetMemPool, (&pool, NULL, CU_MEM_ALLOCATION_TYPE_MANAGED));
    INVALID(cuMemGetMemPool, (NULL, &none, CU_MEM_ALLOCATION_TYPE_MANAGED));
    ck_assert_ptr_eq(pool, NULL);
}

#endif
