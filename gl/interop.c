/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interop transport's operations. NVIDIA's driver (580) loses a resource that is unmapped or
 * unregistered on a thread without an OpenGL context: it answers CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
 * and afterwards the resource is neither mapped nor unmapped, or freed. Another context passes
 * unnoticed. So this file asks first.
 */
#include "interop.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "../lib/backend.h"
#include "../lib/driver.h"
#include "../lib/error.h"
#include "storage.h"

static const struct gl_resource *gl_of(const gr_resource *resource)
{
    return (const struct gl_resource *)resource;
}

/* "OpenGL texture 3", for messages. */
struct object_text {
    char text[48];
};

static struct object_text object_of(const gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    struct object_text object;
    const char *kind = !r->target                             ? "buffer"
                       : r->target->target == GL_RENDERBUFFER ? "renderbuffer"
                                                              : "texture";
    snprintf(object.text, sizeof(object.text), "OpenGL %s %u", kind, r->name);
    return object;
}

static gr_status check_thread(const gr_resource *resource, const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    if (gl_context_is_current(&r->context))
        return GR_OK;
    struct gl_native now;
    if (!gl_native_current(&now))
        return gr_fail(
            GR_ERR_GL, call,
            "No OpenGL context is current on this thread, but %s needs the one that it was "
            "registered in (%s context %p). Call from the thread where that is current.",
            object_of(resource).text, r->context.native.interface, r->context.native.handle);
    return gr_fail(
        GR_ERR_GL, call,
        "%s was registered in another context (%s context %p) than the one that is current on this "
        "thread (%s context %p). Make that one current first.",
        object_of(resource).text, r->context.native.interface, r->context.native.handle,
        now.interface, now.handle);
}

static bool same_thread_rule(const gr_resource *a, const gr_resource *b)
{
    const struct gl_context *of_a = &gl_of(a)->context, *of_b = &gl_of(b)->context;
    return of_a->mark == of_b->mark && of_a->native.handle == of_b->native.handle;
}

static gr_status fail_deleted(const gr_resource *resource, const char *call)
{
    return gr_fail(GR_ERR_STATE, call,
                   "%s has been deleted since it was registered. Close the resource.",
                   object_of(resource).text);
}

static gr_status check_buffer(const gr_resource *resource, const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    if (!glIsBuffer(r->name))
        return fail_deleted(resource, call);
    size_t size = gl_buffer_storage(r->name, r->context.direct);
    if (size == resource->size)
        return GR_OK;
    return gr_fail(
        GR_ERR_STATE, call,
        "%s had %zu bytes when it was registered and has been given other storage since, "
        "of %zu bytes. Close the resource and register the buffer again.",
        object_of(resource).text, resource->size, size);
}

static gr_status check_image(const gr_resource *resource, const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    GLenum target = r->target->target;
    if (target == GL_RENDERBUFFER ? !glIsRenderbuffer(r->name) : !glIsTexture(r->name))
        return fail_deleted(resource, call);
    struct gl_level now = gl_image_base(r->name, target);
    const struct gl_level *then = &r->level;
    if (memcmp(&now, then, sizeof(now)) == 0)
        return GR_OK;
    return gr_fail(
        GR_ERR_STATE, call,
        "%s was %dx%dx%d of format 0x%x when it was registered and has been given other "
        "storage since, %dx%dx%d of format 0x%x. Close the resource and register it again.",
        object_of(resource).text, then->width, then->height, then->depth, (unsigned)then->internal,
        now.width, now.height, now.depth, (unsigned)now.internal);
}

static gr_status check_storage(const gr_resource *resource, const char *call)
{
    if (gl_of(resource)->immutable)
        return GR_OK;
    return resource->is_image ? check_image(resource, call) : check_buffer(resource, call);
}

/* The driver's handles in a row, in `room` unless there is only one. */
static CUgraphicsResource *handles_of(gr_resource *const resources[], size_t n,
                                      CUgraphicsResource room[GR_BATCH])
{
    if (n == 1)
        return &resources[0]->handle;
    for (size_t i = 0; i < n; i++)
        room[i] = resources[i]->handle;
    return room;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    CUgraphicsResource room[GR_BATCH];
    CUresult result =
        gr_driver()->cuGraphicsUnmapResources((unsigned)n, handles_of(resources, n, room), stream);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(
        result, "cuGraphicsUnmapResources",
        "%s could not be handed back and is still mapped. An error of earlier work on the "
        "stream is reported here too.",
        object_of(resources[0]).text);
}

/* Asks the driver where the resources are now; a pointer is never kept from one map to the next. */
static gr_status fetch_pointers(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gr_buffer *buffer = resources[i]->pending;
        if (resources[i]->is_image)
            continue; /* its arrays are asked for one by one */
        CUresult result = gr_driver()->cuGraphicsResourceGetMappedPointer(
            &buffer->ptr, &buffer->size, resources[i]->handle);
        if (result != CUDA_SUCCESS)
            return gr_fail_cuda(
                result, "cuGraphicsResourceGetMappedPointer",
                "%s was mapped, but the driver did not say where; it has been unmapped again.",
                object_of(resources[i]).text);
    }
    return GR_OK;
}

