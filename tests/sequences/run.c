/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "run.h"

#include "calls.h"
#include "outside.h"
#include "tests/drivers/fault_driver.h"
#include "tests/support/descriptors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct journal *journal;
static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;
/* The barrier at which all threads meet between two parts of a run. */
static pthread_barrier_t step;

/* Only the first thread that fails reports, and it keeps the lock. */
void run_failed(struct world *w, const char *text)
{
    pthread_mutex_lock(&failing);
    snprintf(journal->failure, sizeof(journal->failure), "%s: %s", w->doing, text);
    _exit(RUN_FAILED);
}

/* ---- One sequence ---------------------------------------------------------------------------- */

/* Makes a call. Returns false if the call cannot be made now. */
static bool make(struct world *w, const struct call *call)
{
    const struct entry *entry = entry_at(call->entry);
    w->doing = entry->name;
    w->refused = false;
    if (!entry->run(w, call->argument))
        return false;
    unsigned *count = w->refused ? journal->refused : journal->good;
    __atomic_fetch_add(&count[call->entry], 1, __ATOMIC_RELAXED);
    check_world(w);
    return true;
}

/* Picks and makes `length` calls. A call that cannot be made now is removed from the record. */
static void generate(struct world *w, struct script *script, unsigned length)
{
    while (script->count < length) {
        call_pick(w, &script->calls[script->count++]);
        script->count -= !make(w, &script->calls[script->count - 1]);
    }
}

/* Releases a buffer on a live stream, since the stream of its map may have ended. */
static void release_last(struct world *w, struct buffer *b)
{
    gr_buffer *list[] = {b->it};
    CUstream stream = b->stream_ended ? CU_STREAM_LEGACY : GR_STREAM_OF_MAP;
    const unsigned may = b->resource->mapped == b ? loss_may(b->resource) : 0;
    judge(w, gr_buffer_release_many(list, 1, stream, NULL), may);
    is_released(w, b);
}

/*
 * Frees the remaining objects of a context. Creating one more resource in that context ends the
 * deferred mappings.
 */
static void clean_context(struct world *w)
{
    for (int i = 0; i < RINGS; i++)
        if (w->rings[i].life == LIVE && is_ring_valid(w, &w->rings[i]))
            ring_free(w, &w->rings[i]);
    for (int i = 0; i < BUFFERS; i++)
        if (w->buffers[i].life == LIVE && is_here(w, w->buffers[i].resource))
            release_last(w, &w->buffers[i]);
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].life == LIVE && is_here(w, &w->resources[i])) {
            collect_first(w, &w->resources[i]);
            gr_resource_free(w->resources[i].it);
            note_release(w, &w->resources[i]);
        }
    gr_resource *last = gr_from_gl_buffer(w->scratch[w->gl], GR_READ_WRITE);
    judge_made(w, last, 0);
    gr_resource_free(last);
    collect_later(w);
    for (int i = 0; i < OBJECTS; i++)
        if (w->objects[i].context == w->gl && !w->objects[i].deleted && !w->objects[i].lost)
            compare_gl(w, &w->objects[i]);
}

/* Cancels uncommitted submits and waits for the committed ones, before anything is freed. */
static void clean_vulkan(struct world *w)
{
    for (int i = 0; i < SUBMITS; i++)
        if (w->submits[i].life == LIVE)
            gr_submit_free(w->submits[i].it);
    if (w->device)
        must(w, w->queue_wait_idle(w->vulkan->graphics) == VK_SUCCESS);
    for (int i = 0; i < DEVICES; i++)
        if (w->devices[i].life == LIVE)
            gr_vk_device_free(w->devices[i].it);
    for (int i = 0; i < SEMAPHORES; i++)
        if (w->semaphores[i].life == LIVE)
            gr_semaphore_free(w->semaphores[i].it);
}

static void clean_up(struct world *w)
{
    w->doing = "the end";
    use_cuda(w, 0);
    for (int i = 0; i < EXPORTS; i++)
        if (w->exports[i].life == LIVE && !w->exports[i].taken)
            export_end(w, &w->exports[i]);
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].life == LIVE) {
            gr_tensor_free(w->tensors[i].it);
            tensor_is_freed(w, &w->tensors[i]);
        }
    clean_vulkan(w);
    judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0);
    collect_freed(w);
    for (int i = 0; i < GL_CONTEXTS; i++) {
        use_gl(w, i);
        clean_context(w);
    }
    for (int i = 0; i < RESOURCES; i++)
        must(w, !w->resources[i].used);
    must(w, !w->alone || w->wraps_ended == w->wraps);
    outside_drop(w);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

/*
 * Resources that were closed before their streams were idle are freed when the next resource is
 * created and closed.
 */
static void settle(struct world *w)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    need_cuda(w, w->cu->CtxSynchronize(), "cuCtxSynchronize");
    GR_AUTO(gr_resource) *last =
        w->device ? gr_create_vk_buffer(w->device, &info, GR_READ_WRITE) : NULL;
    must(w, last || !w->device);
}

