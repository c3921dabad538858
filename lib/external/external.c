/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The backend of resources in external memory. The memory stays imported for the life of the
 * resource. A map only waits for the semaphore of the graphics API, and a release only signals the
 * semaphore of CUDA.
 */
#include "lib/external/external.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/external/memory_rules.h"
#include "lib/base/log.h"
#include "lib/resource/resource.h"
#include "lib/resource/deferred_release.h"
#include "lib/cuda/end_after_event.h"
#include "lib/sync/semaphore.h"
#include "lib/sync/submit.h"

/* ---- Destruction after the streams have finished --------------------------------------------- */

/* The objects of a closed resource that streams may still use. */
struct leftover {
    struct gr_ending ending;
    CUdeviceptr ptr;
    CUmipmappedArray mipmapped;
    struct gr_import *memory;
    struct gr_sync sync;
};

static void end_leftover(struct leftover *left, bool alive)
{
    const gr_cuda_api *cu = gr_driver();
    if (alive && left->ptr && left->memory->handle)
        cu->MemFree(left->ptr);
    if (alive && left->mipmapped)
        cu->MipmappedArrayDestroy(left->mipmapped);
    gr_import_drop(left->memory, alive);
    gr_sync_end(&left->sync, alive);
}

static void end_queued(struct gr_ending *ending, bool alive)
{
    struct leftover *left = (struct leftover *)ending;
    if (alive && gr_event_has_failed(ending->after))
        gr_sync_signal_in_place(&left->sync);
    end_leftover(left, alive);
    free(left);
}

/* Ends the objects once `after` has passed. If memory is short, waits and ends them now. */
static void retire(struct leftover *left, struct gr_context *context, CUevent after)
{
    struct leftover *kept = malloc(sizeof(*kept));
    if (!kept) {
        gr_event_finish(after);
        gr_driver()->EventDestroy(after);
        end_leftover(left, true);
        return;
    }
    *kept = *left;
    gr_ending_after(&kept->ending, context, after, end_queued);
}

/*
 * Frees deferred objects that belong to the OpenGL context of the resource, if that context is
 * current.
 */
static void collect_in_context(const gr_resource *resource)
{
    const struct gr_external_kind *kind = gr_external_of(resource)->kind;
    if (kind && kind->collect && gr_external_on_thread(kind, resource))
        kind->collect(resource);
}

static gr_status unregister(gr_resource *resource)
{
    struct gr_external *r = gr_external_of(resource);
    struct leftover left = {.ptr = resource->ptr, .mipmapped = r->mipmapped, .memory = r->memory};
    gr_submit_leave(&resource->sync);
    gr_status status = gr_sync_record_work(resource, "gr_resource_close");
    CUevent after = gr_work_take(&resource->sync.work);
    left.sync = resource->sync;
    /* This comes before any wait: streams may wait for graphics work that waits for the signal. */
    if (status == GR_ERR_DEVICE_LOST || (after && gr_event_has_failed(after)))
        gr_sync_signal_in_place(&left.sync);
    if (status == GR_OK && after && !gr_event_has_passed(after)) {
        retire(&left, &resource->context, after);
    } else {
        if (after)
            gr_driver()->EventDestroy(after);
        else if (status != GR_OK)
            gr_driver()->CtxSynchronize(); /* without an event, wait for all work of the context */
        end_leftover(&left, true);
    }
    resource->ptr = 0;
    r->mipmapped = NULL;
    r->memory = NULL;
    resource->sync = (struct gr_sync){0};
    gr_endings_collect();
    collect_in_context(resource);
    return status;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Casts a resource of this backend; the operations below are only called for such resources. */
static const struct gr_external *own(const gr_resource *resource)
{
    return (const struct gr_external *)resource;
}

static const struct gr_external_kind *kind_of(const gr_resource *resource)
{
    static const struct gr_external_kind none;
    const struct gr_external_kind *kind = own(resource)->kind;
    return kind ? kind : &none;
}

static bool on_thread(const gr_resource *resource)
{
    return resource->in_a_ring || gr_external_on_thread(own(resource)->kind, resource);
}

static bool any_thread(const gr_resource *resource)
{
    return !kind_of(resource)->park;
}

static gr_status refuse_thread(const gr_resource *resource, const char *call)
{
    return own(resource)->kind->refuse_thread(resource, call);
}

/* Resources of a run have the same kind, ring state, copies and thread rule. */
static size_t run(gr_resource *const resources[], size_t n)
{
    const struct gr_external *first = own(resources[0]);
    const struct gr_external_kind *kind = kind_of(resources[0]);
    size_t count = 1;
    for (; count < n; count++) {
        const struct gr_external *next = own(resources[count]);
        if (next->base.backend != &gr_external_backend || next->kind != first->kind ||
            next->base.in_a_ring != first->base.in_a_ring ||
            next->base.sync.copies != first->base.sync.copies ||
            (kind->same_thread_rule && !kind->same_thread_rule(&first->base, &next->base)))
            break;
    }
    return count;
}

/* Refuses a new resource that has not been handed to CUDA yet. */
static gr_status refuse_new(const char *call)
{
    return gr_fail(GR_ERR_STATE, call,
                   "The resource is new, and Vulkan has not handed it to CUDA: first submit it "
                   "(gr_submit_begin(), and gr_vk_submit() with its layout in `last`). If the "
                   "program orders both sides itself, call gr_resource_set_sync() with "
                   "GR_SEMAPHORE_NONE for both semaphores.");
}

/* Checks only the state of the semaphores. The storage exists, because the import keeps it alive.
 */
static gr_status check_storage(gr_resource *const resources[], size_t n, const char *call)
{
    for (size_t i = 0; i < n; i++) {
        GR_TRY(gr_sync_check_ready(resources[i], call));
        if (gr_sync_of(resources[i])->is_new)
            return refuse_new(call);
    }
    return GR_OK;
}

/*
 * Before a map, makes the graphics API signal the end of its work. After a release (`begin`), makes
 * it wait for CUDA. In a ring, the ring does both.
 */
static gr_status tell_graphics(gr_resource *const resources[], size_t n, bool begin)
{
    const struct gr_external_kind *kind = kind_of(resources[0]);
    if (!kind->end_use || resources[0]->in_a_ring)
        return GR_OK;
    return (begin ? kind->begin_use : kind->end_use)(resources, n);
}

/* Enqueues the copies of a map, or of a release. */
static gr_status copy_each(gr_resource *const resources[], size_t n, CUstream stream, bool in)
{
    if (!resources[0]->sync.copies)
        return GR_OK;
    const struct gr_external_kind *kind = kind_of(resources[0]);
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = (in ? kind->copy_in : kind->copy_out)(resources[i], stream);
    return status;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(tell_graphics(resources, n, false));
    gr_status status = gr_sync_acquire(resources, n, stream);
    if (status == GR_OK)
        status = copy_each(resources, n, stream, true);
    if (status != GR_OK)
        gr_sync_undo_acquire(resources, n, stream);
    return status;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = copy_each(resources, n, stream, false);
    if (status == GR_OK)
        status = gr_sync_release(resources, n, stream);
    /* The mapping has ended, but the next graphics commands may run before CUDA's work is done. */
    if (status == GR_OK && tell_graphics(resources, n, true) != GR_OK)
        return gr_error_set_class(GR_ERR_PARTIAL);
    return status;
}

static gr_status array(const gr_resource *resource, unsigned level, unsigned layer, CUarray *found)
{
    (void)layer; /* the level's array contains all layers */
    CUresult result =
        gr_driver()->MipmappedArrayGetLevel(found, gr_external_of(resource)->mipmapped, level);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuMipmappedArrayGetLevel", "Level %u has no array.", level);
}

static gr_status mipmapped_array(const gr_resource *resource, CUmipmappedArray *found,
                                 const char *call)
{
    (void)call;
    *found = gr_external_of(resource)->mipmapped;
    return GR_OK;
}

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gr_external *r = gr_external_of(resource);
    if (kind_of(resource)->describe)
        kind_of(resource)->describe(resource, text, size);
    else if (!r->memory)
        snprintf(text, size, "external memory");
    else
        snprintf(text, size, "external memory %s at offset %zu",
                 r->memory->handle ? gr_external_type_name(r->memory->type) : "of CUDA's",
                 r->offset);
}

