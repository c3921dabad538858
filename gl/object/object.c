/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Operations that resources of OpenGL objects have in common: context checks, storage checks and
 * destruction.
 */
#include "gl/object/object.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/cuda/end_after_event.h"
#include "lib/resource/choose_transport.h"
#include "lib/resource/resource.h"
#include "gl/texels/texel_shader.h"
#include "gl/context/saved_state.h"

struct gl_object_text gl_object_text(const gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    struct gl_object_text object;
    const char *kind = !r->target                             ? "buffer"
                       : r->target->target == GL_RENDERBUFFER ? "renderbuffer"
                                                              : "texture";
    snprintf(object.text, sizeof(object.text), "OpenGL %s %u", kind, r->name);
    return object;
}

gr_status gl_object_make(struct gl_resource *r, const struct gl_maker *maker, unsigned flags,
                         const char *call)
{
    bool pushed;
    struct gr_context context;
    void *handle = NULL;
    gr_endings_collect();
    GR_TRY(gr_context_choose(&context, maker->find_device, call));
    r->maker = maker;
    gr_status status = gr_context_enter(&context, &pushed, call);
    if (status == GR_OK) {
        status = maker->make_side(r, flags, &handle, call);
        gr_context_leave(pushed);
    }
    if (status == GR_OK)
        gr_resource_init(&r->base, r->base.is_image ? maker->images : maker->buffers, &context,
                         handle, flags);
    else
        gr_context_drop(&context);
    return status;
}

void gl_object_add_way(struct gl_resource *r)
{
    const char *way = r->way ? r->way : "";
    snprintf(r->transport + r->way_at, sizeof(r->transport) - r->way_at, "%s%s%s", *way ? ", " : "",
             way, r->context.group ? ", in each context of the share group" : "");
}

gr_resource *gl_object_finish(struct gl_resource *r, gr_status status,
                              const struct gr_transport_choice *choice, const char *call)
{
    if (status != GR_OK) {
        if (r)
            gl_context_leave_group(&r->context);
        free(r);
        return NULL;
    }
    gr_resource *resource = &r->base;
    snprintf(r->transport, sizeof(r->transport), "%s",
             choice ? choice->text : resource->backend->name);
    r->way_at = strlen(r->transport);
    gl_object_add_way(r);
    if (resource->is_image && r->maker && r->maker->prepare)
        r->maker->prepare(r);
    resource->transport = r->transport;
    gr_resource_log_each(call, &resource, 1);
    return resource;
}

/* ---- Operations ------------------------------------------------------------------------------ */

bool gl_object_on_thread(const gr_resource *resource)
{
    return gl_context_is_current(&gl_of(resource)->context);
}

bool gl_object_is_gone(const gr_resource *resource)
{
    return gl_context_is_gone(&gl_of(resource)->context);
}

gr_status gl_object_refuse_thread(const gr_resource *resource, const char *call)
{
    return gl_context_refuse(&gl_of(resource)->context, gl_object_text(resource).text,
                             resource->in_a_ring && !resource->backend->is_external
                                 ? " In a ring of resources that gr_create_gl_buffer() or "
                                   "gr_create_gl_image() made with GR_TRANSPORT_SHARED, the CUDA "
                                   "side needs no OpenGL context and can run on any thread."
                                 : "",
                             call);
}

/*
 * Even in a share group, the NVIDIA driver (580) refuses one map of resources that two contexts
 * registered. The check of a resource with `follows` may register it in another context.
 */
static bool shares_run(const struct gl_resource *r, const struct gl_resource *first)
{
    return r->base.backend == first->base.backend &&
           gl_context_identical(&r->context, &first->context) &&
           !(r->context.group && (r->base.follows || first->base.follows));
}

size_t gl_object_run(gr_resource *const resources[], size_t n)
{
    size_t count = 1;
    while (count < n && shares_run(gl_of(resources[count]), gl_of(resources[0])))
        count++;
    return count;
}

static const char *end_registration(void)
{
    return gr_error_choose("gr_resource_close()", "cuGraphicsUnregisterResource()");
}

static const char *follow_remedy(void)
{
    return gr_error_choose(" Or set gr_gl_options.follow_storage: maps then do this.", "");
}

__attribute__((noinline)) static gr_status fail_deleted(const gr_resource *resource,
                                                        const char *call)
{
    GR_TRY(gl_errors_check_lost(call));
    return gr_fail(GR_ERR_STATE, call,
                   "%s has been deleted since it was registered. End the registration by %s, and "
                   "register the object that replaced it.",
                   gl_object_text(resource).text, end_registration());
}

/* Not inlined: a check that finds nothing needs no registers for this. */
__attribute__((noinline)) static gr_status refuse_size(const gr_resource *resource, size_t size,
                                                       const char *call)
{
    GR_TRY(gl_errors_check_lost(call));
    return gr_fail(
        GR_ERR_STATE, call,
        "%s had %zu byte%s when it was registered, but its storage has since been replaced by one "
        "of %zu byte%s. End the registration by %s, and register the buffer again.%s",
        gl_object_text(resource).text, resource->size, gr_s(resource->size), size, gr_s(size),
        end_registration(), follow_remedy());
}

