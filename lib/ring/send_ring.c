/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sends a ring to a process: one message for the page and the semaphores, then one per slot. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/cuda/import_handle.h"
#include "lib/base/live_objects.h"
#include "lib/base/plural.h"
#include "lib/ring/descriptor.h"
#include "lib/ring/own_pair.h"
#include "lib/ring/side_order.h"
#include "lib/ring/peer_link.h"
#include "lib/ring/peer_page.h"
#include "lib/ring/ring.h"
#include "lib/ring/slot_end.h"
#include "lib/ring/notify.h"
#include "lib/peer/export.h"
#include "lib/peer/import.h"
#include "lib/sync/semaphore.h"

/* A reference to a semaphore, and its exported descriptor. */
struct shared_semaphore {
    gr_semaphore *semaphore;
    int fd;
};

/* The state of gr_ring_send(). */
struct sending {
    int socket;
    gr_ring *ring;
    gr_ring_role role;         /* the role of this process */
    struct gr_ring_side *side; /* the side of this process */
    bool began;                /* is_sending was set; end_sending() must reset it */
    bool is_direct;            /* the ring uses the semaphores of the resources */
    uint32_t count;
    gr_resource **resources;
    struct shared_semaphore mine, theirs;
    struct gr_page *page;
    int page_fd;
    struct gr_link *link;    /* the ring gets the link after all messages are sent */
    struct gr_message *head; /* the ring message, with the application's data */
    struct gr_deadline deadline;
    const char *call;
};

static const struct gr_backend *backend_of(const struct sending *s)
{
    return s->resources[0]->backend;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Checks that no frames are in flight. The ring's lock is held. */
static gr_status check_idle(const gr_ring *ring, const char *call)
{
    gr_ring_info now;
    gr_ring_state_count(ring->state, &now);
    if (ring->link || ring->is_sending)
        return gr_fail(GR_ERR_STATE, call,
                       "The ring is already %s another process: create another ring for this one.",
                       ring->link ? "shared with" : "being sent to");
    if (ring->state->leaving || ring->left_count || now.free != now.slots)
        return gr_fail(GR_ERR_STATE, call,
                       "Frames are in flight (slots being written: %u, ready: %u, being read: %u, "
                       "leaving after a resize: %u). Hand all of them back first; leaving slots "
                       "are removed when their work is done.",
                       now.writing, now.ready, now.reading,
                       ring->state->leaving + ring->left_count);
    return GR_OK;
}

/* Moves slots into the gaps that a resize left, because the peer numbers the slots without gaps. */
static void close_gaps(gr_ring *ring)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < ring->state->room; i++) {
        if (!ring->slots[i].resource)
            continue;
        if (i != to) {
            ring->slots[to] = ring->slots[i];
            ring->slots[i] = (struct gr_ring_slot){0};
            gr_ring_state_renumber(ring->state, i, to);
        }
        to++;
    }
}

/* Lists the resources of the slots. The ring's lock is held. */
static gr_status list_resources(struct sending *s)
{
    close_gaps(s->ring);
    s->count = s->ring->state->slots;
    if (s->count > GR_RING_MOST_SLOTS)
        return gr_fail(GR_ERR_INVALID_VALUE, s->call,
                       "The ring has %u slot%s, but a ring shared with another process has at most "
                       "%d: resize it first.",
                       s->count, gr_s(s->count), GR_RING_MOST_SLOTS);
    s->resources = calloc(s->count, sizeof(gr_resource *));
    if (!s->resources)
        return gr_fail_memory(s->call);
    for (uint32_t i = 0; i < s->count; i++) {
        s->resources[i] = s->ring->slots[i].resource;
        GR_TRY(gr_share_check(s->resources[i], s->call));
    }
    return GR_OK;
}

