/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks existing OpenGL objects and describes them, before a transport makes them resources. */
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "gl/context/saved_state.h"
#include "gl/object/object.h"

/* Allocates a zeroed struct in the current OpenGL context. NULL after an error. */
static struct gl_resource *begin(const char *kind, unsigned int name)
{
    struct gl_context gl;
    if (gl_context_begin(&gl, "OpenGL %s %u was created in", kind, name) != GR_OK)
        return NULL;
    struct gl_resource *r = gr_check_memory(calloc(1, sizeof(*r)));
    if (!r)
        return NULL;
    r->context = gl;
    r->name = name;
    return r;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Whether `name` is a target, which is the first argument of glBindBuffer(). */
static bool is_target(unsigned int name)
{
    switch (name) {
    case GL_ARRAY_BUFFER:
    case GL_ELEMENT_ARRAY_BUFFER:
    case GL_PIXEL_PACK_BUFFER:
    case GL_PIXEL_UNPACK_BUFFER:
    case GL_UNIFORM_BUFFER:
    case GL_SHADER_STORAGE_BUFFER:
    case GL_TEXTURE_BUFFER:
        return true;
    default:
        return false;
    }
}

static gr_status check_buffer(unsigned int name, bool direct, size_t *size)
{
    GR_REFUSE_IF(!glIsBuffer(name), "There is no OpenGL buffer %u in the current context: %s.",
                 name,
                 is_target(name) ? "this number is the value of a target, such as GL_ARRAY_BUFFER; "
                                   "pass the name from glGenBuffers"
                                 : "it was deleted, belongs to another context, or was only "
                                   "reserved by glGenBuffers and never bound");
    *size = gl_buffer_storage(name, direct);
    if (*size > 0)
        return GR_OK;
    GR_TRY(gl_errors_check_lost());
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "OpenGL buffer %u has no storage. Allocate some by glBufferData or "
                   "glBufferStorage before you register it.",
                   name);
}

struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags)
{
    if (name == 0) {
        gr_fail(GR_ERR_INVALID_VALUE, "The OpenGL buffer name is 0, which is not a buffer.");
        return NULL;
    }
    if (gr_flags_check(flags, false) != GR_OK)
        return NULL;
    struct gl_resource *r = begin("buffer", name);
    if (!r)
        return NULL;
    if (check_buffer(name, r->context.direct, &r->base.size) != GR_OK) {
        free(r);
        return NULL;
    }
    r->kind = GL_BUFFER;
    r->immutable = gl_buffer_is_immutable(name, &r->context);
    return r;
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Refuses arguments in the wrong order. */
static gr_status refuse_swapped(unsigned int value, const char *given, const char *meant)
{
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The %s is 0x%04X, which is the target %s: are %s and target swapped? The order "
                   "is name, target, flags.",
                   given, value, gl_target_of(value)->name, meant);
}

static gr_status check_target(unsigned int name, unsigned int target, unsigned flags)
{
    const struct gl_target *t = gl_target_of(target);
    if (t)
        return GR_OK;
    if (gl_target_of(name))
        return refuse_swapped(name, "OpenGL image name", "name");
    if (gl_target_of(flags))
        return refuse_swapped(flags, "value of `flags`", "flags");
    GR_REFUSE_IF(
        target >= GL_TEXTURE_CUBE_MAP_POSITIVE_X && target <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
        "The target is one face of a cube: pass GL_TEXTURE_CUBE_MAP, and select the face as the "
        "layer after mapping.");
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "0x%x is not an image target: pass GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_RECTANGLE, "
        "GL_TEXTURE_CUBE_MAP, GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER.",
        target);
}

/* The other way to resolve samples, which OpenGL ES does not have. */
static const char *or_fetch(const struct gl_resource *r)
{
    return r->context.es ? "" : ", or gr_fetch_framebuffer(), which resolves it";
}

