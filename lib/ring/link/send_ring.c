/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sends a ring to a process: one message for the page and the semaphores, then one per slot. */
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/cuda/import_handle.h"
#include "lib/external/external.h"
#include "lib/ring/link/link.h"
#include "lib/ring/link/ring_message.h"
#include "lib/ring/own_pair.h"
#include "lib/ring/ring.h"
#include "lib/ring/slot_life.h"
#include "lib/ring/slot_use.h"
#include "lib/sync/sync.h"

/* The state of gr_ring_send(). */
struct sending {
    int socket;
    gr_ring *ring;
    gr_ring_role role;         /* the role of this process */
    struct gr_ring_side *side; /* the side of this process */
    bool began;                /* is_sending was set; end_sending() must reset it */
    uint32_t count;
    gr_resource **resources;
    struct gr_semaphore_pair *before;  /* the pair that the resources had, a reference */
    struct gr_semaphore_pair *pair;    /* the pair of the two processes, a reference */
    struct gr_semaphore_pair *relayed; /* `before` if the link relays signals, or NULL */
    gr_semaphore *mine, *theirs;       /* of `pair`: signalled by this process, and by the peer */
    struct gr_page *page;
    struct gr_link *link;   /* the ring gets the link after all messages are sent */
    struct gr_message head; /* the ring message, which owns its descriptors */
    struct gr_deadline deadline;
};

