/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Acquires slots of a ring, for either side. The lock is held only for the bookkeeping. Driver and
 * graphics calls run without the lock, on claimed slots, so that no side waits for driver calls of
 * the other side. Only wait_for_change() holds it, at most every 100 ms.
 */
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/resource/backend.h"
#include "lib/resource/stream.h"
#include "lib/ring/link/operations.h"
#include "lib/ring/ring.h"
#include "lib/ring/slot_life.h"
#include "lib/ring/slot_use.h"

/*
 * The maximum number of attempts to claim slots of a shared ring: the peer may take them first each
 * time.
 */
#define MOST_ATTEMPTS 8

/* The time between two checks of the CUDA context during a wait, in milliseconds. */
#define CHECK_MS 100

/* ---- Waiting for slots ----------------------------------------------------------------------- */

/*
 * Waits until the ring changes, at most until the deadline. The lock is held. If nothing changes,
 * checks the CUDA context from time to time, because the other side may wait for a kernel that
 * failed: then no frame may ever come, and what waits for CUDA is ended. *over says whether the
 * wait is over.
 */
static gr_status wait_for_change(gr_ring *ring, const struct gr_deadline *deadline, bool *over)
{
    const double left = gr_deadline_left(deadline);
    const bool is_last = left <= CHECK_MS;
    const bool waited =
        gr_condition_wait_ms(&ring->changed, &ring->lock.mutex, is_last ? left : CHECK_MS);
    *over = waited && is_last;
    if (!waited || !gr_context_has_failed(&gr_ring_any_resource(ring)->context))
        return GR_OK;
    for (uint32_t i = 0; i < GR_RING_MOST_SLOTS; i++)
        if (gr_ring_state_stays(&ring->state, i))
            gr_resources_after_failure(&ring->state.slots[i].api.resource, 1);
    ring->link_ops->after_failure(ring->link);
    return gr_fail(GR_ERR_DEVICE_LOST,
                   "Earlier work in the ring's CUDA context has failed, such as a kernel. Check "
                   "that work (compute-sanitizer), and create the context and the ring again.");
}

static gr_status fail_too_few(const gr_ring *ring, const struct gr_ring_side *side, size_t n,
                              unsigned timeout_ms)
{
    gr_ring_info now;
    char when[40] = "yet";
    if (timeout_ms)
        snprintf(when, sizeof(when), "within %u ms", timeout_ms);
    gr_ring_state_info(&ring->state, &now);
    if (ring->is_sending)
        return gr_fail(timeout_ms ? GR_ERR_TIMEOUT : GR_ERR_NOT_READY,
                       "The ring is being sent to another process: acquire after gr_ring_send() "
                       "has returned, or with a longer timeout.");
    return gr_fail(timeout_ms ? GR_ERR_TIMEOUT : GR_ERR_NOT_READY,
                   "%zu %s%s not available %s. The ring's slots: %u; free: %u, being written: %u, "
                   "ready: %u, being read: %u. %s",
                   n, side->writes ? "slot" : "frame", n == 1 ? " was" : "s were", when, now.slots,
                   now.free, now.writing, now.ready, now.reading,
                   side->writes ? "Does the consumer give its slots back?"
                                : "Does the producer hand frames over?");
}

static gr_status fail_stopped(const gr_ring *ring, const struct gr_ring_side *side)
{
    gr_ring_info now;
    gr_ring_state_info(&ring->state, &now);
    if (side->writes)
        return gr_fail(GR_ERR_STOPPED,
                       "The ring has been stopped and takes no more frames. Free it, and create "
                       "another ring to go on.");
    return gr_fail(GR_ERR_STOPPED, "The ring has been stopped. Frames left to read: %u.",
                   now.ready);
}

static gr_status too_few(const gr_ring *ring)
{
    return ring->state.stopped ? GR_ERR_STOPPED : GR_ERR_NOT_READY;
}

