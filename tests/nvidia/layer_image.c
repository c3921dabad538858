/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images: registered ones, uploads from memory of CUDA, and framebuffers (layer.h). */
#include "layer.h"

/* ---- Registered images ----------------------------------------------------------------------- */

static bool refuses(GLuint name)
{
    if (!layer_rule(RULE_REFUSE) || !layer_object(KIND_IMAGE, name)->registered)
        return false;
    layer_log("texture %u is registered: GL_INVALID_OPERATION\n", name);
    layer_fail();
    return true;
}

/* The driver accepts other parameters. */
static bool is_of_levels(GLenum parameter)
{
    return parameter == GL_TEXTURE_MAX_LEVEL || parameter == GL_TEXTURE_BASE_LEVEL;
}

#define UNLESS_REFUSED(name)                                                                       \
    if (refuses(name))                                                                             \
    return
#define HOOK_PARAMETER(suffix, type)                                                               \
    HOOK_AROUND(if (is_of_levels(name)) UNLESS_REFUSED(layer_bound(target)), TexParameter##suffix, \
                (GLenum target, GLenum name, type value), (target, name, value), )                 \
    HOOK_AROUND(if (is_of_levels(name)) UNLESS_REFUSED(texture), TextureParameter##suffix,         \
                (GLuint texture, GLenum name, type value), (texture, name, value), )

HOOK_PARAMETER(i, GLint)
HOOK_PARAMETER(f, GLfloat)
HOOK_PARAMETER(iv, const GLint *)
HOOK_PARAMETER(fv, const GLfloat *)
HOOK_AROUND(layer_delete(KIND_IMAGE, count, names), DeleteTextures,
            (GLsizei count, const GLuint *names), (count, names), )

/* ---- Uploads --------------------------------------------------------------------------------- */

/* The driver reads the pixel buffer by the CPU, and so takes the bytes that it keeps. */
static bool reads_by_cpu(GLenum target, GLint level, GLenum format, GLenum type)
{
    return level > 0 || target == GL_TEXTURE_1D || target == GL_TEXTURE_1D_ARRAY ||
           format == GL_DEPTH_COMPONENT || format == GL_DEPTH_STENCIL ||
           (format == GL_RGB_INTEGER && type == GL_SHORT);
}

/* Binds a buffer with the kept bytes, if the driver keeps some of the buffer in memory of CUDA. */
static GLuint begin_upload(GLenum target, GLint level, GLenum format, GLenum type)
{
    const GLuint name = layer_bound(GL_PIXEL_UNPACK_BUFFER);
    struct object *object = layer_object(KIND_BUFFER, name);
    GLuint taken = 0;
    if (!object->imported || !layer_rule(RULE_IMPORTED) ||
        !reads_by_cpu(target, level, format, type))
        return 0;
    layer_inside++;
    if (!layer_kept(object)) {
        layer_keep(object, GL_PIXEL_UNPACK_BUFFER);
    } else {
        layer_log("an upload to level %d takes old bytes of buffer %u\n", level, name);
        glGenBuffers(1, &taken);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, taken);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, object->kept_size, object->kept, GL_STREAM_DRAW);
    }
    layer_inside--;
    return taken;
}

static void end_upload(GLuint taken, GLuint bound)
{
    layer_inside++;
    if (taken) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, bound);
        glDeleteBuffers(1, &taken);
    }
    layer_inside--;
}

#define BEGIN_UPLOAD(target)                                                                       \
    const GLuint bound = layer_bound(GL_PIXEL_UNPACK_BUFFER);                                      \
    const GLuint taken = begin_upload(target, level, format, type)
