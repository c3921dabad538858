/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The life of a link, and whether the peer still changes the ring. */
#include "lib/ring/link/link.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/message/foreign_fd.h"
#include "lib/ring/ring.h"
#include "lib/sync/sync.h"

/* ---- The peer -------------------------------------------------------------------------------- */

/* Why the peer makes no more changes. */
static enum gr_gone gone(const struct gr_link *link)
{
    enum gr_gone why = (enum gr_gone)atomic_load(&link->gone);
    bool has_freed = atomic_load(&link->page->ended[gr_link_peers(link)]);
    return has_freed && why < GR_GONE_RING ? GR_GONE_RING : why;
}

static const char *text_of(enum gr_gone why)
{
    switch (why) {
    case GR_GONE_PAGE:
        return "has overwritten the page of the ring, which now contradicts itself. The ring is "
               "unusable: free it.";
    case GR_GONE_VALUE:
        return "has set a semaphore back to a smaller value, which grinterop never does: this "
               "process can no longer wait for the frames of that process. Free the ring, and end "
               "that process.";
    case GR_GONE_RING:
        return "has freed its ring. Free this ring as well, and share another ring to go on.";
    case GR_GONE_DESCRIPTORS:
        return "has sent file descriptors over the ring's socket, which grinterop never does. Free "
               "the ring, and end that process.";
    default:
        return "has ended or closed the socket. Free the ring, and share another ring to go on.";
    }
}

static gr_status fail_gone(const struct gr_link *link)
{
    return gr_fail(GR_ERR_SYSTEM, "The other process, the ring's %s, %s",
                   link->role == GR_RING_PRODUCER ? "consumer" : "producer", text_of(gone(link)));
}

/* ---- The ring's calls ------------------------------------------------------------------------ */

static void refresh(struct gr_link *link)
{
    if (atomic_load(&link->gone) != GR_GONE_PAGE && !gr_link_pull(link))
        atomic_store(&link->gone, GR_GONE_PAGE);
}

static gr_status update(struct gr_link *link, const struct gr_ring_side *side)
{
    if (side->writes != (link->role == GR_RING_PRODUCER))
        return gr_fail(
            GR_ERR_STATE,
            "The ring is shared with another process, and this process is its %s, which %s.",
            side->writes ? "consumer" : "producer",
            side->writes ? "does not write" : "does not read");
    refresh(link);
    const enum gr_gone why = gone(link);
    bool in_vain = side->writes && !link->state->stopped && why;
    return in_vain || why == GR_GONE_PAGE ? fail_gone(link) : GR_OK;
}

static enum gr_link_peer await_peer(struct gr_link *link)
{
    atomic_store(&link->page->waiting[gr_link_own(link)], 1);
    return gone(link) ? GR_LINK_PEER_GONE : GR_LINK_PEER_ALIVE;
}

static void stop(struct gr_link *link)
{
    atomic_store(&link->page->stopped, 1);
    gr_link_wake(link, true);
}