static gr_status check_name(const struct gl_resource *r)
{
    unsigned int name = r->name;
    const struct gl_target *target = r->target, *own = target;
    bool renderbuffer = target->target == GL_RENDERBUFFER;
    if (target->instead)
        return gr_fail(GR_ERR_UNSUPPORTED, "CUDA does not accept %s. Use %s%s.", target->name,
                       target->instead,
                       target->target == GL_TEXTURE_2D_MULTISAMPLE ? or_fetch(r) : "");
    if (target->target == GL_TEXTURE_RECTANGLE)
        GR_TRY(gl_context_refuse_es(&r->context, "This image", target->name, "a GL_TEXTURE_2D"));
    if (renderbuffer ? !glIsRenderbuffer(name) : !glIsTexture(name)) {
        bool other = renderbuffer ? glIsTexture(name) : glIsRenderbuffer(name);
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "There is no OpenGL %s %u in the current context: it was deleted, belongs "
                       "to another context, or was only reserved and never bound.%s",
                       renderbuffer ? "renderbuffer" : "texture", name,
                       !other ? ""
                       : renderbuffer
                           ? " There is a texture of that name: pass its target."
                           : " There is a renderbuffer of that name: pass GL_RENDERBUFFER.");
    }
    /* In older OpenGL versions the query of the storage detects a wrong target. */
    if (!renderbuffer && r->context.direct)
        own = gl_texture_target(name, &r->context);
    GR_REFUSE_IF(own && own != target, "OpenGL texture %u is a %s, not a %s: pass its own target.",
                 name, own->name, target->name);
    return GR_OK;
}

static gr_status read_storage(struct gl_resource *r, struct gl_image_storage *storage)
{
    gl_image_storage(r->name, r->target->target, &r->context, storage);
    r->level = storage->base;
    r->view = storage->view;
    r->immutable = storage->immutable;
    r->format = gl_format_of((unsigned int)storage->base.internal);
    if (storage->base.width == 0 || storage->base.height == 0 || storage->base.internal == 0 ||
        storage->levels == 0)
        GR_TRY(gl_errors_check_lost());
    GR_REFUSE_IF(
        storage->base.width == 0 || storage->base.height == 0,
        "OpenGL image %u has no storage at level 0 as a %s. Allocate some by glTexStorage, "
        "glTexImage or glRenderbufferStorage before you register it, or pass its own target.",
        r->name, r->target->name);
    if (storage->base.samples > 0)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL image %u has %d samples per pixel, which CUDA does not accept. Use "
                       "an image with one sample that glBlitFramebuffer resolves it into%s.",
                       r->name, storage->base.samples, or_fetch(r));
    if (r->format && r->format->refused && !r->format->depth && !r->format->packed)
        return gl_format_refuse(r->format, r->name, &r->context);
    if (!gl_format_has_size(r->format))
        gl_image_stored(r->name, r->target->target, &r->stored);
    if (!gl_format_holds(r->format, &r->stored, false))
        return gl_format_refuse_stored((unsigned)r->level.internal, &r->stored, r->name,
                                       &r->context);
    if (storage->first_level != 0) /* level 0 of CUDA would have wrong data */
        storage->incomplete = "its GL_TEXTURE_BASE_LEVEL is not 0";
    if (!storage->incomplete)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "OpenGL texture %u is not complete: %s. Give it GL_TEXTURE_BASE_LEVEL 0, and "
                   "levels from 0 without gaps, halved in size, of one format, with all faces.",
                   r->name, storage->incomplete);
}

static gr_image_info image_of(const struct gl_resource *r, const struct gl_image_storage *storage)
{
    GLenum target = r->target->target;
    const struct gl_level *base = &storage->base;
    return (gr_image_info){
        .width = (size_t)base->width,
        .height = (size_t)base->height,
        .depth = target == GL_TEXTURE_3D ? (size_t)base->depth : 1,
        .levels = storage->levels,
        .layers = target == GL_TEXTURE_CUBE_MAP   ? 6
                  : target == GL_TEXTURE_2D_ARRAY ? (unsigned)base->depth
                                                  : 1,
        .cube = target == GL_TEXTURE_CUBE_MAP,
        .srgb = r->format->srgb,
        .normalized = r->format->normalized,
        .format = r->format->format,
        .channels = r->format->channels,
    };
}

struct gl_resource *gl_image_object(unsigned int name, unsigned int target, unsigned flags)
{
    if (name == 0) {
        gr_fail(GR_ERR_INVALID_VALUE, "The OpenGL image name is 0, which is not an image.");
        return NULL;
    }
    if (check_target(name, target, flags) != GR_OK || gr_flags_check(flags, true) != GR_OK)
        return NULL;
    struct gl_resource *r = begin("image", name);
    if (!r)
        return NULL;
    struct gl_image_storage storage;
    r->kind = target == GL_RENDERBUFFER ? GL_RENDERBUFFER : GL_TEXTURE;
    r->target = gl_target_of(target);
    if (check_name(r) != GR_OK || read_storage(r, &storage) != GR_OK) {
        free(r);
        return NULL;
    }
    r->base.is_image = true;
    r->base.is_3d = target == GL_TEXTURE_3D;
    r->base.image = image_of(r, &storage);
    return r;
}
