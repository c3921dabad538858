/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends mappings: release, unmap and close. Buffers that one driver call can unmap are unmapped by
 * one call; for a single release n is 1.
 */
#include "lib/resource/release.h"

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/resource/image_linear.h"
#include "lib/resource/surface_objects.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/resource/resource.h"
#include "lib/resource/mapping_users.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/*
 * Makes a release on another stream wait for the map and for the work that followed it in the
 * stream of the map. Without this wait the NVIDIA driver 580 hangs the GPU after a few such
 * releases. *ordered is the last stream that was waited for.
 */
static gr_status order_after_map(gr_resource *resource, CUstream stream, CUstream *ordered,
                                 const char *call)
{
    CUstream of_map = resource->mapped->stream;
    if (of_map == *ordered)
        return GR_OK;
    *ordered = of_map;
    GR_TRY(gr_stream_check_capture(of_map, call));
    return gr_stream_order_after(resource, of_map, stream);
}

/*
 * Enqueues the work that must precede the unmap: waits for the maps and for the known users of
 * tensors of the mappings, and the write-back of linear copies. Sets *plain to false if a resource
 * is an image or has users.
 */
static gr_status prepare(gr_resource *const resources[], size_t n, CUstream stream, bool *plain,
                         const char *call)
{
    CUstream ordered = stream;
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        const gr_buffer *buffer = resource->mapped;
        if (buffer->stream != stream)
            GR_TRY(order_after_map(resource, stream, &ordered, call));
        if (!resource->is_image && gr_mapping_users_none(resource))
            continue;
        *plain = false;
        if (!gr_mapping_users_none(resource))
            GR_TRY(gr_mapping_users_order(resource, stream, call));
        if (buffer->pitch)
            GR_TRY(gr_linear_write_back(resource->mapped, stream, call));
    }
    return GR_OK;
}

/*
 * Ends the mapping of the resource: queries of its buffer return 0 from now on. `alive` says
 * whether the CUDA context still exists; if so, it is current. `plain`: see prepare().
 */
static inline void end_one(gr_resource *resource, CUstream stream, bool alive, bool plain,
                           const char *call)
{
    gr_buffer *buffer = resource->mapped;
    if (!plain) {
        if (buffer->objects)
            gr_objects_retire(buffer, stream, alive);
        if (!gr_mapping_users_none(resource))
            gr_mapping_users_revoke(buffer, call);
        __atomic_store_n(&buffer->pitch, 0, __ATOMIC_RELAXED);
    }
    /* another thread may describe the resource */
    __atomic_store_n(&buffer->ptr, 0, __ATOMIC_RELAXED);
    buffer->size = 0;
    /* another thread may map the resource now */
    __atomic_store_n(&resource->mapped, NULL, __ATOMIC_RELEASE);
}

/* Ends mappings whose CUDA context was destroyed. Called after gr_context_enter() failed. */
static gr_status end_with_context(gr_resource *const resources[], size_t n, gr_status status,
                                  const char *call)
{
    if (!gr_context_is_gone(&resources[0]->context))
        return status;
    for (size_t i = 0; i < n; i++)
        end_one(resources[i], NULL, false, false, call);
    return gr_error_set_class(GR_ERR_PARTIAL);
}

static bool has_ended(gr_status status)
{
    return status == GR_OK || status == GR_ERR_PARTIAL;
}

/* Unmaps n resources of one backend, context and stream, which this thread may use. */
static gr_status unmap_resources(gr_resource *const resources[], size_t n, CUstream stream,
                                 const char *call)
{
    bool pushed, plain = true;
    gr_status status = gr_context_enter(&resources[0]->context, &pushed, call);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(resources, n);
    if (status != GR_OK)
        return end_with_context(resources, n, status, call);
    status = gr_stream_check_capture(stream, call);
    if (status == GR_OK)
        status = gr_stream_check_context(resources[0], stream, call);
    if (status == GR_OK)
        status = prepare(resources, n, stream, &plain, call);
    if (status == GR_OK)
        status = resources[0]->backend->unmap(resources, n, stream);
    if (status == GR_ERR_STATE)
        gr_error_set_call(call); /* sets the name of the call, which transports do not know */
    for (size_t i = 0; i < n && has_ended(status); i++)
        end_one(resources[i], stream, true, plain, call);
    gr_context_leave(pushed);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(resources, n);
    if (status == GR_OK)
        gr_resource_log_each(call, resources, n);
    return status;
}