/*
 * Ends the CUDA objects of a freed resource, which any thread may do. If the graphics objects need
 * their own thread, end() of the kind defers them.
 */
static void park(gr_resource *resource, bool freed)
{
    struct gr_error_record before;
    if (!freed) {
        own(resource)->kind->park(resource);
        return;
    }
    gr_error_save(&before);
    resource->parked = false;
    if (gr_resource_unregister(resource, "gr_resource_free") != GR_OK)
        gr_log(GR_LOG_WARNING,
               "gr_resource_free: unregistering a resource from CUDA returned an error");
    gr_error_restore(&before);
    gr_resource_settle(resource);
}

static void describe_wait(const gr_resource *resource, char *text, size_t size)
{
    gr_semaphore_describe_wait(resource->sync.acquire, text, size);
}

static void collect(const gr_resource *resource)
{
    if (kind_of(resource)->collect)
        kind_of(resource)->collect(resource);
    else
        gr_resource_release_deferred((gr_resource *)resource);
}

static void signal_in_place(const gr_resource *resource)
{
    gr_sync_signal_in_place(gr_sync_of(resource));
}

static void destroy(gr_resource *resource)
{
    struct gr_external *r = gr_external_of(resource);
    if (r->memory) { /* the CUDA objects ended with their context */
        struct leftover left = {.memory = r->memory, .sync = resource->sync};
        gr_submit_leave(&resource->sync);
        end_leftover(&left, false);
    }
    if (kind_of(resource)->end)
        kind_of(resource)->end(resource);
    free(resource);
}

/* Returns the imported memory; NULL for memory allocated by cuMemCreate. */
static CUexternalMemory external_memory(const gr_resource *resource)
{
    return gr_external_of(resource)->memory->handle;
}

const struct gr_backend gr_external_backend = {
    .transport = GR_TRANSPORT_EXTERNAL,
    .name = "external",
    .api = GR_GRAPHICS_EXTERNAL,
    .on_thread = on_thread,
    .any_thread = any_thread,
    .refuse_thread = refuse_thread,
    .external_memory = external_memory,
    .run = run,
    .check_storage = check_storage,
    .map = map,
    /* waits that were already enqueued are harmless: the next map repeats them */
    .undo_map = gr_sync_undo_acquire,
    .unmap = unmap,
    .signal_in_place = signal_in_place,
    .describe_wait = describe_wait,
    .array = array,
    .mipmapped_array = mipmapped_array,
    .unregister = unregister,
    .park = park,
    .collect = collect,
    .describe = describe,
    .destroy = destroy,
};
