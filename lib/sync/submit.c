/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The waits and signals of one submit of the graphics API.
 *
 * A submit that has begun only reserves values: its resources get their new values when it is
 * committed. So a cancelled submit leaves no value behind that a stream could wait for.
 */
#include "lib/sync/sync.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/lock.h"
#include "lib/resource/resource.h"
#include "lib/sync/submit_memory.h"
#include "lib/sync/turns.h"

/* Protects the ends of uses. Checks read `begun` of a resource without it. */
static struct gr_lock lock = GR_LOCK(SUBMITS);

static struct gr_submit_made *made_of(gr_submit *submit)
{
    return (struct gr_submit_made *)submit;
}

/* ---- End ------------------------------------------------------------------------------------- */

/*
 * Ends the use of a resource by the submit. If the submit is committed, the next map of the
 * resource waits for its signal. Otherwise the next map waits as if the submit had never begun.
 */
static void settle_use(struct gr_submit_use *use, bool committed)
{
    if (!use->sync)
        return;
    if (committed) {
        use->sync->drawn = use->number;
        use->sync->held_by = GR_HELD_BY_CUDA; /* gr_vk_submit() knows better, and corrects it */
        use->sync->owes = false;
    }
    atomic_store_explicit(&use->sync->begun, NULL, memory_order_relaxed);
    use->sync = NULL;
}

static void end_claim(gr_semaphore *release, uint64_t waited_before, bool committed)
{
    if (release->timeline)
        return;
    GR_LOCKED(&release->lock);
    release->claimed = false;
    if (committed)
        release->handed = release->waited;
    else
        release->waited = waited_before;
}

/* Ends the claims of the semaphores, after settle_use() of all resources. */
static void end(struct gr_submit_made *s)
{
    for (size_t i = 0; i < s->shown.wait_count; i++)
        end_claim(s->waits[i], s->waited_before[i], s->committed);
    for (size_t i = 0; i < s->shown.signal_count && !s->committed; i++)
        gr_sync_skip_signal(s->signals[i]);
}

/* Cancels the submit if it is not committed, and frees it. */
static void drop(struct gr_submit_made *s)
{
    if (s->filled && !s->committed)
        gr_log(GR_LOG_WARNING, "gr_submit_free: gr_vk_submit_fill() filled this submit, and "
                               "gr_submit_commit() was not called. If vkQueueSubmit2 succeeded, "
                               "the next map does not wait for the submitted work.");
    if (!s->committed) {
        gr_lock(&lock);
        end(s);
        for (size_t i = 0; i < s->count; i++)
            settle_use(&s->uses[i], false);
        gr_unlock(&lock);
    }
    for (size_t i = 0; i < s->shown.wait_count; i++)
        gr_semaphore_drop(s->waits[i]);
    for (size_t i = 0; i < s->shown.signal_count; i++)
        gr_semaphore_end_use(s->signals[i]);
    gr_submit_memory_give(s);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/*
 * Returns the index of the semaphore in the list, or `count`. Searches backwards, because most
 * resources share the latest pair.
 */
static size_t find_semaphore(gr_semaphore *const list[], size_t count,
                             const gr_semaphore *semaphore)
{
    for (size_t i = count; i-- > 0;)
        if (list[i] == semaphore)
            return i;
    return count;
}

/* Reserves a signal of the semaphore, one for all resources that share it. */
static gr_status add_signal(struct gr_submit_made *s, gr_semaphore *acquire, uint64_t *number)
{
    size_t i = find_semaphore(s->signals, s->shown.signal_count, acquire);
    if (i == s->shown.signal_count) {
        GR_TRY(gr_sync_next_signal(acquire, &s->signal_values[i]));
        gr_semaphore_begin_use(acquire);
        s->signals[i] = acquire;
        s->shown.signal_count++;
    }
    *number = s->signal_values[i];
    return GR_OK;
}

static gr_status refuse_twice(void)
{
    return gr_fail(GR_ERR_INVALID_VALUE, "The same resource is listed twice: list it once.");
}

static void note_wait(struct gr_submit_made *s, gr_semaphore *release, uint64_t value)
{
    size_t i = find_semaphore(s->waits, s->shown.wait_count, release);
    if (i == s->shown.wait_count) {
        gr_semaphore_hold(release);
        s->waits[i] = release;
        s->wait_values[i] = 0;
        s->shown.wait_count++;
    }
    if (value > s->wait_values[i])
        s->wait_values[i] = value;
}

/* Claims a binary signal. Only one submit can wait for it: this submit, until it is cancelled. */
static gr_status claim_binary(struct gr_submit_made *s, size_t i, bool *pending)
{
    gr_semaphore *release = s->waits[i];
    GR_TRY(gr_sync_wait_for_retaken(release));
    GR_LOCKED(&release->lock);
    if (release->claimed && s->wait_values[i] > release->handed)
        return gr_fail(GR_ERR_STATE,
                       "Another submit that has begun will wait for the binary semaphore: call "
                       "gr_submit_commit() or gr_submit_free() for that submit first.");
    *pending = s->wait_values[i] > release->handed && release->signalled > release->waited;
    if (*pending) {
        s->waited_before[i] = release->waited;
        release->waited = release->signalled;
        release->claimed = true;
    }
    return GR_OK;
}

/* Removes waits without a signal to wait for; after an error removes all waits. */
static gr_status claim_waits(struct gr_submit_made *s, gr_status status)
{
    size_t count = s->shown.wait_count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool pending = true;
        if (status == GR_OK && !s->waits[i]->timeline)
            status = claim_binary(s, i, &pending);
        if (status != GR_OK || !pending) {
            gr_semaphore_drop(s->waits[i]);
            continue;
        }
        s->waits[kept] = s->waits[i];
        s->wait_values[kept] = s->wait_values[i];
        s->waited_before[kept++] = s->waited_before[i];
    }
    s->shown.wait_count = kept;
    return status;
}

