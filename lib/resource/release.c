/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends mappings: release, unmap and close. Buffers that one driver call can unmap are unmapped by
 * one call; for a single release n is 1.
 */
#include "lib/resource/resource.h"

#include <stdatomic.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/resource/map.h"
#include "lib/resource/mapping_users.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/* Whether the current mapping has users, or known streams of removed users. */
static inline bool is_used(const gr_resource *resource)
{
    return resource->mapped->user_count || !gr_uses_none(&resource->uses);
}

/*
 * Enqueues the work that must precede the unmap: waits for the maps and for the known users of
 * tensors of the mappings, and the write-back of linear copies. Without the wait for a map on
 * another stream, and for the work that followed it there, the NVIDIA driver 580 hangs the GPU
 * after a few such releases. `gone`: nothing is written back. Sets *plain to false if a resource is
 * an image or has users.
 */
static gr_status prepare(gr_resource *const resources[], size_t n, CUstream stream, bool gone,
                         bool *plain)
{
    CUstream ordered = stream; /* the last stream that was waited for */
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        gr_buffer *buffer = resource->mapped;
        if (buffer->stream != stream && buffer->stream != ordered) {
            ordered = buffer->stream;
            GR_TRY(gr_stream_check_capture(ordered));
            GR_TRY(gr_stream_order_after(resource, ordered, stream));
        }
        const bool used = is_used(resource);
        if (!resource->is_image && !used)
            continue;
        *plain = false;
        if (used)
            GR_TRY(gr_mapping_users_order(resource, stream));
        if (buffer->pitch && !gone)
            GR_TRY(gr_linear_write_back(buffer, stream));
    }
    return GR_OK;
}

/*
 * Ends the mapping of the resource: queries of its buffer return 0 from now on. `alive` says
 * whether the CUDA context still exists; if so, it is current. `plain`: see prepare().
 */
static inline void end_one(gr_resource *resource, CUstream stream, bool alive, bool plain)
{
    gr_buffer *buffer = resource->mapped;
    if (!plain) {
        if (resource->objects)
            gr_image_objects_release(resource, stream, alive);
        if (is_used(resource))
            gr_mapping_users_revoke(buffer);
        atomic_store_explicit(&buffer->pitch, 0, memory_order_relaxed);
    }
    /* another thread may describe the resource */
    atomic_store_explicit(&buffer->ptr, 0, memory_order_relaxed);
    buffer->size = 0;
    resource->current = NULL;
    /* another thread may map the resource now */
    atomic_store_explicit(&resource->mapped, NULL, memory_order_release);
}

static gr_status unmap_in_context(gr_resource *const resources[], size_t n, CUstream stream,
                                  bool checked, bool gone, bool *plain)
{
    const struct gr_backend *backend = resources[0]->backend;
    if (!checked)
        GR_TRY(gr_stream_check_context(resources[0], stream));
    GR_TRY(prepare(resources, n, stream, gone, plain));
    return (gone ? backend->abandon : backend->unmap)(resources, n, stream);
}

/*
 * Checks that this thread may end mappings of the resource. Any thread may if the graphics context
 * was destroyed: then sets *gone, and the last error says so.
 */
static gr_status check_thread(const gr_resource *resource, bool *gone)
{
    const gr_status status = gr_resource_check_thread(resource);
    *gone = status == GR_ERR_GL && gr_resource_graphics_gone(resource);
    return *gone ? GR_OK : status;
}

/*
 * Unmaps n resources that are one run, of one CUDA context and stream. `checked`: this thread may
 * use them, the CUDA context is current, and the stream was checked in it. If the CUDA context or
 * the graphics context was destroyed, only ends the mappings. *ended says whether they have ended.
 */
