/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The resources of the shared transport: the code that buffers and images have in common, and the
 * synchronisation at map and release.
 */
#include "gl/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/resource/resource.h"
#include "gl/texels/texel_shader.h"
#include "gl/context/object_label.h"
#include "gl/context/saved_state.h"

static struct gl_shared *shared_of(const gr_resource *resource)
{
    return (struct gl_shared *)resource;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void describe(const gr_resource *resource, char *text, size_t size)
{
    gl_object_describe(resource, text, size);
    const size_t length = strlen(text);
    snprintf(text + length, size - length, ", with %s",
             gl_timeline_text(shared_of(resource)->timeline));
}

/* Returns the pair that the resource has now, if OpenGL knows it. */
static struct gl_timeline *timeline_of(const gr_resource *resource)
{
    const struct gl_shared *r = shared_of(resource);
    struct gr_semaphore_pair *now = resource->sync.pair;
    return now && now->end == r->timeline->pair.end ? (struct gl_timeline *)now : r->timeline;
}

/*
 * Resources of a run have the same OpenGL context and semaphore pair, so that one signal and one
 * wait serve all of them.
 */
static size_t run(gr_resource *const resources[], size_t n)
{
    const struct gl_timeline *timeline = timeline_of(resources[0]);
    size_t count = 1;
    while (count < n && resources[count]->backend == resources[0]->backend &&
           timeline_of(resources[count]) == timeline)
        count++;
    return count;
}

/* A map waits only for a signal that OpenGL has accepted. */
static gr_status signal_cuda(struct gl_timeline *t, gr_resource *const resources[], size_t n)
{
    gr_semaphore *acquire = resources[0]->sync.acquire;
    uint64_t number;
    GR_TRY(gr_sync_next_signal(acquire, &number));
    const gr_status status =
        gl_timeline_enqueue(t, true, acquire->timeline ? number : 0, resources, n);
    if (status != GR_OK)
        gr_sync_skip_signal(acquire);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        resources[i]->sync.drawn = number;
    t->under_way |= status == GR_OK;
    return status;
}

static gr_status end_use(gr_resource *const resources[], size_t n)
{
    struct gl_timeline *t = timeline_of(resources[0]);
    /*
     * A binary semaphore can be signalled again only after OpenGL has waited for the signal of
     * CUDA. If that signal never came, because a map failed or a ring dropped the frame, the thread
     * waits.
     */
    if (t->waits == GL_WAITS_HOST || (t->waits == GL_WAITS_BINARY && t->under_way)) {
        glFinish();
        return GR_OK;
    }
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < GR_BATCH ? n - done : GR_BATCH;
        GR_TRY(signal_cuda(t, resources + done, count));
    }
    return GR_OK;
}

static bool waits_in_thread(const gr_resource *resource)
{
    return timeline_of(resource)->waits == GL_WAITS_HOST;
}

/*
 * Lets OpenGL wait for CUDA. If it cannot, the thread waits, for which the CUDA context is current.
 */
static gr_status wait_for_cuda(gr_resource *const resources[], size_t n)
{
    struct gl_timeline *t = timeline_of(resources[0]);
    if (t->waits == GL_WAITS_HOST) {
        for (size_t i = 0; i < n; i++)
            GR_TRY(gr_sync_finish_work(resources[i]));
        return GR_OK;
    }
    for (size_t done = 0, count; done < n; done += count) {
        uint64_t value;
        count = n - done < GR_BATCH ? n - done : GR_BATCH;
        if (!gr_sync_wait_by_commands(resources + done, count, &value))
            continue;
        gr_semaphore *release = resources[done]->sync.release;
        gr_status status = gr_sync_wait_for_retaken(release);
        if (status == GR_OK)
            status = gl_timeline_enqueue(t, false, value, resources + done, count);
        t->under_way = status != GR_OK;
        if (t->under_way) {
            gr_sync_skip_wait(release);
            return status;
        }
    }
    return GR_OK;
}

static gr_status begin_use(gr_resource *const resources[], size_t n)
{
    if (!waits_in_thread(resources[0]))
        return wait_for_cuda(resources, n);
    GR_ENTER(&resources[0]->context);
    return wait_for_cuda(resources, n);
}

/*
 * Outside of a ring, OpenGL waits for CUDA after a release. The mapping has ended, but the next
 * OpenGL commands may run before CUDA's work is done.
 */
static gr_status enter_opengl(gr_resource *const resources[], size_t n)
{
    if (!resources[0]->in_a_ring && wait_for_cuda(resources, n) != GR_OK)
        return gr_error_set_class(GR_ERR_PARTIAL);
    return GR_OK;
}

/* Outside of a ring, OpenGL signals the end of its work before a map. */
static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(resources[0]->in_a_ring ? GR_OK : end_use(resources, n));
    return gr_external_map(resources, n, stream);
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(gr_sync_release(resources, n, stream));
    return enter_opengl(resources, n);
}

/* For memory of tensors. */
static gr_status map_used(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(resources[0]->in_a_ring ? GR_OK : end_use(resources, n));
    return gr_external_map_used(resources, n, stream);
}

static gr_status unmap_used(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(gr_external_unmap_used(resources, n, stream));
    return enter_opengl(resources, n);
}

/* The CUDA context is current. */
static gr_status export_memory(const gr_resource *resource, struct gr_memory_export *memory)
{
    const struct gl_shared *r = shared_of(resource);
    const struct gr_import *import = r->gl.external.memory;
    *memory = (struct gr_memory_export){
        .fd = -1,
        .device = r->device,
        .vmm = !resource->is_image,
        .size = import->size,
        .dedicated = import->dedicated,
        .image = r->gl.external.image,
    };
    return r->vulkan ? gl_vulkan_memory_fd(r->vulkan, &memory->fd)
                     : gr_import_export(import, &memory->fd);
}

