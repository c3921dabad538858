/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a resource. Two kinds of hold keep it: the caller's, until gr_resource_free(), and
 * each buffer's that is out. The registration ends when it is closed, or when the caller has let go
 * and nothing is mapped; the memory goes when no hold is left.
 */
#include "lib/resource/resource.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/backend.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/flags.h"
#include "lib/image/linear.h"
#include "lib/image/object_life.h"
#include "lib/log.h"

void gr_resource_init(gr_resource *resource, const struct gr_backend *backend,
                      const struct gr_context *context, void *handle, unsigned flags)
{
    resource->backend = backend;
    resource->transport = backend->name;
    resource->context = *context;
    resource->handle = handle;
    resource->flags = flags;
    resource->held = true;
    resource->first.resource = resource;
    resource->spare = &resource->first;
}

gr_buffer *gr_buffer_take(gr_resource *resource)
{
    gr_buffer *buffer = resource->spare;
    if (buffer) {
        resource->spare = buffer->next_spare;
    } else {
        buffer = calloc(1, sizeof(*buffer));
        if (!buffer)
            return NULL;
        buffer->resource = resource;
    }
    buffer->out = true;
    resource->buffers_out++;
    return buffer;
}

void gr_buffer_give(gr_buffer *buffer)
{
    gr_resource *resource = buffer->resource;
    buffer->out = false;
    buffer->next_spare = resource->spare;
    resource->spare = buffer;
    resource->buffers_out--;
    if (!resource->held)
        gr_resource_settle(resource);
}

void gr_buffer_end_mapping(gr_buffer *buffer)
{
    buffer->resource->mapped = NULL;
    buffer->ptr = 0;
    buffer->size = 0;
    buffer->pitch = 0;
}

static void free_memory(gr_resource *resource)
{
    gr_buffer *buffer = resource->spare;
    while (buffer) {
        gr_buffer *next = buffer->next_spare;
        if (buffer != &resource->first)
            free(buffer);
        buffer = next;
    }
    resource->backend->destroy(resource);
}

gr_status gr_resource_unregister(gr_resource *resource, const char *call)
{
    bool pushed;
    gr_status status = gr_context_enter(&resource->context, &pushed, call);
    bool alive = status == GR_OK;
    if (alive)
        status = resource->backend->unregister(resource);
    /* With its CUDA context all of these are gone already. */
    gr_objects_free(resource, alive);
    gr_linear_free(resource, alive);
    if (resource->order && alive)
        gr_driver()->EventDestroy(resource->order);
    resource->order = NULL;
    gr_context_leave(pushed);
    if (gr_log_wanted(GR_LOG_DEBUG)) {
        char text[160];
        resource->backend->describe(resource, text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: closed %s", call, text);
    }
    resource->handle = NULL;
    gr_context_drop(&resource->context);
    return status;
}

/* A destructor has nobody to report to. */
static void warn_last_error(const char *call)
{
    gr_error error;
    gr_last_error(&error);
    gr_log(GR_LOG_WARNING, "%s: %s", call, error.message);
}

void gr_resource_settle(gr_resource *resource)
{
    if (resource->held || resource->mapped || resource->parked)
        return;
    gr_error saved;
    gr_error_save(&saved);
    if (resource->handle) {
        if (!resource->backend->on_thread(resource)) {
            if (resource->buffers_out) { /* the release of the last one comes here again */
                gr_error_restore(&saved);
                return;
            }
            gr_log(GR_LOG_WARNING,
                   "gr_resource_free: the registration is set aside until its OpenGL "
                   "context is current again");
            gr_error_restore(&saved);
            resource->parked = true;
            resource->backend->park(resource);
            return;
        }
        if (gr_resource_unregister(resource, "gr_resource_free") != GR_OK)
            warn_last_error("gr_resource_free");
    }
    gr_error_restore(&saved);
    if (resource->buffers_out == 0)
        free_memory(resource);
}

void gr_resource_free(gr_resource *resource)
{
    if (!resource)
        return;
    resource->held = false;
    gr_resource_settle(resource);
}

gr_status gr_resource_check_open(const gr_resource *resource, const char *call)
{
    if (!resource)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The resource is NULL: did the call that makes it fail? See gr_last_error() there.");
    if (!resource->handle)
        return gr_fail(
            GR_ERR_STATE, call,
            "The resource has been closed. Register the object again to go on using it.");
    return GR_OK;
}

bool gr_resource_is_mapped(const gr_resource *resource)
{
    return resource && resource->mapped;
}

bool gr_resource_is_closed(const gr_resource *resource)
{
    return !resource || !resource->handle;
}

void *gr_handle(const gr_resource *resource)
{
    return resource ? resource->handle : NULL;
}

int gr_resource_describe(const gr_resource *resource, char *text, size_t size)
{
    if (!text)
        size = 0;
    if (!resource)
        return snprintf(text, size, "no resource (NULL)");
    char what[160], flags[96], state[96], bytes[40] = "";
    resource->backend->describe(resource, what, sizeof(what));
    gr_flags_format(resource->flags, flags, sizeof(flags));
    if (!resource->handle)
        snprintf(state, sizeof(state), "closed");
    else if (resource->mapped && resource->mapped->pitch)
        snprintf(state, sizeof(state), "level %u, layer %u mapped by copy at 0x%llx",
                 resource->mapped->level, resource->mapped->layer,
                 (unsigned long long)resource->mapped->ptr);
    else if (resource->mapped && resource->is_image)
        snprintf(state, sizeof(state), "mapped");
    else if (resource->mapped)
        snprintf(state, sizeof(state), "mapped at 0x%llx",
                 (unsigned long long)resource->mapped->ptr);
    else
        snprintf(state, sizeof(state), "not mapped");
    if (!resource->is_image)
        snprintf(bytes, sizeof(bytes), ", %zu bytes", resource->size);
    return snprintf(text, size, "%s%s, flags %s, transport %s%s, handle %p, %s", what, bytes, flags,
                    resource->transport, gr_cuda_is_software() ? " (software CUDA driver)" : "",
                    resource->handle, state);
}

void gr_resource_log_each(const char *call, gr_resource *const resources[], size_t n)
{
    if (!gr_log_wanted(GR_LOG_DEBUG))
        return;
    for (size_t i = 0; i < n; i++) {
        char text[640];
        gr_resource_describe(resources[i], text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: %s", call, text);
    }
}

void gr_resource_at_scope_end(gr_resource **resource)
{
    gr_resource_free(*resource);
    *resource = NULL;
}
