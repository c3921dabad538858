/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The points at which a resource of external memory changes hands. Each side has a semaphore of its
 * own, since the values of one must grow in the order in which two sides would never agree.
 */
#include "lib/sync/acquire_release.h"

#include <string.h>

#include "lib/backend.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/stream.h"

static bool same_stream(CUstream a, CUstream b)
{
    return a == b && a != CU_STREAM_PER_THREAD; /* which is another one in each thread */
}

static gr_status make_event(CUevent *event)
{
    if (*event)
        return GR_OK;
    CUresult result = gr_driver()->EventCreate(event, CU_EVENT_DISABLE_TIMING);
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuEventCreate", "An event could not be made.");
}

static gr_status record_event(CUevent event, CUstream stream)
{
    CUresult result = gr_driver()->EventRecord(event, stream);
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_work(result, "cuEventRecord", "The stream's place could not be marked.");
}

/* Marks the end of a wait that has taken a signal: whoever comes later has to come after it. */
static gr_status record_taken(CUevent passed, CUstream stream)
{
    gr_status status = record_event(passed, stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
    return status;
}

static gr_status wait_for_event(CUstream stream, CUevent event)
{
    CUresult result = gr_driver()->StreamWaitEvent(stream, event, 0);
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuStreamWaitEvent",
                              "The stream could not be made to wait for the resource's last use.");
}

/* ---- Waits, gathered so that those of a batch go in one call --------------------------------- */

struct waits {
    size_t n, room;
    gr_semaphore_point *points;
};

static gr_status flush_waits(struct waits *waits, CUstream stream)
{
    gr_status status = gr_semaphore_enqueue(waits->points, waits->n, true, stream);
    waits->n = 0;
    return status;
}

/* A later value of the same timeline stands for an earlier one. */
static gr_status add_wait(struct waits *waits, gr_semaphore *semaphore, uint64_t value,
                          CUstream stream)
{
    for (size_t i = 0; i < waits->n; i++) {
        gr_semaphore_point *point = &waits->points[i];
        if (point->semaphore != semaphore)
            continue;
        if (point->value < value)
            point->value = value;
        return GR_OK;
    }
    gr_status status = waits->n < waits->room ? GR_OK : flush_waits(waits, stream);
    waits->points[waits->n++] = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = value);
    return status;
}

/* Waits for a binary signal, once: whoever comes later, on another stream, waits for that wait. */
static gr_status wait_binary(gr_semaphore *semaphore, uint64_t number, CUstream stream)
{
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore);
    pthread_mutex_lock(&semaphore->lock);
    gr_status status = make_event(&semaphore->passed);
    if (status == GR_OK && number > semaphore->waited) {
        status = semaphore->ops->wait(&point, 1, stream);
        if (status == GR_OK) {
            semaphore->waited = number;
            semaphore->last = stream;
            status = record_taken(semaphore->passed, stream);
        }
    } else if (status == GR_OK && !same_stream(semaphore->last, stream)) {
        status = wait_for_event(stream, semaphore->passed);
    }
    pthread_mutex_unlock(&semaphore->lock);
    return status;
}

/* Whether the stream comes after all that was done with the resource. */
static bool is_in_order(const struct gr_sync *sync, CUstream stream)
{
    return !sync->drawn && (!sync->released || same_stream(sync->released_on, stream));
}

/* What one resource has to wait for: Vulkan's last submit, else CUDA's own last release. */
static gr_status acquire_one(struct gr_sync *sync, struct waits *waits, CUstream stream)
{
    if (is_in_order(sync, stream))
        return GR_OK;
    if (sync->drawn)
        return sync->acquire->timeline ? add_wait(waits, sync->acquire, sync->drawn, stream)
                                       : wait_binary(sync->acquire, sync->drawn, stream);
    if (sync->computed && sync->release->timeline)
        return add_wait(waits, sync->release, sync->computed, stream);
    return sync->done ? wait_for_event(stream, sync->done) : GR_OK;
}

