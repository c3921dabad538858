/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring slots of a ring, on either side. The lock is held only for the bookkeeping: what maps
 * or talks to a graphics API runs without it, on slots that were claimed, so that no side waits for
 * the other's driver calls.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <time.h>

#include "lib/error.h"
#include "lib/ring/side_order.h"
#include "lib/ring/peer_link.h"
#include "lib/ring/slot_resources.h"
#include "lib/stream.h"

#define FOR_EVER (~0u)

/* In a shared ring, at slots that the peer takes first. */
#define MOST_ATTEMPTS 8

/* ---- Waiting for slots ----------------------------------------------------------------------- */

static struct timespec deadline_of(const gr_ring *ring)
{
    struct timespec at;
    clock_gettime(ring->clock, &at);
    at.tv_sec += ring->wait_ms / 1000;
    at.tv_nsec += (long)(ring->wait_ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static gr_status fail_timeout(const gr_ring *ring, const struct gr_ring_side *side, size_t n,
                              const char *call)
{
    gr_ring_info now;
    gr_ring_state_count(ring->state, &now);
    return gr_fail(GR_ERR_TIMEOUT, call,
                   "%zu %s: %u of the ring's %u slots are free, %u are being written, %u are "
                   "published, %u are being read.%s",
                   n,
                   side->writes ? "slots to write to were not there in time"
                                : "frames to read were not there in time",
                   now.free, now.slots, now.writing, now.ready, now.reading,
                   gr_ring_state_returning(ring->state)
                       ? " Of the free ones, some stay with the consumer until its next call."
                       : "");
}

static gr_status fail_stopped(const gr_ring *ring, const struct gr_ring_side *side,
                              const char *call)
{
    gr_ring_info now;
    gr_ring_state_count(ring->state, &now);
    if (side->writes)
        return gr_fail(GR_ERR_STATE, call, "The ring has been stopped: nothing is written to it.");
    return gr_fail(GR_ERR_STATE, call,
                   "The ring has been stopped; %u published frames are left to read.", now.ready);
}

/*
 * Frames can be in slots that leave, so there may be more to read than there are slots to write to.
 */
static gr_status check_number(const gr_ring *ring, const struct gr_ring_side *side, size_t n,
                              const char *call)
{
    size_t most = ring->state->slots + (side->writes ? 0 : ring->state->leaving);
    if (n > 0 && n <= most)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "n is %zu, but the ring has %zu slots.", n, most);
}

/* What a claim found. */
enum claim {
    CLAIM_MADE,
    CLAIM_NONE_READY, /* there are not so many slots yet */
    CLAIM_STOPPED,    /* and there will be no more */
    CLAIM_FAILED      /* the error is recorded */
};

static enum claim none_ready(const gr_ring *ring)
{
    return ring->state->stopped ? CLAIM_STOPPED : CLAIM_NONE_READY;
}

/*
 * Claims in the state, and in a shared ring's page, where the peer may be faster; then there may be
 * others.
 */
static enum claim claim_slots(gr_ring *ring, struct gr_ring_side *side, size_t n, const char *call)
{
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        if (gr_link_pull(ring->link, side, call) != GR_OK)
            return CLAIM_FAILED;
        if (side->writes && ring->state->stopped)
            return CLAIM_STOPPED;
        if (!gr_ring_side_claim(side, ring->state, n))
            return none_ready(ring);
        if (gr_link_claim(ring->link, side, n))
            return CLAIM_MADE;
        gr_ring_side_undo(side, ring->state, n);
    }
    return none_ready(ring);
}

static enum claim try_to_claim(gr_ring *ring, struct gr_ring_side *side, size_t n, const char *call)
{
    if (check_number(ring, side, n, call) != GR_OK || gr_ring_side_reserve(side, n, call) != GR_OK)
        return CLAIM_FAILED;
    return claim_slots(ring, side, n, call);
}

/*
 * Likewise; the peer of a shared ring is told first that it is waited for, so that nothing is
 * missed.
 */
static enum claim look(gr_ring *ring, struct gr_ring_side *side, size_t n, const char *call)
{
    enum claim found = try_to_claim(ring, side, n, call);
    if (found != CLAIM_NONE_READY || !ring->link)
        return found;
    bool over = gr_link_await(ring->link);
    found = try_to_claim(ring, side, n, call);
    if (found != CLAIM_NONE_READY || !over)
        return found;
    gr_link_fail_over(ring->link, call);
    return CLAIM_FAILED;
}

/* Where there are not n, what has been returned is freed first, if this thread may. */
static enum claim look_once_more(gr_ring *ring, struct gr_ring_side *side, size_t n,
                                 const char *call)
{
    enum claim found = look(ring, side, n, call);
    if (found != CLAIM_NONE_READY || !gr_ring_can_end_returned(ring))
        return found;
    if (gr_ring_end_returned(ring, side, call) != GR_OK)
        return CLAIM_FAILED;
    return look(ring, side, n, call);
}