static CUstream release_stream(const gr_buffer *buffer, CUstream stream)
{
    return stream == GR_STREAM_OF_MAP ? buffer->stream : stream;
}

/* Checks that the caller has not released the buffer. */
static gr_status check_not_released(const gr_buffer *buffer, const char *call)
{
    gr_status status = gr_live_check(GR_LIVE_BUFFER, buffer, call);
    if (status != GR_OK || (buffer->out && !buffer->later))
        return status;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The buffer has been released already. Nothing was done.");
}

/* `by_ring` says whether a ring releases the buffer. */
static gr_status check_releasable(const gr_buffer *buffer, bool by_ring, const char *call)
{
    gr_status status = check_not_released(buffer, call);
    if (status != GR_OK || !gr_buffer_is_live(buffer))
        return status;
    if (!by_ring)
        GR_TRY(gr_resource_check_ring(buffer->resource, call));
    return gr_resource_check_thread(buffer->resource, call);
}

/* Whether the release of the buffer enqueues work on a stream. */
static inline bool is_releasable(const gr_buffer *b)
{
    return b && gr_live_has(GR_LIVE_BUFFER, b) && b->out && !b->later && gr_buffer_is_live(b);
}

/*
 * Whether `b` can be unmapped in this context and on this stream, regardless of its backend and
 * thread.
 */
static bool can_share_unmap(const gr_buffer *b, const gr_resource *first, CUstream of_first,
                            CUstream stream)
{
    return is_releasable(b) && !b->resource->visited &&
           b->resource->in_a_ring == first->in_a_ring &&
           gr_context_same(&b->resource->context, &first->context) &&
           release_stream(b, stream) == of_first;
}

/*
 * Collects the resources of buffers[0] and of the buffers after it that were mapped as a group and
 * can be unmapped in the same call. gr_group_has() explains groups.
 */
static size_t gather_group(gr_buffer *const buffers[], size_t n, CUstream stream,
                           gr_resource *resources[])
{
    size_t count = 1;
    const gr_buffer *before = buffers[0];
    resources[0] = before->resource;
    if (!gr_group_is_valid(resources[0]))
        return 1;
    for (; count < n; count++) {
        const gr_buffer *b = buffers[count];
        if (!b || b != before->after || !gr_buffer_is_live(b) || b->later ||
            (b->stream != buffers[0]->stream && stream == GR_STREAM_OF_MAP))
            break;
        resources[count] = b->resource;
        before = b;
    }
    return count;
}

/* Like gather_group(), for buffers that were mapped in any way. */
static size_t gather(gr_buffer *const buffers[], size_t n, CUstream stream,
                     gr_resource *resources[])
{
    size_t most = n < GR_BATCH ? n : GR_BATCH;
    size_t count = gather_group(buffers, most, stream, resources);
    if (count == most)
        return count;
    count = 0;
    CUstream of_first = release_stream(buffers[0], stream);
    do {
        resources[count] = buffers[count]->resource;
        resources[count++]->visited = true;
    } while (count < most && can_share_unmap(buffers[count], resources[0], of_first, stream));
    for (size_t i = 0; i < count; i++)
        resources[i]->visited = false;
    return resources[0]->backend->run(resources, count);
}

/* Releases a mapped buffer, whose resource this thread may use. */
static gr_status release_mapped(gr_buffer *buffer, CUstream stream, const char *call)
{
    return unmap_resources(&buffer->resource, 1, release_stream(buffer, stream), call);
}

/* Like release_mapped(), for a run of buffers; *done is the length of the run. */
static gr_status release_together(gr_buffer *buffers[], size_t n, CUstream stream, size_t *done,
                                  const char *call)
{
    gr_resource *resources[GR_BATCH];
    *done = gather(buffers, n, stream, resources);
    return unmap_resources(resources, *done, release_stream(buffers[0], stream), call);
}

