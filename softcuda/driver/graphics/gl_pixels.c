/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pixels of a texture or renderbuffer (gl_pixels.h). A texture stays bound to its target from
 * soft_gl_pixels_begin() to soft_gl_pixels_end(). The state of the texture does not affect
 * transfers, except that old OpenGL versions can generate mipmap levels when level 0 changes, so
 * levels must be written in order.
 *
 * The pixels of a renderbuffer are copied through a texture of the same format, without conversion.
 */
#include "softcuda/driver/graphics/gl_pixels.h"

#include <epoxy/gl.h>

/* ---- Beginning and end ----------------------------------------------------------------------- */

static const struct {
    GLenum target;
    GLenum binding;
} bindings[] = {
    {GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
    {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
    {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE},
    {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
    {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
    {GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D},
    {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY},
    {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
    {GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER},
    {GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE},
    {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY},
};

#define BINDINGS (sizeof(bindings) / sizeof(bindings[0]))

static void bind(GLenum target, GLuint name)
{
    if (target == GL_RENDERBUFFER)
        glBindRenderbuffer(target, name);
    else
        glBindTexture(target, name);
}

static GLint bound_to(GLenum binding)
{
    GLint name = 0;
    glGetIntegerv(binding, &name);
    return name;
}

/*
 * Chooses another spare unit if a texture is bound to it that another context has deleted, since it
 * could not be bound again.
 */
static void choose_unit(soft_gl_pixels *pixels)
{
    const bool any = epoxy_gl_version() >= 45;
    for (size_t i = 0; i < BINDINGS && pixels->before.spare_unit > 0; i++) {
        const bool may_change = any || bindings[i].target == pixels->target;
        const GLuint bound = may_change ? (GLuint)bound_to(bindings[i].binding) : 0;
        if (!bound || glIsTexture(bound))
            continue;
        glActiveTexture(GL_TEXTURE0 + --pixels->before.spare_unit);
        i = (size_t)-1; /* checks this unit from its first binding on */
    }
}

/*
 * Binds a texture to its own target. GL_TEXTURE_TARGET cannot be queried in every context, so the
 * texture is bound without a target. Its target is then the one that reports this binding.
 */
static void bind_any(soft_gl_pixels *pixels)
{
    GLint before[BINDINGS];
    for (size_t i = 0; i < BINDINGS; i++)
        before[i] = bound_to(bindings[i].binding);
    glBindTextureUnit(pixels->before.spare_unit, pixels->name);
    for (size_t i = 0; i < BINDINGS; i++)
        if ((GLuint)bound_to(bindings[i].binding) == pixels->name) {
            pixels->target = bindings[i].target;
            pixels->bound_before = before[i];
        }
}

/*
 * False, with nothing bound, if the texture has another target. The application does not see the
 * resulting OpenGL error.
 */
static bool bind_claimed(soft_gl_pixels *pixels)
{
    GLenum binding = GL_RENDERBUFFER_BINDING;
    for (size_t i = 0; i < BINDINGS; i++)
        if (bindings[i].target == pixels->target)
            binding = bindings[i].binding;
    pixels->bound_before = bound_to(binding);
    if (pixels->target == GL_RENDERBUFFER && !glIsRenderbuffer((GLuint)pixels->bound_before))
        pixels->bound_before = 0; /* another context has deleted it */
    bind(pixels->target, pixels->name);
    if ((GLuint)bound_to(binding) == pixels->name)
        return true;
    glGetError();
    return false;
}

bool soft_gl_pixels_supported(unsigned target)
{
    return target != GL_RENDERBUFFER || epoxy_gl_version() >= (soft_gl_is_es() ? 32 : 43) ||
           epoxy_has_gl_extension("GL_ARB_copy_image");
}

enum soft_gl_found soft_gl_pixels_begin(soft_gl_pixels *pixels, unsigned name, unsigned target)
{
    if (name == 0 || !(target == GL_RENDERBUFFER ? glIsRenderbuffer(name) : glIsTexture(name)))
        return SOFT_GL_NO_SUCH_NAME;
    *pixels = (soft_gl_pixels){.name = name, .target = target};
    soft_gl_state_set(&pixels->before);
    choose_unit(pixels);
    bool is_bound = true;
    if (target != GL_RENDERBUFFER && epoxy_gl_version() >= 45)
        bind_any(pixels);
    else
        is_bound = bind_claimed(pixels);
    if (is_bound && (soft_gl_target_registers(pixels->target) || pixels->target == GL_TEXTURE_1D))
        return SOFT_GL_FOUND;
    soft_gl_pixels_end(pixels);
    return SOFT_GL_OTHER_TARGET;
}

void soft_gl_pixels_end(const soft_gl_pixels *pixels)
{
    if (pixels->scratch) {
        glDeleteTextures(1, &pixels->scratch);
        glBindTexture(GL_TEXTURE_2D, (GLuint)pixels->scratch_before);
    }
    bind(pixels->target, (GLuint)pixels->bound_before);
    soft_gl_state_restore(&pixels->before);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static GLenum image_target(const soft_gl_pixels *pixels, unsigned face)
{
    return pixels->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face
                                                 : pixels->target;
}

static void describe_renderbuffer(soft_gl_level *found)
{
    GLint width = 0, height = 0, internal = 0, samples = 0;
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &width);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &height);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_INTERNAL_FORMAT, &internal);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &samples);
    if (width > 0 && height > 0)
        *found = (soft_gl_level){(unsigned)width, (unsigned)height, 1, (unsigned)internal,
                                 .multisampled = samples > 0};
}

void soft_gl_pixels_describe(const soft_gl_pixels *pixels, unsigned level, unsigned face,
                             soft_gl_level *found)
{
    *found = (soft_gl_level){0};
    if (pixels->target == GL_RENDERBUFFER) {
        if (level == 0)
            describe_renderbuffer(found);
        return;
    }
    if (pixels->target == GL_TEXTURE_RECTANGLE && level > 0)
        return; /* a query of this level would be an OpenGL error */
    GLenum target = image_target(pixels, face);
    GLint width = 0, height = 0, slices = 0, internal = 0;
    glGetTexLevelParameteriv(target, (GLint)level, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(target, (GLint)level, GL_TEXTURE_HEIGHT, &height);
    glGetTexLevelParameteriv(target, (GLint)level, GL_TEXTURE_DEPTH, &slices);
    glGetTexLevelParameteriv(target, (GLint)level, GL_TEXTURE_INTERNAL_FORMAT, &internal);
    if (width > 0 && height > 0 && slices > 0)
        *found = (soft_gl_level){(unsigned)width, (unsigned)height, (unsigned)slices,
                                 (unsigned)internal, .multisampled = false};
}

void soft_gl_pixels_view(const soft_gl_pixels *pixels, soft_gl_view *view)
{
    GLint immutable = 0;
    *view = (soft_gl_view){0};
    if (pixels->target == GL_RENDERBUFFER || epoxy_gl_version() < 43)
        return;
    glGetTexParameteriv(pixels->target, GL_TEXTURE_IMMUTABLE_FORMAT, &immutable);
    if (!immutable)
        return;
    glGetTexParameteriv(pixels->target, GL_TEXTURE_VIEW_MIN_LEVEL, &view->first_level);
    glGetTexParameteriv(pixels->target, GL_TEXTURE_VIEW_MIN_LAYER, &view->first_layer);
    glGetTexParameteriv(pixels->target, GL_TEXTURE_IMMUTABLE_LEVELS, &view->original_levels);
}

/* ---- Transfers ------------------------------------------------------------------------------- */

/* Creates and binds the scratch texture, which stays bound until soft_gl_pixels_end(). */
static void need_scratch(soft_gl_pixels *pixels, const soft_gl_format *format)
{
    if (pixels->scratch)
        return;
    soft_gl_level level;
    soft_gl_pixels_describe(pixels, 0, 0, &level);
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &pixels->scratch_before);
    glGenTextures(1, &pixels->scratch);
    glBindTexture(GL_TEXTURE_2D, pixels->scratch);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)level.internal, (GLsizei)level.width,
                 (GLsizei)level.height, 0, format->transfer, format->type, NULL);
}