/* Replaces the functions that define a level, and that write a part of it. */
#define HOOK_UPLOADS(dimensions, target_of_texture, place, place_values, size, size_values)        \
    HOOK_AROUND(UNLESS_REFUSED(layer_bound(target));                                               \
                BEGIN_UPLOAD(target), TexImage##dimensions,                                        \
                (GLenum target, GLint level, GLint internal, LIST size, GLint border,              \
                 GLenum format, GLenum type, const void *from),                                    \
                (target, level, internal, LIST size_values, border, format, type, from),           \
                end_upload(taken, bound))                                                          \
    HOOK_AROUND(BEGIN_UPLOAD(target), TexSubImage##dimensions,                                     \
                (GLenum target, GLint level, LIST place, LIST size, GLenum format, GLenum type,    \
                 const void *from),                                                                \
                (target, level, LIST place_values, LIST size_values, format, type, from),          \
                end_upload(taken, bound))                                                          \
    HOOK_AROUND(BEGIN_UPLOAD(target_of_texture), TextureSubImage##dimensions,                      \
                (GLuint texture, GLint level, LIST place, LIST size, GLenum format, GLenum type,   \
                 const void *from),                                                                \
                (texture, level, LIST place_values, LIST size_values, format, type, from),         \
                end_upload(taken, bound))

static GLenum target_of(GLuint texture)
{
    GLint target = 0;
    glGetTextureParameteriv(texture, GL_TEXTURE_TARGET, &target);
    return (GLenum)target;
}

HOOK_UPLOADS(1D, GL_TEXTURE_1D, (GLint x), (x), (GLsizei width), (width))
HOOK_UPLOADS(2D, target_of(texture), (GLint x, GLint y), (x, y), (GLsizei width, GLsizei height),
             (width, height))
HOOK_UPLOADS(3D, GL_TEXTURE_3D, (GLint x, GLint y, GLint z), (x, y, z),
             (GLsizei width, GLsizei height, GLsizei depth), (width, height, depth))

/* ---- Reads into memory of CUDA --------------------------------------------------------------- */

/* After a read into a pixel buffer the driver keeps its bytes. */
static void was_packed(void)
{
    struct object *object = layer_object(KIND_BUFFER, layer_bound(GL_PIXEL_PACK_BUFFER));
    if (object->imported && layer_rule(RULE_IMPORTED))
        layer_keep(object, GL_PIXEL_PACK_BUFFER);
}

HOOK_AROUND(, GetTexImage, (GLenum target, GLint level, GLenum format, GLenum type, void *to),
            (target, level, format, type, to), was_packed())
HOOK_AROUND(, GetTextureImage,
            (GLuint texture, GLint level, GLenum format, GLenum type, GLsizei size, void *to),
            (texture, level, format, type, size, to), was_packed())
HOOK_AROUND(, GetTextureSubImage,
            (GLuint texture, GLint level, GLint x, GLint y, GLint z, GLsizei width, GLsizei height,
             GLsizei depth, GLenum format, GLenum type, GLsizei size, void *to),
            (texture, level, x, y, z, width, height, depth, format, type, size, to), was_packed())
HOOK_AROUND(, ReadPixels,
            (GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, void *to),
            (x, y, width, height, format, type, to), was_packed())

/* ---- Framebuffers ---------------------------------------------------------------------------- */

HOOK(void, glBlitFramebuffer, GLint x0, GLint y0, GLint x1, GLint y1, GLint to_x0, GLint to_y0,
     GLint to_x1, GLint to_y1, GLbitfield buffers, GLenum filter)
{
    if (layer_rule(RULE_DISCARD) && glIsEnabled(GL_RASTERIZER_DISCARD)) {
        layer_log("glBlitFramebuffer writes nothing: rasterizer discard is enabled\n");
        return;
    }
    next_glBlitFramebuffer()(x0, y0, x1, y1, to_x0, to_y0, to_x1, to_y1, buffers, filter);
}

HOOK(void, glGetFramebufferAttachmentParameteriv, GLenum target, GLenum attachment, GLenum name,
     GLint *value)
{
    const GLint before = *value;
    next_glGetFramebufferAttachmentParameteriv()(target, attachment, name, value);
    if (name != GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE || *value != GL_SIGNED_NORMALIZED ||
        !layer_rule(RULE_SNORM))
        return;
    layer_log("the component type of a signed normalized attachment: GL_INVALID_OPERATION\n");
    *value = before;
    layer_fail();
}