static gr_status check_buffer(const gr_resource *resource, const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    const size_t size = gl_buffer_storage(r->name, r->context.direct);
    return size == resource->size ? GR_OK : refuse_size(resource, size, call);
}

/* The name of an OpenGL format. Unknown formats are written to `text` as a number. */
static const char *format_text(GLint internal, char *text, size_t size)
{
    const struct gl_format *known = gl_format_of((unsigned)internal);
    snprintf(text, size, "0x%04X", (unsigned)internal);
    return known ? known->name : text;
}

__attribute__((noinline)) static gr_status check_image(const gr_resource *resource,
                                                       const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    struct gl_level now = gl_image_level(r->name, r->target->target, 0);
    const struct gl_level *then = &r->level;
    if (memcmp(&now, then, sizeof(now)) == 0)
        return GR_OK;
    GR_TRY(gl_errors_check_lost(call));
    char was[16], is[16];
    return gr_fail(GR_ERR_STATE, call,
                   "%s was %dx%dx%d of format %s when it was registered, but its storage has since "
                   "been replaced by one of %dx%dx%d, format %s. End the registration by %s, and "
                   "register it again.%s",
                   gl_object_text(resource).text, then->width, then->height, then->depth,
                   format_text(then->internal, was, sizeof(was)), now.width, now.height, now.depth,
                   format_text(now.internal, is, sizeof(is)), end_registration(), follow_remedy());
}

static inline bool exists(const struct gl_resource *r)
{
    if (!r->target)
        return glIsBuffer(r->name);
    return r->target->target == GL_RENDERBUFFER ? glIsRenderbuffer(r->name) : glIsTexture(r->name);
}

static inline gr_status check_one(gr_resource *resource, const char *call)
{
    if (!exists(gl_of(resource)))
        return fail_deleted(resource, call);
    if (resource->follows && !resource->mapped)
        return gl_object_follow((struct gl_resource *)resource, call);
    return resource->is_image ? check_image(resource, call) : check_buffer(resource, call);
}

gr_status gl_object_check_storage(gr_resource *const resources[], size_t n, const char *call)
{
    for (size_t i = 0; i < n; i++)
        GR_TRY(check_one(resources[i], call));
    return GR_OK;
}

gr_status gl_object_check_registered(gr_resource *const resources[], size_t n, const char *call)
{
    for (size_t i = 0; i < n; i++)
        if (!gl_of(resources[i])->immutable || resources[i]->follows)
            GR_TRY(check_one(resources[i], call));
    return GR_OK;
}

bool gl_object_intact(const gr_resource *resource)
{
    gr_resource *const one = (gr_resource *)resource;
    struct gr_error_record before;
    gr_error_save(&before);
    if (resource->backend->check_storage(&one, 1, "release") == GR_OK)
        return true;
    gr_error_warn("release: the bytes that CUDA wrote are lost");
    gr_error_restore(&before);
    return false;
}

gr_status gl_object_check_kept(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gr_resource_writes(resources[i]) && !resources[i]->in_a_ring &&
            !exists(gl_of(resources[i])))
            return gr_fail(GR_ERR_PARTIAL, "gr_buffer_release",
                           "%s was deleted while it was mapped, so the data that CUDA wrote is "
                           "lost. Release it before you delete it, and end the registration by "
                           "%s.",
                           gl_object_text(resources[i]).text, end_registration());
    return GR_OK;
}

/* Ends a deferred resource. */
static void settle(struct gl_deferred *left, bool current)
{
    (void)current; /* unregister() checks the context */
    struct gl_resource *r =
        (struct gl_resource *)((char *)left - offsetof(struct gl_resource, parked));
    gr_resource_unpark(&r->base);
}

void gl_object_collect(const gr_resource *resource)
{
    if (gl_object_on_thread(resource))
        gl_deferred_run(&gl_of(resource)->context);
}

void gl_object_park(gr_resource *resource, bool freed)
{
    (void)freed; /* settle() checks whether the resource was freed */
    struct gl_resource *r = (struct gl_resource *)resource;
    r->parked = (struct gl_deferred){.context = r->context, .end = settle};
    gl_deferred_add(&r->parked);
}

void gl_object_describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gl_resource *r = gl_of(resource);
    if (!resource->is_image) {
        snprintf(text, size, "%s", gl_object_text(resource).text);
        return;
    }
    const gr_image_info *image = &resource->image;
    char bits[GL_STORED_TEXT];
    const char *of = *gl_stored_text(&r->stored, bits) ? " of " : "";
    snprintf(text, size, "%s (%s, %s%s%s, %zu x %zu x %zu, %u level%s, %u layer%s)",
             gl_object_text(resource).text, r->target->name, r->format->name, of, bits,
             image->width, image->height, image->depth, image->levels, gr_s(image->levels),
             image->layers, gr_s(image->layers));
}

void gl_object_use_shader(gr_resource *resource, struct gl_shader *shader)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r && !r->shader)
        r->shader = gl_shader_hold(shader);
    else if (!r || r->shader != shader)
        gl_shader_keep(shader);
}

void gl_object_destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    gl_shader_drop(r->shader);
    gl_names_end(r->owned);
    gl_context_leave_group(&r->context);
    free(r);
}
