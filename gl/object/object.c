/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Operations that resources of OpenGL objects have in common: creation, contexts and ends. */
#include "gl/object/object.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/end_after_event.h"
#include "lib/resource/choose_transport.h"
#include "lib/resource/resource.h"
#include "gl/texels/texel_shader.h"
#include "gl/context/object_label.h"

struct gl_object_text gl_object_text(const gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    struct gl_object_text object;
    snprintf(object.text, sizeof(object.text), "OpenGL %s %u",
             r->kind == GL_BUFFER    ? "buffer"
             : r->kind == GL_TEXTURE ? "texture"
                                     : "renderbuffer",
             r->name);
    return object;
}

gr_status gl_object_make(struct gl_resource *r, const struct gl_maker *maker, unsigned flags)
{
    gr_entered entered;
    struct gr_context context;
    void *handle = NULL;
    gr_endings_collect();
    GR_TRY(gr_context_choose(&context, maker->find_device));
    r->maker = maker;
    gr_status status = gr_context_enter(&context, &entered);
    if (status == GR_OK) {
        const bool labelled = gl_label_take(&r->label, &r->context, r->kind, r->name);
        status = maker->make_side(r, flags, &handle);
        if (status != GR_OK && labelled)
            gl_label_remove(&r->label, r->kind, r->name);
        else if (r->owned)
            r->owned->label = r->label;
        gr_context_leave(entered);
    }
    if (status == GR_OK)
        gr_resource_init(&r->base, r->base.is_image ? maker->images : maker->buffers, &context,
                         handle, flags);
    else
        gr_context_drop(&context);
    return status;
}

void gl_object_label_staging(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    r->label = (struct gl_label){GL_STAGING_LABEL};
    r->owned->label = r->label;
    glObjectLabel(GL_BUFFER, r->name, -1, r->label.text);
}

void gl_object_add_way(struct gl_resource *r)
{
    const char *way = r->way ? r->way : "";
    snprintf(r->transport + r->way_at, sizeof(r->transport) - r->way_at, "%s%s%s", *way ? ", " : "",
             way, r->context.group ? ", in each context of the share group" : "");
}

gr_resource *gl_object_finish(struct gl_resource *r, gr_status status,
                              const struct gr_transport_choice *choice)
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
    if (r->maker && r->maker->prepare)
        r->maker->prepare(r);
    gl_object_add_way(r);
    resource->transport = r->transport;
    gr_resource_log_each(&resource, 1);
    return resource;
}

/* ---- Operations ------------------------------------------------------------------------------ */

bool gl_object_on_thread(const gr_resource *resource)
{
    const struct gl_resource *r = (const struct gl_resource *)resource;
    return gl_context_is_current(&r->context);
}

bool gl_object_is_gone(const gr_resource *resource)
{
    return gl_context_is_gone(&gl_of(resource)->context);
}

gr_status gl_object_refuse_thread(const gr_resource *resource)
{
    return gl_context_refuse(&gl_of(resource)->context, gl_object_text(resource).text,
                             resource->in_a_ring && !resource->backend->is_external &&
                                     !gl_of(resource)->context.es
                                 ? " In a ring of resources that gr_create_gl_buffer() or "
                                   "gr_create_gl_image() made with GR_TRANSPORT_SHARED, the CUDA "
                                   "side needs no OpenGL context and can run on any thread."
                                 : "");
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

void gl_object_destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    gl_shader_drop(r->shader);
    gl_names_end(r->owned);
    gl_context_leave_group(&r->context);
    gr_live_free_memory(GR_LIVE_RESOURCE, r);
}
