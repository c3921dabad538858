/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Users of a mapping: the tensors that refer to the mapped bytes. */
#include "lib/resource/mapping_users.h"

#include <stddef.h>

#include "lib/cuda/driver.h"
#include "lib/base/log.h"
#include "lib/base/error.h"
#include "lib/resource/resource.h"
#include "lib/base/lock.h"
#include "lib/resource/stream.h"

/* Protects the lists of all buffers, because users may be removed on any thread. */
static struct gr_lock lock = GR_LOCK(MAPPING_USERS);

static void add(gr_buffer *buffer, struct gr_mapping_user *user)
{
    user->buffer = buffer;
    user->previous = NULL;
    user->next = buffer->users;
    if (user->next)
        user->next->previous = user;
    buffer->users = user;
    buffer->user_count++;
}

void gr_mapping_users_add(gr_buffer *buffer, struct gr_mapping_user *user)
{
    GR_LOCKED(&lock);
    add(buffer, user);
}

void gr_mapping_users_join(const struct gr_mapping_user *other, struct gr_mapping_user *user,
                           CUstream *stream)
{
    GR_LOCKED(&lock);
    if (!other->buffer) {
        user->revoke(user);
        return;
    }
    if (stream)
        *stream = other->buffer->stream;
    add(other->buffer, user);
}

static void take_out(struct gr_mapping_user *user)
{
    gr_buffer *buffer = user->buffer;
    if (user->next)
        user->next->previous = user->previous;
    if (user->previous)
        user->previous->next = user->next;
    else
        buffer->users = user->next;
    user->buffer = NULL;
    buffer->user_count--;
}

void gr_mapping_users_leave(struct gr_mapping_user *user, void (*defer)(gr_buffer *buffer))
{
    gr_buffer *buffer = NULL;
    gr_lock(&lock);
    if (user->buffer) {
        gr_uses_move(&user->uses, &user->buffer->resource->uses);
        /* the only user that gr_buffer_release_later() waits for */
        if (user->buffer->kept && user->buffer->users == user && !user->next) {
            buffer = user->buffer;
            buffer->kept = false;
            user->is_leaving = true;
        } else {
            take_out(user);
        }
    }
    gr_unlock(&lock);
    if (!buffer)
        return;
    defer(buffer);
    gr_lock(&lock);
    if (user->buffer) /* the mapping has not ended */
        take_out(user);
    gr_unlock(&lock);
}

bool gr_mapping_users_keep(gr_buffer *buffer)
{
    GR_LOCKED(&lock);
    buffer->kept = buffer->users;
    return buffer->kept;
}

bool gr_mapping_users_unkeep(gr_buffer *buffer)
{
    GR_LOCKED(&lock);
    bool kept = buffer->kept;
    buffer->kept = false;
    return kept;
}

gr_status gr_mapping_users_order(gr_resource *resource, CUstream stream)
{
    gr_buffer *buffer = resource->mapped;
    CUresult result = CUDA_SUCCESS;
    gr_lock(&lock);
    for (struct gr_mapping_user *user = buffer->users; user && result == CUDA_SUCCESS;
         user = user->next)
        result = gr_uses_wait(&user->uses, stream, false);
    gr_unlock(&lock);
    if (result == CUDA_SUCCESS)
        result = gr_uses_wait(&resource->uses, stream, false);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        return gr_stream_refuse_user();
    return gr_fail_cuda(
        result, "cuStreamWaitEvent",
        "%s: the stream could not wait for the streams that use the mapping's tensors.", gr_call);
}

/* Logs a warning that tensors became unusable. */
static void warn(const gr_buffer *buffer, unsigned count)
{
    char text[1200];
    if (!gr_log_wanted(GR_LOG_WARNING))
        return;
    gr_resource_format(buffer->resource, text, sizeof(text));
    gr_log(GR_LOG_WARNING,
           "%s: %u tensor%s still referred to the mapping when it ended, and can no longer be "
           "used. Free tensors before their mapping ends. The resource: %s",
           gr_call, count, gr_s(count), text);
}

void gr_mapping_users_revoke(gr_buffer *buffer)
{
    unsigned count = buffer->user_count;
    if (count) {
        gr_lock(&lock);
        for (count = 0; buffer->users;) {
            struct gr_mapping_user *user = buffer->users;
            count += !user->is_leaving;
            user->revoke(user);
            take_out(user);
        }
        gr_unlock(&lock);
    }
    if (!gr_uses_none(&buffer->resource->uses))
        gr_uses_clear(&buffer->resource->uses);
    if (count)
        warn(buffer, count);
}
