/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cuGraphics...: the lifetime of a resource of any kind. A list of resources is mapped or unmapped
 * as a whole or not at all: each resource is first claimed by a change of its state. This also
 * detects a resource that is listed twice.
 */
#include "softcuda/driver/graphics/graphics.h"
#include "softcuda/driver/stream/scheduler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum state {
    UNMAPPED,
    MAPPED,
    CHANGING, /* claimed by a call that maps or unmaps */
};

/* The resources of one call. The task on the stream gets a copy. */
typedef struct {
    uint64_t serial;
    size_t count;
    soft_graphics *resources[];
} batch;

/* ---- Lifetime -------------------------------------------------------------------------------- */

SOFT_OWNED_LIST(all, SOFT_KIND_GRAPHICS, end_with_context)

static void release(soft_graphics *resource)
{
    if (atomic_fetch_sub_explicit(&resource->holds, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&resource->lock);
    resource->ops->free(resource);
}

CUresult soft_graphics_register(soft_graphics *resource, const soft_graphics_ops *ops,
                                soft_context *context, unsigned flags, CUgraphicsResource *handle)
{
    (void)soft_context_wait(context);
    resource->ops = ops;
    resource->owned.context = context;
    resource->flags = flags;
    resource->state = UNMAPPED;
    resource->holds = 1;
    resource->owned.handle = soft_handle_new(SOFT_KIND_GRAPHICS, resource);
    SOFT_FAIL_IF(!resource->owned.handle, CUDA_ERROR_OUT_OF_MEMORY);
    pthread_mutex_init(&resource->lock, NULL);
    soft_owned_add(&all, &resource->owned);
    *handle = resource->owned.handle;
    return CUDA_SUCCESS;
}

/* Destroys a resource with its context. The bytes of a mapped resource are lost. */
static void end_with_context(void *object)
{
    soft_graphics *resource = object;
    soft_owned_remove(&all, &resource->owned);
    if (atomic_load(&resource->state) == MAPPED) {
        soft_log(SOFT_WARN, "%s is mapped while its CUDA context ends: CUDA's bytes are lost",
                 resource->name);
        resource->ops->close(resource);
    }
    release(resource);
}

static SOFT_GETTER(get, CUgraphicsResource, soft_graphics *, SOFT_KIND_GRAPHICS,
                   CUDA_ERROR_INVALID_HANDLE)

SOFT_API cuGraphicsUnregisterResource(CUgraphicsResource handle)
{
    SOFT_GET(soft_graphics *, resource, get(handle, &resource));
    int expected = UNMAPPED;
    if (!atomic_compare_exchange_strong(&resource->state, &expected, CHANGING)) {
        soft_log(SOFT_WARN, "%s cannot be unregistered while it is mapped", resource->name);
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    CUresult result = resource->ops->can_end(resource);
    if (result != CUDA_SUCCESS) {
        atomic_store(&resource->state, UNMAPPED);
        return result;
    }
    (void)soft_context_wait(resource->owned.context);
    soft_handle_drop(SOFT_KIND_GRAPHICS, handle);
    soft_owned_remove(&all, &resource->owned);
    release(resource);
    return CUDA_SUCCESS;
}

/* ---- Lists of resources ---------------------------------------------------------------------- */

/*
 * Creates a batch. A batch of up to SOFT_PAYLOAD bytes is placed in `small`, which avoids an
 * allocation per call.
 */
static CUresult batch_new(unsigned count, const CUgraphicsResource *handles, void *small,
                          batch **made)
{
    size_t size = sizeof(batch) + count * sizeof(soft_graphics *);
    batch *b = size <= SOFT_PAYLOAD ? small : malloc(size);
    SOFT_FAIL_IF(!b, CUDA_ERROR_OUT_OF_MEMORY);
    static _Atomic uint64_t last_serial;
    b->serial = atomic_fetch_add(&last_serial, 1) + 1;
    b->count = count;
    for (unsigned i = 0; i < count; i++) {
        b->resources[i] = soft_handle_get(SOFT_KIND_GRAPHICS, handles[i]);
        if (!b->resources[i]) {
            if (b != small)
                free(b);
            return CUDA_ERROR_INVALID_HANDLE;
        }
    }
    *made = b;
    return CUDA_SUCCESS;
}

static bool batch_has_context(const batch *b, const soft_context *context)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->resources[i]->owned.context != context)
            return false;
    return true;
}