static gr_status begin_sending(struct sending *s)
{
    gr_ring *ring = s->ring;
    gr_ring_end_left(ring); /* ends slots that a resize removed, whose work may be done by now */
    pthread_mutex_lock(&ring->lock);
    gr_status status = check_idle(ring, s->call);
    if (status == GR_OK) {
        /* From here on no other thread acquires or changes a slot, even while the lock is free. */
        s->began = ring->is_sending = true;
        gr_ring_update_pollers(ring);
        status = list_resources(s);
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}

/* ---- Waiting for all work -------------------------------------------------------------------- */

static gr_status wait_for(CUevent event, const struct sending *s)
{
    const int left = gr_deadline_left(&s->deadline);
    CUresult result = gr_event_poll(event, NULL, left < 0 ? GR_WAIT_FOREVER : (unsigned)left);
    if (result == CUDA_ERROR_NOT_READY)
        return gr_fail(s->deadline.looks ? GR_ERR_NOT_READY : GR_ERR_TIMEOUT, s->call,
                       "The resources were still in use: work submitted with them has not ended in "
                       "time. Use a longer timeout, or finish that work first.");
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuEventQuery",
                              "Earlier work with the ring failed: create the ring again.");
}

static gr_status wait_on(CUstream stream, const struct sending *s)
{
    struct gr_last_work end = {0};
    gr_status status = gr_sync_acquire(s->resources, s->count, stream);
    if (status == GR_OK)
        status = gr_work_mark(&end, stream);
    if (status == GR_OK)
        status = wait_for(end.event, s);
    gr_work_end(&end, true);
    return status;
}

/*
 * Ends the use by the graphics API. If the peer takes over the graphics side, graphics commands
 * that this process issued outside of the ring may still use the slots: end_use() signals after
 * these commands.
 */
static gr_status end_graphics(const struct sending *s)
{
    const struct gr_backend *backend = backend_of(s);
    if (!s->side->is_cuda || s->ring->writer.is_cuda || !backend->end_use)
        return GR_OK;
    GR_TRY(gr_resource_check_graphics_here(s->resources[0], s->call));
    return backend->end_use(s->resources, s->count);
}

/*
 * Waits for all work, so that the first values in the page are 0, which means that there is nothing
 * to wait for.
 */
static gr_status finish_work(const struct sending *s)
{
    CUstream stream;
    GR_TRY(end_graphics(s));
    CUresult result = gr_driver()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuStreamCreate", "Cannot create a stream.");
    gr_status status = wait_on(stream, s);
    gr_driver()->StreamDestroy(stream);
    return status;
}

/* ---- The two semaphores ---------------------------------------------------------------------- */

static gr_status export_own(const struct sending *s, gr_semaphore *semaphore,
                            struct shared_semaphore *shared)
{
    gr_semaphore_desc info;
    GR_TRY(gr_share_export(s->resources[0], semaphore, &info, s->call));
    gr_semaphore_hold(semaphore);
    *shared = (struct shared_semaphore){semaphore, info.fd};
    return GR_OK;
}

/*
 * Whether only the slots of the ring and the owner have references to the semaphore, so that no
 * other resource signals it. The owner is the ring, OpenGL's own pair, or the application until it
 * frees its handle.
 */
static bool is_exclusive(const struct sending *s, const gr_semaphore *semaphore)
{
    unsigned owners =
        s->ring->own[0] || backend_of(s)->own_pair || gr_live_has(GR_LIVE_SEMAPHORE, semaphore);
    return __atomic_load_n(&semaphore->holds, __ATOMIC_RELAXED) <= s->count + owners;
}

/* The graphics side needs a pair that only the ring uses, and that its commands can wait for. */
static bool has_own_pair(const struct sending *s)
{
    const struct gr_backend *backend = backend_of(s);
    return !backend->begin_use || (!s->side->is_cuda && backend->own_pair &&
                                   backend->own_pair(s->resources, s->count, s->call));
}

static bool can_be_direct(const struct sending *s)
{
    const struct gr_sync *sync = gr_sync_of(s->resources[0]);
    return backend_of(s)->export_semaphore && has_own_pair(s) && sync->acquire && sync->release &&
           sync->acquire->timeline && sync->release->timeline && sync->acquire->handle &&
           sync->release->handle && is_exclusive(s, sync->acquire) &&
           is_exclusive(s, sync->release);
}

_Static_assert(GR_RING_MOST_SLOTS <= GR_PAGE_MOST_SLOTS, "the page has a bit for each slot");

typedef CUresult create_fn(int timeline, unsigned long long value, int *fd);

