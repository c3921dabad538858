/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sends and receives resources: memory and semaphores in one message. */
#include <grinterop/share.h>

#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/message/message.h"
#include "lib/resource/resource.h"
#include "lib/sync/sync.h"

/* ---- Sending --------------------------------------------------------------------------------- */

static gr_status add_semaphore(const gr_resource *resource, gr_semaphore *semaphore,
                               struct gr_message *message, uint64_t *has, uint64_t *timeline,
                               uint64_t *value)
{
    gr_semaphore_desc info;
    if (!semaphore)
        return GR_OK;
    GR_TRY(gr_share_export(resource, semaphore, &info));
    message->fds[message->fd_count++] = info.fd;
    *has = 1;
    *timeline = gr_semaphore_type_counts(info.type);
    *value = info.value;
    return GR_OK;
}

static gr_status describe_all(const gr_resource *resource, struct gr_message *message)
{
    struct gr_description d;
    const struct gr_sync *sync = &resource->sync;
    gr_status status = gr_share_describe(resource, &d, message);
    /*
     * A semaphore that this process also uses for other resources is not sent, because each process
     * would count the values of the semaphore separately.
     */
    bool goes_along = sync->pair && !sync->pair->of_device;
    if (status == GR_OK && goes_along)
        status = add_semaphore(resource, sync->acquire, message, &d.has_acquire,
                               &d.acquire_timeline, &d.acquire_value);
    if (status == GR_OK && goes_along)
        status = add_semaphore(resource, sync->release, message, &d.has_release,
                               &d.release_timeline, &d.release_value);
    gr_description_write(&d, message);
    return status;
}

gr_status gr_resource_send(int socket, gr_resource *resource, const void *data, size_t size,
                           unsigned timeout_ms)
{
    GR_CALL();
    struct gr_message message = {.kind = GR_MESSAGE_RESOURCE};
    struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    GR_TRY(gr_resource_check_given(resource));
    GR_TRY(gr_socket_check(socket));
    GR_TRY(gr_message_set_data(&message, data, size));
    GR_TRY(gr_share_check(resource));
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE,
                       "The resource is a slot of a ring: send the ring by gr_ring_send().");
    gr_status status = describe_all(resource, &message);
    if (status == GR_OK)
        status = gr_message_send(socket, &message, &deadline);
    gr_message_close_fds(&message);
    return status;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static gr_status import_semaphores(gr_resource *resource, const struct gr_description *d,
                                   struct gr_message *message, const struct gr_context *context)
{
    gr_semaphore *acquire = NULL, *release = NULL;
    gr_status status = GR_OK;
    unsigned next = GR_MEMORY_FD + 1;
    if (d->has_acquire) {
        acquire = gr_share_import_semaphore(message, next++, d->acquire_timeline, d->acquire_value,
                                            context);
        status = acquire ? GR_OK : gr_last_error()->status;
    }
    if (status == GR_OK && d->has_release) {
        release = gr_share_import_semaphore(message, next, d->release_timeline, d->release_value,
                                            context);
        status = release ? GR_OK : gr_last_error()->status;
    }
    if (!acquire && !release) /* without semaphores in the message, this process chooses them */
        return status;
    struct gr_semaphore_pair *pair = gr_pair_make(acquire, release);
    if (status == GR_OK)
        status = pair ? gr_sync_set(resource, pair) : gr_last_error()->status;
    gr_pair_drop(pair);
    return status;
}

static gr_resource *import_all(const struct gr_description *d, struct gr_message *message)
{
    struct gr_context context;
    if (gr_share_context(d, &context) != GR_OK)
        return NULL;
    gr_resource *resource = gr_share_import(d, message, &context);
    if (resource && import_semaphores(resource, d, message, &context) != GR_OK) {
        GR_KEEP_ERROR();
        gr_resource_free(resource);
        resource = NULL;
    }
    gr_context_drop(&context);
    return resource;
}

static gr_status receive(int socket, struct gr_description *d, struct gr_message *message,
                         const struct gr_deadline *deadline)
{
    GR_TRY(gr_socket_check(socket));
    GR_TRY(gr_message_receive(socket, GR_MESSAGE_RESOURCE, message, deadline));
    GR_TRY(gr_description_read(message, d));
    GR_TRY(gr_description_check(d));
    GR_REFUSE_IF(message->fd_count != 1 + d->has_acquire + d->has_release,
                 "The message announces a different number of file descriptors than the %u "
                 "received with it: grinterop did not send it.",
                 message->fd_count);
    return GR_OK;
}

gr_resource *gr_resource_receive(int socket, void *data, size_t room, size_t *size,
                                 unsigned timeout_ms)
{
    GR_CALL();
    struct gr_description d;
    struct gr_message message = {.fd_count = 0};
    struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    gr_resource *resource = NULL;
    gr_status status = gr_message_set_room(&message, data, room);
    if (status == GR_OK)
        status = receive(socket, &d, &message, &deadline);
    if (size && message.data_size > room)
        *size = message.data_size;
    if (status == GR_OK)
        resource = import_all(&d, &message);
    if (resource && size)
        *size = message.data_size;
    gr_message_discard_fds(&message);
    return resource;
}