/* Releases buffers[0] and the run that starts there; *done is the length of the run. */
static gr_status release_run(gr_buffer *buffers[], size_t n, CUstream stream, bool by_ring,
                             size_t *done, const char *call)
{
    *done = 1;
    gr_status status = check_releasable(buffers[0], by_ring, call);
    if (status == GR_OK && gr_buffer_is_live(buffers[0]))
        status = n == 1 ? release_mapped(buffers[0], stream, call)
                        : release_together(buffers, n, stream, done, call);
    if (has_ended(status))
        gr_buffers_give(buffers, *done);
    return status;
}

gr_status gr_buffer_release(gr_buffer *buffer)
{
    size_t done;
    return buffer ? release_run(&buffer, 1, GR_STREAM_OF_MAP, false, &done, __func__) : GR_OK;
}

gr_status gr_buffer_take_back(gr_buffer *buffer, const char *call)
{
    gr_status status = check_not_released(buffer, call);
    if (status == GR_OK && gr_buffer_is_live(buffer))
        status = gr_resource_check_ring(buffer->resource, call);
    if (status == GR_OK)
        __atomic_store_n(&buffer->later, true, __ATOMIC_RELAXED);
    return status;
}

/* Whether the release failed because the driver no longer knows the stream of the map. */
static bool stream_is_gone(gr_status status)
{
    return status == GR_ERR_CUDA && gr_last_error()->code == CUDA_ERROR_INVALID_HANDLE;
}

/*
 * Releases a buffer for callers that cannot report errors. If the stream of the map was destroyed,
 * uses the legacy stream.
 */
static gr_status release_with_fallback(gr_buffer *buffer, const char *call)
{
    gr_status status = release_mapped(buffer, GR_STREAM_OF_MAP, call);
    if (!stream_is_gone(status))
        return status;
    gr_log(GR_LOG_WARNING,
           "%s: the stream of the map no longer exists; using the legacy stream instead", call);
    return release_mapped(buffer, CU_STREAM_LEGACY, call);
}

gr_status gr_buffer_release_taken(gr_buffer *buffer, const char *call)
{
    gr_status status = GR_OK;
    if (gr_buffer_is_live(buffer))
        status = gr_resource_check_thread(buffer->resource, call);
    if (status == GR_OK && gr_buffer_is_live(buffer))
        status = release_with_fallback(buffer, call);
    if (has_ended(status))
        gr_buffers_give(&buffer, 1);
    return status;
}

/*
 * Makes each stream on which the buffers are released wait for the event. Each CUDA context has its
 * own default streams.
 */
static gr_status wait_for_option_event(gr_buffer *const buffers[], size_t n, CUstream stream,
                                       CUevent event, const char *call)
{
    CUstream last = NULL;
    CUcontext of_last = NULL;
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        bool pushed;
        const gr_buffer *b = buffers[i];
        if (!is_releasable(b))
            continue;
        const struct gr_context *context = &b->resource->context;
        if (release_stream(b, stream) == last && context->handle == of_last)
            continue;
        last = release_stream(b, stream);
        of_last = context->handle;
        status = gr_context_enter(context, &pushed, call);
        if (status != GR_OK)
            return status;
        status = gr_stream_check_capture(last, call);
        if (status == GR_OK)
            status = gr_stream_check_context(b->resource, last, call);
        if (status == GR_OK)
            status = gr_event_wait(last, event);
        gr_context_leave(pushed);
    }
    return status;
}

