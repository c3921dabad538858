/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Deferred releases. A thread that may not release a buffer, such as the thread of a garbage
 * collector without the OpenGL context, adds the buffer to the list of its resource. The resource
 * stays alive until a thread that may use it releases the buffer: in its next call, or when the
 * OpenGL context is current again (park()), or, if the caller has freed the resource, by the queue
 * of end_after_event.h.
 */
#include "lib/resource/resource.h"

#include <stddef.h>

#include "lib/resource/backend.h"
#include "lib/cuda/end_after_event.h"
#include "lib/cuda/event.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/lock.h"
#include "lib/resource/map.h"
#include "lib/resource/mapping_users.h"

/* Protects the list of each resource, because finalizer threads and the OpenGL thread share it. */
static struct gr_lock lock = GR_LOCK(DEFERRED_RELEASES);

/* Whether any thread may use the resource. */
static bool is_unbound(const gr_resource *resource)
{
    return !resource->backend->on_thread;
}

static void release_now(gr_buffer *buffer)
{
    GR_CALL_AS("gr_buffer_release_later");
    GR_NO_STATUS();
    gr_attempt_begin(); /* the warning is enough */
    const gr_status status = gr_buffer_release_taken(buffer);
    gr_attempt_end();
    if (status != GR_OK)
        gr_error_unreceived("gr_buffer_release_later");
}

/*
 * If the buffer was mapped on CU_STREAM_PER_THREAD, waits for the work in that stream: on the
 * thread that releases the buffer, the handle names another stream.
 */
static void leave_own_stream(gr_buffer *buffer)
{
    gr_entered entered;
    if (buffer->stream != CU_STREAM_PER_THREAD)
        return;
    GR_KEEP_ERROR();
    gr_resource_take_turn(buffer->resource); /* closing the resource drops the context */
    if (gr_buffer_is_live(buffer) && gr_context_try(&buffer->resource->context, &entered)) {
        (void)gr_stream_finish(CU_STREAM_PER_THREAD);
        gr_context_leave(entered);
    }
    gr_resource_give_turn(buffer->resource);
    gr_resource_collect(buffer->resource);
}

/* Adds the buffer to the list of its resource. Returns whether it is the first one. */
static bool add_buffer(gr_buffer *buffer)
{
    gr_resource *resource = buffer->resource;
    GR_LOCKED(&lock);
    bool first = !resource->deferred;
    buffer->next = resource->deferred;
    resource->deferred = buffer;
    if (first)
        gr_resource_hold(resource);
    return first;
}

static gr_buffer *take_all(gr_resource *resource)
{
    GR_LOCKED(&lock);
    gr_buffer *buffers = resource->deferred;
    resource->deferred = NULL;
    return buffers;
}

/* Releases the buffers, then the reference to their resource. */
static void release_all(gr_resource *resource, gr_buffer *buffer)
{
    if (!buffer)
        return;
    while (buffer) {
        gr_buffer *next = buffer->next;
        release_now(buffer);
        buffer = next;
    }
    gr_resource_drop(resource);
}

void gr_resource_unpark(gr_resource *resource)
{
    gr_buffer *buffers = take_all(resource);
    if (buffers) {
        gr_resource_hold(resource);
        gr_resource_take_turn(
            resource); /* if the context is gone, any thread may end the mapping */
        release_all(resource, buffers);
        gr_resource_give_turn(resource);
        gr_resource_drop(resource);
        return;
    }
    resource->parked = false; /* gr_resource_free() had deferred the end */
    gr_resource_settle(resource);
}

void gr_resource_release_deferred(gr_resource *resource)
{
    do { /* a thread that did not get the turn relies on this one */
        gr_resource_take_turn(resource);
        release_all(resource, take_all(resource));
        gr_resource_give_turn(resource);
    } while (resource->deferred);
}

static gr_resource *freed_of(struct gr_ending *ending)
{
    return (gr_resource *)((char *)ending - offsetof(gr_resource, freed));
}

static void end_freed(struct gr_ending *ending, bool alive)
{
    (void)alive; /* the release checks the context itself */
    gr_resource_release_deferred(freed_of(ending));
}

static void drop_freed(struct gr_ending *ending)
{
    gr_resource_drop(freed_of(ending));
}

void gr_buffer_defer(gr_buffer *buffer)
{
    gr_resource *resource = buffer->resource;
    if (!is_unbound(resource)) {
        const bool first = add_buffer(buffer);
        if (!gr_resource_graphics_gone(resource)) /* otherwise park() releases it */
            gr_log(GR_LOG_INFO, "gr_buffer_release_later: the release is deferred until its OpenGL "
                                "context is current again");
        if (first)
            resource->backend->park(resource, false);
        return;
    }
    gr_resource_hold(resource); /* another thread may release the buffer as soon as it is listed */
    add_buffer(buffer);
    const bool freed = !gr_live_has(GR_LIVE_RESOURCE, resource);
    gr_log(GR_LOG_INFO, "gr_buffer_release_later: the release is deferred until %s",
           freed ? "a later call" : "the next call that uses the resource");
    if (freed) { /* no call will use the resource, so the queue of endings releases it */
        gr_resource_hold(resource);
        resource->freed = (struct gr_ending){.context = resource->context,
                                             .uses = &resource->uses,
                                             .follows = true,
                                             .end = end_freed,
                                             .finally = drop_freed};
        resource->freed.context.primary_of = -1; /* the resource has the reference */
        gr_ending_add(&resource->freed);
    }
    gr_resource_drop(resource);
}

/* Releases a buffer now, unless another thread has the turn, which then releases it. */
static void release_in_turn(gr_buffer *buffer)
{
    gr_resource *resource = buffer->resource;
    gr_resource_hold(resource);
    add_buffer(buffer);
    while (resource->deferred && gr_resource_try_turn(resource)) {
        release_all(resource, take_all(resource));
        gr_resource_give_turn(resource);
    }
    gr_resource_drop(resource);
}

/* Ends the caller's ownership of the buffer: a second release is refused. */
static gr_status take_back(gr_buffer *buffer)
{
    GR_TRY(gr_buffer_check(buffer));
    if (gr_buffer_is_live(buffer))
        GR_TRY(gr_resource_check_ring(buffer->resource));
    buffer->later = true;
    return GR_OK;
}

void gr_buffer_release_later(gr_buffer *buffer)
{
    GR_CALL();
    if (!buffer)
        return;
    if (take_back(buffer) != GR_OK) {
        gr_error_show(__func__);
        return;
    }
    leave_own_stream(buffer);
    if (gr_mapping_users_keep(buffer))
        return;
    if (is_unbound(buffer->resource))
        release_in_turn(buffer);
    else if (gr_resource_on_thread(buffer->resource))
        release_now(buffer);
    else
        gr_buffer_defer(buffer);
}

gr_status gr_use_end(const struct gr_use *use, gr_status status)
{
    bool ended = false;
    if (status == GR_OK)
        status = gr_use_unmap(use, &ended);
    if (ended)
        return status;
    GR_KEEP_ERROR();
    for (size_t i = 0; i < use->n; i++)
        gr_buffer_release_later(use->buffers[i]);
    return status;
}
