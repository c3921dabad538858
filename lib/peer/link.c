/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The link of a shared ring: its life, and how ring calls update the page and wake the peer. */
#define _GNU_SOURCE
#include "lib/peer/link.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "lib/base/error.h"
#include "lib/peer/foreign_fd.h"
#include "lib/cuda/end_after_event.h"
#include "lib/peer/page.h"
#include "lib/peer/semaphores.h"
#include "lib/peer/watch.h"

struct gr_link {
    struct gr_ending ending; /* used if the link outlives the ring */
    struct gr_context context;
    gr_ring_role role;
    atomic_bool spoiled; /* the page contains values that no grinterop peer writes */
    struct gr_page_view view;
    struct gr_peer_semaphores semaphores;
    struct gr_peer_watch watch;
};

/* ---- The peer -------------------------------------------------------------------------------- */

/*
 * own() returns the index of this process in the arrays of the page, peers() the index of the peer.
 */
static unsigned own(const struct gr_link *link)
{
    return link->role - GR_RING_PRODUCER;
}

static unsigned peers(const struct gr_link *link)
{
    return !own(link);
}

/*
 * Wakes the peer if it waits, or in any case if `always` is set. A full socket needs no handling:
 * its unread bytes also wake the peer.
 */
static void wake(struct gr_link *link, bool always)
{
    static const char byte = 0;
    bool waits = atomic_exchange(&link->view.page->waiting[peers(link)], 0) != 0;
    if (waits || always)
        send(link->watch.socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Whether the peer will make no more changes. */
static bool is_over(const struct gr_link *link)
{
    return gr_peer_watch_saw_end(&link->watch) || atomic_load(&link->spoiled) ||
           atomic_load(&link->view.page->ended[peers(link)]);
}

gr_status gr_link_fail_gone(const struct gr_link *link, const char *call)
{
    const char *peer = link->role == GR_RING_PRODUCER ? "consumer" : "producer";
    if (atomic_load(&link->spoiled))
        return gr_fail(GR_ERR_SYSTEM, call,
                       "The ring's page contradicts itself: the other process, the ring's %s, has "
                       "overwritten the page. The ring is unusable: free it.",
                       peer);
    if (gr_peer_watch_saw_value_fall(&link->watch))
        return gr_fail(GR_ERR_SYSTEM, call,
                       "The other process, the ring's %s, has set a semaphore back to a smaller "
                       "value, which grinterop never does: this process can no longer wait for the "
                       "frames of that process. Free the ring, and end that process.",
                       peer);
    if (atomic_load(&link->view.page->ended[peers(link)]))
        return gr_fail(GR_ERR_SYSTEM, call,
                       "The other process, the ring's %s, has freed its ring. Free this ring as "
                       "well, and share another ring to go on.",
                       peer);
    if (gr_peer_watch_saw_descriptors(&link->watch))
        return gr_fail(
            GR_ERR_SYSTEM, call,
            "The other process, the ring's %s, has sent file descriptors over the ring's socket, "
            "which grinterop never does. Free the ring, and end that process.",
            peer);
    return gr_fail(
        GR_ERR_SYSTEM, call,
        "The other process, the ring's %s, has ended or closed the socket. Free the ring, "
        "and share another ring to go on.",
        peer);
}

/* ---- The ring's calls ------------------------------------------------------------------------ */

static gr_status check_role(const struct gr_link *link, const struct gr_ring_side *side,
                            const char *call)
{
    if (side->writes == (link->role == GR_RING_PRODUCER))
        return GR_OK;
    return gr_fail(GR_ERR_STATE, call,
                   "The ring is shared with another process, and this process is its %s, which %s.",
                   side->writes ? "consumer" : "producer",
                   side->writes ? "does not write" : "does not read");
}

gr_status gr_link_update(struct gr_link *link, const struct gr_ring_side *side, const char *call)
{
    gr_status status = link ? check_role(link, side, call) : GR_OK;
    if (!link || status != GR_OK)
        return status;
    if (atomic_load(&link->spoiled) || !gr_page_pull(&link->view, side)) {
        atomic_store(&link->spoiled, true);
        return gr_link_fail_gone(link, call);
    }
    bool in_vain = side->writes && !link->view.state->stopped && is_over(link);
    return in_vain ? gr_link_fail_gone(link, call) : GR_OK;
}

bool gr_link_await(struct gr_link *link)
{
    if (!link)
        return false;
    atomic_store(&link->view.page->waiting[own(link)], 1);
    return is_over(link);
}

bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    if (!link || gr_page_claim(&link->view, side, n))
        return true;
    if (n > 1)
        wake(link, false); /* frames that were claimed are available again */
    return false;
}

void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final)
{
    if (!link)
        return;
    gr_page_finish_claim(&link->view, side, n, final);
    if (!final)
        wake(link, false); /* frames may be available again */
}

void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread)
{
    if (!link)
        return;
    gr_page_push(&link->view, side, n, side->writes || unread ? GR_OWNER_READY : GR_OWNER_PRODUCER);
    wake(link, false);
}

void gr_link_stop(struct gr_link *link)
{
    if (!link)
        return;
    atomic_store(&link->view.page->stopped, 1);
    wake(link, true);
}

