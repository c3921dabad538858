/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations that backends of external memory have in common. The memory stays imported for the
 * life of the resource. A map only waits for the semaphore of the graphics API, and a release only
 * signals the semaphore of CUDA.
 */
#include "lib/external/external.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/resource/backend.h"
#include "lib/resource/image.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/event.h"
#include "lib/resource/resource.h"
#include "lib/cuda/end_after_event.h"
#include "lib/sync/sync.h"

/* ---- Destruction after the streams have finished --------------------------------------------- */

/* The objects of a closed resource that streams may still use. */
struct leftover {
    struct gr_ending ending;
    CUdeviceptr ptr;
    CUmipmappedArray mipmapped;
    struct gr_import *memory;
    struct gr_sync sync;
    uint64_t computed; /* the last value of the semaphore that CUDA signals */
    bool copied, lost;
};

static void end_leftover(struct leftover *left, bool alive)
{
    const struct gr_driver_api *cu = gr_driver();
    if (alive && left->ptr && left->memory->handle)
        cu->MemFree(left->ptr);
    if (alive && left->mipmapped)
        cu->MipmappedArrayDestroy(left->mipmapped);
    gr_import_drop(left->memory, alive);
    gr_sync_end(&left->sync, alive);
}

/*
 * Whether submits still copy from or to the staging memory. After failed work they wait for a
 * signal that CUDA never makes.
 */
static bool is_drawn(const struct gr_ending *ending)
{
    const struct leftover *left = (const struct leftover *)ending;
    if (left->lost || (ending->after && gr_event_has_failed(ending->after)))
        gr_sync_signal_in_place(&left->sync, left->computed);
    return left->copied && gr_sync_is_drawn(&left->sync);
}

static void end_queued(struct gr_ending *ending, bool alive)
{
    struct leftover *left = (struct leftover *)ending;
    end_leftover(left, alive);
    free(left);
}

gr_status gr_external_unregister(gr_resource *resource)
{
    struct gr_external *r = gr_external_of(resource);
    struct leftover left = {.ptr = resource->ptr, .mipmapped = r->mipmapped, .memory = r->memory};
    const struct gr_last_work *work = &left.sync.work;
    struct leftover *kept = NULL;
    struct gr_deadline patience = {0};
    gr_submit_leave(&resource->sync);
    gr_status status = gr_sync_record_end(resource);
    left.sync = resource->sync;
    gr_pair_drop(left.sync.pair); /* only the semaphores must outlive the last work */
    left.sync.pair = NULL;
    left.lost =
        status == GR_ERR_DEVICE_LOST || (work->recorded && gr_event_has_failed(work->event));
    left.copied = gr_external_is_copied(r);
    left.computed = left.sync.release ? gr_semaphore_last(left.sync.release) : 0;
    /* Signals before any wait: streams may wait for graphics work that waits for the signal. */
    const bool drawn = is_drawn(&left.ending);
    if (status != GR_OK && !work->recorded)
        gr_driver()->CtxSynchronize(); /* without an event, wait for all work of the context */
    if (drawn || (work->recorded && !gr_event_has_passed(work->event)))
        kept = malloc(sizeof(*kept));
    left.ending.is_drawn = is_drawn;
    left.ending.owner = r->memory->owner;
    if (kept) {
        *kept = left;
        gr_ending_after(&kept->ending, &resource->context, gr_work_take(&kept->sync.work),
                        end_queued);
    } else { /* no memory for the queue, or nothing to wait for */
        left.ending.context = resource->context;
        left.ending.after = work->recorded ? work->event : NULL;
        (void)gr_ending_wait(&left.ending, left.ending.owner, &patience);
        gr_sync_warn_of_wait(&left.sync, &resource->context);
        end_leftover(&left, true);
    }
    resource->ptr = 0;
    r->mipmapped = NULL;
    r->memory = NULL;
    resource->sync = (struct gr_sync){0};
    gr_endings_collect();
    return status;
}

/* ---- Operations ------------------------------------------------------------------------------ */

size_t gr_external_run(gr_resource *const resources[], size_t n)
{
    size_t count = 1;
    while (count < n && resources[count]->backend == resources[0]->backend)
        count++;
    return count;
}

