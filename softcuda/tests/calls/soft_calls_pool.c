/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Pools of stream-ordered memory. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <stdlib.h>

#define SIZE ((size_t)4096)

GROUP("pools", add_case)

static CUmemoryPool new_pool(size_t max_size)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}};
#if CUDA_VERSION >= 12020
    properties.maxSize = max_size;
#else
    (void)max_size;
#endif
    DRV(cuMemPoolCreate, (&pool, &properties));
    return pool;
}

static cuuint64_t pool_number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t number = 0;
    DRV(cuMemPoolGetAttribute, (pool, attribute, &number));
    return number;
}

SOFT_TEST(pool_counts_its_allocated_bytes)
{
    CUmemoryPool pool = new_pool(0);
    CUdeviceptr a = 0, b = 0;
    cuuint64_t number = 0;
    DRV(cuMemAllocFromPoolAsync, (&a, SIZE, pool, fx.stream));
    DRV(cuMemAllocFromPoolAsync, (&b, 2 * SIZE, pool, fx.stream));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 3 * SIZE);
    DRV(cuMemFreeAsync, (b, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), SIZE);
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), SIZE);
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 3 * SIZE);
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 3 * SIZE);
    /* A high-water mark can only be set to 0. It then restarts from the bytes in use. */
    DRV(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &number));
    DRV(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &number));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), SIZE);
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), SIZE);
    number = 1;
    INVALID(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &number));
    INVALID(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &number));
    INVALID(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &number));
    DRV(cuMemPoolTrimTo, (pool, 0));
    /* The memory of a pool stays valid after the pool was destroyed. */
    DRV(cuMemPoolDestroy, (pool));
    INVALID(cuMemPoolTrimTo, (pool, 0));
    INVALID(cuMemPoolDestroy, (pool));
    INVALID(cuMemAllocFromPoolAsync, (&b, SIZE, pool, fx.stream));
    DRV(cuMemsetD8Async, (a, 1, SIZE, fx.stream));
    DRV(cuMemFreeAsync, (a, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

SOFT_TEST(pool_attributes_can_be_set)
{
    CUmemoryPool pool = new_pool(0);
    const CUmemPool_attribute reuse[3] = {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
                                          CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                                          CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES};
    cuuint64_t threshold = 1 << 20;
    int value = 0;
    for (int i = 0; i < 3; i++) {
        int before = -1, after = -1;
        READS(before, 1, cuMemPoolGetAttribute, (pool, reuse[i], &before));
        DRV(cuMemPoolSetAttribute, (pool, reuse[i], &value));
        READS(after, 0, cuMemPoolGetAttribute, (pool, reuse[i], &after));
    }
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0);
    DRV(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), threshold);
    INVALID(cuMemPoolGetAttribute, (pool, (CUmemPool_attribute)99, &threshold));
    INVALID(cuMemPoolSetAttribute, (pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    DRV(cuMemPoolDestroy, (pool));
}

SOFT_TEST(device_allocates_from_its_current_pool)
{
    CUmemoryPool pool = new_pool(0), normal = NULL, current = NULL, asked = NULL;
    CUdeviceptr memory = 0;
    DRV(cuDeviceGetDefaultMemPool, (&normal, fx.device));
    DRV(cuDeviceSetMemPool, (fx.device, pool));
    READS(current, pool, cuDeviceGetMemPool, (&current, fx.device));
    DRV(cuMemAllocAsync, (&memory, SIZE, fx.stream));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), SIZE);
    READS(asked, pool, cuPointerGetAttribute,
          (&asked, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
    DRV(cuMemFree_v2, (memory));
    ck_assert_uint_eq(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    /*
     * The destruction of the pool makes the default pool current again. The default pool cannot be
     * destroyed.
     */
    DRV(cuMemPoolDestroy, (pool));
    READS(current, normal, cuDeviceGetMemPool, (&current, fx.device));
    INVALID(cuMemPoolDestroy, (normal));
    INVALID(cuDeviceSetMemPool, (fx.device, pool));
}

SOFT_TEST(invalid_pool_properties_are_refused)
{
    CUmemoryPool pool = NULL;
    const CUmemPoolProps good = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, fx.device}};
#define CREATE(code, ...)                                                                          \
    do {                                                                                           \
        CUmemPoolProps changed = good;                                                             \
        __VA_ARGS__;                                                                               \
        assert_result(CUDA_##code, DRIVER(cuMemPoolCreate)(&pool, &changed), #__VA_ARGS__);        \
    } while (0)
    CREATE(ERROR_INVALID_VALUE, changed.allocType = CU_MEM_ALLOCATION_TYPE_INVALID);
    CREATE(ERROR_INVALID_VALUE, changed.location.type = CU_MEM_LOCATION_TYPE_INVALID);
    CREATE(ERROR_INVALID_VALUE, changed.location.id = 999);
    CREATE(ERROR_NOT_SUPPORTED, changed.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    /* The host, for which CUDA 12.0 has no name. */
    CREATE(ERROR_INVALID_VALUE, changed.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
           changed.location.type = (CUmemLocationType)2);
#undef CREATE
    INVALID(cuMemPoolCreate, (NULL, &good));
    ck_assert_ptr_eq(pool, NULL);
}

#if CUDA_VERSION >= 12020
SOFT_TEST(pool_refuses_allocations_beyond_its_limit)
{
    CUmemoryPool pool = new_pool(2 * SIZE);
    CUdeviceptr a = 0, b = 0;
    GIVES(ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync, (&a, 3 * SIZE, pool, fx.stream));
    DRV(cuMemAllocFromPoolAsync, (&a, SIZE, pool, fx.stream));
    GIVES(ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync, (&b, SIZE + 1, pool, fx.stream));
    DRV(cuMemAllocFromPoolAsync, (&b, SIZE, pool, fx.stream));
    DRV(cuMemFreeAsync, (a, fx.stream));
    DRV(cuMemFreeAsync, (b, fx.stream));
    CU(StreamSynchronize(fx.stream));
    DRV(cuMemPoolDestroy, (pool));
}
#endif

SOFT_TEST(allocations_of_zero_bytes_return_null)
{
    CUdeviceptr memory = 1;
    void *pinned = &memory, *own = aligned_alloc(SIZE, SIZE);
    READS(memory, 0, cuMemAllocAsync, (&memory, 0, fx.stream));
    DRV(cuMemFreeAsync, (0, fx.stream));
    READS(pinned, NULL, cuMemHostAlloc, (&pinned, 0, 0));
    DRV(cuMemFreeHost, (NULL));
    /* The calls that free device memory refuse registered host memory. */
    DRV(cuMemHostRegister, (own, SIZE, 0));
    INVALID(cuMemFreeAsync, ((CUdeviceptr)(uintptr_t)own, fx.stream));
    INVALID(cuMemFree_v2, ((CUdeviceptr)(uintptr_t)own));
    DRV(cuMemHostUnregister, (own));
    free(own);
}