/*
 * Frees the objects that threads have handed over. All threads take part, since the creating thread
 * completes the end of such an object.
 */
static void end_handed(struct world *w)
{
    if (w->alone)
        return;
    w->doing = "freeing the objects that were handed over";
    use_cuda(w, 0);
    pthread_barrier_wait(&step);
    hand_end_all(w);
    pthread_barrier_wait(&step);
}

/*
 * Generates `length` calls or, if `length` is 0, makes the calls of the script. Returns the number
 * of leaked descriptors.
 */
static unsigned leaked_descriptors(struct world *w, struct script *script, unsigned length)
{
    unsigned before = w->alone ? open_descriptors() : 0;
    outside_make(w);
    fault->reset();
    if (length)
        generate(w, script, length);
    else
        for (unsigned i = 0; i < script->count; i++)
            make(w, &script->calls[i]);
    end_handed(w);
    clean_up(w);
    if (!w->alone)
        return 0;
    settle(w);
    unsigned after = open_descriptors();
    return after > before ? after - before : 0;
}

/*
 * Runs a sequence. If it leaks a descriptor, the calls are repeated: a descriptor that is opened
 * once, at first use, does not leak again.
 */
static void run_one(struct world *w, struct script *script, unsigned length)
{
    if (!leaked_descriptors(w, script, length))
        return;
    unsigned more = leaked_descriptors(w, script, 0);
    if (more)
        fail(w, "each run leaves %u descriptors open", more);
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct worker {
    struct world world;
    pthread_t thread;
    const struct run *run; /* NULL: this process replays the journal */
    const char *missing;
};

/*
 * Combines the seed and the number of a sequence, so that successive sequences have unrelated
 * seeds.
 */
static uint32_t mix(uint32_t seed, uint32_t i)
{
    uint64_t bits = (((uint64_t)seed << 32) | i) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    uint32_t mixed = (uint32_t)(bits >> 32);
    return mixed ? mixed : 1;
}

static bool goes_on; /* one thread writes it between two barriers */

/* Prepares the next sequence and clears the journal. Runs on one thread between two sequences. */
static void next_sequence(const struct run *run, uint32_t i, time_t begun)
{
    for (unsigned t = 0; t < MOST_THREADS; t++) {
        journal->made += journal->scripts[t].count;
        journal->scripts[t].count = 0;
    }
    journal->seed = mix(run->seed, i);
    bool in_time = !run->seconds || time(NULL) - begun < (time_t)run->seconds;
    goes_on = in_time && (!run->calls || journal->made < run->calls);
}

static void work(struct worker *worker, time_t begun)
{
    struct world *w = &worker->world;
    for (uint32_t i = 0;; i++) {
        if (w->thread == 0)
            next_sequence(worker->run, i, begun);
        pthread_barrier_wait(&step);
        if (!goes_on)
            return;
        if (w->thread == 0)
            journal->software = w->software;
        w->random = mix(journal->seed, w->thread + 1);
        theme_pick(w);
        run_one(w, &journal->scripts[w->thread], worker->run->length);
        pthread_barrier_wait(&step);
    }
}

static void work_again(struct worker *worker)
{
    struct world *w = &worker->world;
    pthread_barrier_wait(&step);
    run_one(w, &journal->scripts[w->thread], 0);
}

static void *run_worker(void *data)
{
    struct worker *worker = data;
    time_t begun = time(NULL);
    worker->world.doing = "the beginning";
    worker->missing = outside_begin(&worker->world);
    if (worker->missing) {
        snprintf(journal->failure, sizeof(journal->failure), "%s", worker->missing);
        _exit(RUN_CANNOT);
    }
    if (worker->run)
        work(worker, begun);
    else
        work_again(worker);
    outside_end(&worker->world);
    return NULL;
}

static int run_workers(const struct run *run, unsigned count)
{
    struct worker *workers = calloc(count, sizeof(*workers));
    if (!workers || pthread_barrier_init(&step, NULL, count) != 0)
        return RUN_CANNOT;
    for (unsigned t = 0; t < count; t++) {
        workers[t].world.thread = t;
        workers[t].world.alone = count == 1;
        workers[t].run = run;
    }
    for (unsigned t = 1; t < count; t++)
        if (pthread_create(&workers[t].thread, NULL, run_worker, &workers[t]) != 0)
            return RUN_CANNOT;
    run_worker(&workers[0]);
    for (unsigned t = 1; t < count; t++)
        pthread_join(workers[t].thread, NULL);
    pthread_barrier_destroy(&step);
    free(workers);
    return 0;
}

int run_sequences(const struct run *run)
{
    journal = run->journal;
    return run_workers(run, run->threads);
}

int run_again(const struct run *run)
{
    unsigned count = 1;
    journal = run->journal;
    for (unsigned t = 1; t < MOST_THREADS; t++)
        if (journal->scripts[t].count)
            count = t + 1;
    return run_workers(NULL, count);
}
