/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries an attachment of a framebuffer, and chooses a format in which its pixels are read
 * unchanged.
 */
#include "gl/framebuffer/framebuffer.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "gl/object/object.h"
#include "gl/context/saved_state.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_depth(unsigned int attachment)
{
    return attachment == GL_DEPTH_ATTACHMENT || attachment == GL_DEPTH;
}

static bool is_stencil(unsigned int attachment)
{
    return attachment == GL_STENCIL_ATTACHMENT || attachment == GL_STENCIL;
}

/* Returns the OpenGL constant of an attachment as text; NULL for colour attachments and others. */
static const char *constant_of(unsigned int attachment)
{
    static const struct {
        GLenum value;
        const char *text;
    } constants[] = {{GL_NONE, "selected by glReadBuffer()"},
                     {GL_DEPTH_ATTACHMENT, "GL_DEPTH_ATTACHMENT"},
                     {GL_STENCIL_ATTACHMENT, "GL_STENCIL_ATTACHMENT"},
                     {GL_DEPTH, "GL_DEPTH"},
                     {GL_STENCIL, "GL_STENCIL"},
                     {GL_BACK, "GL_BACK"},
                     {GL_FRONT, "GL_FRONT"}};
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (constants[i].value == attachment)
            return constants[i].text;
    return NULL;
}

struct gl_attachment_text gl_attachment_text(const struct gl_attachment *a)
{
    struct gl_attachment_text result;
    char name[32], whose[40] = "the default framebuffer";
    const unsigned int index = a->name - GL_COLOR_ATTACHMENT0;
    const char *constant = constant_of(a->name);
    if (constant)
        snprintf(name, sizeof(name), "%s", constant);
    else if (index < 32)
        snprintf(name, sizeof(name), "GL_COLOR_ATTACHMENT%u", index);
    else
        snprintf(name, sizeof(name), "0x%x", a->name);
    if (a->framebuffer)
        snprintf(whose, sizeof(whose), "OpenGL framebuffer %u", a->framebuffer);
    snprintf(result.text, sizeof(result.text), "attachment %s of %s", name, whose);
    return result;
}

/* The default framebuffer has other names for depth and stencil. */
static unsigned int native_name(unsigned int framebuffer, unsigned int attachment)
{
    GLint selected = 0;
    if (!attachment) {
        glGetIntegerv(GL_READ_BUFFER, &selected);
        return (GLenum)selected;
    }
    if (framebuffer)
        return attachment;
    return is_depth(attachment) ? GL_DEPTH : is_stencil(attachment) ? GL_STENCIL : attachment;
}

/* ---- Formats --------------------------------------------------------------------------------- */

static int query(const struct gl_attachment *a, unsigned int what)
{
    const GLenum name = a->name == GL_BACK    ? GL_BACK_LEFT
                        : a->name == GL_FRONT ? GL_FRONT_LEFT
                                              : a->name;
    GLint value = 0;
    glGetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, name, what, &value);
    return value;
}

/*
 * Describes a colour attachment. Three channels are read as four, because glReadPixels() has no
 * formats of three channels with a fixed alignment.
 */
static bool describe_colour(struct gl_attachment *a)
{
    const GLenum internal = (GLenum)a->internal;
    a->mask = GL_COLOR_BUFFER_BIT;
    a->read = gl_format_of(internal);
    a->exact = a->read && gl_format_has_image_units(a->read) && !a->face; /* faces may differ */
    a->resolved = internal;
    if (a->exact) /* the name says it all: six queries less */
        return true;
    int sizes[4]; /* of red, green, blue and alpha */
    for (GLenum i = 0; i < 4; i++)
        sizes[i] = query(a, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE + i);
    /* with these formats, the query of the NVIDIA driver (580) is an OpenGL error */
    const bool is_snorm = internal >= GL_RED_SNORM && internal <= GL_RGBA16_SNORM;
    const GLenum component = is_snorm ? GL_SIGNED_NORMALIZED
                                      : (GLenum)query(a, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE);
    const int channels = sizes[2] || sizes[3] ? 4 : sizes[1] ? 2 : 1;
    int bits = sizes[0] > sizes[1] ? sizes[0] : sizes[1];
    a->read = bits ? gl_colour_format_of(component, channels, &bits) : NULL;
    if (!a->read)
        return false;
    a->exact = true;
    a->is_blitted = component == GL_SIGNED_NORMALIZED;
    for (int i = 0; i < 4 && component != GL_FLOAT && !a->is_blitted; i++)
        a->exact = a->exact && (sizes[i] == 0 || sizes[i] == bits);
    a->resolved = a->read->internal;
    if (a->resolved == GL_RGBA8 && query(a, GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) == GL_SRGB)
        a->resolved = GL_SRGB8_ALPHA8;
    return true;
}

/* Returns the format for resolving: depth and stencil can only be resolved to the same format. */
static unsigned int depth_format(int depth, int stencil, bool is_float)
{
    if (is_float)
        return stencil ? GL_DEPTH32F_STENCIL8 : GL_DEPTH_COMPONENT32F;
    if (depth <= 16)
        return GL_DEPTH_COMPONENT16;
    if (stencil)
        return GL_DEPTH24_STENCIL8;
    return depth <= 24 ? GL_DEPTH_COMPONENT24 : GL_DEPTH_COMPONENT32;
}

/*
 * If the GL_DEPTH_STENCIL_TEXTURE_MODE of a texture is GL_STENCIL_INDEX, the NVIDIA driver (580)
 * reports that its attachment has no depth.
 */