void soft_gl_pixels_read(soft_gl_pixels *pixels, unsigned level, unsigned face,
                         const soft_gl_format *format, void *to)
{
    GLenum target = image_target(pixels, face);
    soft_gl_level size;
    if (pixels->before.es) {
        soft_gl_pixels_describe(pixels, level, face, &size);
        soft_gl_es_read(pixels, target, level, &size, format, to);
        return;
    }
    if (target == GL_RENDERBUFFER) {
        need_scratch(pixels, format);
        soft_gl_pixels_describe(pixels, 0, 0, &size);
        glCopyImageSubData(pixels->name, GL_RENDERBUFFER, 0, 0, 0, 0, pixels->scratch,
                           GL_TEXTURE_2D, 0, 0, 0, 0, (GLsizei)size.width, (GLsizei)size.height, 1);
        target = GL_TEXTURE_2D;
    }
    glGetTexImage(target, (GLint)level, format->transfer, format->type, to);
}

void soft_gl_pixels_write(soft_gl_pixels *pixels, unsigned level, unsigned face,
                          const soft_gl_format *format, const soft_gl_level *part, unsigned width,
                          unsigned height, const void *from)
{
    GLenum target = image_target(pixels, face);
    GLsizei w = (GLsizei)part->width, h = (GLsizei)part->height;
    glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)width);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, (GLint)height);
    if (target == GL_TEXTURE_1D) {
        glTexSubImage1D(target, (GLint)level, 0, w, format->transfer, format->type, from);
    } else if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY) {
        glTexSubImage3D(target, (GLint)level, 0, 0, 0, w, h, (GLsizei)part->slices,
                        format->transfer, format->type, from);
    } else if (target == GL_RENDERBUFFER) {
        need_scratch(pixels, format);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, w, h, format->transfer, format->type, from);
        glCopyImageSubData(pixels->scratch, GL_TEXTURE_2D, 0, 0, 0, 0, pixels->name,
                           GL_RENDERBUFFER, 0, 0, 0, 0, w, h, 1);
    } else {
        glTexSubImage2D(target, (GLint)level, 0, 0, w, h, format->transfer, format->type, from);
    }
}