static const struct gr_backend *backend_of(const struct sending *s)
{
    return s->resources[0]->backend;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Checks that no frames are in flight. The ring's lock is held. */
static gr_status check_idle(const gr_ring *ring)
{
    const uint32_t leaving =
        ring->state.leaving + ring->state.counts[GR_SLOT_LEFT] + ring->state.counts[GR_SLOT_ENDING];
    gr_ring_info now;
    gr_ring_state_info(&ring->state, &now);
    if (ring->link || ring->is_sending)
        return gr_fail(GR_ERR_STATE,
                       "The ring is already %s another process: create another ring for this one.",
                       ring->link ? "shared with" : "being sent to");
    if (leaving || now.free != now.slots)
        return gr_fail(GR_ERR_STATE,
                       "Frames are in flight (slots being written: %u, ready: %u, being read: %u, "
                       "leaving after a resize: %u). Hand all of them back first; leaving slots "
                       "are removed when their work is done.",
                       now.writing, now.ready, now.reading, leaving);
    return GR_OK;
}

/*
 * Whether CUDA of the other process is the first to use the slots, in which case Vulkan must have
 * handed them over.
 */
static bool is_used_there_first(const struct sending *s)
{
    return !s->side->writes && gr_sync_is_submitted(s->resources[0]);
}

/* Lists the resources of the slots. The ring's lock is held. */
static gr_status list_resources(struct sending *s)
{
    uint32_t to = 0;
    /* Moves slots into the gaps of a resize, because the peer numbers the slots without gaps. */
    GR_FOR_SLOTS_IN(from, &s->ring->state, GR_SLOT_FREE)
    {
        if (from != to)
            gr_ring_state_renumber(&s->ring->state, from, to);
        to++;
    }
    s->count = s->ring->state.count;
    s->resources = calloc(s->count, sizeof(gr_resource *));
    if (!s->resources)
        return gr_fail_memory();
    for (uint32_t i = 0; i < s->count; i++) {
        s->resources[i] = s->ring->state.slots[i].api.resource;
        GR_TRY(gr_share_check(s->resources[i]));
    }
    return is_used_there_first(s) ? gr_external_check_storage(s->resources, s->count, NULL) : GR_OK;
}

static gr_status begin_sending(struct sending *s)
{
    gr_ring *ring = s->ring;
    gr_ring_end_left(ring); /* ends slots that a resize removed, whose work may be done by now */
    GR_LOCKED(&ring->lock);
    GR_TRY(check_idle(ring));
    /* From here on no other thread acquires or changes a slot, even while the lock is free. */
    s->began = ring->is_sending = true;
    gr_ring_update_pollers(ring);
    return list_resources(s);
}

/* ---- Waiting for all work -------------------------------------------------------------------- */

static gr_status wait_for(CUevent event, const struct sending *s)
{
    int left, slice;
    CUresult result;
    do {
        left = gr_message_ms_left(&s->deadline);
        slice = gr_share_slice(left);
        result = gr_event_poll(event, NULL, slice < 0 ? GR_WAIT_FOREVER : (unsigned)slice);
        if (result == CUDA_ERROR_NOT_READY)
            GR_TRY(gr_share_check_interrupt());
    } while (result == CUDA_ERROR_NOT_READY && slice != left);
    if (result == CUDA_ERROR_NOT_READY)
        return gr_fail(s->deadline.timeout_ms == 0 ? GR_ERR_NOT_READY : GR_ERR_TIMEOUT,
                       "The resources were still in use: work submitted with them has not ended in "
                       "time. Use a longer timeout, or finish that work first.");
    return result == CUDA_SUCCESS
               ? GR_OK
               : gr_fail_cuda(result, "cuEventQuery",
                              "Earlier work with the ring failed: create the ring again.");
}

/*
 * Waits for all work, so that the first values in the page are 0, which means that there is nothing
 * to wait for.
 */
static gr_status finish_work(const struct sending *s)
{
    struct gr_last_work end = {0};
    CUstream stream;
    /*
     * If the peer takes over the graphics side, graphics commands that this process issued outside
     * of the ring may still use the slots: end_use() signals after these commands.
     */
    if (s->side->is_cuda && !s->ring->writer.is_cuda)
        GR_TRY(gr_ring_end_graphics(s->resources, s->count));
    GR_TRY_CUDA(gr_driver()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
                "Cannot create a stream.");
    gr_status status = gr_sync_acquire(s->resources, s->count, stream);
    if (status == GR_OK)
        status = gr_work_mark(&end, stream);
    if (status == GR_OK)
        status = wait_for(end.event, s);
    gr_work_end(&end, true);
    gr_driver()->StreamDestroy(stream);
    return status;
}

/* ---- The pair of the two processes ----------------------------------------------------------- */

static gr_status export_semaphore(const struct sending *s, gr_semaphore *semaphore, int *fd)
{
    gr_semaphore_desc info;
    gr_status status = gr_share_export(s->resources[0], semaphore, &info);
    *fd = info.fd;
    return status;
}

static bool can_be_exported(const gr_semaphore *semaphore)
{
    return semaphore && semaphore->timeline && semaphore->handle;
}

/*
 * Returns a reference to a pair that only the slots use, and that their graphics API can wait for:
 * no other resource may signal it, because each process counts its values. NULL if there is none.
 */
static struct gr_semaphore_pair *direct_pair(const struct sending *s)
{
    const struct gr_backend *backend = backend_of(s);
    struct gr_semaphore_pair *pair = s->before;
    if (!backend->export_semaphore)
        return NULL;
    if (backend->begin_use)
        return !s->side->is_cuda && backend->create_pair ? backend->create_pair(s->resources[0])
                                                         : NULL;
    bool is_exclusive = !pair->of_device && gr_pair_users(pair) == s->count;
    return is_exclusive && can_be_exported(pair->acquire) && can_be_exported(pair->release)
               ? gr_pair_hold(pair)
               : NULL;
}

typedef CUresult create_fn(int timeline, unsigned long long value, int *fd);

/* Creates a semaphore of the software driver that other processes can import. */
static gr_semaphore *create_driver_semaphore(const struct sending *s, int *fd)
{
    struct gr_message message = {.fd_count = 1, .fds = {-1}};
    union {
        void *object;
        create_fn *function;
    } create = {.object = gr_driver_export("gr_softcuda_semaphore_create")};
    if (!create.object) {
        gr_fail(GR_ERR_UNSUPPORTED,
                "The software CUDA driver %s is older than this grinterop and cannot share "
                "semaphores between processes.",
                gr_cuda_driver_path());
        return NULL;
    }
    CUresult result = create.function(1, 0, fd);
    if (result != CUDA_SUCCESS) {
        if (gr_fd_check_left() == GR_OK)
            gr_fail_cuda(result, "gr_softcuda_semaphore_create", "%s: cannot create a semaphore.",
                         gr_call);
        return NULL;
    }
    if (gr_fd_copy(*fd, &message.fds[0]) != GR_OK)
        return NULL;
    gr_semaphore *semaphore =
        gr_share_import_semaphore(&message, 0, true, 0, &s->resources[0]->context);
    gr_message_close_fds(&message);
    return semaphore;
}

static gr_semaphore *make_semaphore(const struct sending *s, int *fd)
{
    const struct gr_backend *backend = backend_of(s);
    if (gr_driver_traits()->creates_semaphores)
        return create_driver_semaphore(s, fd);
    if (!backend->create_semaphore || !backend->export_semaphore) {
        gr_fail(GR_ERR_UNSUPPORTED,
                "Resources of this kind have no semaphores that both processes can share.");
        return NULL;
    }
    gr_semaphore *semaphore = backend->create_semaphore(s->resources[0]);
    if (semaphore && export_semaphore(s, semaphore, fd) != GR_OK) {
        gr_semaphore_drop(semaphore);
        return NULL;
    }
    return semaphore;
}

/* Makes a pair that the link relays, or that CUDA's resources use while the ring is shared. */
static struct gr_semaphore_pair *make_new_pair(struct sending *s)
{
    bool is_cuda = s->side->is_cuda;
    gr_semaphore *mine = make_semaphore(s, &s->head.fds[GR_RING_SENT_FD]);
    gr_semaphore *theirs = mine ? make_semaphore(s, &s->head.fds[GR_RING_RECEIVED_FD]) : NULL;
    return gr_pair_of_new(is_cuda ? theirs : mine, is_cuda ? mine : theirs);
}

static gr_status make_pair(struct sending *s)
{
    s->before = gr_pair_hold(s->resources[0]->sync.pair);
    s->pair = direct_pair(s);
    bool is_direct = s->pair;
    if (!is_direct)
        s->pair = make_new_pair(s);
    if (!s->pair)
        return gr_last_error()->status;
    s->mine = s->side->is_cuda ? s->pair->release : s->pair->acquire;
    s->theirs = s->side->is_cuda ? s->pair->acquire : s->pair->release;
    if (is_direct) {
        GR_TRY(export_semaphore(s, s->mine, &s->head.fds[GR_RING_SENT_FD]));
        GR_TRY(export_semaphore(s, s->theirs, &s->head.fds[GR_RING_RECEIVED_FD]));
    } else if (!s->side->is_cuda) {
        s->relayed = s->before;
    }
    /* From here on CUDA alternates with the peer, not with the graphics API of this process. */
    return s->relayed || s->pair == s->before
               ? GR_OK
               : gr_ring_switch_pair(s->resources, s->count, s->pair);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static gr_status send_message(const struct sending *s, const struct gr_message *message)
{
    return gr_message_send(s->socket, message, &s->deadline);
}

static gr_status send_slot(const struct sending *s, uint32_t i)
{
    struct gr_description d;
    struct gr_message message = {.kind = GR_MESSAGE_SLOT};
    gr_status status = gr_share_describe(s->resources[i], &d, &message);
    if (status == GR_OK)
        status = send_message(s, &message);
    gr_message_close_fds(&message);
    return status;
}

static gr_status send_all(struct sending *s)
{
    const struct gr_ring_description d = {
        .slots = s->count,
        .role = s->role == GR_RING_PRODUCER ? GR_RING_CONSUMER : GR_RING_PRODUCER,
        .mode = s->ring->state.newest ? GR_RING_NEWEST : GR_RING_LOSSLESS,
        .sent_value = gr_semaphore_last(s->mine),
        .received_value = gr_semaphore_last(s->theirs),
    };
    gr_fields_write(gr_ring_fields, GR_RING_FIELD_COUNT, &d, &s->head);
    GR_TRY(send_message(s, &s->head));
    for (uint32_t i = 0; i < s->count; i++) {
        GR_TRY(gr_message_check_deadline(&s->deadline));
        GR_TRY(send_slot(s, i));
    }
    return GR_OK;
}

static gr_status make_page(struct sending *s)
{
    int fd = s->head.fds[GR_RING_PAGE_FD] = gr_page_create(s->count);
    if (fd < 0)
        return gr_last_error()->status;
    GR_TRY(gr_page_map(fd, s->count, &s->page));
    atomic_store(&s->page->written, s->ring->state.written);
    atomic_store(&s->page->read, (uint32_t)s->ring->state.read);
    gr_page_set_newest_at(s->page, s->role, s->count, s->ring->state.newest_at);
    return GR_OK;
}

static gr_status link_and_send(struct sending *s)
{
    struct gr_link *link = gr_link_begin(s->ring, s->role, s->socket, s->page, s->pair, s->relayed);
    if (!link)
        return gr_last_error()->status;
    s->page = NULL; /* the link owns the page now */
    gr_status status = send_all(s);
    if (status != GR_OK) {
        gr_link_abandon(link);
        return status;
    }
    s->link = link;
    /*
     * From now on the other process maps the slots, which this one does not see. If this process
     * writes them first, its submits hand them over.
     */
    for (uint32_t i = 0; i < s->count && is_used_there_first(s); i++)
        s->resources[i]->sync.held_by = GR_HELD_BY_CUDA;
    return GR_OK;
}

static gr_status send_ring(struct sending *s)
{
    GR_TRY(begin_sending(s));
    GR_ENTER(&s->resources[0]->context);
    GR_TRY(finish_work(s));
    GR_TRY(make_pair(s));
    GR_TRY(make_page(s));
    return link_and_send(s);
}

/*
 * Gives the link to the ring. Called after all messages are sent, because stop() also writes to the
 * socket. Wakes the waiting threads, because the other process may have their role now.
 */
static void attach_link(const struct sending *s)
{
    gr_ring *ring = s->ring;
    GR_LOCKED(&ring->lock);
    ring->is_sending = false;
    ring->link = s->link;
    ring->link_ops = s->link ? &gr_link_shared : &gr_link_unshared;
    if (s->link && !ring->given)
        ring->given = gr_pair_hold(s->before);
    if (ring->state.stopped)
        ring->link_ops->stop(ring->link);
    else if (s->link)
        gr_link_wake(s->link, true); /* lets the peer open a pidfd of this process */
    gr_ring_notify(ring);
}

static void end_sending(struct sending *s)
{
    GR_KEEP_ERROR();
    /* After a failure the resources get the semaphores back that they had before the call. */
    for (uint32_t i = 0; i < s->count && s->before && !s->link; i++)
        gr_ring_restore_pair(s->resources[i], s->before);
    if (s->began)
        attach_link(s);
    gr_message_close_fds(&s->head);
    gr_page_unmap(s->page, s->count);
    gr_pair_drop(s->pair);
    gr_pair_drop(s->before);
    free(s->resources);
}

gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data, size_t size,
                       unsigned timeout_ms)
{
    GR_CALL();
    struct sending s = {
        .socket = socket,
        .ring = ring,
        .role = role,
        .head = {.kind = GR_MESSAGE_RING, .fd_count = GR_RING_FD_COUNT, .fds = {-1, -1, -1}},
        .deadline = gr_deadline_in(timeout_ms),

    };
    GR_TRY(gr_ring_check(ring));
    GR_TRY(gr_socket_check(socket));
    GR_TRY(gr_ring_check_role(role));
    GR_TRY(gr_message_set_data(&s.head, data, size));
    s.side = role == GR_RING_PRODUCER ? &ring->writer : &ring->reader;
    gr_status status = send_ring(&s);
    end_sending(&s);
    return status;
}