static gr_status add_all(struct gr_submit_made *s, gr_resource *const resources[], size_t n)
{
    const gr_semaphore *last = NULL; /* of the last resource, whose pair the next often shares */
    uint64_t number = 0;
    gr_status status = GR_OK;
    for (size_t i = 0; i < n; i++) {
        struct gr_sync *sync = &resources[i]->sync;
        if (!gr_sync_is_submitted(resources[i]))
            continue;
        /* no other submit of the resource can be open */
        const struct gr_submit_use *begun =
            atomic_load_explicit(&sync->begun, memory_order_relaxed);
        if (begun >= s->uses && begun < s->uses + s->count)
            status = refuse_twice();
        else if (!sync->acquire)
            number = 0;
        else if (sync->acquire != last)
            status = add_signal(s, sync->acquire, &number);
        if (status != GR_OK)
            break;
        last = sync->acquire;
        struct gr_submit_use *use = &s->uses[s->count++];
        *use = (struct gr_submit_use){resources[i], sync, number};
        atomic_store_explicit(&sync->begun, use, memory_order_relaxed);
        const uint64_t value = gr_sync_awaited(resources[i]);
        if (sync->release && value)
            note_wait(s, sync->release, value);
    }
    return claim_waits(s, status);
}

static bool describe(const void *object, char *text, size_t size)
{
    const struct gr_submit_made *s = object;
    snprintf(text, size, "%p", object);
    return s->out && !s->of_ring;
}

GR_AT_LOAD static void describe_submits(void)
{
    gr_live_describe_by(GR_LIVE_SUBMIT, describe);
}

gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, bool of_ring)
{
    struct gr_submit_made *s = gr_submit_memory_take(n);
    if (!s)
        return NULL;
    if (add_all(s, resources, n) != GR_OK) {
        drop(s);
        return NULL;
    }
    /* the numbers of binary semaphores are internal */
    for (size_t i = 0; i < s->shown.wait_count; i++)
        if (!s->waits[i]->timeline)
            s->wait_values[i] = 0;
    for (size_t i = 0; i < s->shown.signal_count; i++)
        if (!s->signals[i]->timeline)
            s->signal_values[i] = 0;
    s->of_ring = of_ring;
    atomic_store_explicit(&s->out, true, memory_order_relaxed);
    return &s->shown;
}

/* Checks the CUDA context of a resource, unless the one before has the same context. */
static gr_status check_context(const gr_resource *resource, const gr_resource *before)
{
    return before && gr_context_same(&before->context, &resource->context)
               ? GR_OK
               : gr_context_check(&resource->context);
}

static gr_status check_all(gr_resource *const resources[], size_t n)
{
    GR_REFUSE_IF(!resources || n == 0, "%s.",
                 resources ? "There is nothing to submit: n is 0. Pass the length of `resources`"
                           : "`resources` is NULL");
    /* so each is listed once */
    bool grouped = n > 1 && resources[0] && gr_live_has(GR_LIVE_RESOURCE, resources[0]) &&
                   gr_group_has(resources, n);
    for (size_t i = 0; i < n; i++) {
        if (!grouped || resources[i]->deferred || resources[i]->mapped)
            GR_TRY(gr_sync_check_idle(resources[i]));
        const bool submitted = gr_sync_is_submitted(resources[i]);
        GR_TRY(submitted ? gr_sync_check_ready(resources[i]) : GR_OK);
        GR_TRY(check_context(resources[i], i ? resources[i - 1] : NULL));
        for (size_t k = 0; k < i && !submitted && !grouped; k++) /* add_all() leaves these out */
            if (resources[k] == resources[i])
                return refuse_twice();
    }
    return GR_OK;
}

gr_submit *gr_submit_start(gr_resource *const resources[], size_t n)
{
    return check_all(resources, n) == GR_OK ? gr_submit_make(resources, n, false) : NULL;
}

