/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stream-ordered memory. The pages are allocated at the call, filled with poison that shows if they
 * are read too early, and freed when the stream reaches the free. A pool only counts bytes.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/managed_memory.h"
#include "softcuda/driver/memory/memory_pool.h"

#include <stdlib.h>

/* CU_MEM_ALLOCATION_TYPE_MANAGED, which an older cuda.h lacks. */
#define ALLOCATION_MANAGED 2

pthread_mutex_t soft_pool_lock = PTHREAD_MUTEX_INITIALIZER;
/* ---- Pools ----------------------------------------------------------------------------------- */

/*
 * Indices of the default pools by kind of memory: pinned memory on each device and on the host,
 * then managed memory that prefers one of these locations, or none.
 */
enum {
    ON_DEVICE = 0,
    ON_HOST = ON_DEVICE + SOFT_MAX_DEVICES,
    ON_NODE,
    MANAGED_ON_DEVICE,
    MANAGED_ON_HOST = MANAGED_ON_DEVICE + SOFT_MAX_DEVICES,
    MANAGED_ON_NODE,
    MANAGED_ANYWHERE,
    PLACES,
};

/*
 * Finds the index of the default pool. CUDA_ERROR_INVALID_VALUE if this location cannot have a
 * pool.
 */
static CUresult find_place(int memory, const CUmemLocation *location, int *place)
{
    bool is_managed = memory == ALLOCATION_MANAGED;
    SOFT_FAIL_IF(!is_managed && memory != CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    switch ((int)location->type) {
    case SOFT_PLACE_DEVICE:
        SOFT_FAIL_IF(soft_check_device(location->id) != CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE);
        *place = (is_managed ? MANAGED_ON_DEVICE : ON_DEVICE) + location->id;
        return CUDA_SUCCESS;
    case SOFT_PLACE_HOST:
        *place = is_managed ? MANAGED_ON_HOST : ON_HOST;
        return CUDA_SUCCESS;
    case SOFT_PLACE_NODE:
        *place = is_managed ? MANAGED_ON_NODE : ON_NODE;
        return location->id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case SOFT_PLACE_NONE:
        *place = MANAGED_ANYWHERE;
        return is_managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static soft_pool *default_pools[PLACES];
static soft_pool *current_pools[PLACES]; /* the pools that cuMemAllocAsync uses, per device */

static unsigned memory_at(int place)
{
    if (place >= MANAGED_ON_DEVICE)
        return SOFT_POOL_OF_MANAGED;
    return place >= ON_HOST ? SOFT_POOL_OF_HOST : SOFT_POOL_OF_DEVICE;
}

static soft_pool *pool_new(int place, size_t max_size)
{
    soft_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->handle = soft_handle_new(SOFT_KIND_POOL, pool);
    if (!pool->handle) {
        free(pool);
        return NULL;
    }
    pool->holders = 1;
    pool->max_size = max_size;
    pool->place = place;
    pool->memory = memory_at(place);
    pool->device = pool->memory == SOFT_POOL_OF_DEVICE ? place : CU_DEVICE_INVALID;
    for (int device = 0; device < SOFT_MAX_DEVICES; device++)
        if (device == pool->device || pool->memory == SOFT_POOL_OF_MANAGED)
            pool->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    return pool;
}

static soft_pool *default_pool_locked(int place)
{
    if (!default_pools[place])
        default_pools[place] = pool_new(place, 0);
    return default_pools[place];
}

static soft_pool *current_pool_locked(int place)
{
    return current_pools[place] ? current_pools[place] : default_pool_locked(place);
}

static void pool_drop_locked(soft_pool *pool)
{
    if (--pool->holders == 0)
        free(pool);
}

/* A pool is the owner of its ranges and is freed after them. */
CUmemoryPool soft_pool_handle(const soft_range *range)
{
    if (range->kind != SOFT_MEMORY_POOL)
        return NULL;
    const soft_pool *pool = range->owner;
    return pool->handle;
}

SOFT_GETTER(soft_pool_get, CUmemoryPool, soft_pool *, SOFT_KIND_POOL, CUDA_ERROR_INVALID_VALUE)

/* ---- Pools of a location --------------------------------------------------------------------- */

static CUresult get_pool_at(CUmemoryPool *handle, int memory, const CUmemLocation *location,
                            bool current)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!handle || !location, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(int, place, find_place(memory, location, &place));
    SOFT_LOCK(&soft_pool_lock);
    soft_pool *pool = current ? current_pool_locked(place) : default_pool_locked(place);
    if (pool)
        *handle = pool->handle;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_pool_at(int memory, const CUmemLocation *location, CUmemoryPool pool)
{
    SOFT_GET(soft_pool *, found, soft_pool_get(pool, &found));
    SOFT_GET(int, place, find_place(memory, location, &place));
    SOFT_FAIL_IF(found->place != place, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_pool_lock);
    current_pools[place] = found;
    return CUDA_SUCCESS;
}

static CUmemLocation on_device(CUdevice device)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

SOFT_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    const CUmemLocation location = on_device(dev);
    return get_pool_at(pool_out, CU_MEM_ALLOCATION_TYPE_PINNED, &location, false);
}

SOFT_API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    const CUmemLocation location = on_device(dev);
    return get_pool_at(pool, CU_MEM_ALLOCATION_TYPE_PINNED, &location, true);
}

SOFT_API cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    const CUmemLocation location = on_device(dev);
    return set_pool_at(CU_MEM_ALLOCATION_TYPE_PINNED, &location, pool);
}