static void set_states(const batch *b, size_t count, enum state state)
{
    for (size_t i = 0; i < count; i++)
        atomic_store(&b->resources[i]->state, state);
}

/*
 * Changes the state of all resources, if all belong to the stream's context and have the state
 * `from`. Otherwise changes none and fails. So it fails if a resource is listed twice, which no
 * longer has the state `from` the second time.
 */
static CUresult claim(const batch *b, const soft_stream *stream, enum state from)
{
    SOFT_FAIL_IF(!batch_has_context(b, soft_stream_context(stream)), CUDA_ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < b->count; i++) {
        int expected = from;
        if (!atomic_compare_exchange_strong(&b->resources[i]->state, &expected, CHANGING)) {
            set_states(b, i, from);
            return from == MAPPED ? CUDA_ERROR_NOT_MAPPED : CUDA_ERROR_ALREADY_MAPPED;
        }
    }
    return CUDA_SUCCESS;
}

/* ---- Map ------------------------------------------------------------------------------------- */

static void run_fill(void *copy)
{
    const batch *b = copy;
    for (size_t i = 0; i < b->count; i++) {
        soft_graphics *resource = b->resources[i];
        pthread_mutex_lock(&resource->lock);
        if (resource->serial == b->serial && !resource->filled) {
            resource->ops->fill(resource);
            resource->filled = true;
        }
        pthread_mutex_unlock(&resource->lock);
        release(resource);
    }
}

static CUresult open_one(soft_graphics *resource, uint64_t serial, bool fill)
{
    const bool discard = resource->flags == CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD;
    SOFT_LOCK(&resource->lock);
    resource->mapped_flags = resource->flags;
    SOFT_TRY(resource->ops->open(resource, discard || !fill));
    if (fill && !discard)
        resource->ops->fill(resource);
    resource->serial = serial;
    resource->filled = discard || fill;
    return CUDA_SUCCESS;
}

/* Returns whether the fetched bytes were filled in. If not, they never will be. */
static bool end_fill(soft_graphics *resource)
{
    SOFT_LOCK(&resource->lock);
    bool filled = resource->filled;
    resource->serial = 0;
    return filled;
}

static CUresult open_all(const batch *b, soft_stream *stream)
{
    const bool fill = soft_context_is_idle(soft_stream_context(stream));
    CUresult result = CUDA_SUCCESS;
    size_t opened = 0;
    for (; opened < b->count && result == CUDA_SUCCESS; opened++)
        result = open_one(b->resources[opened], b->serial, fill);
    if (result == CUDA_SUCCESS) {
        if (fill)
            return result;
        for (size_t i = 0; i < b->count; i++)
            atomic_fetch_add(&b->resources[i]->holds, 1);
        result = soft_stream_push_copy(stream, run_fill, b,
                                       sizeof(*b) + b->count * sizeof(*b->resources));
        if (result == CUDA_SUCCESS)
            return result;
        for (size_t i = 0; i < b->count; i++)
            release(b->resources[i]);
    } else {
        opened--;
    }
    for (size_t i = 0; i < opened; i++) {
        end_fill(b->resources[i]);
        b->resources[i]->ops->close(b->resources[i]);
    }
    return result;
}

/*
 * The call fetches the bytes from the graphics API, because only the caller's thread can use the
 * graphics context. The bytes are filled in when the stream reaches the map, or at once if the
 * stream has no queued work. Until then the memory contains other bytes, so that a missing wait in
 * another stream shows.
 */
static CUresult map_batch(const batch *b, soft_stream *stream)
{
    SOFT_TRY(claim(b, stream, UNMAPPED));
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < b->count && result == CUDA_SUCCESS; i++)
        result = b->resources[i]->ops->fetch(b->resources[i]);
    if (result == CUDA_SUCCESS)
        result = open_all(b, stream);
    set_states(b, b->count, result == CUDA_SUCCESS ? MAPPED : UNMAPPED);
    return result;
}

/* ---- Unmap ----------------------------------------------------------------------------------- */

static void unmap_one(soft_graphics *resource)
{
    /*
     * If this stream is not ordered after the stream of the map, the bytes of the map may not have
     * been filled in yet. Nothing is then stored, and the graphics API keeps its old bytes.
     */
    bool filled = end_fill(resource);
    if (filled && resource->mapped_flags != CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)
        resource->ops->store(resource);
    resource->ops->close(resource);
}