/* What the driver is called with lies below such an array, where the stack is not in the caches. */
static __attribute__((noinline)) gr_status acquire_many(gr_resource *const resources[], size_t n,
                                                        const struct waits *few, CUstream stream)
{
    gr_semaphore_point points[GR_BATCH];
    struct waits waits = {few->n, GR_BATCH, points};
    memcpy(points, few->points, few->n * sizeof(*points));
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = acquire_one(gr_sync_of(resources[i]), &waits, stream);
    return status == GR_OK ? flush_waits(&waits, stream) : status;
}

/* Most batches have one point, since their resources share a pair. */
#define FEW 4

gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_semaphore_point points[FEW];
    struct waits waits = {0, FEW, points};
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gr_sync *sync = gr_sync_of(resources[i]);
        if (is_in_order(sync, stream))
            continue;
        if (waits.n == FEW)
            return acquire_many(resources + i, n - i, &waits, stream);
        status = acquire_one(sync, &waits, stream);
    }
    return status == GR_OK ? flush_waits(&waits, stream) : status;
}

/*
 * Waits that were put into the stream come after the resource's last release, as an event behind
 * them does. It moves `done`; who waits for that waits longer.
 */
static gr_status mark_undone(struct gr_sync *sync, CUstream stream)
{
    gr_status status = make_event(&sync->done);
    if (status == GR_OK)
        status = record_event(sync->done, stream);
    sync->undone = status == GR_OK;
    return status;
}

void gr_sync_undo_acquire(gr_resource *const resources[], size_t n, CUstream stream)
{
    struct gr_error_record cause;
    gr_status status = GR_OK;
    gr_error_save(&cause);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (!is_in_order(gr_sync_of(resources[i]), stream))
            status = mark_undone(gr_sync_of(resources[i]), stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
    gr_error_restore(&cause);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static gr_status refuse_claimed(void)
{
    return gr_fail(GR_ERR_STATE, "release",
                   "A submit that has begun is going to wait for the last signal of the resource's "
                   "binary semaphore, which cannot be signalled again before: call "
                   "gr_submit_commit() or gr_submit_free(), or use timeline semaphores.");
}

/* A binary signal that nobody has waited for is waited for here: there is one at a time. */
static gr_status retake(gr_semaphore *semaphore, CUstream stream)
{
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore);
    gr_status status = make_event(&semaphore->passed);
    if (status == GR_OK)
        status = semaphore->ops->wait(&point, 1, stream);
    if (status != GR_OK)
        return status;
    semaphore->waited = semaphore->signalled;
    semaphore->retaken = true;
    return record_taken(semaphore->passed, stream);
}

static gr_status wait_for_binary(gr_semaphore *semaphore, CUstream stream)
{
    if (semaphore->claimed)
        return refuse_claimed();
    return semaphore->signalled > semaphore->waited ? retake(semaphore, stream) : GR_OK;
}

/* A stream that did not signal the last value waits for it: values must not overtake. */
static gr_status wait_for_timeline(gr_semaphore *semaphore, CUstream stream)
{
    if (!semaphore->last || same_stream(semaphore->last, stream))
        return GR_OK;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = semaphore->last_value);
    return semaphore->ops->wait(&point, 1, stream);
}

/* Signals the next value, after the last one. */
static gr_status signal_next(gr_semaphore *semaphore, CUstream stream, uint64_t *value)
{
    pthread_mutex_lock(&semaphore->lock);
    uint64_t next = semaphore->signalled + 1;
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore,
                                             .value = semaphore->timeline ? next : 0);
    gr_status status =
        (semaphore->timeline ? wait_for_timeline : wait_for_binary)(semaphore, stream);
    if (status == GR_OK)
        status = semaphore->ops->signal(&point, 1, stream);
    if (status == GR_OK) {
        semaphore->signalled = next;
        semaphore->last = stream;
        semaphore->last_value = point.value;
        *value = next;
    }
    pthread_mutex_unlock(&semaphore->lock);
    return status;
}

/*
 * Only a timeline can be asked twice; elsewhere an event says when CUDA is done. So it does where
 * the host waits: the application may destroy its semaphore as soon as its streams have passed.
 */
