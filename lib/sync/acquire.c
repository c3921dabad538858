/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The waits of a map. Each side signals its own semaphore, because the two sides could not agree on
 * the order of the values of a shared semaphore.
 */
#include "lib/base/compiler.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/event.h"
#include "lib/sync/sync.h"
#include "lib/sync/turns.h"

struct waits {
    size_t n;
    gr_semaphore_point points[GR_POINTS_AT_ONCE];
};

static gr_status flush_waits(struct waits *waits, CUstream stream)
{
    gr_status status = gr_semaphore_enqueue(waits->points, waits->n, true, stream);
    waits->n = 0;
    return status;
}

/* Adds a wait. For a timeline one wait for the largest value is enough. */
static gr_status add_wait(struct waits *waits, gr_semaphore *semaphore, uint64_t value,
                          CUstream stream)
{
    atomic_store_explicit(&semaphore->awaited, value, memory_order_relaxed);
    for (size_t i = 0; i < waits->n; i++) {
        gr_semaphore_point *point = &waits->points[i];
        if (point->semaphore != semaphore)
            continue;
        if (point->value < value)
            point->value = value;
        return GR_OK;
    }
    gr_status status = waits->n < GR_POINTS_AT_ONCE ? GR_OK : flush_waits(waits, stream);
    waits->points[waits->n++] = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = value);
    return status;
}

/* Whether the stream follows all work with the resource even without a wait. */
static bool is_in_order(const struct gr_sync *sync, uint64_t drawn, CUstream stream)
{
    return !drawn && (!sync->work.stream || gr_stream_is_same(sync->work.stream, stream));
}

/*
 * Adds what the stream must wait for before it uses the resource: the submit that signals `drawn`.
 * Without one, 0, the stream follows CUDA's last release.
 */
static gr_status follow(const struct gr_sync *sync, uint64_t drawn, struct waits *waits,
                        CUstream stream)
{
    gr_semaphore *semaphore = drawn ? sync->acquire : sync->release;
    const uint64_t value = drawn ? drawn : sync->computed;
    if (sync->undone) /* the stream of that map may not have followed the last release */
        GR_TRY(gr_work_follow(&sync->work, stream));
    else if (is_in_order(sync, drawn, stream))
        return GR_OK;
    if (value && semaphore->timeline)
        return add_wait(waits, semaphore, value, stream);
    return drawn ? gr_sync_wait_binary(semaphore, value, stream)
                 : gr_work_follow(&sync->work, stream);
}

/*
 * With frames in flight a submit need not follow CUDA's last release, so the stream does. A map
 * that overwrites waits only for the last submit that used its staging buffer: sets *drawn to its
 * signal. Only a timeline has earlier values.
 */
GR_COLD static gr_status begin_turn(const gr_resource *resource, uint64_t *drawn, CUstream stream)
{
    const struct gr_sync *sync = &resource->sync;
    const struct gr_turns *turns = sync->turns;
    if (resource->flags & GR_WRITE_DISCARD && sync->acquire && sync->acquire->timeline)
        *drawn = turns->of[gr_turns_next(turns)].drawn;
    if (!*drawn || is_in_order(sync, 0, stream))
        return GR_OK;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = sync->release, .value = sync->computed);
    return sync->computed && sync->release->timeline ? gr_semaphore_enqueue(&point, 1, true, stream)
                                                     : gr_work_follow(&sync->work, stream);
}

gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream)
{
    struct waits waits;
    waits.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct gr_sync *sync = &resources[i]->sync;
        uint64_t drawn = sync->drawn;
        if (sync->turns)
            GR_TRY(begin_turn(resources[i], &drawn, stream));
        GR_TRY(follow(sync, drawn, &waits, stream));
    }
    return waits.n ? flush_waits(&waits, stream) : GR_OK;
}

/*
 * Records an event after the last release of the resource and after the waits and copies that the
 * stream already contains. An acquire that failed may not have followed this release.
 */
void gr_sync_undo_acquire(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    GR_KEEP_ERROR();
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gr_sync *sync = &resources[i]->sync;
        if (!gr_stream_is_same(sync->work.stream, stream))
            status = gr_sync_record_work(resources[i]);
        if (status == GR_OK)
            status = gr_work_follow(&sync->work, stream);
        if (status == GR_OK)
            status = gr_work_mark_or_finish(&sync->work, stream);
        sync->undone = true;
    }
}