/* Releases all buffers that can be released. Afterwards the first failure is the last error. */
static gr_status release_buffers(gr_buffer *buffers[], size_t n, CUstream stream, bool by_ring,
                                 const char *call)
{
    gr_status first = GR_OK;
    struct gr_error_record cause;
    size_t done;
    bool some = false;
    for (size_t i = 0; i < n; i += done) {
        done = 1;
        if (!buffers[i])
            continue;
        gr_status status = release_run(buffers + i, n - i, stream, by_ring, &done, call);
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

gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n, const char *call)
{
    return release_buffers(buffers, n, GR_STREAM_OF_MAP, true, call);
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
    gr_release_options own;
    if (!buffers && n)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "`buffers` is NULL, but n is %zu.", n);
    gr_status status = GR_OK;
    GR_TRY(gr_stream_check(first_context(buffers, n, stream), stream, true, __func__));
    if (options)
        GR_TRY(GR_TAKE(gr_release_options, &own, options, __func__));
    if (options && own.wait_event)
        status = wait_for_option_event(buffers, n, stream, own.wait_event, __func__);
    if (status == GR_ERR_DEVICE_LOST)
        for (size_t i = 0; i < n; i++)
            if (is_releasable(buffers[i]))
                gr_resources_after_failure(&buffers[i]->resource, 1);
    return status != GR_OK ? status : release_buffers(buffers, n, stream, false, __func__);
}

/*
 * Unmaps a mapped resource, on a thread that may use it. The caller keeps the buffer, whose queries
 * return 0 from now on.
 */
static gr_status end_mapping(gr_resource *resource, CUstream stream, const char *call)
{
    gr_resource_take_turn(resource);
    gr_buffer *buffer = resource->mapped; /* NULL: gr_buffer_release_later() ended the mapping */
    gr_status status = GR_OK;
    if (buffer)
        status = unmap_resources(&resource, 1, release_stream(buffer, stream), call);
    /* The resource takes the buffer back, because no caller will release it. */
    if (buffer && has_ended(status) && gr_mapping_users_unkeep(buffer))
        gr_buffers_give(&buffer, 1);
    gr_resource_give_turn(resource);
    gr_resource_collect(resource);
    return status;
}

/* Checks that the caller has not freed the resource. */
static gr_status check_not_freed(const gr_resource *resource, const char *call)
{
    gr_status status = resource ? gr_live_check(GR_LIVE_RESOURCE, resource, call)
                                : gr_resource_check_open(resource, call);
    if (status == GR_OK)
        gr_resource_collect(resource);
    return status;
}

static gr_status unmap_on(gr_resource *resource, CUstream stream, const char *call)
{
    GR_TRY(gr_resource_check_thread(resource, call));
    return end_mapping(resource, stream, call);
}

gr_status gr_resource_unmap_anyhow(gr_resource *resource, const char *call)
{
    gr_status status = unmap_on(resource, GR_STREAM_OF_MAP, call);
    return stream_is_gone(status) ? unmap_on(resource, CU_STREAM_LEGACY, call) : status;
}

gr_status gr_resource_unmap(gr_resource *resource, CUstream stream)
{
    GR_TRY(check_not_freed(resource, __func__));
    GR_TRY(gr_resource_check_open(resource, __func__));
    if (!gr_resource_mapping(resource))
        return gr_fail(GR_ERR_STATE, __func__, "The resource is not mapped.");
    GR_TRY(gr_resource_check_ring(resource, __func__));
    GR_TRY(gr_stream_check_given(stream, true, __func__));
    return unmap_on(resource, stream, __func__);
}

gr_status gr_resource_close_held(gr_resource *resource, CUstream stream, const char *call)
{
    GR_TRY(gr_stream_check_given(stream, true, call));
    if (!resource->handle)
        return GR_OK;
    const bool mapped = gr_resource_mapping(resource);
    gr_status status = mapped ? GR_OK /* the unmap checks the stream */
                              : gr_stream_check(&resource->context, stream, true, call);
    if (status == GR_OK)
        status = gr_resource_check_thread(resource, call);
    if (status == GR_OK && mapped)
        status = end_mapping(resource, stream, call);
    if (!has_ended(status) || gr_resource_unregister(resource, call) == GR_OK)
        return status;
    return gr_error_set_class(GR_ERR_PARTIAL); /* the resource is closed despite the error */
}

gr_status gr_resource_close(gr_resource *resource, CUstream stream)
{
    GR_TRY(check_not_freed(resource, __func__));
    GR_TRY(gr_resource_check_ring(resource, __func__));
    return gr_resource_close_held(resource, stream, __func__);
}