static bool tells_the_end(const gr_semaphore *release)
{
    return release && release->timeline && release->handle;
}

static gr_status mark_done(gr_resource *const resources[], size_t n, const gr_semaphore *release,
                           CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gr_sync *sync = gr_sync_of(resources[i]);
        if (sync->release != release)
            continue;
        status = make_event(&sync->done);
        if (status == GR_OK)
            status = record_event(sync->done, stream);
    }
    return status;
}

/* Whether no resource before has its semaphore; neighbours have the same, as a rule. */
static bool is_first_with(gr_resource *const resources[], size_t i)
{
    const gr_semaphore *release = gr_sync_of(resources[i])->release;
    while (i-- > 0)
        if (gr_sync_of(resources[i])->release == release)
            return false;
    return true;
}

/* Those that have the semaphore of the first, or none as it. */
static gr_status release_group(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_semaphore *release = gr_sync_of(resources[0])->release;
    uint64_t value = 0;
    gr_status status = tells_the_end(release) ? GR_OK : mark_done(resources, n, release, stream);
    if (status == GR_OK && release)
        status = signal_next(release, stream, &value);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gr_sync *sync = gr_sync_of(resources[i]);
        if (sync->release != release)
            continue;
        sync->computed = value;
        sync->released = true;
        sync->undone = false;
        sync->drawn = 0;
        sync->released_on = stream;
    }
    return status;
}

static bool is_claimed(gr_semaphore *release)
{
    if (!release || release->timeline)
        return false;
    pthread_mutex_lock(&release->lock);
    bool claimed = release->claimed;
    pthread_mutex_unlock(&release->lock);
    return claimed;
}

gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && n > 1; i++) /* before any is signalled */
        if (is_claimed(gr_sync_of(resources[i])->release))
            return refuse_claimed();
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (is_first_with(resources, i))
            status = release_group(resources + i, n - i, stream);
    return status;
}

/* ---- The graphics API's half of both --------------------------------------------------------- */

gr_status gr_sync_refuse_unready(const gr_resource *resource, const char *call)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    if (!sync->decided && !sync->by_commands)
        return gr_fail(GR_ERR_STATE, call,
                       "Nothing orders CUDA and the graphics API in this resource yet: give it "
                       "semaphores by gr_resource_set_sync(), or GR_SEMAPHORE_NONE for both if the "
                       "program waits for both sides itself.");
    return gr_fail(GR_ERR_STATE, call,
                   "The resource is in a submit that has begun: call gr_submit_commit() when "
                   "the submit was made, or gr_submit_free() to take it back.");
}

gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number, const char *call)
{
    gr_status status = GR_OK;
    pthread_mutex_lock(&acquire->lock);
    if (!acquire->timeline && acquire->signalled > acquire->waited)
        status =
            gr_fail(GR_ERR_STATE, call,
                    "The binary semaphore has been signalled and no map has waited for it yet: "
                    "map a resource in between, or use timeline semaphores.");
    else
        *number = ++acquire->signalled;
    pthread_mutex_unlock(&acquire->lock);
    return status;
}

void gr_sync_skip_signal(gr_semaphore *acquire)
{
    pthread_mutex_lock(&acquire->lock);
    if (!acquire->timeline && acquire->signalled > acquire->waited)
        acquire->signalled--;
    pthread_mutex_unlock(&acquire->lock);
}

gr_status gr_sync_wait_for_retaken(gr_semaphore *release, const char *call)
{
    bool pushed;
    pthread_mutex_lock(&release->lock);
    CUevent passed = release->retaken ? release->passed : NULL;
    pthread_mutex_unlock(&release->lock);
    if (!passed)
        return GR_OK;
    gr_status status = gr_context_enter(&release->context, &pushed, call);
    if (status != GR_OK)
        return status;
    CUresult result = gr_driver()->EventSynchronize(passed);
    gr_context_leave(pushed);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuEventSynchronize",
                            "%s: a stream that signals the binary semaphore failed.", call);
    pthread_mutex_lock(&release->lock);
    release->retaken = false;
    pthread_mutex_unlock(&release->lock);
    return GR_OK;
}