/* After a failure: what the failed call had mapped goes back, and its error stays the last one. */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_error cause;
    gr_error_save(&cause);
    for (size_t i = 0; i < n; i += GR_BATCH)
        unmap(resources + i, n - i < GR_BATCH ? n - i : GR_BATCH, stream);
    for (size_t i = 0; i < n; i++) {
        resources[i]->pending->ptr = 0;
        resources[i]->pending->size = 0;
    }
    gr_error_restore(&cause);
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    CUgraphicsResource room[GR_BATCH];
    for (size_t done = 0; done < n;) {
        size_t count = n - done < GR_BATCH ? n - done : GR_BATCH;
        CUresult result = gr_driver()->cuGraphicsMapResources(
            (unsigned)count, handles_of(resources + done, count, room), stream);
        if (result != CUDA_SUCCESS) {
            undo_map(resources, done, stream);
            return gr_fail_cuda(
                result, "cuGraphicsMapResources",
                "%s%s could not be mapped. An error of earlier work on the stream is reported here "
                "too.",
                object_of(resources[done]).text, n > 1 ? " or one mapped with it" : "");
        }
        done += count;
        gr_status status = fetch_pointers(resources + done - count, count);
        if (status != GR_OK) {
            undo_map(resources, done, stream);
            return status;
        }
    }
    return GR_OK;
}

static gr_status array(const gr_resource *resource, unsigned level, unsigned layer, CUarray *found)
{
    CUresult result =
        gr_driver()->cuGraphicsSubResourceGetMappedArray(found, resource->handle, layer, level);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuGraphicsSubResourceGetMappedArray",
                        "Level %u, layer %u of %s have no array.", level, layer,
                        object_of(resource).text);
}

static gr_status mipmapped_array(const gr_resource *resource, CUmipmappedArray *found)
{
    CUresult result =
        gr_driver()->cuGraphicsResourceGetMappedMipmappedArray(found, resource->handle);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuGraphicsResourceGetMappedMipmappedArray",
                        "%s has no mipmapped array.", object_of(resource).text);
}

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gl_resource *r = gl_of(resource);
    if (!resource->is_image) {
        snprintf(text, size, "%s", object_of(resource).text);
        return;
    }
    const struct gr_image *image = &resource->image;
    snprintf(text, size, "%s (%s, %s, %zu x %zu x %zu, %u levels, %u layers)",
             object_of(resource).text, r->target->name, r->format ? r->format->name : "?",
             image->width, image->height, image->depth, image->levels, image->layers);
}

static void destroy(gr_resource *resource)
{
    free(resource);
}

/* Resources freed where their context was not current. */
static pthread_mutex_t parked_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gl_resource *parked;

static void park(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    pthread_mutex_lock(&parked_lock);
    r->next_parked = parked;
    parked = r;
    pthread_mutex_unlock(&parked_lock);
}

/* Takes one parked resource of the context off the list. */
static struct gl_resource *take_parked(const struct gl_context *context)
{
    pthread_mutex_lock(&parked_lock);
    struct gl_resource **link = &parked;
    while (*link && ((*link)->context.mark != context->mark ||
                     (*link)->context.native.handle != context->native.handle))
        link = &(*link)->next_parked;
    struct gl_resource *found = *link;
    if (found)
        *link = found->next_parked;
    pthread_mutex_unlock(&parked_lock);
    return found;
}

void gl_interop_collect_parked(const struct gl_context *context)
{
    /* All are taken first: ending a registration comes here again, and finds none. */
    struct gl_resource *mine = NULL, *r;
    while ((r = take_parked(context))) {
        r->next_parked = mine;
        mine = r;
    }
    while ((r = mine)) {
        mine = r->next_parked;
        r->base.parked = false;
        gr_resource_settle(&r->base);
    }
}

static gr_status unregister(gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    gr_status status = GR_OK;
    CUresult result = gr_driver()->cuGraphicsUnregisterResource(resource->handle);
    if (result != CUDA_SUCCESS)
        status =
            gr_fail_cuda(result, "cuGraphicsUnregisterResource",
                         "The registration of %s ended with an error.", object_of(resource).text);
    gl_interop_collect_parked(&r->context);
    return status;
}

const struct gr_backend gl_interop = {
    .name = "interop",
    .check_thread = check_thread,
    .same_thread_rule = same_thread_rule,
    .check_storage = check_storage,
    .map = map,
    .unmap = unmap,
    .array = array,
    .mipmapped_array = mipmapped_array,
    .unregister = unregister,
    .park = park,
    .describe = describe,
    .destroy = destroy,
};
