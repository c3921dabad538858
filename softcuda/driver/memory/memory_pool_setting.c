/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Settings of a pool of stream-ordered memory: its attributes, and the devices that may access it.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/managed_memory.h"
#include "softcuda/driver/memory/memory_pool.h"

#include <string.h>

/* Pools keep no unused memory, so there is nothing to trim. */
SOFT_API cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    soft_pool *found;
    return soft_pool_get(pool, &found);
}

/* The field that stores the attribute; NULL if there is no such attribute. */
static void *place_of(soft_pool *pool, CUmemPool_attribute attribute)
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
    soft_pool *pool;
    void *place;
    size_t size; /* the size of its type; attributes have one of two types */
} pool_attribute;

/* Finds the attribute of a call, and checks that the caller has passed memory for its value. */
static CUresult get_attribute(CUmemoryPool handle, CUmemPool_attribute attr, const void *value,
                              pool_attribute *attribute)
{
    SOFT_TRY(soft_pool_get(handle, &attribute->pool));
    bool is_int = attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    attribute->size = is_int ? sizeof(int) : sizeof(cuuint64_t);
    attribute->place = place_of(attribute->pool, attr);
    return attribute->place && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    SOFT_GET(pool_attribute, attribute, get_attribute(pool, attr, value, &attribute));
    SOFT_LOCK(&soft_pool_lock);
    memcpy(value, attribute.place, attribute.size);
    return CUDA_SUCCESS;
}

/* A high-water mark can only be set to 0. It then restarts from the bytes in use. */
SOFT_API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    SOFT_GET(pool_attribute, attribute, get_attribute(pool, attr, value, &attribute));
    const soft_pool *found = attribute.pool;
    SOFT_FAIL_IF(attribute.place == &found->used, CUDA_ERROR_INVALID_VALUE);

    cuuint64_t number = 0;
    memcpy(&number, value, attribute.size);
    bool is_mark = attribute.place == &found->used_high || attribute.place == &found->reserved_high;
    SOFT_FAIL_IF(is_mark && number != 0, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_pool_lock);
    if (is_mark)
        number = found->used;
    memcpy(attribute.place, &number, attribute.size);
    return CUDA_SUCCESS;
}

/* ---- Access by other devices ----------------------------------------------------------------- */

/* Whether the location is an existing device. */
static bool is_device(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
           soft_check_device(location->id) == CUDA_SUCCESS;
}

static CUresult check_access(const soft_pool *pool, const CUmemAccessDesc *access)
{
    unsigned flags = (unsigned)access->flags;
    SOFT_FAIL_IF(flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
                     flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                     flags == CU_MEM_ACCESS_FLAGS_PROT_READ,
                 CUDA_ERROR_NOT_SUPPORTED);
    bool is_own = access->location.id == pool->device;
    return !is_device(&access->location) || (is_own && flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
               ? CUDA_ERROR_INVALID_DEVICE
               : CUDA_SUCCESS;
}

/*
 * Sets the access to existing and future allocations of the pool. The pool's own device always has
 * access. Waits for work that may still access the memory.
 */
SOFT_API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    SOFT_GET(soft_pool *, found, soft_pool_get(pool, &found));
    SOFT_FAIL_IF(!map && count > 0, CUDA_ERROR_INVALID_VALUE);
    bool takes = false;
    for (size_t i = 0; i < count; i++) {
        SOFT_TRY(check_access(found, &map[i]));
        takes = takes || map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    if (takes)
        soft_contexts_drain();
    SOFT_LOCK(&soft_pool_lock);
    for (size_t i = 0; i < count; i++)
        found->access[map[i].location.id] = (unsigned char)map[i].flags;
    return CUDA_SUCCESS;
}

SOFT_API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    SOFT_GET(soft_pool *, found, soft_pool_get(memPool, &found));
    SOFT_FAIL_IF(!flags || !location, CUDA_ERROR_INVALID_VALUE);
    if (soft_place_is_host((int)location->type) && found->memory != SOFT_POOL_OF_DEVICE) {
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    }
    SOFT_FAIL_IF(!is_device(location), CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_pool_lock);
    *flags = (CUmemAccess_flags)found->access[location->id];
    return CUDA_SUCCESS;
}

/*
 * The lock protects `access`, which another thread may change. The pool needs no protection: a pool
 * is freed after all its memory, so the caller's range keeps it alive.
 */
bool soft_pool_allows(const soft_range *range, CUdevice device)
{
    const soft_pool *pool = range->owner;
    SOFT_LOCK(&soft_pool_lock);
    return pool->access[device] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
}