static gr_status unmap_resources(gr_resource *const resources[], size_t n, CUstream stream,
                                 bool checked, bool *ended)
{
    gr_entered entered = 0;
    bool plain = true, gone = false;
    *ended = false;
    if (!checked)
        GR_TRY(check_thread(resources[0], &gone));
    gr_status status = checked ? GR_OK : gr_context_enter(&resources[0]->context, &entered);
    const bool alive = status == GR_OK;
    if (alive) {
        status = unmap_in_context(resources, n, stream, checked, gone, &plain);
        if (gone && status == GR_OK)
            status = gr_error_set_class(GR_ERR_PARTIAL);
    } else if (gr_context_is_gone(&resources[0]->context)) {
        status = gr_error_set_class(GR_ERR_PARTIAL);
        stream = NULL;
        plain = false;
    }
    if (status == GR_ERR_STATE)
        gr_error_set_call(); /* sets the name of the call, which transports do not know */
    *ended = status == GR_OK || status == GR_ERR_PARTIAL;
    for (size_t i = 0; i < n && *ended; i++)
        end_one(resources[i], stream, alive, plain);
    if (!checked)
        gr_context_leave(entered);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(resources, n);
    if (status == GR_OK)
        gr_resource_log_each(resources, n);
    return status;
}

gr_status gr_use_unmap(const struct gr_use *use, bool *ended)
{
    const gr_status status = unmap_resources(use->resources, use->n, use->stream, true, ended);
    if (*ended)
        gr_buffers_give(use->buffers, use->n);
    return status;
}

/* Whether the caller has the buffer, whose mapping may have ended. */
static inline bool is_owned(const gr_buffer *b)
{
    return b && gr_live_has(GR_LIVE_BUFFER, b) && b->out && !b->later;
}

/* Whether the release of the buffer enqueues work on a stream. */
static inline bool is_releasable(const gr_buffer *b)
{
    return is_owned(b) && gr_buffer_is_live(b);
}

/*
 * Checks that no buffer is listed twice, because the second entry would be released already. For a
 * list that is one run, gather() has found this out.
 */
static gr_status check_listed_once(gr_buffer *const buffers[], size_t n)
{
    size_t count = 0;
    for (; count < n && !(is_owned(buffers[count]) && buffers[count]->listed); count++)
        if (is_owned(buffers[count]))
            buffers[count]->listed = true;
    for (size_t i = 0; i < count; i++)
        if (is_owned(buffers[i]))
            buffers[i]->listed = false;
    GR_REFUSE_IF(count < n,
                 "Buffer %p is listed twice: list each buffer once. Nothing was released.",
                 (void *)buffers[count]);
    return GR_OK;
}

/*
 * Collects the resources of buffers[0] and of the buffers after it that can be unmapped in the same
 * call: on one stream, or on the streams of their maps (`of_map`). Resources of a group
 * (gr_group_has()) differ in their streams at most.
 */
static size_t gather(gr_buffer *const buffers[], size_t n, bool of_map, gr_resource *resources[])
{
    const gr_resource *first = resources[0] = buffers[0]->resource;
    const size_t most = n < GR_BATCH ? n : GR_BATCH;
    const bool is_group = gr_group_is_valid(first);
    size_t count = 1;
    for (; count < most && is_group; count++) {
        gr_resource *next = resources[count - 1]->after;
        gr_buffer *b = next ? next->mapped : NULL;
        if (!b || b != buffers[count] || b->later || (of_map && b->stream != buffers[0]->stream))
            break;
        resources[count] = next;
    }
    if (count == most)
        return count;
    for (count = 0; count < most; count++) {
        const gr_buffer *b = buffers[count];
        if (count > 0 &&
            (!is_releasable(b) || b->listed || b->resource->in_a_ring != first->in_a_ring ||
             !gr_context_same(&b->resource->context, &first->context) ||
             (of_map && b->stream != buffers[0]->stream)))
            break;
        resources[count] = b->resource;
        buffers[count]->listed = true;
    }
    for (size_t i = 0; i < count; i++)
        buffers[i]->listed = false;
    return first->backend->run(resources, count);
}

/*
 * Releases buffers[0] and the run that starts there; *done is the length of the run, or 0 if a
 * buffer is listed twice, which is checked once. `by_ring` says whether a ring releases the
 * buffers.
 */