void gr_link_after_failure(const struct gr_link *link)
{
    if (link && gr_context_has_failed(&link->context))
        shutdown(link->watch.socket, SHUT_WR);
}

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call)
{
    return link ? gr_peer_semaphores_begin_use(&link->semaphores, &link->view, side, n, call)
                : GR_OK;
}

void gr_link_follow(struct gr_link *link, CUstream stream, bool failed)
{
    if (link)
        gr_peer_semaphores_follow(&link->semaphores, stream, failed);
}

gr_status gr_link_peer_is_done(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                               bool *come, const char *call)
{
    *come = !link;
    return link ? gr_peer_semaphores_are_done(&link->semaphores, &link->view, side, n, come, call)
                : GR_OK;
}

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call)
{
    return link ? gr_peer_semaphores_end_use(&link->semaphores, &link->view, side, n, call) : GR_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Sets the members whose initialisation cannot fail, so that the link can be freed from here on. */
static void init_link(struct gr_link *link, const struct gr_link_parts *parts)
{
    link->context.primary_of = -1;
    link->role = parts->role;
    link->view.state = parts->state;
    link->view.count = parts->count;
    gr_peer_semaphores_init(&link->semaphores, &link->context, parts->pair, parts->is_cuda,
                            parts->relayed);
    link->view.last = gr_semaphore_last(link->semaphores.theirs);
    gr_peer_watch_init(&link->watch, parts->socket, &link->semaphores, parts->ring, parts->changed);
}

/* Frees all parts except the socket and the CUDA context. */
static void end_parts(struct gr_link *link, bool alive)
{
    gr_peer_watch_finish(&link->watch);
    gr_peer_semaphores_finish(&link->semaphores, alive);
    gr_page_unmap(link->view.page, link->view.count);
}

static void free_link(struct gr_link *link)
{
    GR_KEEP_ERROR();
    end_parts(link, true);
    gr_context_drop(&link->context); /* last, because end_parts() needs the context */
    free(link);
}

struct gr_link *gr_link_begin(const struct gr_link_parts *parts, const char *call)
{
    struct gr_link *link = gr_check_memory(calloc(1, sizeof(*link)), call);
    if (!link)
        return NULL;
    init_link(link, parts);
    if (gr_context_hold(&link->semaphores.mine->context, &link->context, call) != GR_OK)
        goto fail;
    if (gr_peer_semaphores_start(&link->semaphores, parts->relayed != NULL, call) != GR_OK)
        goto fail;
    if (gr_peer_watch_start(&link->watch, call) != GR_OK)
        goto fail;
    /* the link owns the page now, because nothing can fail any more */
    link->view.page = parts->page;
    link->view.mine = &parts->page->changes[own(link)];
    link->view.theirs = &parts->page->changes[peers(link)];
    return link;
fail:
    gr_link_abandon(link);
    return NULL;
}

void gr_link_abandon(struct gr_link *link)
{
    gr_peer_watch_restore_socket(&link->watch);
    free_link(link);
}

static void end_queued(struct gr_ending *ending, bool alive)
{
    struct gr_link *link = (struct gr_link *)ending;
    end_parts(link, alive);
    gr_foreign_close_socket(link->watch.socket);
    free(link);
}

static void free_link_and_socket(struct gr_link *link)
{
    int socket = link->watch.socket;
    free_link(link);
    gr_foreign_close_socket(socket);
}

/*
 * Makes the CUDA context current. Tries twice, because after a failure a stream could wait for the
 * peer forever, and ending the slots would block.
 */
static bool enter_context(struct gr_link *link, bool *pushed)
{
    return gr_context_enter(&link->context, pushed, "gr_ring_free") == GR_OK ||
           gr_context_enter(&link->context, pushed, "gr_ring_free") == GR_OK;
}

/*
 * Returns an event after the last work of this process, if that work is unfinished; NULL if all is
 * done.
 */
static CUevent work_left(struct gr_link *link)
{
    GR_ENTERED pushed = false;
    return enter_context(link, &pushed)
               ? gr_peer_semaphores_last_work(&link->semaphores, &link->view)
               : NULL;
}

/*
 * After the ring this process may signal the peer's semaphore itself, with values above those of
 * the peer.
 */
static void raise_theirs(struct gr_link *link)
{
    gr_semaphore *theirs = link->semaphores.theirs;
    for (uint32_t i = 0; i < link->view.count; i++) {
        const struct gr_page_slot *slot = &link->view.page->slots[i];
        gr_page_value(&link->view,
                      link->role == GR_RING_PRODUCER ? &slot->given_back : &slot->written);
    }
    pthread_mutex_lock(&theirs->lock);
    if (theirs->signalled < link->view.last)
        theirs->signalled = link->view.last;
    pthread_mutex_unlock(&theirs->lock);
}

/*
 * Ends the link. The socket stays open and watched until this process has sent all its signals and
 * has received all signals that it waits for. To each process, the end of the socket means that the
 * other process signals no more.
 */
void gr_link_end(struct gr_link *link)
{
    if (!link)
        return;
    GR_KEEP_ERROR();
    atomic_store(&link->view.page->ended[own(link)], 1);
    wake(link, true);
    gr_peer_watch_forget_ring(&link->watch);
    raise_theirs(link);
    CUevent left = work_left(link);
    if (left) {
        link->ending =
            (struct gr_ending){.context = link->context, .after = left, .end = end_queued};
        gr_ending_add(&link->ending);
    } else {
        free_link_and_socket(link);
    }
}
