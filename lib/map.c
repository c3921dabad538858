/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Map. Everything is written for n resources, and one is the case n == 1, so that the
 * rule "all or nothing" has one implementation.
 */
#include "backend.h"
#include "driver.h"
#include "error.h"
#include "image.h"
#include "log.h"

static gr_status check_mappable(const gr_resource *resource, const gr_resource *first,
                                const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status != GR_OK)
        return status;
    if (resource->mapped)
        return gr_fail(
            GR_ERR_STATE, call,
            "The resource is already mapped. Release its buffer before it is mapped again.");
    if (resource->visited)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The same resource is listed twice: a resource has one mapping at a time.");
    if (resource->context.handle != first->context.handle || resource->backend != first->backend)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The resources belong to different CUDA contexts or transports, which one call of the "
            "driver cannot map: map them in a call for each.");
    /* Once for each OpenGL context, since a batch has one as a rule. */
    const struct gr_backend *backend = resource->backend;
    if (resource == first || !backend->same_thread_rule(resource, first))
        status = backend->check_thread(resource, call);
    return status == GR_OK ? backend->check_storage(resource, call) : status;
}

static gr_status check_all_mappable(gr_resource *const resources[], size_t n, const char *call)
{
    gr_status status = GR_OK;
    size_t checked = 0;
    for (; checked < n && status == GR_OK; checked++) {
        status = check_mappable(resources[checked], resources[0], call);
        if (status == GR_OK)
            resources[checked]->visited = true;
    }
    for (size_t i = 0; i < checked; i++)
        if (resources[i])
            resources[i]->visited = false;
    return status;
}

/* Gives each resource its `pending` buffer: all, or none and false. */
static bool take_buffers(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        resources[i]->pending = gr_buffer_take(resources[i]);
        if (resources[i]->pending)
            continue;
        while (i-- > 0)
            gr_buffer_give(resources[i]->pending);
        return false;
    }
    return true;
}

static gr_status map_taken(gr_resource *const resources[], size_t n, CUstream stream,
                           const char *call)
{
    bool pushed;
    gr_status status = gr_context_enter(&resources[0]->context, &pushed, call);
    if (status != GR_OK)
        return status;
    status = resources[0]->backend->map(resources, n, stream);
    gr_context_leave(pushed);
    return status;
}

static gr_status map_resources(gr_resource *const resources[], size_t n, CUstream stream,
                               gr_buffer *out[], const char *call)
{
    gr_status status = gr_stream_check(stream, false, call);
    if (status == GR_OK)
        status = check_all_mappable(resources, n, call);
    if (status != GR_OK)
        return status;
    if (!take_buffers(resources, n))
        return gr_fail_memory(call);
    status = map_taken(resources, n, stream, call);
    for (size_t i = 0; i < n; i++) {
        gr_buffer *buffer = resources[i]->pending;
        if (status != GR_OK) {
            gr_buffer_give(buffer);
            continue;
        }
        buffer->stream = stream;
        resources[i]->mapped = buffer;
        out[i] = buffer;
    }
    if (status == GR_OK)
        gr_resource_log_each(call, resources, n);
    return status;
}

gr_buffer *gr_map(gr_resource *resource, CUstream stream)
{
    gr_buffer *buffer = NULL;
    return map_resources(&resource, 1, stream, &buffer, __func__) == GR_OK ? buffer : NULL;
}

gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream, gr_buffer *out[])
{
    if (!resources || !out)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "`%s` is NULL.",
                       resources ? "out" : "resources");
    if (n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "There is nothing to map: n is 0.");
    return map_resources(resources, n, stream, out, __func__);
}

CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer)
{
    if (!buffer)
        return 0;
    if (!buffer->ptr && buffer->resource->is_image && gr_buffer_is_live(buffer))
        gr_fail(GR_ERR_STATE, __func__,
                "An image has no pointer: use gr_buffer_array(), gr_buffer_surface() or "
                "gr_buffer_texture(), or map it with gr_map_linear(), which copies.");
    return buffer->ptr;
}

size_t gr_buffer_size(const gr_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}

CUstream gr_buffer_stream(const gr_buffer *buffer)
{
    return buffer ? buffer->stream : NULL;
}

/* ---- Images by copy ------------------------------------------------------------------------- */

/* A map that did not become linear ends again, and the cause stays the last error. */
static gr_buffer *undo(gr_buffer *buffer)
{
    gr_error cause;
    gr_error_save(&cause);
    gr_buffer_release(buffer);
    gr_error_restore(&cause);
    return NULL;
}

gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer, CUstream stream)
{
    bool pushed;
    if (resource && !resource->is_image && (level || layer)) {
        gr_fail(GR_ERR_INVALID_VALUE, __func__,
                "The resource was made from a buffer, which has level 0 and layer 0 only.");
        return NULL;
    }
    /* Before it is mapped, since a map with write_discard loses the image's contents. */
    bool mappable = resource && resource->handle && !resource->mapped;
    if (mappable && resource->is_image &&
        gr_image_check_range(resource, level, layer, __func__) != GR_OK)
        return NULL;
    gr_buffer *buffer = gr_map(resource, stream);
    if (!buffer || !resource->is_image)
        return buffer;
    if (gr_context_enter(&resource->context, &pushed, __func__) != GR_OK)
        return undo(buffer);
    gr_status status = gr_linear_make(buffer, level, layer, __func__);
    gr_context_leave(pushed);
    if (status != GR_OK)
        return undo(buffer);
    gr_log(GR_LOG_DEBUG, "%s: level %u, layer %u are a copy of %zu bytes", __func__, level, layer,
           buffer->size);
    return buffer;
}