static uint64_t last_release(gr_resource *const resources[], size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        if (gr_sync_of(resources[i])->computed > last)
            last = gr_sync_of(resources[i])->computed;
    return last;
}

bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value)
{
    gr_semaphore *release = gr_sync_of(resources[0])->release;
    uint64_t last = last_release(resources, n);
    if (!release || last == 0)
        return false;
    pthread_mutex_lock(&release->lock);
    bool pending = release->timeline || last > release->waited;
    *value = release->timeline ? last : 0;
    if (pending && !release->timeline)
        release->waited = release->signalled;
    pthread_mutex_unlock(&release->lock);
    return pending;
}

gr_status gr_sync_signal_by_commands(gr_resource *const resources[], size_t n, uint64_t *value,
                                     const char *call)
{
    uint64_t number = 0;
    gr_semaphore *acquire = gr_sync_of(resources[0])->acquire;
    gr_status status = acquire ? gr_sync_next_signal(acquire, &number, call) : GR_OK;
    if (status != GR_OK)
        return status;
    *value = acquire && acquire->timeline ? number : 0;
    for (size_t i = 0; i < n; i++)
        gr_sync_of(resources[i])->drawn = number;
    return GR_OK;
}

gr_status gr_sync_wait_on_host(gr_resource *const resources[], size_t n)
{
    bool pushed;
    gr_status status = gr_context_enter(&resources[0]->context, &pushed, "A wait for CUDA");
    if (status != GR_OK)
        return status;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        CUevent done = gr_sync_of(resources[i])->done;
        CUresult result = done ? gr_driver()->EventSynchronize(done) : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS)
            status = gr_fail_work(result, "cuEventSynchronize",
                                  "The thread could not wait for the resource's last release.");
    }
    gr_context_leave(pushed);
    return status;
}

/* ---- The end --------------------------------------------------------------------------------- */

gr_status gr_sync_last_work(struct gr_sync *sync, CUevent *event)
{
    *event = NULL;
    if (!sync->released && !sync->undone)
        return GR_OK;
    if (!sync->undone && sync->computed && tells_the_end(sync->release))
        return gr_semaphore_event_after(
            &GR_INIT(gr_semaphore_point, .semaphore = sync->release, .value = sync->computed), 1,
            event);
    *event = sync->done;
    sync->done = NULL;
    sync->undone = false;
    return GR_OK;
}

/* The semaphores that go may be the last hold of what the last release has yet to signal. */
static gr_status wait_for_last_work(struct gr_sync *sync)
{
    const gr_cuda_api *cu = gr_driver();
    CUevent event;
    gr_status status = gr_sync_last_work(sync, &event);
    if (status != GR_OK || !event)
        return status;
    CUresult result = cu->EventSynchronize(event);
    cu->EventDestroy(event);
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuEventSynchronize", "The resource's last release failed.");
}

gr_status gr_sync_set(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release,
                      const char *call)
{
    struct gr_sync *sync = gr_sync_of(resource);
    bool pushed;
    gr_status status = gr_context_enter(&resource->context, &pushed, call);
    if (status != GR_OK)
        return status;
    status = wait_for_last_work(sync);
    if (status == GR_OK) {
        bool is_new = sync->is_new && acquire; /* without, the program orders the work itself */
        if (acquire)
            gr_semaphore_hold(acquire);
        if (release)
            gr_semaphore_hold(release);
        gr_sync_end(sync, true);
        sync->decided = true;
        sync->is_new = is_new;
        sync->acquire = acquire;
        sync->release = release;
    }
    gr_context_leave(pushed);
    return status;
}

void gr_sync_end(struct gr_sync *sync, bool alive)
{
    if (sync->done && alive)
        gr_driver()->EventDestroy(sync->done);
    gr_semaphore_drop(sync->acquire);
    gr_semaphore_drop(sync->release);
    *sync = (struct gr_sync){.by_commands = sync->by_commands};
}
