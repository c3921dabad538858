/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The signals of a release. */
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/event.h"
#include "lib/sync/sync.h"

static gr_status refuse_claimed(void)
{
    return gr_fail(GR_ERR_STATE,
                   "A submit that has begun will wait for the last signal of the resource's binary "
                   "semaphore, which cannot be signalled again before that: call "
                   "gr_submit_commit() or gr_submit_free(), or use timeline semaphores.");
}

/* Waits for the last signal before the next one. */
static gr_status wait_for_last(gr_semaphore *semaphore, CUstream stream)
{
    if (!semaphore->timeline) { /* only one signal can be pending */
        if (semaphore->claimed)
            return refuse_claimed();
        if (semaphore->signalled <= semaphore->waited)
            return GR_OK;
        semaphore->retaken = true;
        return gr_sync_consume(semaphore, semaphore->signalled, stream);
    }
    if (!semaphore->last || gr_stream_is_same(semaphore->last, stream))
        return GR_OK;
    /* another stream signalled the last value, and values must be signalled in order */
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = semaphore->last_value);
    return semaphore->ops->wait(&point, 1, stream);
}

/* Signals the value that follows the last value. */
static gr_status signal_next(gr_semaphore *semaphore, CUstream stream, uint64_t *value)
{
    GR_LOCKED(&semaphore->lock);
    uint64_t next = semaphore->signalled + 1;
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore,
                                             .value = semaphore->timeline ? next : 0);
    GR_TRY(wait_for_last(semaphore, stream));
    GR_TRY(semaphore->ops->signal(&point, 1, stream));
    semaphore->signalled = next;
    semaphore->last = stream;
    semaphore->last_value = point.value;
    *value = next;
    return GR_OK;
}

/* Returns the number of neighbours, from the first resource on, that have its semaphore. */
static size_t count_same(gr_resource *const resources[], size_t n)
{
    size_t count = 1;
    const gr_semaphore *release = resources[0]->sync.release;
    while (count < n && resources[count]->sync.release == release)
        count++;
    return count;
}

/* Whether no earlier resource in the list has the same semaphore. */
static bool is_first_with(gr_resource *const resources[], size_t i)
{
    const gr_semaphore *release = resources[i]->sync.release;
    while (i-- > 0)
        if (resources[i]->sync.release == release)
            return false;
    return true;
}

/*
 * Releases all resources that have the same semaphore as the first resource, or that have none if
 * the first resource has none.
 */
static gr_status release_group(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_semaphore *release = resources[0]->sync.release;
    uint64_t value = 0;
    const bool tells = gr_sync_tells_the_end(release);
    /* without an end in the semaphore an event: the stream may be destroyed before it is needed */
    for (size_t i = 0; i < n && !tells; i++)
        if (resources[i]->sync.release == release)
            GR_TRY(gr_work_mark(&resources[i]->sync.work, stream));
    GR_TRY(release ? signal_next(release, stream, &value) : GR_OK);
    for (size_t i = 0; i < n; i++) {
        struct gr_sync *sync = &resources[i]->sync;
        if (sync->release != release)
            continue;
        if (tells)
            gr_work_note(&sync->work, stream);
        sync->computed = value;
        sync->drawn = 0;
        sync->undone = false;
        sync->held_by = GR_HELD_BY_CUDA; /* not since the map, which could still have been undone */
    }
    return GR_OK;
}

static bool is_claimed(gr_semaphore *release)
{
    if (!release || release->timeline)
        return false;
    GR_LOCKED(&release->lock);
    return release->claimed;
}

gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    size_t same = count_same(resources, n);
    if (same == n)
        return release_group(resources, n, stream);
    for (size_t i = 0; i < n; i++) /* all waits are enqueued before the first signal */
        if (is_claimed(resources[i]->sync.release))
            return refuse_claimed();
    for (size_t i = 0; i < n && status == GR_OK; i += same) {
        same = count_same(resources + i, n - i);
        if (is_first_with(resources, i))
            status = release_group(resources + i, n - i, stream);
    }
    return status;
}

void gr_sync_signal_in_place(const struct gr_sync *sync, uint64_t value)
{
    gr_semaphore *release = sync->release;
    if (release && release->timeline && release->ops->signal_in_place)
        release->ops->signal_in_place(release, value);
}
