/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The semaphores of a resource, and the completion of its last work. */
#include "lib/sync/sync.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"
#include "lib/sync/turns.h"

/* ---- CUDA's last work ------------------------------------------------------------------------ */

gr_status gr_sync_record_work(gr_resource *resource)
{
    struct gr_sync *sync = &resource->sync;
    struct gr_last_work *work = &sync->work;
    if (work->recorded || !work->stream)
        return GR_OK;
    if (sync->computed && gr_sync_tells_the_end(sync->release)) {
        const gr_semaphore_point end =
            GR_INIT(gr_semaphore_point, .semaphore = sync->release, .value = sync->computed);
        struct gr_last_work recorded = {.stream = work->stream, .recorded = true};
        GR_TRY(gr_semaphore_event_after(&end, 1, NULL, &recorded.event));
        gr_work_end(work, true);
        *work = recorded;
        return GR_OK;
    }
    GR_TRY(gr_stream_check_capture(work->stream));
    const CUresult result = gr_driver()->StreamQuery(work->stream);
    if (result == CUDA_ERROR_NOT_READY)
        return gr_work_mark(work, work->stream);
    GR_TRY_CUDA(
        result, "cuStreamQuery",
        "The stream of the resource's last release could not be queried. Has it been destroyed?");
    return GR_OK; /* the stream is idle */
}

gr_status gr_sync_make_ready(gr_resource *resource)
{
    if (resource->sync.begun)
        return gr_fail(GR_ERR_STATE,
                       "The resource is in a submit that has begun: call gr_submit_commit() after "
                       "the submit, or gr_submit_free() to cancel it.");
    GR_TRY(gr_sync_decide(resource));
    if (resource->sync.decided)
        return GR_OK;
    return gr_fail(GR_ERR_STATE,
                   "Nothing orders CUDA and the graphics API for this resource yet: set "
                   "semaphores by gr_resource_set_sync(), or GR_SEMAPHORE_NONE for both if the "
                   "program waits for both sides itself.");
}

gr_status gr_sync_finish_work(gr_resource *resource)
{
    GR_TRY(gr_sync_record_work(resource));
    GR_TRY_WORK(gr_work_finish(&resource->sync.work), "cuEventQuery",
                "The resource's last release failed.");
    return GR_OK;
}

/* With frames in flight and a timeline CUDA's last release does not follow all submits. */
static uint64_t last_drawn(const struct gr_sync *sync)
{
    const bool overlaps = sync->turns && sync->acquire && sync->acquire->timeline;
    uint64_t last = sync->drawn;
    for (unsigned i = 0; overlaps && i < sync->turns->count; i++)
        if (sync->turns->of[i].drawn > last)
            last = sync->turns->of[i].drawn;
    return last;
}

bool gr_sync_is_drawn(const struct gr_sync *sync)
{
    const gr_semaphore *acquire = sync->acquire;
    uint64_t now;
    return acquire && !acquire->of_application && acquire->ops->value &&
           acquire->ops->value(acquire, &now) && now < last_drawn(sync);
}

gr_status gr_sync_take_last_use(gr_resource *resource, CUevent *event)
{
    struct gr_sync *sync = &resource->sync;
    const gr_semaphore_point drawn =
        GR_INIT(gr_semaphore_point, .semaphore = sync->acquire, .value = last_drawn(sync));
    if (sync->drawn && !sync->turns && !sync->work.recorded)
        return gr_semaphore_event_after(&drawn, 1, NULL, event);
    gr_status status = gr_sync_record_work(resource);
    CUevent computed = *event = gr_work_take(&sync->work);
    if (status != GR_OK || !drawn.value)
        return status;
    status = gr_semaphore_event_after(&drawn, 1, computed, event);
    if (computed)
        gr_driver()->EventDestroy(computed);
    return status;
}

gr_status gr_sync_record_end(gr_resource *resource)
{
    struct gr_last_work *work = &resource->sync.work;
    CUevent event = NULL;
    const gr_semaphore *acquire = resource->sync.acquire;
    const bool copies = resource->backend->transport & (GR_TRANSPORT_COPY | GR_TRANSPORT_PEER);
    if (!copies || !acquire || (acquire->timeline && !acquire->of_application))
        return gr_sync_record_work(resource);
    gr_status status = gr_sync_take_last_use(resource, &event);
    gr_work_end(work, true);
    work->event = event;
    work->recorded = event;
    return status;
}