/*
 * Claims n slots in the state, and in the page of a shared ring. If the peer took a slot first,
 * tries other slots. GR_ERR_NOT_READY: fewer than n are available yet; GR_ERR_STOPPED: and no more
 * will come. Records only other errors.
 */
static gr_status try_to_claim(gr_ring *ring, struct gr_ring_side *side, size_t n)
{
    struct gr_ring_state *state = &ring->state;
    if (ring->is_sending)
        return too_few(ring);
    /* A consumer may acquire more slots than a producer: slots that are leaving may hold frames. */
    const size_t most = state->count + (side->writes ? 0 : state->leaving);
    GR_REFUSE_IF(n == 0 || n > most,
                 "n is %zu, but the ring has %zu slot%s: pass a number from 1 to that.", n, most,
                 gr_s(most));
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        GR_TRY(ring->link_ops->update(ring->link, side));
        if ((side->writes && state->stopped) ||
            !gr_ring_state_claim(state, side->writes, n, side->numbers))
            break;
        if (ring->link_ops->claim(ring->link, side, n))
            return GR_OK;
        gr_ring_state_undo(state, side->writes, n, side->numbers);
    }
    return too_few(ring);
}

/*
 * Like try_to_claim(); if there are too few slots, requests a wake-up from the peer and tries
 * again, so that no wake-up is missed.
 */
static gr_status claim_or_await(gr_ring *ring, struct gr_ring_side *side, size_t n)
{
    gr_status status = try_to_claim(ring, side, n);
    if (status != GR_ERR_NOT_READY)
        return status;
    const enum gr_link_peer peer = ring->link_ops->await(ring->link);
    if (peer == GR_LINK_NO_PEER)
        return status;
    status = try_to_claim(ring, side, n);
    return status == GR_ERR_NOT_READY && peer == GR_LINK_PEER_GONE
               ? ring->link_ops->fail_gone(ring->link)
               : status;
}

/* Claims n slots for the side. Waits until they are available. The lock is held. */
static gr_status claim(gr_ring *ring, struct gr_ring_side *side, size_t n,
                       const struct gr_deadline *deadline)
{
    bool over = deadline->timeout_ms == 0;
    gr_status status = claim_or_await(ring, side, n);
    while (status == GR_ERR_NOT_READY && !over) {
        GR_TRY(wait_for_change(ring, deadline, &over));
        status = claim_or_await(ring, side, n);
    }
    if (status == GR_ERR_NOT_READY)
        return fail_too_few(ring, side, n, deadline->timeout_ms);
    return status == GR_ERR_STOPPED ? fail_stopped(ring, side) : status;
}

/* ---- Acquire --------------------------------------------------------------------------------- */

static gr_status refuse_stream(const struct gr_ring_side *side, CUstream stream)
{
    const char *does = side->writes ? "writes" : "reads";
    const char *instead = side->writes == side->is_cuda ? "GR_SIDE_GRAPHICS" : "GR_SIDE_CUDA";
    GR_REFUSE_IF(
        !side->is_cuda,
        "In this ring the graphics API %s and takes no stream, but the stream is %s: pass "
        "GR_STREAM_NONE. If CUDA %s, set gr_ring_options.producer to %s when you create the ring.",
        does, stream ? "a CUDA stream" : "NULL", does, instead);
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "In this ring CUDA %s and needs a stream, but %s. Pass the stream of that work, "
                   "or GR_STREAM_LEGACY or GR_STREAM_PER_THREAD for a default stream. If the "
                   "graphics API %s, set gr_ring_options.producer to %s when you create the ring.",
                   does, stream ? "none was passed (GR_STREAM_NONE)" : "the stream is NULL", does,
                   instead);
}

static gr_status check_stream(const struct gr_ring_side *side, CUstream stream)
{
    if (!side->is_cuda)
        return stream == GR_STREAM_NONE ? GR_OK : refuse_stream(side, stream);
    if (!stream || stream == GR_STREAM_NONE)
        return refuse_stream(side, stream);
    return gr_stream_check_given(stream, false); /* the map checks the rest */
}