/* Creates a semaphore of the software driver that other processes can import. */
static gr_status create_driver_semaphore(const struct sending *s, struct shared_semaphore *shared)
{
    struct gr_message message = {.fd_count = 1, .fds = {-1}};
    union {
        void *object;
        create_fn *function;
    } create = {.object = gr_driver_export("gr_softcuda_semaphore_create")};
    if (!create.object)
        return gr_fail(GR_ERR_UNSUPPORTED, s->call,
                       "The software CUDA driver %s is older than this grinterop and cannot share "
                       "semaphores between processes.",
                       gr_cuda_driver_path());
    CUresult result = create.function(1, 0, &shared->fd);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "gr_softcuda_semaphore_create",
                            "%s: cannot create a semaphore.", s->call);
    message.fds[0] = gr_fd_copy(shared->fd);
    shared->semaphore =
        gr_share_import_semaphore(&message, 0, true, 0, &s->resources[0]->context, s->call);
    gr_message_close_fds(&message);
    return shared->semaphore ? GR_OK : gr_last_error()->status;
}

static gr_status make_semaphore(const struct sending *s, struct shared_semaphore *shared)
{
    gr_semaphore_desc info;
    const struct gr_backend *backend = backend_of(s);
    if (gr_driver_traits()->creates_semaphores)
        return create_driver_semaphore(s, shared);
    if (!backend->create_semaphore || !backend->export_semaphore)
        return gr_fail(GR_ERR_UNSUPPORTED, s->call,
                       "Resources of this kind have no semaphores that both processes can share.");
    shared->semaphore = backend->create_semaphore(s->resources[0]);
    if (!shared->semaphore)
        return gr_last_error()->status;
    gr_status status = gr_share_export(s->resources[0], shared->semaphore, &info, s->call);
    shared->fd = info.fd;
    return status;
}

