/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graphics API's side of the points: which semaphores a resource has, and what a submit waits
 * for and signals.
 *
 * A submit that has begun only reserves: its resources get their new points when it is committed.
 * So taking one back leaves nothing behind that a stream could wait for.
 */
#include "lib/sync/submit.h"

#include <stdlib.h>

#include "lib/backend.h"
#include "lib/error.h"
#include "lib/live.h"
#include "lib/resource/resource.h"
#include "lib/sync/semaphore_rules.h"

/* ---- Which semaphores ------------------------------------------------------------------------ */

static bool is_plain(CUexternalSemaphoreHandleType type)
{
    return type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC &&
           type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX &&
           type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT;
}

static gr_status check_semaphore(const gr_resource *resource, const gr_semaphore *semaphore,
                                 const char *name, const char *call)
{
    if (semaphore == GR_SEMAPHORE_NONE)
        return GR_OK;
    if (!semaphore)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s` is NULL: did the call that makes the semaphore fail? Pass "
                       "GR_SEMAPHORE_NONE if the program keeps that order by itself.",
                       name);
    if (!is_plain(semaphore->type))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "A semaphore of type %s has more to it than a value: use "
                       "gr_semaphore_wait() before gr_map() and gr_semaphore_signal() after the "
                       "release.",
                       gr_semaphore_type_name(semaphore->type));
    if (semaphore->context.handle != resource->context.handle)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The semaphore was imported into another CUDA context than the resource.");
    return GR_OK;
}

static gr_status check_pair(const gr_resource *resource, const gr_semaphore *acquire,
                            const gr_semaphore *release, const char *call)
{
    gr_status status = check_semaphore(resource, acquire, "acquire", call);
    if (status == GR_OK)
        status = check_semaphore(resource, release, "release", call);
    if (status == GR_OK && acquire == release && acquire != GR_SEMAPHORE_NONE)
        status = gr_fail(GR_ERR_INVALID_VALUE, call,
                         "`acquire` and `release` are the same semaphore: each side signals its "
                         "own, since values only grow.");
    return status;
}

static gr_status check_idle(const gr_resource *resource, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status != GR_OK)
        return status;
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE, call,
                       "The resource is a slot of a ring: acquire it by gr_ring_acquire_write() or "
                       "gr_ring_acquire_read(), which give the submit too.");
    gr_resource_collect(resource);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, call, "The resource is mapped: release its buffer first.");
    return GR_OK;
}

/* Whether it has points at all: where commands order the work, submits have nothing to do. */
static bool is_submitted(const gr_resource *resource)
{
    return resource->sync && !resource->sync->by_commands;
}

static gr_status check_settable(const gr_resource *resource, const char *call)
{
    gr_status status = check_idle(resource, call);
    if (status != GR_OK)
        return status;
    if (!is_submitted(resource))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The resource is shared by the transport %s, which needs no semaphores: map "
                       "and release order the work by themselves.",
                       resource->transport);
    return resource->sync->begun ? gr_sync_check_ready(resource, call) : GR_OK;
}

static gr_semaphore *or_null(gr_semaphore *semaphore)
{
    return semaphore == GR_SEMAPHORE_NONE ? NULL : semaphore;
}

gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release)
{
    gr_status status = check_settable(resource, __func__);
    if (status == GR_OK)
        status = check_pair(resource, acquire, release, __func__);
    if (status != GR_OK)
        return status;
    return gr_sync_set(resource, or_null(acquire), or_null(release), __func__);
}

/* ---- The memory of submits ------------------------------------------------------------------- */

/* A resource in a submit. */
struct gr_submit_use {
    const gr_resource *resource; /* compared only; NULL once a ring has it back */
    struct gr_sync *sync;        /* NULL once its points are written down, or it has left */
    uint64_t number;             /* of the signal that its next map waits for; 0: it has none */
};

struct submit {
    gr_submit shown; /* what the caller has a pointer to */
    struct submit *next_spare;
    bool over;    /* committed or taken back */
    bool made;    /* at least for one resource */
    size_t count; /* of `uses` */
    size_t left;  /* of those that the ring does not have back */
    size_t room;  /* of each of the arrays, which are one piece of memory */
    struct gr_submit_use *uses;
    gr_semaphore **waits, **signals;
    uint64_t *wait_values, *signal_values;
    uint64_t *waited_before; /* of the binary ones among `waits` */
    void *scratch;           /* of who makes the submit */
    size_t scratch_size;
};

#define BYTES_FOR_EACH                                                                             \
    (sizeof(struct gr_submit_use) + 2 * sizeof(gr_semaphore *) + 3 * sizeof(uint64_t))

/* A loop of begin, commit and free finds its memory here. */
#define MOST_SPARE 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for these, and submits' uses */
static struct submit *spare;
static unsigned spare_count;

static bool fits_better(const struct submit *a, const struct submit *b, size_t n)
{
    return !b || (a->room >= n ? b->room < n || a->room < b->room : a->room > b->room);
}

/* The smallest that is large enough, else the largest; NULL if there is none. */
static struct submit *take_spare(size_t n)
{
    pthread_mutex_lock(&lock);
    struct submit **best = NULL;
    for (struct submit **link = &spare; *link; link = &(*link)->next_spare)
        if (fits_better(*link, best ? *best : NULL, n))
            best = link;
    struct submit *s = best ? *best : NULL;
    if (s) {
        *best = s->next_spare;
        spare_count--;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static void give_spare(struct submit *s)
{
    pthread_mutex_lock(&lock);
    bool kept = spare_count < MOST_SPARE;
    if (kept) {
        s->next_spare = spare;
        spare = s;
        spare_count++;
    }
    pthread_mutex_unlock(&lock);
    if (kept)
        return;
    free(s->uses);
    free(s->scratch);
    free(s);
}

static bool make_room(struct submit *s, size_t n)
{
    if (s->room >= n)
        return true;
    char *piece = n <= SIZE_MAX / BYTES_FOR_EACH ? malloc(n * BYTES_FOR_EACH) : NULL;
    if (!piece)
        return false;
    free(s->uses);
    s->room = n;
    s->uses = (struct gr_submit_use *)piece;
    s->wait_values = (uint64_t *)(s->uses + n);
    s->signal_values = s->wait_values + n;
    s->waited_before = s->signal_values + n;
    s->waits = (gr_semaphore **)(s->waited_before + n);
    s->signals = s->waits + n;
    return true;
}

static struct submit *take(size_t n, const char *call)
{
    struct submit *s = take_spare(n);
    if (!s)
        s = calloc(1, sizeof(*s));
    if (!s || !make_room(s, n)) {
        if (s)
            give_spare(s);
        gr_fail_memory(call);
        return NULL;
    }
    s->over = s->made = false;
    s->count = s->left = 0;
    s->shown = (gr_submit){
        .waits = s->waits,
        .wait_values = s->wait_values,
        .signals = s->signals,
        .signal_values = s->signal_values,
    };
    return s;
}

static struct submit *own(gr_submit *submit)
{
    return (struct submit *)submit;
}

/* ---- End ------------------------------------------------------------------------------------- */

/* A resource's part: its next map waits for the signal, or for what it would have waited before. */
static void settle_use(struct submit *s, struct gr_submit_use *use, bool made)
{
    if (!use->sync)
        return;
    if (made) {
        use->sync->drawn = use->number;
        use->sync->is_new = false;
    }
    use->sync->begun = NULL;
    use->sync = NULL;
    s->made = s->made || made;
}

static void end_claim(gr_semaphore *release, uint64_t waited_before, bool made)
{
    if (release->timeline)
        return;
    pthread_mutex_lock(&release->lock);
    release->claimed = false;
    if (made)
        release->handed = release->waited;
    else
        release->waited = waited_before;
    pthread_mutex_unlock(&release->lock);
}

/* The semaphores' part, once all resources are settled. */
static void end(struct submit *s)
{
    if (s->over)
        return;
    s->over = true;
    for (size_t i = 0; i < s->shown.wait_count; i++)
        end_claim(s->waits[i], s->waited_before[i], s->made);
    for (size_t i = 0; i < s->shown.signal_count && !s->made; i++)
        gr_sync_skip_signal(s->signals[i]);
}

/* Takes back what is not committed, and frees it. */
static void drop(struct submit *s)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < s->count; i++)
        settle_use(s, &s->uses[i], false);
    end(s);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < s->shown.wait_count; i++)
        gr_semaphore_drop(s->waits[i]);
    for (size_t i = 0; i < s->shown.signal_count; i++)
        gr_semaphore_drop(s->signals[i]);
    give_spare(s);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Where the semaphore is in the list, or `count`. The last one first: most have one pair. */
static size_t find(gr_semaphore *const list[], size_t count, const gr_semaphore *semaphore)
{
    for (size_t i = count; i-- > 0;)
        if (list[i] == semaphore)
            return i;
    return count;
}

/* Reserves a signal of the resource's semaphore, once for all resources that share it. */
static gr_status add_signal(struct submit *s, gr_semaphore *acquire, uint64_t *number,
                            const char *call)
{
    size_t i = find(s->signals, s->shown.signal_count, acquire);
    if (i == s->shown.signal_count) {
        gr_status status = gr_sync_next_signal(acquire, &s->signal_values[i], call);
        if (status != GR_OK)
            return status;
        gr_semaphore_hold(acquire);
        s->signals[i] = acquire;
        s->shown.signal_count++;
    }
    *number = s->signal_values[i];
    return GR_OK;
}

static void add_use(struct submit *s, gr_resource *resource, uint64_t number)
{
    struct gr_submit_use *use = &s->uses[s->count++];
    *use = (struct gr_submit_use){resource, resource->sync, number};
    resource->sync->begun = use;
    s->left++;
}

static void note_wait(struct submit *s, gr_semaphore *release, uint64_t value)
{
    size_t i = find(s->waits, s->shown.wait_count, release);
    if (i == s->shown.wait_count) {
        gr_semaphore_hold(release);
        s->waits[i] = release;
        s->wait_values[i] = 0;
        s->shown.wait_count++;
    }
    if (value > s->wait_values[i])
        s->wait_values[i] = value;
}

/* A binary signal is waited for once, by this submit until it is taken back. */
static gr_status claim_binary(struct submit *s, size_t i, bool *pending, const char *call)
{
    gr_semaphore *release = s->waits[i];
    gr_status status = gr_sync_wait_for_retaken(release, call);
    if (status != GR_OK)
        return status;
    pthread_mutex_lock(&release->lock);
    *pending = s->wait_values[i] > release->handed && release->signalled > release->waited;
    if (release->claimed && s->wait_values[i] > release->handed) {
        status = gr_fail(GR_ERR_STATE, call,
                         "Another submit that has begun is going to wait for the binary semaphore: "
                         "call gr_submit_commit() or gr_submit_free() for that one first.");
    } else if (*pending) {
        s->waited_before[i] = release->waited;
        release->waited = release->signalled;
        release->claimed = true;
    }
    pthread_mutex_unlock(&release->lock);
    return status;
}

/* Keeps of the waits those that there is something to wait for; none after an error. */
static gr_status claim_waits(struct submit *s, gr_status status, const char *call)
{
    size_t count = s->shown.wait_count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool pending = true;
        if (status == GR_OK && !s->waits[i]->timeline)
            status = claim_binary(s, i, &pending, call);
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

/* Binary semaphores have numbers for us only. */
static void hide_numbers(struct submit *s)
{
    for (size_t i = 0; i < s->shown.wait_count; i++)
        if (!s->waits[i]->timeline)
            s->wait_values[i] = 0;
    for (size_t i = 0; i < s->shown.signal_count; i++)
        if (!s->signals[i]->timeline)
            s->signal_values[i] = 0;
}

static gr_status add_all(struct submit *s, gr_resource *const resources[], size_t n,
                         const char *call)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gr_sync *sync = resources[i]->sync;
        uint64_t number = 0;
        if (!is_submitted(resources[i]))
            continue;
        if (sync->acquire)
            status = add_signal(s, sync->acquire, &number, call);
        if (status == GR_OK)
            add_use(s, resources[i], number);
        if (status == GR_OK && sync->release && sync->computed)
            note_wait(s, sync->release, sync->computed);
    }
    return claim_waits(s, status, call);
}

static gr_submit *begin(gr_resource *const resources[], size_t n, bool of_ring, const char *call)
{
    struct submit *s = take(n, call);
    if (!s)
        return NULL;
    if (add_all(s, resources, n, call) != GR_OK) {
        drop(s);
        return NULL;
    }
    hide_numbers(s);
    gr_live_add(of_ring ? GR_LIVE_RING_SUBMIT : GR_LIVE_SUBMIT, &s->shown);
    return &s->shown;
}

gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, const char *call)
{
    return begin(resources, n, true, call);
}

static gr_status check_one(gr_resource *resource, const char *call)
{
    gr_status status = check_idle(resource, call);
    if (status == GR_OK && is_submitted(resource))
        status = gr_sync_check_ready(resource, call);
    if (status == GR_OK && resource->visited)
        status =
            gr_fail(GR_ERR_INVALID_VALUE, call, "The same resource is listed twice: list it once.");
    return status;
}

static gr_status check_all(gr_resource *const resources[], size_t n, const char *call)
{
    gr_status status = GR_OK;
    size_t checked = 0;
    if (!resources || n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       resources ? "There is nothing to submit: n is 0" : "`resources` is NULL");
    for (; checked < n && status == GR_OK; checked++) {
        status = check_one(resources[checked], call);
        if (status == GR_OK)
            resources[checked]->visited = true;
    }
    for (size_t i = 0; i < checked; i++)
        if (resources[i])
            resources[i]->visited = false;
    return status;
}

gr_submit *gr_submit_begin(gr_resource *const resources[], size_t n)
{
    if (check_all(resources, n, __func__) != GR_OK)
        return NULL;
    return begin(resources, n, false, __func__);
}

/* ---- What the caller, a ring or a resource says of it ---------------------------------------- */

static gr_status check_alive(const gr_submit *submit, const char *call)
{
    if (!submit)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The submit is NULL: did gr_submit_begin() fail? See gr_last_error() there.");
    if (gr_live_has(GR_LIVE_RING_SUBMIT, submit))
        return GR_OK;
    return gr_live_check(GR_LIVE_SUBMIT, submit, call);
}

gr_status gr_submit_commit(gr_submit *submit)
{
    gr_status status = check_alive(submit, __func__);
    if (status != GR_OK)
        return status;
    struct submit *s = own(submit);
    pthread_mutex_lock(&lock);
    if (s->over)
        status = gr_fail(GR_ERR_STATE, __func__, "The submit has been committed already.");
    for (size_t i = 0; i < s->count && status == GR_OK; i++)
        settle_use(s, &s->uses[i], true);
    s->made = true;
    end(s);
    pthread_mutex_unlock(&lock);
    return status;
}

void gr_submit_settle(gr_submit *submit, const gr_resource *resource)
{
    struct submit *s = own(submit);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < s->count; i++) {
        if (s->uses[i].resource != resource)
            continue;
        settle_use(s, &s->uses[i], false);
        s->uses[i].resource = NULL;
        s->left--;
    }
    bool last = s->left == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        gr_live_remove(GR_LIVE_RING_SUBMIT, submit);
        drop(s);
    }
}

bool gr_submit_is_committed(gr_submit *submit)
{
    pthread_mutex_lock(&lock);
    bool over = own(submit)->over;
    pthread_mutex_unlock(&lock);
    return over;
}

gr_status gr_submit_check_begun(gr_submit *submit, const char *call)
{
    gr_status status = check_alive(submit, call);
    if (status != GR_OK)
        return status;
    return gr_submit_is_committed(submit)
               ? gr_fail(GR_ERR_STATE, call, "The submit has been made already: begin another one.")
               : GR_OK;
}

const gr_resource *gr_submit_next(gr_submit *submit, size_t *place)
{
    struct submit *s = own(submit);
    const gr_resource *found = NULL;
    pthread_mutex_lock(&lock);
    for (; *place < s->count && !found; ++*place)
        found = s->uses[*place].sync ? s->uses[*place].resource : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void *gr_submit_scratch(gr_submit *submit, size_t size, const char *call)
{
    struct submit *s = own(submit);
    if (s->scratch_size >= size)
        return s->scratch;
    void *made = malloc(size);
    if (!made) {
        gr_fail_memory(call);
        return NULL;
    }
    free(s->scratch);
    s->scratch = made;
    s->scratch_size = size;
    return made;
}

void gr_submit_leave(struct gr_sync *sync)
{
    pthread_mutex_lock(&lock);
    if (sync->begun)
        sync->begun->sync = NULL;
    sync->begun = NULL;
    pthread_mutex_unlock(&lock);
}

void gr_submit_free(gr_submit *submit)
{
    if (submit && gr_live_has(GR_LIVE_RING_SUBMIT, submit))
        gr_fail(GR_ERR_STATE, __func__,
                "The submit is of a ring's slots, which frees it: hand the slots on, or give them "
                "up. Nothing was done.");
    else if (submit && gr_live_end(GR_LIVE_SUBMIT, submit, __func__))
        drop(own(submit));
}

void gr_submit_at_scope_end(gr_submit **submit)
{
    gr_submit_free(*submit);
    *submit = NULL;
}