static bool is_stopped(gr_ring *ring)
{
    GR_LOCKED(&ring->lock);
    return ring->state.stopped;
}

/* Waits on this thread. Observes the caller's timeout, because only the peer can end this wait. */
static gr_status await_peers_work(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                                  const struct gr_deadline *deadline)
{
    bool done;
    unsigned polls = 0;
    GR_TRY(ring->link_ops->check_work(ring->link, side, n, &done));
    while (!done) {
        if (is_stopped(ring))
            return gr_fail(GR_ERR_STOPPED,
                           "The ring has been stopped, and the other process has not finished its "
                           "work with the slots that it handed on.");
        if (gr_deadline_is_over(deadline))
            return gr_fail(deadline->timeout_ms ? GR_ERR_TIMEOUT : GR_ERR_NOT_READY,
                           "The other process has handed on %zu slot%s, but has not finished its "
                           "work with %s yet. This OpenGL has no semaphores, so the acquire has to "
                           "wait for that work. Is the other process still running?",
                           n, gr_s(n), n == 1 ? "it" : "them");
        gr_host_pause(&polls);
        GR_TRY(ring->link_ops->check_work(ring->link, side, n, &done));
    }
    return GR_OK;
}

/* Begins the use of claimed slots, and commits or undoes the claim. */
static gr_status begin_use(gr_ring *ring, struct gr_ring_side *side, CUstream stream,
                           const gr_slot *slots[], size_t n, const struct gr_deadline *deadline)
{
    gr_submit *submit = NULL;
    gr_status status = await_peers_work(ring, side, n, deadline);
    if (status == GR_OK)
        status = gr_ring_begin_use(ring, side, n, stream, &submit);
    if (status == GR_ERR_DEVICE_LOST)
        ring->link_ops->after_failure(ring->link);
    gr_lock(&ring->lock);
    if (status == GR_OK)
        gr_ring_state_commit(&ring->state, side->writes, n, side->numbers);
    else
        gr_ring_state_undo(&ring->state, side->writes, n, side->numbers);
    ring->link_ops->finish_claim(ring->link, side, n, status == GR_OK);
    gr_ring_notify(ring);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        gr_slot *slot = &ring->state.slots[side->numbers[i]].api;
        slot->buffer = side->is_cuda ? side->buffers[i] : NULL;
        slot->submit = submit;
        slots[i] = slot;
    }
    gr_ring_unlock_and_end_left(ring);
    return status;
}

static gr_status acquire(gr_ring *ring, struct gr_ring_side *side, CUstream stream,
                         const gr_slot *slots[], size_t n, unsigned timeout_ms)
{
    GR_REFUSE_IF(!slots, "`slots` is NULL: pass an array of n for the acquired slots.");
    GR_TRY(check_stream(side, stream));
    const struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    gr_lock(&ring->lock);
    gr_status status = claim(ring, side, n, &deadline);
    for (size_t i = 0; status == GR_OK && i < n; i++)
        side->resources[i] = ring->state.slots[side->numbers[i]].api.resource;
    if (status != GR_OK)
        gr_ring_update_pollers(ring);
    gr_unlock(&ring->lock);
    return status == GR_OK ? begin_use(ring, side, stream, slots, n, &deadline) : status;
}

gr_status gr_ring_acquire_write(gr_ring *ring, CUstream stream, const gr_slot *slots[], size_t n,
                                unsigned timeout_ms)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return acquire(ring, &ring->writer, stream, slots, n, timeout_ms);
}

gr_status gr_ring_acquire_read(gr_ring *ring, CUstream stream, const gr_slot *slots[], size_t n,
                               unsigned timeout_ms)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return acquire(ring, &ring->reader, stream, slots, n, timeout_ms);
}