static gr_status export_semaphore(const gr_resource *resource, const gr_semaphore *semaphore,
                                  gr_semaphore_desc *info)
{
    GR_ENTER(&semaphore->context);
    *info = GR_INIT(gr_semaphore_desc, .type = semaphore->type, .fd = -1);
    return gl_vulkan_semaphore_fd(shared_of(resource)->device, semaphore, &info->fd);
}

static gr_semaphore *create_semaphore(const gr_resource *resource)
{
    return gl_vulkan_semaphore(shared_of(resource)->device, true);
}

static struct gr_semaphore_pair *create_pair(const gr_resource *resource)
{
    const struct gl_shared *r = shared_of(resource);
    if (!gl_context_is_current(&r->gl.context))
        return NULL;
    GR_KEEP_ERROR();
    GL_SAVED(before, GL_SAVE(ERRORS));
    struct gl_timeline *own = gl_timeline_make_own(r->timeline);
    return own ? &own->pair : NULL;
}

/* Ends the parts of a resource, which may be incomplete. */
static void end_parts(struct gl_shared *r)
{
    gl_shader_drop(r->gl.shader);
    gl_names_end(r->gl.owned);
    gl_timeline_drop(r->timeline);
    gr_resource_drop(r->vulkan);
}

static gr_status unregister(gr_resource *resource)
{
    gr_status status = gr_external_unregister(resource);
    gl_object_collect(resource);
    return status;
}

static void destroy(gr_resource *resource)
{
    struct gl_shared *r = shared_of(resource);
    gr_external_end(&r->gl.external);
    end_parts(r);
    gr_live_free_memory(GR_LIVE_RESOURCE, r);
}

#define OPERATIONS                                                                                 \
    .transport = GR_TRANSPORT_SHARED, .name = "shared", .api = GR_GRAPHICS_OPENGL,                 \
    GR_EXTERNAL_OPERATIONS, .on_thread = gl_object_on_thread, .cuda_on_any_thread = true,          \
    .is_gone = gl_object_is_gone, .refuse_thread = gl_object_refuse_thread, .run = run,            \
    .undo_map = gr_sync_undo_acquire, .begin_use = begin_use, .end_use = end_use,                  \
    .waits_in_thread = waits_in_thread, .unregister = unregister, .park = gl_object_park,          \
    .collect = gl_object_collect, .describe = describe, .destroy = destroy,                        \
    .export_memory = export_memory, .export_semaphore = export_semaphore,                          \
    .create_semaphore = create_semaphore, .create_pair = create_pair

static const struct gr_backend gl_shared = {OPERATIONS, .map = map, .unmap = unmap,
                                            .abandon = gr_sync_release},
                               gl_of_tensor = {OPERATIONS, .map = map_used, .unmap = unmap_used,
                                               .abandon = gr_external_unmap_used};

/* ---- Creation -------------------------------------------------------------------------------- */

static gr_status make_parts(struct gl_shared *r, const struct gr_context *cuda,
                            struct gl_wish *wish)
{
    GR_TRY(gl_memory_check(&r->gl.context, wish, &r->device));
    if (wish->memory)
        snprintf(wish->choice.reason, sizeof(wish->choice.reason), "in the memory of a tensor");
    else if (!wish->choice.reason[0])
        gl_memory_format_devices(r->device, wish->choice.reason, sizeof(wish->choice.reason));
    GL_SAVED(before, GL_SAVE(ERRORS));
    r->gl.owned = gl_names_make(&r->gl.context);
    r->timeline = r->gl.owned ? gl_timeline_hold(&r->gl.context, cuda, r->device) : NULL;
    gr_status status = !r->timeline  ? gr_last_error()->status
                       : wish->image ? gl_memory_make_image(r, cuda, wish)
                                     : gl_memory_make_buffer(r, cuda, wish);
    r->gl.name = !r->gl.owned ? 0 : wish->image ? r->gl.owned->texture : r->gl.owned->buffer;
    if (status == GR_OK) {
        gl_label_take(&r->gl.label, &r->gl.context, r->gl.kind, r->gl.name);
        r->gl.owned->label = r->gl.label;
    }
    return status == GR_OK ? gr_sync_set(&r->gl.base, &r->timeline->pair) : status;
}

gr_status gl_shared_create(struct gl_wish *wish)
{
    struct gr_context cuda;
    gr_entered entered;
    if (wish->image)
        GR_TRY(gl_memory_check_format(wish->image));
    GR_TRY(wish->memory ? gr_context_hold(&wish->memory->tensor->context, &cuda)
                        : gr_context_choose(&cuda, gl_find_drawing_device));
    struct gl_shared *r = gr_check_memory(calloc(1, sizeof(*r)));
    if (!r) {
        gr_context_drop(&cuda);
        return GR_ERR_NO_MEMORY;
    }
    r->gl.base.backend = wish->memory ? &gl_of_tensor : &gl_shared;
    r->gl.context = wish->context;
    r->gl.kind = wish->image ? GL_TEXTURE : GL_BUFFER;
    gr_status status = gr_context_enter(&cuda, &entered);
    if (status == GR_OK) {
        status = make_parts(r, &cuda, wish);
        gr_context_leave(entered);
    }
    if (status == GR_OK) {
        wish->made = &r->gl;
        return GR_OK;
    }
    GR_KEEP_ERROR();
    if (r->gl.base.handle) { /* with memory, it owns the reference to the CUDA context */
        gr_resource_free(&r->gl.base);
    } else {
        end_parts(r);
        free(r);
        gr_context_drop(&cuda);
    }
    return status;
}
