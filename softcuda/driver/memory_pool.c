/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered memory. Pages are there as soon as the allocation is asked for, since reading them
 * too early shows the poison; they go when the stream reaches the free. A pool is only an account.
 */
#include "softcuda/driver/device_memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    CUmemoryPool handle; /* NULL once destroyed */
    unsigned holders;    /* the handle and each allocation */
    int reuse[3];        /* the three CU_MEMPOOL_ATTR_REUSE_... */
    cuuint64_t threshold;
    cuuint64_t used;
    cuuint64_t used_high;
    cuuint64_t reserved_high;
    size_t max_size; /* 0: no limit */
    CUdevice device;
    unsigned char access[SOFT_MAX_DEVICES]; /* CUmemAccess_flags */
} memory_pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_pool *default_pools[SOFT_MAX_DEVICES];
static memory_pool *current_pools[SOFT_MAX_DEVICES]; /* what cuMemAllocAsync takes */

/* ---- Pools ----------------------------------------------------------------------------------- */

static memory_pool *pool_new(CUdevice device, size_t max_size)
{
    memory_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->handle = soft_handle_new(SOFT_KIND_POOL, pool);
    if (!pool->handle) {
        free(pool);
        return NULL;
    }
    pool->holders = 1;
    pool->max_size = max_size;
    pool->device = device;
    pool->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    return pool;
}

static memory_pool *default_pool_locked(CUdevice device)
{
    if (!default_pools[device])
        default_pools[device] = pool_new(device, 0);
    return default_pools[device];
}

static memory_pool *current_pool_locked(CUdevice device)
{
    return current_pools[device] ? current_pools[device] : default_pool_locked(device);
}

static void pool_drop_locked(memory_pool *pool)
{
    if (--pool->holders == 0)
        free(pool);
}

/* A pool is known as the owner of its ranges, and outlives them. */
CUmemoryPool soft_pool_handle(const soft_range *range)
{
    if (range->kind != SOFT_MEMORY_POOL)
        return NULL;
    const memory_pool *pool = range->owner;
    return pool->handle;
}