static gr_status make_semaphores(struct sending *s)
{
    const struct gr_sync *sync = gr_sync_of(s->resources[0]);
    s->is_direct = can_be_direct(s);
    GR_TRY(s->is_direct ? export_own(s, s->side->is_cuda ? sync->release : sync->acquire, &s->mine)
                        : make_semaphore(s, &s->mine));
    return s->is_direct
               ? export_own(s, s->side->is_cuda ? sync->acquire : sync->release, &s->theirs)
               : make_semaphore(s, &s->theirs);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static gr_status send_message(const struct sending *s, const struct gr_message *message)
{
    return gr_message_send(s->socket, message, &s->deadline, s->call);
}

static gr_status send_head(const struct sending *s)
{
    const struct gr_ring_description d = {
        .slots = s->count,
        .role = s->role == GR_RING_PRODUCER ? GR_RING_CONSUMER : GR_RING_PRODUCER,
        .mode = s->ring->state->newest ? GR_RING_NEWEST : GR_RING_LOSSLESS,
        .sent_value = gr_semaphore_last(s->mine.semaphore),
        .received_value = gr_semaphore_last(s->theirs.semaphore),
    };
    s->head->fd_count = GR_RING_FD_COUNT;
    s->head->fds[GR_RING_PAGE_FD] = s->page_fd;
    s->head->fds[GR_RING_SENT_FD] = s->mine.fd;
    s->head->fds[GR_RING_RECEIVED_FD] = s->theirs.fd;
    gr_ring_description_write(&d, s->head);
    return send_message(s, s->head);
}

static gr_status send_slot(const struct sending *s, uint32_t i)
{
    struct gr_description d;
    struct gr_message message = {.kind = GR_MESSAGE_SLOT};
    gr_status status = gr_share_describe(s->resources[i], &d, &message, s->call);
    if (status == GR_OK)
        status = send_message(s, &message);
    gr_message_close_fds(&message);
    return status;
}

static gr_status send_all(const struct sending *s)
{
    gr_status status = send_head(s);
    for (uint32_t i = 0; i < s->count && status == GR_OK; i++) {
        status = gr_message_check_deadline(&s->deadline, s->call);
        if (status == GR_OK)
            status = send_slot(s, i);
    }
    if (!s->is_direct)
        gr_ring_keep_given(s->ring, s->resources[0]);
    /*
     * From here on CUDA alternates with the peer instead of with the graphics API of this process.
     */
    for (uint32_t i = 0; i < s->count && status == GR_OK && s->side->is_cuda && !s->is_direct; i++)
        status = gr_sync_set(s->resources[i], s->theirs.semaphore, s->mine.semaphore, s->call);
    return status;
}

static gr_status make_page(struct sending *s)
{
    s->page_fd = gr_page_create(s->count, s->call);
    if (s->page_fd < 0)
        return gr_last_error()->status;
    gr_status status = gr_page_map(s->page_fd, s->count, &s->page, s->call);
    if (status == GR_OK)
        atomic_store(&s->page->written, s->ring->state->written);
    return status;
}

static gr_status link_and_send(struct sending *s)
{
    const struct gr_sync *sync = gr_sync_of(s->resources[0]);
    bool relays = !s->side->is_cuda && !s->is_direct;
    const struct gr_link_parts parts = {
        .socket = s->socket,
        .role = s->role,
        .count = s->count,
        .page = s->page,
        .mine = s->mine.semaphore,
        .theirs = s->theirs.semaphore,
        .relays = relays,
        .relayed = {relays ? sync->acquire : NULL, relays ? sync->release : NULL},
        .state = s->ring->state,
        .ring = s->ring,
        .changed = gr_ring_peer_changed,
    };
    struct gr_link *link = gr_link_begin(&parts, s->call);
    if (!link)
        return gr_last_error()->status;
    s->page = NULL; /* the link owns the page now */
    gr_status status = send_all(s);
    if (status == GR_OK)
        s->link = link;
    else
        gr_link_abandon(link);
    return status;
}

static gr_status send_ring(struct sending *s)
{
    bool pushed;
    GR_TRY(begin_sending(s));
    GR_TRY(gr_context_enter(&s->resources[0]->context, &pushed, s->call));
    gr_status status = finish_work(s);
    if (status == GR_OK)
        status = make_semaphores(s);
    if (status == GR_OK)
        status = make_page(s);
    if (status == GR_OK)
        status = link_and_send(s);
    gr_context_leave(pushed);
    return status;
}

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

/*
 * Gives the link to the ring. Called after all messages are sent, because gr_link_stop() also
 * writes to the socket. Wakes the waiting threads, because the other process may have their role
 * now.
 */
static void attach_link(const struct sending *s)
{
    gr_ring *ring = s->ring;
    pthread_mutex_lock(&ring->lock);
    ring->is_sending = false;
    ring->link = s->link;
    if (ring->state->stopped)
        gr_link_stop(ring->link);
    gr_ring_notify(ring);
    pthread_mutex_unlock(&ring->lock);
}

/* After a failure: gives the resources the semaphores back that they had before the call. */
static void restore_pairs(const struct sending *s)
{
    struct gr_error_record cause;
    gr_error_save(&cause);
    for (uint32_t i = 0; i < s->count && s->resources && s->resources[i]; i++)
        gr_ring_end_sharing(s->ring, s->resources[i], s->call);
    gr_error_restore(&cause);
}

static void end_sending(struct sending *s)
{
    if (!s->link)
        restore_pairs(s);
    if (s->began)
        attach_link(s);
    close_if(s->page_fd);
    close_if(s->mine.fd);
    close_if(s->theirs.fd);
    gr_page_unmap(s->page, s->count);
    gr_semaphore_drop(s->mine.semaphore);
    gr_semaphore_drop(s->theirs.semaphore);
    free(s->resources);
}

gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data, size_t size,
                       unsigned timeout_ms)
{
    struct gr_message head = {.kind = GR_MESSAGE_RING};
    GR_TRY(gr_ring_check(ring, __func__));
    GR_TRY(gr_socket_check(socket, __func__));
    GR_TRY(gr_ring_check_role(role, __func__));
    GR_TRY(gr_message_set_data(&head, data, size, __func__));
    struct sending s = {
        .socket = socket,
        .ring = ring,
        .role = role,
        .side = role == GR_RING_PRODUCER ? &ring->writer : &ring->reader,
        .mine.fd = -1,
        .theirs.fd = -1,
        .page_fd = -1,
        .head = &head,
        .deadline = gr_deadline_in(timeout_ms),
        .call = __func__,
    };
    gr_status status = send_ring(&s);
    end_sending(&s);
    return status;
}
