/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Access of one device to the memory of another device. All pairs of devices support it. It is
 * disabled at first.
 */
#include "softcuda/driver/memory/peer_access.h"

#include <stdlib.h>

#include "softcuda/driver/context/context.h"
#include "softcuda/driver/memory/device_memory.h"

/* The last CUdevice_P2PAttribute, which an older cuda.h lacks. */
#define ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED 5

/*
 * Context `from` may access the allocations of context `to`. The contexts are identified by id,
 * because a new context may reuse the struct of a destroyed one.
 */
typedef struct pair {
    uint64_t from;
    uint64_t to;
    struct pair *next;
} pair;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pair *pairs;

/* ---- Devices --------------------------------------------------------------------------------- */

SOFT_API cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    SOFT_TRY(soft_check_device(dev));
    SOFT_TRY(soft_check_device(peerDev));
    SOFT_FAIL_IF(!canAccessPeer, CUDA_ERROR_INVALID_VALUE);
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice)
{
    SOFT_TRY(soft_check_device(srcDevice));
    SOFT_TRY(soft_check_device(dstDevice));
    SOFT_FAIL_IF(srcDevice == dstDevice, CUDA_ERROR_INVALID_DEVICE);
    SOFT_FAIL_IF(!value || attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
                     (int)attrib > ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
                 CUDA_ERROR_INVALID_VALUE);
    *value = attrib == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static pair **find_locked(uint64_t from, uint64_t to)
{
    pair **link = &pairs;
    while (*link && ((*link)->from != from || (*link)->to != to))
        link = &(*link)->next;
    return link;
}

static bool is_enabled(const soft_context *from, const soft_context *to)
{
    pthread_rwlock_rdlock(&lock);
    bool found = *find_locked(from->id, to->id);
    pthread_rwlock_unlock(&lock);
    return found;
}

/*
 * Gets the current context, or NULL, and the context of the peer. The handle of a destroyed context
 * counts as invalid.
 */
static CUresult get_both(CUcontext handle, soft_context **current, soft_context **peer)
{
    *current = NULL;
    CUresult result = soft_check_context(current);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_CONTEXT)
        return result;
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_CONTEXT);
    result = soft_context_get(handle, peer);
    return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_ERROR_CONTEXT_IS_DESTROYED : result;
}

static CUresult enable(const soft_context *from, const soft_context *to)
{
    CUresult result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    pthread_rwlock_wrlock(&lock);
    if (!*find_locked(from->id, to->id)) {
        pair *made = malloc(sizeof(*made));
        result = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        if (made) {
            *made = (pair){from->id, to->id, pairs};
            pairs = made;
        }
    }
    pthread_rwlock_unlock(&lock);
    return result;
}

SOFT_API cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    soft_context *current, *peer;
    SOFT_TRY(get_both(peerContext, &current, &peer));
    SOFT_FAIL_IF(Flags != 0, CUDA_ERROR_INVALID_VALUE);
    return !current || current->device == peer->device ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
                                                       : enable(current, peer);
}

/* Waits for work that may still access the memory. */
SOFT_API cuCtxDisablePeerAccess(CUcontext peerContext)
{
    soft_context *current, *peer;
    SOFT_TRY(get_both(peerContext, &current, &peer));
    SOFT_FAIL_IF(!current || !is_enabled(current, peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    (void)soft_context_wait(current);
    pthread_rwlock_wrlock(&lock);
    pair **link = find_locked(current->id, peer->id), *found = *link;
    if (found)
        *link = found->next;
    pthread_rwlock_unlock(&lock);
    free(found);
    return found ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

void soft_peers_remove(const soft_context *context)
{
    pthread_rwlock_wrlock(&lock);
    pair **link = &pairs;
    while (*link) {
        pair *one = *link;
        if (one->from == context->id || one->to == context->id) {
            *link = one->next;
            free(one);
        } else {
            link = &one->next;
        }
    }
    pthread_rwlock_unlock(&lock);
}

bool soft_peer_enabled(const soft_context *context, const soft_context *other)
{
    return context->device == other->device || is_enabled(context, other);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

bool soft_can_access(const soft_context *context, const soft_range *range)
{
    switch (range->kind) {
    case SOFT_MEMORY_HOST:
    case SOFT_MEMORY_REGISTERED:
    case SOFT_MEMORY_MANAGED:
        return true;
    case SOFT_MEMORY_VIRTUAL:
        return range->access & 1u << context->device;
    case SOFT_MEMORY_POOL:
        return soft_pool_allows(range, context->device);
    case SOFT_MEMORY_DEVICE:
        /* Variables of a library belong to no context. */
        return !range->context || soft_peer_enabled(context, range->context);
    default:
        return range->device == context->device;
    }
}

const char *soft_access_remedy(const soft_range *range)
{
    switch (range->kind) {
    case SOFT_MEMORY_VIRTUAL:
        return "call cuMemSetAccess for it";
    case SOFT_MEMORY_POOL:
        return "call cuMemPoolSetAccess for it";
    case SOFT_MEMORY_DEVICE:
        return "call cuCtxEnablePeerAccess for it";
    default:
        return "it cannot be enabled: copy the data";
    }
}
