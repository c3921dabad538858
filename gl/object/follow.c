/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers an object again whose storage was replaced (gr_gl_options.follow_storage). */
#include "gl/object/object.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"
#include "gl/context/object_label.h"

/* Whether the object has the registered storage, as far as OpenGL can tell. */
static bool is_unchanged(const struct gl_resource *r)
{
    if (!r->target)
        return gl_buffer_storage(r->name, r->context.direct) == r->base.size &&
               gl_buffer_is_immutable(r->name, &r->context) == r->immutable;
    struct gl_image_storage now;
    gl_image_storage(r->name, r->target->target, &r->context, &now);
    return memcmp(&now.base, &r->level, sizeof(now.base)) == 0 && !now.incomplete &&
           memcmp(&now.view, &r->view, sizeof(now.view)) == 0 &&
           now.levels == r->base.image.levels && now.immutable == r->immutable;
}

/* Ends the old registration, and all objects of its storage. The CUDA context is current. */
static void end_old(struct gl_resource *r)
{
    gr_resource *resource = &r->base;
    GR_KEEP_ERROR();
    gr_image_objects_free(resource, true);
    if (resource->handle != resource && resource->backend->unregister(resource) != GR_OK)
        gr_error_warn("map: the registration of the replaced storage ended with an error");
    resource->handle = resource;
    resource->told = 0;
}

/* Moves everything that depends on the storage. */
static void take_over(struct gl_resource *r, struct gl_resource *now, void *handle)
{
    gr_resource *resource = &r->base;
    resource->handle = handle;
    resource->size = now->base.size;
    resource->image = now->base.image;
    if (now->base.sync.work.event) {
        gr_work_end(&resource->sync.work, true); /* one that was never recorded is left over */
        resource->sync.work = now->base.sync.work;
    }
    r->label = now->label;
    r->level = now->level;
    r->view = now->view;
    r->format = now->format;
    r->stored = now->stored;
    r->immutable = now->immutable;
    r->arrays = now->arrays;
    r->staging = now->staging;
    r->way = now->way;
    r->replaced = false;
    struct gl_group *group = r->context.group;
    if (group) { /* the current context has registered the object now */
        r->context = now->context;
        r->context.group = group;
        r->context.direct = false;
    }
    gl_object_add_way(r);
}

static gr_status register_again(struct gl_resource *r, struct gl_resource *now, CUstream stream)
{
    void *handle = NULL;
    GR_ENTER(&r->base.context);
    if (stream)
        GR_TRY(gr_stream_check_capture(stream));
    end_old(r);
    now->base.kernels = r->base.kernels;
    now->in_flight = r->in_flight;
    now->shader = r->shader;
    now->reach = r->reach;
    const bool labelled = gl_label_take(&now->label, &r->context, r->kind, r->name);
    gr_status status = r->maker->make_side(now, r->base.flags, &handle);
    r->base.kernels = now->base.kernels;
    if (status != GR_OK && labelled)
        gl_label_remove(&now->label, r->kind, r->name);
    if (status != GR_OK)
        return status;
    take_over(r, now, handle);
    gr_log(GR_LOG_DEBUG, "%s: %s has other storage now, and was registered again", gr_call,
           gl_object_text(&r->base).text);
    return GR_OK;
}

gr_status gl_object_follow(struct gl_resource *r, CUstream stream)
{
    if (!r->replaced && is_unchanged(r))
        return GR_OK;
    r->replaced = true;
    struct gl_resource *now = r->target ? gl_image_object(r->name, r->target->target, r->base.flags)
                                        : gl_buffer_object(r->name, r->base.flags);
    if (!now)
        return gr_last_error()->status;
    gr_status status = register_again(r, now, stream);
    free(now);
    return status;
}