/* Refuses a resource that the graphics API has not handed to CUDA. */
static gr_status refuse_owned(const gr_resource *resource)
{
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE,
                       "Vulkan has a slot's resource, because it is new, and CUDA of the other "
                       "process is to use it first: hand it to CUDA by gr_vk_hand_over() before "
                       "you create the ring.");
    return gr_fail(GR_ERR_STATE,
                   "Vulkan has the resource, because it is new, or because the last gr_vk_submit() "
                   "had no `last`: hand it to CUDA first, by gr_vk_hand_over() or by a submit with "
                   "`last`. If your commands contain the barrier, set `own_barriers` in that "
                   "submit. If the program orders both sides itself, call gr_resource_set_sync() "
                   "with GR_SEMAPHORE_NONE for both semaphores.");
}

gr_status gr_external_check_storage(gr_resource *const resources[], size_t n, CUstream stream)
{
    (void)stream; /* nothing follows its storage */
    for (size_t i = 0; i < n; i++) {
        GR_TRY(gr_sync_check_ready(resources[i]));
        if (resources[i]->sync.held_by == GR_HELD_BY_GRAPHICS)
            return refuse_owned(resources[i]);
    }
    return GR_OK;
}

gr_status gr_external_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = gr_sync_acquire(resources, n, stream);
    if (status != GR_OK)
        gr_sync_undo_acquire(resources, n, stream);
    return status;
}

gr_status gr_external_map_used(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = gr_sync_acquire(resources, n, stream);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        const struct gr_import *memory = gr_external_of(resources[i])->memory;
        status = memory->begin_use(memory, stream, gr_resource_writes(resources[i]));
    }
    if (status != GR_OK)
        gr_sync_undo_acquire(resources, n, stream);
    return status;
}

gr_status gr_external_unmap_used(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        const struct gr_import *memory = gr_external_of(resources[i])->memory;
        memory->end_use(memory, stream, gr_resource_writes(resources[i]));
    }
    return gr_sync_release(resources, n, stream);
}

gr_status gr_external_array(const gr_resource *resource, unsigned level, unsigned layer,
                            CUarray *found)
{
    (void)layer; /* the level's array contains all layers */
    return gr_level_array(gr_external_of(resource)->mipmapped, level, found);
}

gr_status gr_external_mipmapped_array(const gr_resource *resource, CUmipmappedArray *found)
{
    *found = gr_external_of(resource)->mipmapped;
    return GR_OK;
}

void gr_external_signal_in_place(const gr_resource *resource)
{
    if (resource->sync.release)
        gr_sync_signal_in_place(&resource->sync, gr_semaphore_last(resource->sync.release));
}

void gr_external_collect(const gr_resource *resource)
{
    gr_resource_release_deferred((gr_resource *)resource);
}

void gr_external_end(struct gr_external *r)
{
    if (!r->memory)
        return;
    gr_submit_leave(&r->base.sync);
    /* the CUDA objects ended with their context */
    struct leftover left = {.memory = r->memory, .sync = r->base.sync};
    end_leftover(&left, false);
}

/* Returns the imported memory; NULL for memory allocated by cuMemCreate. */
CUexternalMemory gr_external_memory(const gr_resource *resource)
{
    return gr_external_of(resource)->memory->handle;
}

/* ---- Memory of other APIs and processes ------------------------------------------------------ */

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gr_external *r = gr_external_of(resource);
    if (!r->memory)
        snprintf(text, size, "external memory");
    else
        snprintf(text, size, "external memory %s at offset %zu",
                 r->memory->handle ? gr_external_type_name(r->memory->type) : "of CUDA's",
                 r->offset);
}

static void destroy(gr_resource *resource)
{
    gr_external_end((struct gr_external *)resource);
    gr_live_free_memory(GR_LIVE_RESOURCE, resource);
}

const struct gr_backend gr_external_backend = {
    .transport = GR_TRANSPORT_EXTERNAL,
    .name = "external",
    .api = GR_GRAPHICS_EXTERNAL,
    GR_EXTERNAL_OPERATIONS,
    .ordered_by_submits = true,
    .run = gr_external_run,
    .map = gr_external_map,
    .undo_map = gr_sync_undo_acquire,
    .unmap = gr_sync_release,
    .unregister = gr_external_unregister,
    .collect = gr_external_collect,
    .describe = describe,
    .destroy = destroy,
};