static CUresult get_pool(CUmemoryPool handle, memory_pool **pool)
{
    CUresult result = soft_check_init();
    if (result != CUDA_SUCCESS)
        return result;
    *pool = soft_handle_get(SOFT_KIND_POOL, handle);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_pool_of_device(CUmemoryPool *handle, CUdevice dev, bool current)
{
    CUresult result = soft_check_init();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (soft_check_device(dev) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    memory_pool *pool = current ? current_pool_locked(dev) : default_pool_locked(dev);
    if (pool)
        *handle = pool->handle;
    pthread_mutex_unlock(&lock);
    return pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SOFT_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    return get_pool_of_device(pool_out, dev, false);
}

SOFT_API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return get_pool_of_device(pool, dev, true);
}

SOFT_API cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    memory_pool *found;
    CUresult result = get_pool(pool, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (soft_check_device(dev) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    if (found->device != dev)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    current_pools[dev] = found;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = soft_check_init();
    if (result != CUDA_SUCCESS)
        return result;
    if (!pool || !poolProps || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    bool on_device = poolProps->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (poolProps->location.type == CU_MEM_LOCATION_TYPE_INVALID ||
        (on_device && soft_check_device(poolProps->location.id) != CUDA_SUCCESS))
        return CUDA_ERROR_INVALID_VALUE;
    if (!on_device || poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
#if CUDA_VERSION >= 12020
    memory_pool *created = pool_new(poolProps->location.id, poolProps->maxSize);
#else
    memory_pool *created = pool_new(poolProps->location.id, 0);
#endif
    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool = created->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuMemPoolDestroy(CUmemoryPool pool)
{
    memory_pool *found;
    CUresult result = get_pool(pool, &found);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    if (found == default_pools[found->device] || !soft_handle_drop(SOFT_KIND_POOL, pool)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        if (found == current_pools[found->device])
            current_pools[found->device] = NULL;
        found->handle = NULL;
        pool_drop_locked(found);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Nothing is held back, so there is nothing to trim. */
SOFT_API cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    memory_pool *found;
    return get_pool(pool, &found);
}

/* Where an attribute lives; NULL if there is no such one. */
static void *place_of(memory_pool *pool, CUmemPool_attribute attribute)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return &pool->reuse[0];
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        return &pool->reuse[1];
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return &pool->reuse[2];
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool->used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool->used_high;
    default:
        return NULL;
    }
}

typedef struct {
    memory_pool *pool;
    void *place;
    size_t size; /* of one of two types */
} pool_attribute;

/* The attribute of a call, which has a value for it or room for one. */
static CUresult get_attribute(CUmemoryPool handle, CUmemPool_attribute attr, const void *value,
                              pool_attribute *attribute)
{
    CUresult result = get_pool(handle, &attribute->pool);
    if (result != CUDA_SUCCESS)
        return result;
    bool is_int = attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    attribute->size = is_int ? sizeof(int) : sizeof(cuuint64_t);
    attribute->place = place_of(attribute->pool, attr);
    return attribute->place && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    pool_attribute attribute;
    CUresult result = get_attribute(pool, attr, value, &attribute);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    memcpy(value, attribute.place, attribute.size);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* A high-water mark can only be set to 0, and starts again from what is in use. */
SOFT_API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    pool_attribute attribute;
    CUresult result = get_attribute(pool, attr, value, &attribute);
    if (result != CUDA_SUCCESS)
        return result;
    const memory_pool *found = attribute.pool;
    if (attribute.place == &found->used)
        return CUDA_ERROR_INVALID_VALUE;

    cuuint64_t number = 0;
    memcpy(&number, value, attribute.size);
    bool is_mark = attribute.place == &found->used_high || attribute.place == &found->reserved_high;
    if (is_mark && number != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (is_mark)
        number = found->used;
    memcpy(attribute.place, &number, attribute.size);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* ---- Access of other devices ----------------------------------------------------------------- */

/* The kind of a location is the device, and it is there. */
static bool is_device(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
           soft_check_device(location->id) == CUDA_SUCCESS;
}

static CUresult check_access(const memory_pool *pool, const CUmemAccessDesc *access)
{
    unsigned flags = (unsigned)access->flags;
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return CUDA_ERROR_NOT_SUPPORTED;
    bool is_own = access->location.id == pool->device;
    return !is_device(&access->location) || (is_own && flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
               ? CUDA_ERROR_INVALID_DEVICE
               : CUDA_SUCCESS;
}

/* For what is allocated already and for what will be. The pool's own device keeps its access. Work
 * that is still allowed to touch the memory does so before. */
SOFT_API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    memory_pool *found;
    CUresult result = get_pool(pool, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (!map && count > 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool takes = false;
    for (size_t i = 0; i < count; i++) {
        result = check_access(found, &map[i]);
        if (result != CUDA_SUCCESS)
            return result;
        takes = takes || map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    if (takes)
        soft_contexts_drain();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        found->access[map[i].location.id] = (unsigned char)map[i].flags;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    memory_pool *found;
    CUresult result = get_pool(memPool, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !location || !is_device(location))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *flags = (CUmemAccess_flags)found->access[location->id];
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* A pool outlives its memory, which the caller has found; its access may change meanwhile. */
bool soft_pool_lets(const soft_range *range, CUdevice device)
{
    const memory_pool *pool = range->owner;
    pthread_mutex_lock(&lock);
    bool lets = pool->access[device] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    pthread_mutex_unlock(&lock);
    return lets;
}

/* ---- Allocations ----------------------------------------------------------------------------- */

/* Books size bytes on the pool and holds it; false if its limit is reached. */
static bool book_locked(memory_pool *pool, size_t size)
{
    if (pool->max_size && (size > pool->max_size || pool->used > pool->max_size - size))
        return false;
    pool->holders++;
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->used > pool->reserved_high)
        pool->reserved_high = pool->used;
    return true;
}

static void unbook(memory_pool *pool, size_t size)
{
    pthread_mutex_lock(&lock);
    pool->used -= size;
    pool_drop_locked(pool);
    pthread_mutex_unlock(&lock);
}

/* handle NULL: the device's current pool. */
static CUresult allocate(CUdeviceptr *pointer, size_t size, CUmemoryPool handle, CUdevice device)
{
    pthread_mutex_lock(&lock);
    memory_pool *pool =
        handle ? soft_handle_get(SOFT_KIND_POOL, handle) : current_pool_locked(device);
    bool booked = pool && book_locked(pool, size);
    pthread_mutex_unlock(&lock);
    if (!booked)
        return pool || !handle ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;

    soft_range range = {.size = size,
                        .kind = SOFT_MEMORY_POOL,
                        .what = "stream-ordered memory of cuMemAllocAsync",
                        .device = pool->device,
                        .owner = pool};
    CUresult result = soft_device_memory_new(&range);
    if (result != CUDA_SUCCESS)
        unbook(pool, size);
    else
        *pointer = (CUdeviceptr)(uintptr_t)range.base;
    return result;
}

static CUresult allocate_on(CUdeviceptr *pointer, size_t size, CUmemoryPool handle, CUstream stream)
{
    soft_stream *ordered;
    CUresult result = soft_stream_get(stream, &ordered);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    *pointer = 0;
    if (!size)
        return CUDA_SUCCESS;
    return allocate(pointer, size, handle, soft_context_device(soft_stream_context(ordered)));
}

SOFT_API cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate_on(dptr, bytesize, NULL, hStream);
}

SOFT_API cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream)
{
    if (!pool) {
        CUresult result = soft_check_init();
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    }
    return allocate_on(dptr, bytesize, pool, hStream);
}

static void free_range(const soft_range *range, const char *what)
{
    soft_device_memory_free(range, what);
    if (range->kind == SOFT_MEMORY_POOL)
        unbook(range->owner, range->size);
}

static void run_free(void *copy)
{
    free_range(copy, "stream-ordered memory after cuMemFreeAsync");
}

/* The pointer is unknown from here on, the memory remains until the stream gets there. Memory of
 * cuMemAlloc can be freed this way too. */
SOFT_API cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr)
        return CUDA_SUCCESS;
    soft_range range;
    void *address = (void *)(uintptr_t)dptr;
    if (!soft_range_find(address, &range) || (void *)range.base != address)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_plain = range.kind == SOFT_MEMORY_DEVICE && !range.owner;
    if (!is_plain && range.kind != SOFT_MEMORY_POOL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!soft_range_remove(address, range.kind, &range))
        return CUDA_ERROR_INVALID_VALUE;
    result = soft_stream_push_copy(stream, run_free, &range, sizeof(range));
    if (result != CUDA_SUCCESS)
        soft_range_add(&range);
    return result;
}

/* The pool belongs to the device, so the work of every context may still use it. */
CUresult soft_pool_free_now(void *base)
{
    soft_range range;
    if (!soft_range_remove(base, SOFT_MEMORY_POOL, &range))
        return CUDA_ERROR_INVALID_VALUE;
    soft_contexts_drain();
    free_range(&range, "stream-ordered memory after cuMemFree");
    return CUDA_SUCCESS;
}

SOFT_API_ptsz(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
              (dptr, bytesize, hStream))
SOFT_API_ptsz(cuMemAllocFromPoolAsync,
              (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
              (dptr, bytesize, pool, hStream))
SOFT_API_ptsz(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