static gr_status release_run(gr_buffer *buffers[], size_t n, CUstream stream, bool by_ring,
                             bool *listed_once, size_t *done)
{
    gr_resource *resources[GR_BATCH];
    gr_buffer *first = buffers[0];
    const bool of_map = stream == GR_STREAM_OF_MAP;
    bool ended = true;
    gr_status status = GR_OK;
    *done = 1;
    if (!by_ring) /* a ring has its buffers until it releases them */
        GR_TRY(gr_buffer_check(first));
    resources[0] = first->resource;
    const bool is_mapped = resources[0]->mapped == first;
    if (is_mapped) {
        if (!by_ring && resources[0]->in_a_ring)
            return gr_resource_refuse_in_ring();
        if (n > 1)
            *done = gather(buffers, n, of_map, resources);
    }
    if (*done < n && !*listed_once && check_listed_once(buffers, n) != GR_OK) {
        *done = 0;
        return GR_ERR_INVALID_VALUE;
    }
    *listed_once = true;
    if (is_mapped)
        status = unmap_resources(resources, *done, of_map ? first->stream : stream, false, &ended);
    if (ended)
        gr_buffers_give(buffers, *done);
    return status;
}

gr_status gr_buffer_release(gr_buffer *buffer)
{
    GR_CALL();
    size_t done;
    bool listed_once = true;
    return buffer ? release_run(&buffer, 1, GR_STREAM_OF_MAP, false, &listed_once, &done) : GR_OK;
}

/* Whether the release failed because the driver no longer knows the stream of the map. */
static bool stream_is_gone(gr_status status)
{
    return status == GR_ERR_CUDA && gr_last_error()->code == CUDA_ERROR_INVALID_HANDLE;
}

gr_status gr_buffer_release_taken(gr_buffer *buffer)
{
    bool ended = true;
    gr_status status = GR_OK;
    if (gr_buffer_is_live(buffer)) {
        status = unmap_resources(&buffer->resource, 1, buffer->stream, false, &ended);
        if (stream_is_gone(status)) {
            gr_log(GR_LOG_WARNING,
                   "%s: the stream of the map no longer exists; using the legacy stream instead",
                   gr_call);
            status = unmap_resources(&buffer->resource, 1, CU_STREAM_LEGACY, false, &ended);
        }
    }
    if (ended)
        gr_buffers_give(&buffer, 1);
    return status;
}

/* The stream in which a release on `stream` enqueues its work. */
static CUstream release_stream(const gr_buffer *buffer, CUstream stream)
{
    return stream == GR_STREAM_OF_MAP ? buffer->stream : stream;
}

/*
 * Makes each stream on which the buffers are released wait for the event. Each CUDA context has its
 * own default streams.
 */
static gr_status wait_for_option_event(gr_buffer *const buffers[], size_t n, CUstream stream,
                                       CUevent event)
{
    CUstream last = NULL;
    CUcontext of_last = NULL;
    for (size_t i = 0; i < n; i++) {
        const gr_buffer *b = buffers[i];
        if (!is_releasable(b))
            continue;
        const struct gr_context *context = &b->resource->context;
        if (release_stream(b, stream) == last && context->handle == of_last)
            continue;
        last = release_stream(b, stream);
        of_last = context->handle;
        GR_ENTER(context);
        GR_TRY(gr_stream_check_context(b->resource, last));
        GR_TRY(gr_event_wait(last, event));
    }
    return GR_OK;
}

/*
 * Releases all buffers that can be released, or none if one is listed twice. Afterwards the first
 * failure is the last error.
 */
static gr_status release_buffers(gr_buffer *buffers[], size_t n, CUstream stream, bool by_ring)
{
    gr_status first = GR_OK;
    struct gr_error_record cause;
    size_t done;
    bool some = false, listed_once = by_ring; /* a ring has checked its slots */
    for (size_t i = 0; i < n; i += done) {
        done = 1;
        if (!buffers[i])
            continue;
        gr_status status = release_run(buffers + i, n - i, stream, by_ring, &listed_once, &done);
        if (done == 0)
            return status;
        some = some || status == GR_OK;
        if (status == GR_OK || first != GR_OK)
            continue;
        first = status;
        gr_error_save(&cause);
    }
    if (first == GR_OK)
        return GR_OK;
    gr_error_restore(&cause);
    return some ? gr_error_set_class(GR_ERR_PARTIAL) : first;
}

gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n)
{
    return release_buffers(buffers, n, GR_STREAM_OF_MAP, true);
}

