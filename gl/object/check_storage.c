/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Refuses an object that was deleted, or whose storage was replaced, since it was registered. */
#include "lib/base/compiler.h"
#include "gl/object/object.h"

#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "gl/context/object_label.h"
#include "gl/context/saved_state.h"

static const char *end_registration(void)
{
    return gr_error_choose("gr_resource_close()", "cuGraphicsUnregisterResource()");
}

static const char *follow_remedy(void)
{
    return gr_error_choose(" Or set gr_gl_options.follow_storage: maps then do this.", "");
}

/* Whether the object exists. Another object may have its name. */
static bool is_same(struct gl_resource *r)
{
    return gl_label_holds(&r->label, r->kind, r->name);
}

/* For a resource whose object is gone: one that follows accepts another object of the name. */
GR_NOINLINE static gr_status accept_other(struct gl_resource *r)
{
    const bool exists = gl_label_holds(&(struct gl_label){""}, r->kind, r->name);
    if (exists && r->base.follows && !r->base.mapped) {
        r->replaced = true;
        return GR_OK;
    }
    GR_TRY(gl_errors_check_lost());
    return gr_fail(GR_ERR_STATE,
                   "%s has been deleted since it was registered%s. End the registration by %s, "
                   "and register the object that replaced it.",
                   gl_object_text(&r->base).text,
                   exists ? ", and another object has its name now" : "", end_registration());
}

/* Not inlined: a check that finds nothing needs no registers for this. */
GR_NOINLINE static gr_status refuse_size(const gr_resource *resource, size_t size)
{
    GR_TRY(gl_errors_check_lost());
    return gr_fail(
        GR_ERR_STATE,
        "%s had %zu byte%s when it was registered, but its storage has since been replaced by one "
        "of %zu byte%s. End the registration by %s, and register the buffer again.%s",
        gl_object_text(resource).text, resource->size, gr_s(resource->size), size, gr_s(size),
        end_registration(), follow_remedy());
}

static gr_status check_buffer(const struct gl_resource *r)
{
    const size_t size = gl_buffer_storage(r->name, r->context.direct);
    return size == r->base.size ? GR_OK : refuse_size(&r->base, size);
}

/* The name of an OpenGL format. Unknown formats are written to `text` as a number. */
static const char *format_text(GLint internal, char *text, size_t size)
{
    const struct gl_format *known = gl_format_of((unsigned)internal);
    snprintf(text, size, "0x%04X", (unsigned)internal);
    return known ? known->name : text;
}

static gr_status check_level(const struct gl_resource *r, const struct gl_level *now)
{
    const struct gl_level *then = &r->level;
    if (memcmp(now, then, sizeof(*now)) == 0)
        return GR_OK;
    GR_TRY(gl_errors_check_lost());
    char was[16], is[16];
    return gr_fail(GR_ERR_STATE,
                   "%s was %dx%dx%d of format %s when it was registered, but its storage has since "
                   "been replaced by one of %dx%dx%d, format %s. End the registration by %s, and "
                   "register it again.%s",
                   gl_object_text(&r->base).text, then->width, then->height, then->depth,
                   format_text(then->internal, was, sizeof(was)), now->width, now->height,
                   now->depth, format_text(now->internal, is, sizeof(is)), end_registration(),
                   follow_remedy());
}

static gr_status check_levels(const struct gl_resource *r)
{
    const unsigned levels = r->base.image.levels;
    struct gl_image_storage now;
    gl_image_storage(r->name, r->target->target, &r->context, &now);
    GR_TRY(check_level(r, &now.base));
    if (now.levels == levels && !now.incomplete)
        return GR_OK;
    GR_TRY(gl_errors_check_lost());
    return gr_fail(GR_ERR_STATE,
                   "%s had %u level%s when it was registered, but has different levels now. Close "
                   "the resource and register it again.",
                   gl_object_text(&r->base).text, levels, gr_s(levels));
}

/* A transport that copies accesses all levels; CUDA has those of a registration. */
GR_NOINLINE static gr_status check_image(const struct gl_resource *r)
{
    if (r->arrays && r->base.image.levels > 1)
        return check_levels(r);
    const struct gl_level now = gl_image_level(r->name, r->target->target, 0, &r->context, false);
    return check_level(r, &now);
}

/*
 * Whether an object that gl_label_holds() has found has its storage for good: nothing replaces
 * immutable storage, and the label is of grinterop, so no other object has it.
 */
static bool is_fixed(const struct gl_resource *r)
{
    return r->immutable && !r->replaced && gl_label_is_own(&r->label);
}

static inline gr_status check_one(struct gl_resource *r, CUstream stream)
{
    if (!is_same(r))
        GR_TRY(accept_other(r));
    else if (is_fixed(r))
        return GR_OK;
    if (r->base.follows && !r->base.mapped)
        return gl_object_follow(r, stream);
    return r->base.is_image ? check_image(r) : check_buffer(r);
}

gr_status gl_object_check_storage(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        GR_TRY(check_one((struct gl_resource *)resources[i], stream));
    return GR_OK;
}

gr_status gl_object_check_registered(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        struct gl_resource *r = (struct gl_resource *)resources[i];
        if (!r->immutable || r->base.follows)
            GR_TRY(check_one(r, stream));
        else if (!is_same(r))
            GR_TRY(accept_other(r));
    }
    return GR_OK;
}

bool gl_object_intact(const gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    GR_NO_STATUS();
    if (check_one(r, NULL) == GR_OK)
        return true;
    /* outside of a ring, gl_object_check_kept() returns an error for a deleted object */
    const bool received = !resource->in_a_ring && !is_same(r);
    (received ? gr_error_warn : gr_error_unreceived)("release: the bytes that CUDA wrote are lost");
    return false;
}

static gr_status fail_lost(const gr_resource *resource)
{
    if (gl_errors_check_lost() != GR_OK)
        return gr_error_set_class(GR_ERR_PARTIAL);
    return gr_fail(GR_ERR_PARTIAL,
                   "%s was deleted while it was mapped, so the data that CUDA wrote is lost. "
                   "Release it before you delete it, and end the registration by %s.",
                   gl_object_text(resource).text, end_registration());
}

gr_status gl_object_check_kept(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gr_resource_writes(resources[i]) && !resources[i]->in_a_ring &&
            !is_same((struct gl_resource *)resources[i]))
            return fail_lost(resources[i]);
    return GR_OK;
}

/* ---- Buffers that the application has mapped ------------------------------------------------- */

/*
 * Whether the application has mapped the buffer non-persistently, so that OpenGL refuses other
 * access to it.
 */
static bool is_locked(const struct gl_resource *r)
{
    GLint mapped = GL_FALSE, access = 0;
    if (r->context.direct) {
        glGetNamedBufferParameteriv(r->name, GL_BUFFER_MAPPED, &mapped);
        if (mapped)
            glGetNamedBufferParameteriv(r->name, GL_BUFFER_ACCESS_FLAGS, &access);
    } else {
        GL_SAVED(before, 0);
        const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, r->name);
        glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
        glGetBufferParameteriv(target, GL_BUFFER_ACCESS_FLAGS, &access);
    }
    return mapped && !(access & GL_MAP_PERSISTENT_BIT);
}

gr_status gl_object_check_unlocked(gr_resource *resource, bool exists)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (!(exists || is_same(r)) || !is_locked(r))
        return GR_OK;
    GR_TRY(gl_errors_check_lost());
    return gr_fail(GR_ERR_STATE,
                   "%s is mapped by glMapBuffer, so that its bytes cannot be copied. Unmap it "
                   "first, or map it persistently.",
                   gl_object_text(resource).text);
}
