/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a shared ring's link. A thread watches the socket: a byte means that there is
 * something new in the page, the end of file that the peer has died, or has freed its ring and all
 * that it had to signal is signalled.
 */
#define _GNU_SOURCE
#include "lib/ring/peer_link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"

/* What a dead peer's GPU still does shall come first; in milliseconds. */
#define GRACE 100

/* How often a ring that ends looks whether the peer is done, about 5 milliseconds each. */
#define MOST_LOOKS 400

/* ---- Waking ---------------------------------------------------------------------------------- */

/* Full of bytes that the peer has not taken is as good: they wake it too. */
void gr_link_wake(struct gr_share_link *link, bool always)
{
    static const char byte = 0;
    bool waits = atomic_exchange(&link->page->waiting[!link->role], 0) != 0;
    if (waits || always)
        send(link->socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Wakes who waits in this process. */
static void notify(struct gr_share_link *link)
{
    pthread_mutex_lock(&link->lock);
    if (link->ring) {
        pthread_mutex_lock(&link->ring->lock);
        pthread_cond_broadcast(&link->ring->changed);
        pthread_mutex_unlock(&link->ring->lock);
    }
    pthread_mutex_unlock(&link->lock);
}

/* ---- The watcher ----------------------------------------------------------------------------- */

/* Reads what there is; descriptors that come along are closed by the kernel. False: the end. */
static bool drain(int socket)
{
    char bytes[256];
    ssize_t got = recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static void *watch(void *user)
{
    struct gr_share_link *link = user;
    struct pollfd fds[] = {{.fd = link->quit, .events = POLLIN},
                           {.fd = link->socket, .events = POLLIN}};
    bool alive = true;
    while (alive) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        alive = drain(link->socket);
        if (!alive)
            atomic_store(&link->gone, true);
        notify(link);
    }
    poll(fds, 1, GRACE);
    gr_link_serve(link);
    return NULL;
}

/* The application's signals are for its own threads. */
static int start_watcher(struct gr_share_link *link)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&link->watcher, NULL, watch, link);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void stop_watcher(struct gr_share_link *link)
{
    const uint64_t one = 1;
    while (write(link->quit, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    pthread_join(link->watcher, NULL);
}

/* ---- The peer's end -------------------------------------------------------------------------- */

bool gr_link_is_over(const struct gr_share_link *link)
{
    return atomic_load(&link->gone) || atomic_load(&link->spoiled) ||
           atomic_load(&link->page->ended[!link->role]);
}

gr_status gr_link_fail_over(const gr_ring *ring, const char *call)
{
    const struct gr_share_link *link = gr_link_of(ring);
    const char *peer = link->role == GR_RING_PRODUCER ? "consumer" : "producer";
    if (atomic_load(&link->spoiled))
        return gr_fail(GR_ERR_SYSTEM, call,
                       "The ring's page contradicts itself: the other process, its %s, has "
                       "overwritten it. The ring cannot be used any more.",
                       peer);
    if (atomic_load(&link->page->ended[!link->role]))
        return gr_fail(GR_ERR_SYSTEM, call,
                       "The other process has freed its ring, as whose %s it "
                       "was.",
                       peer);
    return gr_fail(GR_ERR_SYSTEM, call,
                   "The other process, the ring's %s, has ended or closed the socket.", peer);
}

/* ---- The ring's calls ------------------------------------------------------------------------ */

static bool await(gr_ring *ring)
{
    struct gr_share_link *link = gr_link_of(ring);
    atomic_store(&link->page->waiting[link->role], 1);
    return gr_link_is_over(link);
}

static void stop(gr_ring *ring)
{
    struct gr_share_link *link = gr_link_of(ring);
    atomic_store(&link->page->stopped, 1);
    gr_link_wake(link, true);
}

static void end(gr_ring *ring);

static const struct gr_link_ops operations = {
    .pull = gr_link_pull,
    .await = await,
    .fail_over = gr_link_fail_over,
    .claim = gr_link_claim,
    .conclude = gr_link_conclude,
    .push = gr_link_push,
    .stop = stop,
    .begin_use = gr_link_begin_use,
    .end_use = gr_link_end_use,
    .end = end,
};

/* ---- Begin ----------------------------------------------------------------------------------- */

static gr_status make_relays(struct gr_share_link *link)
{
    bool pushed;
    gr_status status = gr_context_enter(&link->context, &pushed, "gr_send_ring");
    if (status != GR_OK)
        return status;
    CUresult result = gr_driver()->cuStreamCreate(&link->out, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = gr_driver()->cuStreamCreate(&link->in, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        status = gr_fail_cuda(result, "cuStreamCreate", "A stream could not be made.");
    gr_context_leave(pushed);
    return status;
}

static gr_status start(struct gr_share_link *link, const char *call)
{
    link->quit = eventfd(0, EFD_CLOEXEC);
    if (link->quit < 0)
        return gr_fail(GR_ERR_SYSTEM, call, "eventfd: %s.", strerror(errno));
    int failed = start_watcher(link);
    return failed ? gr_fail(GR_ERR_SYSTEM, call, "No thread could be had: %s.", strerror(failed))
                  : GR_OK;
}

static void end_relays(struct gr_share_link *link)
{
    const gr_cuda_api *cu = gr_driver();
    bool pushed;
    if ((!link->out && !link->in) || gr_context_enter(&link->context, &pushed, __func__) != GR_OK)
        return;
    if (link->out)
        cu->cuStreamDestroy(link->out);
    if (link->in)
        cu->cuStreamDestroy(link->in);
    gr_context_leave(pushed);
}

/* What it has so far, but its parts, the socket and the CUDA context. */
static void free_link(struct gr_share_link *link)
{
    end_relays(link);
    if (link->quit >= 0)
        close(link->quit);
    pthread_mutex_destroy(&link->lock);
    free(link->slots);
    free(link);
}

/* Likewise with the context, which all others need for their end. The error stays. */
static void free_link_and_context(struct gr_share_link *link)
{
    gr_error cause;
    struct gr_context context = link->context;
    gr_error_save(&cause);
    free_link(link);
    gr_context_drop(&context);
    gr_error_restore(&cause);
}

static void take_parts(struct gr_share_link *link, const struct gr_link_parts *parts)
{
    link->socket = parts->socket;
    link->role = parts->role;
    link->count = parts->count;
    link->page = parts->page;
    link->mine = parts->mine;
    link->theirs = parts->theirs;
}

static struct gr_share_link *make_link(gr_ring *ring, const struct gr_link_parts *parts,
                                       const char *call)
{
    struct gr_share_link *link = calloc(1, sizeof(*link));
    if (!link || pthread_mutex_init(&link->lock, NULL) != 0) {
        free(link);
        gr_fail_memory(call);
        return NULL;
    }
    link->base.ops = &operations;
    link->quit = -1;
    link->ring = ring;
    take_parts(link, parts);
    if (gr_context_hold(&parts->mine->context, &link->context, call) != GR_OK)
        goto fail;
    if (parts->relays && make_relays(link) != GR_OK)
        goto fail;
    link->slots = calloc(parts->count, sizeof(*link->slots));
    if (!link->slots) {
        gr_fail_memory(call);
        goto fail;
    }
    if (start(link, call) != GR_OK)
        goto fail;
    return link;
fail:
    free_link_and_context(link);
    return NULL;
}

gr_status gr_link_begin(gr_ring *ring, const struct gr_link_parts *parts, const char *call)
{
    struct gr_share_link *link = make_link(ring, parts, call);
    if (!link)
        return gr_last_error(NULL);
    for (int i = 0; i < 2; i++) {
        link->relayed[i] = parts->relayed[i];
        if (link->relayed[i])
            gr_semaphore_hold(link->relayed[i]);
    }
    pthread_mutex_lock(&ring->lock);
    ring->link = &link->base;
    pthread_mutex_unlock(&ring->lock);
    return GR_OK;
}

/* ---- End ------------------------------------------------------------------------------------- */

static void end_parts(struct gr_share_link *link)
{
    stop_watcher(link);
    gr_semaphore_free(link->mine);
    gr_semaphore_free(link->theirs);
    gr_semaphore_free(link->relayed[0]);
    gr_semaphore_free(link->relayed[1]);
    munmap(link->page, gr_page_size(link->count));
}

static void end_retired(struct gr_retired *retired, bool alive)
{
    struct gr_share_link *link =
        (struct gr_share_link *)((char *)retired - offsetof(struct gr_share_link, retired));
    if (!alive)
        link->out = link->in = NULL;
    end_parts(link);
    close(link->socket);
    free_link(link);
}

static void end_now(struct gr_share_link *link, bool closes)
{
    end_parts(link);
    if (closes)
        close(link->socket);
    free_link_and_context(link);
}

static void detach(gr_ring *ring, struct gr_share_link *link)
{
    pthread_mutex_lock(&link->lock);
    link->ring = NULL;
    pthread_mutex_unlock(&link->lock);
    ring->link = NULL;
}

void gr_link_abandon(gr_ring *ring)
{
    struct gr_share_link *link = gr_link_of(ring);
    detach(ring, link);
    end_now(link, false);
}

/*
 * The ends of the slots, which follow, may wait in the driver for all of the GPU's work, and so for
 * a peer that lives and does not go on: after its time is over, what it owes is signalled in its
 * place.
 */
static bool passes_in_time(struct gr_share_link *link, CUevent event)
{
    for (int i = 0; i < MOST_LOOKS; i++)
        if (gr_link_has_passed(event))
            return true;
    gr_link_serve(link);
    return gr_link_has_passed(event);
}

/*
 * The socket stays open, and watched, until all that this process signals is signalled and all that
 * it waits for has come: the peer takes its end for the last of our signals, and we the peer's for
 * the last of its.
 */
static void end(gr_ring *ring)
{
    struct gr_share_link *link = gr_link_of(ring);
    CUevent after = NULL;
    gr_error before;
    bool pushed;
    gr_error_save(&before);
    atomic_store(&link->page->ended[link->role], 1);
    gr_link_wake(link, true);
    detach(ring, link);
    if (gr_context_enter(&link->context, &pushed, "gr_ring_free") == GR_OK) {
        gr_link_last_work(link, &after);
        if (after && passes_in_time(link, after)) {
            gr_driver()->cuEventDestroy(after);
            after = NULL;
        }
        gr_context_leave(pushed);
    }
    if (after) {
        link->retired =
            (struct gr_retired){.context = link->context, .after = after, .end = end_retired};
        gr_retire(&link->retired);
    } else {
        end_now(link, true);
    }
    gr_error_restore(&before);
}