gr_submit *gr_submit_begin(gr_resource *const resources[], size_t n)
{
    GR_CALL();
    return gr_submit_start(resources, n);
}

/* ---- Calls for a submit that has begun ------------------------------------------------------- */

static gr_status check_alive(gr_submit *submit)
{
    GR_REFUSE_IF(!submit,
                 "The submit is NULL: did gr_submit_begin() fail? Call gr_last_error() right after "
                 "that call for the reason.");
    return gr_live_has(GR_LIVE_SUBMIT, submit) && made_of(submit)->out
               ? GR_OK
               : gr_live_refuse(GR_LIVE_SUBMIT, submit);
}

/* Lists the resources that are still in the submit. False if it was committed. */
static bool list_resources(struct gr_submit_made *s, struct gr_submit_list *list)
{
    GR_LOCKED(&lock);
    *list = (struct gr_submit_list){.at = s->list};
    for (size_t i = 0; i < s->count; i++)
        if (s->uses[i].sync)
            s->list[list->count++] = s->uses[i].resource;
    return !s->committed;
}

gr_status gr_submit_settle_all(gr_submit *submit)
{
    struct gr_submit_made *s = made_of(submit);
    GR_LOCKED(&lock);
    if (s->committed)
        return gr_fail(GR_ERR_STATE, "The submit has been committed already.");
    s->committed = true;
    for (size_t i = 0; i < s->count; i++)
        settle_use(&s->uses[i], true);
    end(s);
    return GR_OK;
}

gr_status gr_submit_refuse_in_flight(const gr_resource *resource)
{
    char text[160];
    if (!resource->sync.turns)
        return GR_OK;
    resource->backend->describe(resource, text, sizeof(text));
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s has frames in flight, so each submit copies from or to another staging "
                   "buffer: use gr_vk_submit() with `first` and `last`, or leave `in_flight` 0.",
                   text);
}

gr_status gr_submit_commit(gr_submit *submit)
{
    GR_CALL();
    GR_TRY(check_alive(submit));
    struct gr_submit_list list;
    list_resources(made_of(submit), &list);
    for (size_t i = 0; i < list.count; i++)
        GR_TRY(gr_submit_refuse_in_flight(list.at[i]));
    return gr_submit_settle_all(submit);
}

void gr_submit_settle(gr_submit *submit, const gr_resource *resource)
{
    struct gr_submit_made *s = made_of(submit);
    bool is_last = true;
    gr_lock(&lock);
    for (size_t i = 0; i < s->count; i++) {
        struct gr_submit_use *use = &s->uses[i];
        if (use->resource == resource) {
            settle_use(use, false);
            use->resource = NULL;
        }
        is_last = is_last && !use->resource;
    }
    gr_unlock(&lock);
    if (is_last)
        drop(s);
}

void gr_submit_filled(gr_submit *submit)
{
    made_of(submit)->filled = true;
}

bool gr_submit_is_committed(gr_submit *submit)
{
    GR_LOCKED(&lock);
    return made_of(submit)->committed;
}

gr_status gr_submit_check_begun(gr_submit *submit, struct gr_submit_list *list)
{
    GR_TRY(check_alive(submit));
    if (!list_resources(made_of(submit), list))
        return gr_fail(GR_ERR_STATE, "The submit has been committed already: begin another one.");
    for (size_t i = 0; i < list->count; i++)
        GR_TRY(check_context(list->at[i], i ? list->at[i - 1] : NULL));
    return GR_OK;
}

void *gr_submit_scratch(gr_submit *submit, size_t size)
{
    struct gr_submit_made *s = made_of(submit);
    if (s->scratch_size >= size)
        return s->scratch;
    void *made = gr_check_memory(malloc(size));
    if (!made)
        return NULL;
    free(s->scratch);
    s->scratch = made;
    s->scratch_size = size;
    return made;
}

void gr_submit_leave(struct gr_sync *sync)
{
    GR_LOCKED(&lock);
    if (sync->begun)
        sync->begun->sync = NULL;
    sync->begun = NULL;
}

void gr_submit_free(gr_submit *submit)
{
    GR_CALL();
    if (!submit || (gr_forked && !gr_live_has(GR_LIVE_SUBMIT, submit)))
        return; /* in a forked child the parent owns the submit */
    gr_status status = check_alive(submit);
    if (status == GR_OK && made_of(submit)->of_ring)
        status = gr_fail(GR_ERR_STATE,
                         "The submit belongs to slots of a ring, which frees it: hand over, give "
                         "back or cancel the slots. Nothing was done.");
    else if (status == GR_OK &&
             !atomic_exchange_explicit(&made_of(submit)->out, false, memory_order_acq_rel))
        status = check_alive(submit); /* another thread has just freed it */
    if (status == GR_OK)
        drop(made_of(submit));
    else
        gr_error_show(__func__);
}