void gr_sync_begin(struct gr_sync *sync, struct gr_semaphore_pair *pair)
{
    sync->pair = gr_pair_hold(pair);
    sync->acquire = pair ? pair->acquire : NULL;
    sync->release = pair ? pair->release : NULL;
    sync->decided = true;
    gr_semaphore_begin_use(sync->acquire);
    gr_semaphore_begin_use(sync->release);
}

gr_status gr_sync_set(gr_resource *resource, struct gr_semaphore_pair *pair)
{
    struct gr_sync *sync = &resource->sync;
    GR_ENTER(&resource->context);
    /*
     * The old semaphores may be destroyed next, and the last release may still have to signal them.
     */
    gr_status status = gr_sync_finish_work(resource);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(&resource, 1);
    if (status == GR_OK) {
        /* without `acquire` the program orders the work itself */
        const bool may_map = sync->held_by == GR_HELD_BY_GRAPHICS && !(pair && pair->acquire);
        const enum gr_holder held_by = may_map ? GR_HELD_BY_NOBODY : sync->held_by;
        gr_sync_end(sync, true);
        gr_sync_begin(sync, pair);
        gr_turns_forget(sync->turns);
        sync->held_by = held_by;
    }
    return status;
}

void gr_sync_end(struct gr_sync *sync, bool alive)
{
    gr_work_end(&sync->work, alive);
    gr_semaphore_end_use(sync->acquire);
    gr_semaphore_end_use(sync->release);
    gr_pair_drop(sync->pair);
    *sync = (struct gr_sync){.owes = sync->owes, .turns = sync->turns};
}

/* ---- Setting the semaphores ------------------------------------------------------------------ */

static gr_status check_semaphore(const gr_resource *resource, const gr_semaphore *semaphore,
                                 const char *name)
{
    if (semaphore == GR_SEMAPHORE_NONE)
        return GR_OK;
    GR_REFUSE_IF(!semaphore,
                 "`%s` is NULL: did the creation of the semaphore fail? Pass GR_SEMAPHORE_NONE if "
                 "the program orders the two sides itself.",
                 name);
    GR_TRY(gr_semaphore_check_given(semaphore));
    if (semaphore->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC ||
        semaphore->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX ||
        semaphore->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "A semaphore of type %s needs more than a value: use gr_semaphore_wait() "
                       "before gr_map() and gr_semaphore_signal() after the release.",
                       gr_semaphore_type_name(semaphore->type));
    GR_REFUSE_IF(!gr_context_same(&semaphore->context, &resource->context),
                 "The semaphore was imported into another CUDA context than the resource.");
    return GR_OK;
}

gr_status gr_sync_check_idle(const gr_resource *resource)
{
    GR_TRY(gr_resource_check_given(resource));
    GR_TRY(gr_resource_check_open(resource));
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE,
                       "The resource is a slot of a ring: acquire it by gr_ring_acquire_write() or "
                       "gr_ring_acquire_read(), which also begin the submit.");
    gr_resource_collect(resource);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, "The resource is mapped: release its buffer first.");
    return GR_OK;
}

/* Returns the semaphore with another reference, or NULL. */
static gr_semaphore *hold(gr_semaphore *semaphore)
{
    if (semaphore == GR_SEMAPHORE_NONE)
        return NULL;
    gr_semaphore_hold(semaphore);
    return semaphore;
}

gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release)
{
    GR_CALL();
    GR_TRY(gr_sync_check_idle(resource));
    GR_REFUSE_IF(!gr_sync_is_submitted(resource),
                 "The resource uses the transport %s, which needs no semaphores: map and release "
                 "order the work.",
                 resource->transport);
    GR_TRY(resource->sync.begun ? gr_sync_check_ready(resource) : GR_OK);
    GR_TRY(check_semaphore(resource, acquire, "acquire"));
    GR_TRY(check_semaphore(resource, release, "release"));
    GR_REFUSE_IF(
        acquire == release && acquire != GR_SEMAPHORE_NONE,
        "`acquire` and `release` are the same semaphore: each side must signal its own semaphore, "
        "because values only grow. For one timeline whose values you count, pass GR_SEMAPHORE_NONE "
        "twice, and use gr_semaphore_wait() and gr_semaphore_signal().");
    struct gr_semaphore_pair *pair = gr_pair_make(hold(acquire), hold(release));
    gr_status status = pair ? gr_sync_set(resource, pair) : gr_last_error()->status;
    gr_pair_drop(pair);
    return status;
}