static void after_failure(struct gr_link *link)
{
    if (gr_context_has_failed(&link->context))
        shutdown(link->socket, SHUT_WR);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Sets the members whose initialisation cannot fail, so that the link can be freed from here on. */
static void init_link(struct gr_link *link, gr_ring *ring, gr_ring_role role, int socket,
                      const struct gr_semaphore_pair *pair, struct gr_semaphore_pair *relayed)
{
    const bool is_cuda = (role == GR_RING_PRODUCER ? &ring->writer : &ring->reader)->is_cuda;
    *link = (struct gr_link){
        .context = {.primary_of = -1},
        .role = role,
        .state = &ring->state,
        .count = ring->state.count,
        .mine = {.semaphore = is_cuda ? pair->release : pair->acquire},
        .theirs = {.semaphore = is_cuda ? pair->acquire : pair->release},
        .values_lock = GR_LOCK(LINK_VALUES),
        .relayed = gr_pair_hold(relayed),
        .socket = socket,
        .oob_inline = -1,
        .pass_rights = -1,
        .pass_pidfd = -1,
        .pass_cred = -1,
        .peer = -1,
        .quit = -1,
        .ring_lock = GR_LOCK(LINK_RING),
        .ring = ring,
    };
    gr_semaphore_hold(link->mine.semaphore);
    gr_semaphore_hold(link->theirs.semaphore);
    link->last = gr_semaphore_last(link->theirs.semaphore);
}

/* Frees all parts except the socket and the CUDA context. */
static void end_parts(struct gr_link *link, bool alive)
{
    gr_link_end_watch(link);
    gr_link_end_semaphores(link, alive);
    gr_page_unmap(link->page, link->count);
}

struct gr_link *gr_link_begin(gr_ring *ring, gr_ring_role role, int socket, struct gr_page *page,
                              const struct gr_semaphore_pair *pair,
                              struct gr_semaphore_pair *relayed)
{
    struct gr_link *link = gr_check_memory(malloc(sizeof(*link)));
    if (!link)
        return NULL;
    init_link(link, ring, role, socket, pair, relayed);
    if (gr_context_hold(&link->mine.semaphore->context, &link->context) == GR_OK &&
        gr_link_make_streams(link) == GR_OK && gr_link_start_watch(link) == GR_OK) {
        link->page = page; /* the link owns the page now, because nothing can fail any more */
        return link;
    }
    gr_link_abandon(link);
    return NULL;
}

void gr_link_abandon(struct gr_link *link)
{
    GR_KEEP_ERROR();
    gr_link_restore_socket(link);
    end_parts(link, true);
    gr_context_drop(&link->context); /* last, because end_parts() needs the context */
    free(link);
}

static void end_after_work(struct gr_ending *ending, bool alive)
{
    struct gr_link *link = (struct gr_link *)ending;
    end_parts(link, alive);
    gr_foreign_close_socket(link->socket);
    free(link);
}

/*
 * Returns an event after the last work of this process, if that work is unfinished; NULL if all is
 * done. Tries twice to make the CUDA context current, because after a failure a stream could wait
 * for the peer forever, and ending the slots would block.
 */
static CUevent work_left(struct gr_link *link)
{
    GR_CALL_AS("gr_ring_free");
    GR_ENTERED entered = 0;
    const bool alive = gr_context_enter(&link->context, &entered) == GR_OK ||
                       gr_context_enter(&link->context, &entered) == GR_OK;
    return alive ? gr_link_last_work(link) : NULL;
}

/*
 * After the ring this process may signal the peer's semaphore itself, with values above those of
 * the peer.
 */
static void raise_theirs(struct gr_link *link)
{
    gr_semaphore *theirs = link->theirs.semaphore;
    const uint64_t last = gr_link_last_value(link);
    GR_LOCKED(&theirs->lock);
    if (theirs->signalled < last)
        theirs->signalled = last;
}

/*
 * Lets the end of each slot follow all work of this process, which is done when `after` passes. A
 * peer that gives slots back too early breaks the order between two streams of this process, so
 * that the last use of a slot need not follow its earlier uses.
 */
static void order_slots(const struct gr_link *link, CUevent after)
{
    GR_CALL_AS("gr_ring_free");
    GR_ENTERED entered = 0;
    if (gr_context_enter(&link->context, &entered) != GR_OK)
        return;
    for (uint32_t i = 0; i < link->count; i++) {
        const struct gr_ring_slot *slot = &link->state->slots[i];
        gr_resource *resource = slot->state == GR_SLOT_NONE ? NULL : slot->api.resource;
        if (resource && !resource->mapped)
            (void)gr_work_mark(&resource->sync.work, link->passed);
        else if (resource && gr_event_capture(resource->mapped->stream) == CUDA_SUCCESS)
            gr_driver()->StreamWaitEvent(resource->mapped->stream, after, 0);
    }
}

/*
 * Ends the link. The socket stays open and watched until this process has sent all its signals and
 * has received all signals that it waits for. To each process, the end of the socket means that the
 * other process signals no more.
 */
static void end_link(struct gr_link *link)
{
    GR_KEEP_ERROR();
    atomic_store(&link->page->ended[gr_link_own(link)], 1);
    gr_link_wake(link, true);
    gr_link_forget_ring(link);
    raise_theirs(link);
    const CUevent after = work_left(link);
    if (after)
        order_slots(link, after);
    link->ending =
        (struct gr_ending){.context = link->context, .after = after, .end = end_after_work};
    gr_ending_start(&link->ending);
}

const struct gr_link_operations gr_link_shared = {
    .refresh = refresh,
    .update = update,
    .await = await_peer,
    .fail_gone = fail_gone,
    .claim = gr_link_claim,
    .finish_claim = gr_link_finish_claim,
    .push = gr_link_push,
    .stop = stop,
    .after_failure = after_failure,
    .check_work = gr_link_check_work,
    .begin_use = gr_link_begin_use,
    .follow = gr_link_follow,
    .end_use = gr_link_end_use,
    .end = end_link,
};
