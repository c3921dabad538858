/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Receives a ring from another process: its message, then one message per slot. Then creates the
 * ring.
 */
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/cuda/device.h"
#include "lib/external/external.h"
#include "lib/ring/link/link.h"
#include "lib/ring/link/ring_message.h"
#include "lib/ring/ring.h"
#include "lib/sync/sync.h"

/*
 * The maximum frame number. Frame numbers have 62 bits of a word, and no ring reaches this number.
 */
#define MOST_FRAMES ((uint64_t)1 << 60)

/* The objects that have been received so far. */
struct receiving {
    int socket;
    struct gr_message message; /* the ring message */
    struct gr_ring_description d;
    struct gr_context context;
    uint64_t uuid[2];
    gr_resource **resources;
    uint32_t arrived;
    struct gr_semaphore_pair *pair;
    struct gr_page *page;
    struct gr_deadline deadline;
};

static gr_status receive_ring_message(struct receiving *r)
{
    struct gr_ring_description *d = &r->d;
    GR_TRY(gr_message_receive(r->socket, GR_MESSAGE_RING, &r->message, &r->deadline));
    GR_TRY(gr_fields_read(gr_ring_fields, GR_RING_FIELD_COUNT, &r->message, d));
    if (d->slots == 0 || d->slots > GR_RING_MOST_SLOTS || d->role < GR_RING_PRODUCER ||
        d->role > GR_RING_CONSUMER || d->mode > GR_RING_NEWEST ||
        r->message.fd_count != GR_RING_FD_COUNT)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The message describes a ring of %llu slot%s, role %llu, mode %llu, with %u "
                       "descriptor%s: grinterop did not send it.",
                       (unsigned long long)d->slots, gr_s(d->slots), (unsigned long long)d->role,
                       (unsigned long long)d->mode, r->message.fd_count, gr_s(r->message.fd_count));
    GR_TRY(gr_share_check_value(d->sent_value));
    GR_TRY(gr_share_check_value(d->received_value));
    r->resources = calloc(d->slots, sizeof(gr_resource *));
    return r->resources ? GR_OK : gr_fail_memory();
}

static gr_status check_slot(struct receiving *r, const struct gr_description *d,
                            const struct gr_message *message)
{
    if (r->arrived == 0) {
        r->uuid[0] = d->uuid_low;
        r->uuid[1] = d->uuid_high;
    }
    GR_TRY(gr_description_check(d));
    GR_REFUSE_IF(message->fd_count != 1 || d->has_acquire || d->has_release,
                 "A slot came with %u descriptor%s instead of 1 for its memory.", message->fd_count,
                 gr_s(message->fd_count));
    GR_REFUSE_IF(r->uuid[0] != d->uuid_low || r->uuid[1] != d->uuid_high,
                 "The ring's slots are on different GPUs: grinterop did not send it.");
    return GR_OK;
}

/* Checks that the context of the first slot can also use a later one. */
static gr_status check_context(const struct gr_description *d, const struct gr_context *context)
{
    CUdevice owner, device = 0;
    if (gr_description_is_peer(d))
        return GR_OK;
    GR_TRY(gr_share_find_device(d, &owner));
    GR_ENTER(context);
    GR_TRY(gr_current_device(&device));
    if (device == owner)
        return GR_OK;
    return gr_fail(
        GR_ERR_UNSUPPORTED,
        "The current CUDA context is on device %d, which can use the first slot of the "
        "ring. Only device %d can use the memory of a later slot. Make a context of that "
        "device current, or no context at all, and receive the ring again.",
        device, owner);
}

/* Receives a slot. The caller closes the descriptors that stay in the message. */
static gr_status receive_slot(struct receiving *r, struct gr_message *message)
{
    struct gr_description d;
    GR_TRY(gr_message_receive(r->socket, GR_MESSAGE_SLOT, message, &r->deadline));
    GR_TRY(gr_description_read(message, &d));
    GR_TRY(check_slot(r, &d, message));
    GR_TRY(r->arrived == 0 ? gr_share_context(&d, &r->context) : check_context(&d, &r->context));
    gr_resource *resource = gr_share_import(&d, message, &r->context);
    if (!resource)
        return gr_last_error()->status;
    r->resources[r->arrived++] = resource;
    return GR_OK;
}