/*
 * Unlike the NVIDIA driver, this driver lets the host wait for the work before the unmap: graphics
 * work on the CPU cannot wait for a stream, so the bytes must be in place when the call returns.
 */
static CUresult unmap_batch(const batch *b, soft_stream *stream)
{
    SOFT_TRY(claim(b, stream, MAPPED));
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < b->count && result == CUDA_SUCCESS; i++)
        result = b->resources[i]->ops->can_store(b->resources[i]);
    if (result == CUDA_SUCCESS)
        result = soft_stream_order(stream);
    if (result == CUDA_SUCCESS)
        result = soft_stream_wait(stream);
    if (result != CUDA_SUCCESS) {
        set_states(b, b->count, MAPPED);
        return result;
    }
    for (size_t i = 0; i < b->count; i++)
        unmap_one(b->resources[i]);
    set_states(b, b->count, UNMAPPED);
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static CUresult for_list(unsigned count, const CUgraphicsResource *handles, CUstream handle,
                         CUresult (*run)(const batch *, soft_stream *))
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(count == 0 || !handles, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(soft_capture_check_unsafe());
    _Alignas(batch) unsigned char small[SOFT_PAYLOAD];
    SOFT_GET(batch *, b, batch_new(count, handles, small, &b));
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = run(b, stream);
    if ((void *)b != (void *)small)
        free(b);
    return result;
}

SOFT_API_ptsz(cuGraphicsMapResources,
              (unsigned int count, CUgraphicsResource *handles, CUstream stream),
              (count, handles, stream))
{
    return for_list(count, handles, stream, map_batch);
}

SOFT_API_ptsz(cuGraphicsUnmapResources,
              (unsigned int count, CUgraphicsResource *handles, CUstream stream),
              (count, handles, stream))
{
    return for_list(count, handles, stream, unmap_batch);
}

SOFT_API cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource handle, unsigned int flags)
{
    SOFT_GET(soft_graphics *, resource, get(handle, &resource));
    SOFT_FAIL_IF(atomic_load(&resource->state) != UNMAPPED, CUDA_ERROR_ALREADY_MAPPED);
    SOFT_FAIL_IF(flags > CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD, CUDA_ERROR_INVALID_VALUE);
    resource->flags = flags;
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuGraphicsResourceSetMapFlags, (CUgraphicsResource handle, unsigned int flags),
            (handle, flags))

static CUresult get_mapped(CUgraphicsResource handle, soft_graphics **resource)
{
    SOFT_TRY(get(handle, resource));
    return atomic_load(&(*resource)->state) == MAPPED ? CUDA_SUCCESS : CUDA_ERROR_NOT_MAPPED;
}

SOFT_API cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *pDevPtr, size_t *pSize,
                                               CUgraphicsResource handle)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    soft_graphics *resource;
    CUresult result = get_mapped(handle, &resource);
    if (result == CUDA_SUCCESS && !resource->ops->pointer)
        result = CUDA_ERROR_NOT_MAPPED_AS_POINTER;
    if (result == CUDA_SUCCESS)
        resource->ops->pointer(resource, &address, &size);
    /* The NVIDIA driver sets the results after a failure, too. */
    if (pDevPtr)
        *pDevPtr = address;
    if (pSize)
        *pSize = size;
    return result;
}

SOFT_API cuGraphicsSubResourceGetMappedArray(CUarray *pArray, CUgraphicsResource handle,
                                             unsigned int arrayIndex, unsigned int mipLevel)
{
    SOFT_GET(soft_graphics *, resource, get_mapped(handle, &resource));
    SOFT_FAIL_IF(!pArray, CUDA_ERROR_INVALID_VALUE);
    return resource->ops->array ? resource->ops->array(resource, arrayIndex, mipLevel, pArray)
                                : CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
}

SOFT_API cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *pMipmappedArray,
                                                   CUgraphicsResource handle)
{
    SOFT_GET(soft_graphics *, resource, get_mapped(handle, &resource));
    SOFT_FAIL_IF(!pMipmappedArray, CUDA_ERROR_INVALID_VALUE);
    return resource->ops->mipmap ? resource->ops->mipmap(resource, pMipmappedArray)
                                 : CUDA_ERROR_NOT_MAPPED_AS_ARRAY;
}