static int query_depth_bits(const struct gl_attachment *a)
{
    const int bits = query(a, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE);
    if (bits)
        return bits;
    return a->internal == GL_DEPTH24_STENCIL8 ? 24 : a->internal == GL_DEPTH32F_STENCIL8 ? 32 : 0;
}

/* Depth and stencil can only be copied to the same format, which unsized formats do not tell. */
static unsigned int copy_format(const struct gl_attachment *a)
{
    static const GLenum sized[] = {
        GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32, GL_DEPTH_COMPONENT32F,
        GL_DEPTH24_STENCIL8,  GL_DEPTH32F_STENCIL8, GL_STENCIL_INDEX8};
    if (a->mask == GL_COLOR_BUFFER_BIT)
        return a->exact || a->samples > 0 ? a->resolved : GL_NONE;
    for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++)
        if ((GLenum)a->internal == sized[i])
            return sized[i];
    return GL_NONE;
}

static bool describe_depth(struct gl_attachment *a)
{
    const bool depth = is_depth(a->name);
    const int depth_bits = query_depth_bits(a);
    const int stencil_bits = query(a, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE);
    if ((depth ? depth_bits : stencil_bits) == 0)
        return false;
    a->mask = depth ? GL_DEPTH_BUFFER_BIT : GL_STENCIL_BUFFER_BIT;
    a->read = gl_format_of(depth ? GL_DEPTH_COMPONENT32F : GL_STENCIL_INDEX8);
    if (depth_bits == 0) {
        a->resolved = GL_STENCIL_INDEX8;
        return true;
    }
    const bool is_float = !depth
                              ? depth_bits == 32
                              : a->internal == GL_DEPTH32F_STENCIL8 ||
                                    query(a, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) == GL_FLOAT;
    a->resolved = depth_format(depth_bits, stencil_bits, is_float);
    return true;
}

/* ---- Size ------------------------------------------------------------------------------------ */

/* Returns false if the texture or renderbuffer was deleted. */
static bool query_object(struct gl_attachment *a, int type, const struct gl_context *context)
{
    if (type != GL_RENDERBUFFER && type != GL_TEXTURE)
        return true;
    a->object = (GLuint)query(a, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME);
    if (type == GL_RENDERBUFFER ? !glIsRenderbuffer(a->object) : !glIsTexture(a->object))
        return false;
    if (type == GL_RENDERBUFFER)
        a->target = gl_target_of(GL_RENDERBUFFER);
    else if (context->direct)
        a->target = gl_texture_target(a->object, context);
    if (!a->target)
        return true;
    if (type == GL_TEXTURE)
        a->level = query(a, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
    if (type == GL_TEXTURE && a->target->target != GL_TEXTURE_2D) {
        a->layer = query(a, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER);
        a->face = (GLenum)query(a, GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE);
        a->layered = query(a, GL_FRAMEBUFFER_ATTACHMENT_LAYERED);
    }
    const struct gl_level size =
        gl_image_level(a->object, a->target->target, a->level, context, true);
    a->internal = size.internal;
    a->width = size.width;
    /* the layers of a 1D array have one row each, but its height is their number */
    a->height = a->target->target == GL_TEXTURE_1D_ARRAY ? 1 : size.height;
    return true;
}

gr_status gl_attachment_fail(const struct gl_attachment *a, unsigned int error,
                             const char *function)
{
    if (error == GL_CONTEXT_LOST)
        GR_TRY(gl_errors_check_lost());
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)error, gl_error_name(error), function,
                        "%s: OpenGL could not read the %s.", gr_call, gl_attachment_text(a).text);
}

gr_status gl_attachment_describe(struct gl_attachment *a, unsigned int attachment,
                                 const struct gl_context *context)
{
    a->name = native_name(a->framebuffer, attachment);
    if (a->name == GL_NONE) {
        GR_TRY(gl_errors_check_lost());
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "glReadBuffer() selects no buffer of the framebuffer: set `attachment`.");
    }
    GR_REFUSE_IF(
        a->name == GL_DEPTH_STENCIL_ATTACHMENT,
        "Depth and stencil are two tensors: read GL_DEPTH_ATTACHMENT, then GL_STENCIL_ATTACHMENT.");
    const int object = query(a, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
    GLenum error = object == GL_NONE ? gl_errors_take() : GL_NO_ERROR;
    GR_REFUSE_IF(error == GL_INVALID_ENUM || error == GL_INVALID_OPERATION,
                 "There is no %s. Pass GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, "
                 "GL_STENCIL_ATTACHMENT or, for the default framebuffer, GL_BACK or "
                 "GL_FRONT.",
                 gl_attachment_text(a).text);
    const bool is_colour = !is_depth(a->name) && !is_stencil(a->name);
    const bool deleted = object != GL_NONE && !query_object(a, object, context);
    const bool found = object != GL_NONE && (is_colour ? describe_colour(a) : describe_depth(a));
    glGetIntegerv(GL_SAMPLES, &a->samples);
    a->is_blitted = a->is_blitted || a->samples > 0;
    a->copied = a->target ? copy_format(a) : GL_NONE;
    if (error == GL_NO_ERROR)
        error = gl_errors_take();
    if (error != GL_NO_ERROR)
        return gl_attachment_fail(a, error, "glGetFramebufferAttachmentParameteriv");
    if (found && !deleted)
        return GR_OK;
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "The %s has nothing to read: %s a texture or a renderbuffer with a format for this "
        "attachment.",
        gl_attachment_text(a).text,
        deleted ? "its texture or renderbuffer was deleted. Attach" : "attach");
}