/*
 * Returns the CUDA context of the first buffer whose release enqueues work in `stream`. NULL if
 * there is none, or if each buffer is released in the stream of its map.
 */
static const struct gr_context *first_context(gr_buffer *const buffers[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n && stream != GR_STREAM_OF_MAP; i++)
        if (is_releasable(buffers[i]))
            return &buffers[i]->resource->context;
    return NULL;
}

gr_status gr_buffer_release_many(gr_buffer *buffers[], size_t n, CUstream stream,
                                 const gr_release_options *options)
{
    GR_CALL();
    gr_release_options own;
    GR_REFUSE_IF(!buffers && n, "`buffers` is NULL, but n is %zu.", n);
    gr_status status = GR_OK;
    GR_TRY(gr_stream_check(first_context(buffers, n, stream), stream, true));
    if (options)
        GR_TRY(GR_TAKE(gr_release_options, &own, options));
    if (options && own.wait_event) {
        GR_TRY(check_listed_once(buffers, n));
        status = wait_for_option_event(buffers, n, stream, own.wait_event);
    }
    if (status == GR_ERR_DEVICE_LOST)
        for (size_t i = 0; i < n; i++)
            if (is_releasable(buffers[i]))
                gr_resources_after_failure(&buffers[i]->resource, 1);
    return status != GR_OK ? status : release_buffers(buffers, n, stream, false);
}

/*
 * Unmaps a mapped resource. The caller keeps the buffer, whose queries return 0 from now on.
 */
static gr_status end_mapping(gr_resource *resource, CUstream stream)
{
    gr_resource_take_turn(resource);
    gr_buffer *buffer = resource->mapped; /* NULL: gr_buffer_release_later() ended the mapping */
    gr_status status = GR_OK;
    bool ended = false;
    if (buffer)
        status = unmap_resources(&resource, 1, release_stream(buffer, stream), false, &ended);
    /* The resource takes the buffer back, because no caller will release it. */
    if (ended && gr_mapping_users_unkeep(buffer))
        gr_buffers_give(&buffer, 1);
    gr_resource_give_turn(resource);
    gr_resource_collect(resource);
    return status;
}

/* Checks that the caller has not freed the resource, and ends deferred releases. */
static gr_status check_given(const gr_resource *resource)
{
    GR_TRY(gr_resource_check_given(resource));
    gr_resource_collect(resource);
    return GR_OK;
}

gr_status gr_resource_unmap_anyhow(gr_resource *resource)
{
    gr_status status = end_mapping(resource, GR_STREAM_OF_MAP);
    return stream_is_gone(status) ? end_mapping(resource, CU_STREAM_LEGACY) : status;
}

gr_status gr_resource_unmap(gr_resource *resource, CUstream stream)
{
    GR_CALL();
    GR_TRY(check_given(resource));
    GR_TRY(gr_resource_check_open(resource));
    if (!resource->mapped)
        return gr_fail(GR_ERR_STATE, "The resource is not mapped.");
    GR_TRY(gr_resource_check_ring(resource));
    GR_TRY(gr_stream_check_given(stream, true));
    return end_mapping(resource, stream);
}

gr_status gr_resource_close_held(gr_resource *resource, CUstream stream)
{
    GR_TRY(gr_stream_check_given(stream, true));
    if (!resource->handle)
        return GR_OK;
    bool gone = false;
    gr_status status = GR_OK;
    if (resource->mapped) {
        status = end_mapping(resource, stream);
    } else {
        GR_TRY(gr_stream_check(&resource->context, stream, true));
        GR_TRY(check_thread(resource, &gone));
        if (gone)
            status = gr_error_set_class(GR_ERR_PARTIAL);
    }
    if ((status != GR_OK && status != GR_ERR_PARTIAL) || gr_resource_unregister(resource) == GR_OK)
        return status;
    return gr_error_set_class(GR_ERR_PARTIAL); /* the resource is closed despite the error */
}

gr_status gr_resource_close(gr_resource *resource, CUstream stream)
{
    GR_CALL();
    GR_TRY(check_given(resource));
    GR_TRY(gr_resource_check_ring(resource));
    return gr_resource_close_held(resource, stream);
}