/* Until there is something else than none ready, or for as long as the ring waits. */
static enum claim look_until_deadline(gr_ring *ring, struct gr_ring_side *side, size_t n,
                                      const char *call)
{
    enum claim found = look_once_more(ring, side, n, call);
    if (found != CLAIM_NONE_READY || ring->wait_ms == 0)
        return found;
    struct timespec deadline = {0};
    if (ring->wait_ms != FOR_EVER)
        deadline = deadline_of(ring);
    int waited = 0;
    while (found == CLAIM_NONE_READY && waited == 0) {
        waited = ring->wait_ms == FOR_EVER
                     ? pthread_cond_wait(&ring->changed, &ring->lock)
                     : pthread_cond_timedwait(&ring->changed, &ring->lock, &deadline);
        found = look_once_more(ring, side, n, call);
    }
    return found;
}

/* Claims n slots for the side. The lock is held. */
static gr_status claim(gr_ring *ring, struct gr_ring_side *side, size_t n, const char *call)
{
    switch (look_until_deadline(ring, side, n, call)) {
    case CLAIM_MADE:
        return GR_OK;
    case CLAIM_NONE_READY:
        return fail_timeout(ring, side, n, call);
    case CLAIM_STOPPED:
        return fail_stopped(ring, side, call);
    default:
        return gr_last_error(NULL);
    }
}

/* ---- Acquire --------------------------------------------------------------------------------- */

static gr_status check_stream(const struct gr_ring_side *side, CUstream stream, const char *call)
{
    const char *does = side->writes ? "writes" : "reads";
    if (!side->is_cuda)
        return stream ? gr_fail(GR_ERR_INVALID_VALUE, call,
                                "A stream is given, but in this ring the graphics API %s: pass "
                                "NULL.",
                                does)
                      : GR_OK;
    if (!stream)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The stream is NULL, but in this ring CUDA %s. Name it: CU_STREAM_LEGACY or "
                       "CU_STREAM_PER_THREAD for a default stream.",
                       does);
    return gr_stream_check(stream, false, call);
}

/* Makes a claim final, or undoes it. The lock is held. */
static void conclude(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool final)
{
    if (final)
        gr_ring_side_commit(side, ring->state, n);
    else
        gr_ring_side_undo(side, ring->state, n);
    gr_link_conclude(ring->link, side, n, final);
    pthread_cond_broadcast(&ring->changed);
}

/* What the caller gets to know of the slots. The lock is held. */
static void give_out(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                     const gr_submit *submit, gr_slot slots[])
{
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_slot *slot = &ring->slots[side->numbers[i]];
        slot->buffer = side->is_cuda ? side->buffers[i] : NULL;
        slots[i] = (gr_slot){
            .resource = slot->resource,
            .buffer = slot->buffer,
            .submit = *submit,
            .frame = ring->state->places[side->numbers[i]].frame,
            .index = slot->index,
        };
    }
}

static gr_status acquire(gr_ring *ring, struct gr_ring_side *side, CUstream stream, size_t n,
                         gr_slot slots[], const char *call)
{
    gr_status status = slots ? check_stream(side, stream, call)
                             : gr_fail(GR_ERR_INVALID_VALUE, call, "`slots` is NULL.");
    if (status != GR_OK)
        return status;
    pthread_mutex_lock(&ring->lock);
    status = claim(ring, side, n, call);
    for (size_t i = 0; status == GR_OK && i < n; i++)
        side->resources[i] = ring->slots[side->numbers[i]].resource;
    pthread_mutex_unlock(&ring->lock);
    if (status != GR_OK)
        return status;
    gr_submit submit = {0};
    status = gr_ring_begin_use(ring, side, n, stream, &submit, call);
    pthread_mutex_lock(&ring->lock);
    conclude(ring, side, n, status == GR_OK);
    if (status == GR_OK)
        give_out(ring, side, n, &submit, slots);
    bool ends = gr_ring_has_left(ring);
    pthread_mutex_unlock(&ring->lock);
    if (ends)
        gr_ring_end_left(ring);
    return status;
}

gr_status gr_ring_acquire_write(gr_ring *ring, CUstream stream, size_t n, gr_slot slots[])
{
    gr_status status = gr_ring_check(ring, __func__);
    return status == GR_OK ? acquire(ring, &ring->writer, stream, n, slots, __func__) : status;
}

gr_status gr_ring_acquire_read(gr_ring *ring, CUstream stream, size_t n, gr_slot slots[])
{
    gr_status status = gr_ring_check(ring, __func__);
    return status == GR_OK ? acquire(ring, &ring->reader, stream, n, slots, __func__) : status;
}