#if CUDA_VERSION >= 13000
SOFT_FORWARD(cuMemGetDefaultMemPool,
             (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
             get_pool_at(pool_out, (int)type, location, false))
SOFT_FORWARD(cuMemGetMemPool,
             (CUmemoryPool * pool, CUmemLocation *location, CUmemAllocationType type),
             get_pool_at(pool, (int)type, location, true))

SOFT_API cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    SOFT_TRY(soft_check_init());
    return location ? set_pool_at((int)type, location, pool) : CUDA_ERROR_INVALID_VALUE;
}
#endif

/* ---- Creating and destroying pools ----------------------------------------------------------- */

SOFT_API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    SOFT_TRY(soft_check_init());
    int place;
    SOFT_FAIL_IF(!pool || !poolProps ||
                     find_place((int)poolProps->allocType, &poolProps->location, &place) !=
                         CUDA_SUCCESS,
                 CUDA_ERROR_INVALID_VALUE);
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return place == ON_HOST ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
#if CUDA_VERSION >= 12020
    soft_pool *created = pool_new(place, poolProps->maxSize);
#else
    soft_pool *created = pool_new(place, 0);
#endif
    SOFT_FAIL_IF(!created, CUDA_ERROR_OUT_OF_MEMORY);
    *pool = created->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuMemPoolDestroy(CUmemoryPool pool)
{
    SOFT_GET(soft_pool *, found, soft_pool_get(pool, &found));
    SOFT_LOCK(&soft_pool_lock);
    SOFT_FAIL_IF(found == default_pools[found->place] || !soft_handle_drop(SOFT_KIND_POOL, pool),
                 CUDA_ERROR_INVALID_VALUE);
    if (found == current_pools[found->place])
        current_pools[found->place] = NULL;
    found->handle = NULL;
    pool_drop_locked(found);
    return CUDA_SUCCESS;
}

/* ---- Allocations ----------------------------------------------------------------------------- */

/*
 * Counts `size` bytes for the pool and adds a holder, which is the new allocation; false if the
 * pool's limit is reached.
 */
static bool charge_locked(soft_pool *pool, size_t size)
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

static void uncharge(soft_pool *pool, size_t size)
{
    SOFT_LOCK(&soft_pool_lock);
    pool->used -= size;
    pool_drop_locked(pool);
}

/*
 * A handle of NULL means the device's current pool. Memory that is on no device is counted for
 * `device`.
 */
static CUresult allocate(CUdeviceptr *pointer, size_t size, CUmemoryPool handle, CUdevice device)
{
    pthread_mutex_lock(&soft_pool_lock);
    soft_pool *pool =
        handle ? soft_handle_get(SOFT_KIND_POOL, handle) : current_pool_locked(device);
    bool booked = pool && charge_locked(pool, size);
    pthread_mutex_unlock(&soft_pool_lock);
    if (!booked)
        return pool || !handle ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;

    soft_range range = {.size = size,
                        .kind = SOFT_MEMORY_POOL,
                        .what = "stream-ordered memory of cuMemAllocAsync",
                        .flags = pool->memory,
                        .device = pool->device != CU_DEVICE_INVALID ? pool->device : device,
                        .owner = pool};
    CUresult result = soft_device_memory_new(&range);
    if (result != CUDA_SUCCESS)
        uncharge(pool, size);
    else
        *pointer = (CUdeviceptr)(uintptr_t)range.base;
    return result;
}

static CUresult allocate_on(CUdeviceptr *pointer, size_t size, CUmemoryPool handle, CUstream stream)
{
    SOFT_GET(soft_stream *, ordered, soft_stream_get(stream, &ordered));
    SOFT_FAIL_IF(!pointer, CUDA_ERROR_INVALID_VALUE);
    *pointer = 0;
    if (!size)
        return CUDA_SUCCESS;
    if (ordered->capture)
        return soft_capture_refuse(ordered);
    return allocate(pointer, size, handle, soft_context_device(soft_stream_context(ordered)));
}

SOFT_API_ptsz(cuMemAllocAsync, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
              (dptr, bytesize, hStream))
{
    return allocate_on(dptr, bytesize, NULL, hStream);
}

SOFT_API_ptsz(cuMemAllocFromPoolAsync,
              (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
              (dptr, bytesize, pool, hStream))
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
        uncharge(range->owner, range->size);
}

static void run_free(void *copy)
{
    free_range(copy, "stream-ordered memory after cuMemFreeAsync");
}

/*
 * Other calls refuse the pointer from now on, but the memory exists until the stream reaches the
 * free. Also frees memory of cuMemAlloc.
 */
SOFT_API_ptsz(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    if (!dptr)
        return CUDA_SUCCESS;
    soft_range range;
    void *address = (void *)(uintptr_t)dptr;
    SOFT_FAIL_IF(!soft_range_find(address, &range) || (void *)range.base != address,
                 CUDA_ERROR_INVALID_VALUE);
    bool is_plain = range.kind == SOFT_MEMORY_DEVICE && !range.owner;
    SOFT_FAIL_IF(!is_plain && range.kind != SOFT_MEMORY_POOL, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(!soft_range_remove(address, range.kind, &range), CUDA_ERROR_INVALID_VALUE);
    CUresult result = soft_stream_push_copy(stream, run_free, &range, sizeof(range));
    if (result != CUDA_SUCCESS)
        soft_range_add(&range);
    return result;
}

/*
 * Waits for all contexts: the pool belongs to the device, so work of any context may still use the
 * memory.
 */
CUresult soft_pool_free_now(void *base)
{
    soft_range range;
    SOFT_FAIL_IF(!soft_range_remove(base, SOFT_MEMORY_POOL, &range), CUDA_ERROR_INVALID_VALUE);
    soft_contexts_drain();
    free_range(&range, "stream-ordered memory after cuMemFree");
    return CUDA_SUCCESS;
}