static gr_status import_semaphores(struct receiving *r)
{
    gr_semaphore *theirs =
        gr_share_import_semaphore(&r->message, GR_RING_SENT_FD, true, r->d.sent_value, &r->context);
    gr_semaphore *mine = theirs ? gr_share_import_semaphore(&r->message, GR_RING_RECEIVED_FD, true,
                                                            r->d.received_value, &r->context)
                                : NULL;
    r->pair = gr_pair_of_new(theirs, mine);
    gr_status status = r->pair ? GR_OK : gr_last_error()->status;
    for (uint32_t i = 0; i < r->arrived && status == GR_OK; i++)
        status = gr_sync_set(r->resources[i], r->pair);
    return status;
}

static gr_status receive_all(struct receiving *r)
{
    GR_TRY(gr_socket_check(r->socket));
    GR_TRY(receive_ring_message(r));
    for (uint64_t i = 0; i < r->d.slots; i++) {
        GR_TRY(gr_message_check_deadline(&r->deadline));
        struct gr_message message = {.fd_count = 0};
        gr_status status = receive_slot(r, &message);
        gr_message_discard_fds(&message);
        if (status != GR_OK)
            return status;
    }
    GR_TRY(import_semaphores(r));
    return gr_page_map(r->message.fds[GR_RING_PAGE_FD], (uint32_t)r->d.slots, &r->page);
}

static gr_status begin_link(struct receiving *r, gr_ring *ring)
{
    ring->link = gr_link_begin(ring, (gr_ring_role)r->d.role, r->socket, r->page, r->pair, NULL);
    if (!ring->link)
        return gr_last_error()->status;
    ring->link_ops = &gr_link_shared;
    r->page = NULL;                 /* the link owns the page now */
    gr_link_wake(ring->link, true); /* lets the peer open a pidfd of this process */
    return GR_OK;
}

static gr_ring *make_ring(struct receiving *r)
{
    const gr_ring_options options =
        GR_INIT(gr_ring_options,
                .producer = r->d.role == GR_RING_PRODUCER ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS,
                .mode = (gr_ring_mode)r->d.mode);
    const gr_ring_role peer = r->d.role == GR_RING_PRODUCER ? GR_RING_CONSUMER : GR_RING_PRODUCER;
    const uint64_t read = atomic_load(&r->page->read), frames = atomic_load(&r->page->written);
    if (read > frames || frames > MOST_FRAMES) {
        gr_fail(GR_ERR_INVALID_VALUE,
                "The ring's page has impossible numbers, written %llu and read %llu: grinterop did "
                "not send it.",
                (unsigned long long)frames, (unsigned long long)read);
        return NULL;
    }
    gr_ring *ring = gr_ring_create(r->resources, r->arrived, &options);
    if (!ring)
        return NULL;
    ring->state.written = frames;
    ring->state.read = read;
    ring->state.newest_at = gr_page_newest_at(r->page, peer, ring->state.count);
    if (begin_link(r, ring) == GR_OK)
        return ring;
    GR_KEEP_ERROR();
    gr_ring_free(ring);
    return NULL;
}

static void end_receiving(struct receiving *r)
{
    GR_KEEP_ERROR();
    gr_message_discard_fds(&r->message);
    for (uint32_t i = 0; i < r->arrived; i++)
        gr_resource_free(r->resources[i]);
    free(r->resources);
    gr_pair_drop(r->pair);
    gr_page_unmap(r->page, (uint32_t)r->d.slots);
    gr_context_drop(&r->context);
}

gr_ring *gr_ring_receive(int socket, void *data, size_t room, size_t *size, unsigned timeout_ms)
{
    GR_CALL();
    struct receiving r = {
        .socket = socket,
        .context = {.primary_of = -1},
        .deadline = gr_deadline_in(timeout_ms),

    };
    gr_ring *ring = NULL;
    gr_status status = gr_message_set_room(&r.message, data, room);
    if (status == GR_OK)
        status = receive_all(&r);
    if (size && r.message.data_size > room)
        *size = r.message.data_size;
    if (status == GR_OK)
        ring = make_ring(&r);
    if (ring && size)
        *size = r.message.data_size;
    end_receiving(&r);
    return ring;
}
