/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/format/format.h"

#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "gl/context/saved_state.h"
#include "lib/cuda/array_format.h"

#define NO_PACKED  "CUDA does not accept packed channels from OpenGL"
#define COMPRESSED "CUDA does not accept OpenGL's compressed textures"
#define NO_DEPTH   "CUDA does not accept depth from OpenGL"
#define SNORM      "CUDA does not accept signed normalized formats from OpenGL"
#define NO_STENCIL NO_DEPTH ", and OpenGL cannot copy depth without changing the stencil"
#define READ_DEPTH "gr_fetch_framebuffer() to read the depth into a tensor, or "
#define BY_COPY    "GR_TRANSPORT_COPY in gr_gl_options.transports to read and write it"
#define COPY_COLOR "a GL_RGBA8 image that a shader copies the colours into"
#define COPY_DEPTH "a GL_R32F texture that a shader copies the depth into"

enum kind { NORMALIZED, SRGB_COLOR, FLOATS, INTEGER };

#define FORMAT(gl, element, of_gl, kind, transfer, type)                                           \
    {.internal = GL_##gl,                                                                          \
     .name = "GL_" #gl,                                                                            \
     .format = CU_AD_FORMAT_##element,                                                             \
     .channels = (of_gl) == 3 ? 4 : (of_gl),                                                       \
     .normalized = (kind) == NORMALIZED || (kind) == SRGB_COLOR,                                   \
     .srgb = (kind) == SRGB_COLOR,                                                                 \
     .transfer_format = GL_##transfer,                                                             \
     .transfer_type = GL_##type},
#define DEPTH(gl, size)                                                                            \
    {.internal = GL_##gl,                                                                          \
     .name = "GL_" #gl,                                                                            \
     .refused = NO_DEPTH,                                                                          \
     .instead = READ_DEPTH BY_COPY,                                                                \
     .instead_es = COPY_DEPTH,                                                                     \
     .format = CU_AD_FORMAT_FLOAT,                                                                 \
     .channels = 1,                                                                                \
     .depth = true,                                                                                \
     .integers = size,                                                                             \
     .transfer_format = GL_DEPTH_COMPONENT,                                                        \
     .transfer_type = GL_FLOAT},
/* OpenGL ES reads GL_RGB10_A2 always, but not each of the others, and may lack GL_RGBA16. */
#define PACKED(gl, element, transfer, type, wide)                                                  \
    {.internal = GL_##gl,                                                                          \
     .name = "GL_" #gl,                                                                            \
     .refused = NO_PACKED,                                                                         \
     .instead = "GL_" #wide ", or " BY_COPY,                                                       \
     .instead_es = (GL_##transfer) == GL_RGBA ? "GL_RGBA16F, or " BY_COPY : "GL_" #wide,           \
     .format = GR_FORMAT_##element,                                                                \
     .channels = (GL_##transfer) == GL_RGBA ? 4 : 3,                                               \
     .normalized = (GL_##wide) != GL_RGBA16F,                                                      \
     .packed = true,                                                                               \
     .transfer_format = GL_##transfer,                                                             \
     .transfer_type = GL_##type},
#define STENCIL(gl, other)                                                                         \
    {.internal = GL_##gl,                                                                          \
     .name = "GL_" #gl,                                                                            \
     .refused = NO_STENCIL,                                                                        \
     .instead = READ_DEPTH "GL_" #other ", and " BY_COPY,                                          \
     .instead_es = COPY_DEPTH},
#define REFUSED(gl, why, use)                                                                      \
    {.internal = GL_##gl, .name = "GL_" #gl, .refused = why, .instead = use},
static const struct gl_format formats[] = {
#include "gl/format/formats.def"
};

const struct gl_format *gl_format_of(unsigned int internal)
{
    static const unsigned int components[] = FORMATS_BY_COMPONENTS;
    if (internal - 1 < 4)
        internal = components[internal - 1];
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].internal == internal)
            return &formats[i];
    return NULL;
}

gr_status gl_format_refuse(const struct gl_format *format, unsigned int name,
                           const struct gl_context *context)
{
    return gr_fail(GR_ERR_UNSUPPORTED, "OpenGL image %u has the format %s: %s. Use %s.", name,
                   format->name, format->refused,
                   context->es && format->instead_es ? format->instead_es : format->instead);
}

static const struct {
    unsigned int component;
    int bits;
    unsigned int formats[3]; /* for 1, 2 and 4 channels */
} colour_formats[] = {
    {GL_UNSIGNED_NORMALIZED, 8, {GL_R8, GL_RG8, GL_RGBA8}},
    {GL_UNSIGNED_NORMALIZED, 16, {GL_R16, GL_RG16, GL_RGBA16}},
    {GL_SIGNED_NORMALIZED, 16, {GL_R32F, GL_RG32F, GL_RGBA32F}},
    {GL_FLOAT, 16, {GL_R16F, GL_RG16F, GL_RGBA16F}},
    {GL_FLOAT, 32, {GL_R32F, GL_RG32F, GL_RGBA32F}},
    {GL_UNSIGNED_INT, 8, {GL_R8UI, GL_RG8UI, GL_RGBA8UI}},
    {GL_UNSIGNED_INT, 16, {GL_R16UI, GL_RG16UI, GL_RGBA16UI}},
    {GL_UNSIGNED_INT, 32, {GL_R32UI, GL_RG32UI, GL_RGBA32UI}},
    {GL_INT, 8, {GL_R8I, GL_RG8I, GL_RGBA8I}},
    {GL_INT, 16, {GL_R16I, GL_RG16I, GL_RGBA16I}},
    {GL_INT, 32, {GL_R32I, GL_RG32I, GL_RGBA32I}},
};

const struct gl_format *gl_colour_format_of(unsigned int component, int channels, int *bits)
{
    for (size_t i = 0; i < sizeof(colour_formats) / sizeof(colour_formats[0]); i++)
        if (colour_formats[i].component == component && *bits <= colour_formats[i].bits) {
            *bits = colour_formats[i].bits;
            return gl_format_of(colour_formats[i].formats[channels > 2 ? 2 : channels - 1]);
        }
    return NULL;
}

/* Image units accept all formats of the table above. */
bool gl_format_has_image_units(const struct gl_format *format)
{
    for (size_t i = 0; i < sizeof(colour_formats) / sizeof(colour_formats[0]); i++)
        for (int k = 0; k < 3; k++)
            if (colour_formats[i].formats[k] == format->internal)
                return true;
    return false;
}

bool gl_format_has_size(const struct gl_format *format)
{
    return format && strpbrk(format->name, "123456789");
}

bool gl_format_holds(const struct gl_format *format, const struct gl_stored *stored, bool exactly)
{
    const int element = format ? 8 * (int)gr_channel_bytes(format->format) : 0;
    if (format && format->packed)
        return true;
    for (int i = 0; i < 4 && element; i++)
        if (stored->bits[i] > element || (exactly && stored->bits[i] && stored->bits[i] != element))
            return false;
    return element;
}

const char *gl_stored_text(const struct gl_stored *stored, char text[GL_STORED_TEXT])
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < 4; i++)
        if (stored->bits[i])
            length += (size_t)snprintf(text + length, GL_STORED_TEXT - length, "%s%d",
                                       length ? "+" : "", stored->bits[i]);
    if (length)
        snprintf(text + length, GL_STORED_TEXT - length, " bits");
    return text;
}

/*
 * Returns the name of a format for the same components, or NULL. OpenGL ES may lack formats of 16
 * bit fractions, and may not read those of 16 bit floats as CUDA has them.
 */
static const char *listed_for(const struct gl_stored *stored, bool es)
{
    unsigned int component = stored->component ? stored->component : GL_UNSIGNED_NORMALIZED;
    int channels = 0, most = 0;
    for (int i = 0; i < 4; i++) {
        channels += stored->bits[i] > 0;
        most = stored->bits[i] > most ? stored->bits[i] : most;
    }
    if (es && most > 8 && (component == GL_UNSIGNED_NORMALIZED || component == GL_FLOAT)) {
        component = GL_FLOAT;
        most = 32;
    }
    const struct gl_format *f = channels ? gl_colour_format_of(component, channels, &most) : NULL;
    return f ? f->name : NULL;
}

const char *gl_format_for_es(const struct gl_format *format, const struct gl_stored *stored)
{
    const char *listed = format->srgb ? "GL_SRGB8_ALPHA8" : listed_for(stored, true);
    return listed && strcmp(listed, format->name) != 0 ? listed : NULL;
}

gr_status gl_format_refuse_es(const struct gl_format *format, const struct gl_stored *stored,
                              unsigned int name, const struct gl_context *context)
{
    const bool has_three = stored->bits[2] && !stored->bits[3];
    const struct gl_format refused = {
        .name = format->name,
        .refused = has_three ? "the software CUDA driver does not accept 3 channels from OpenGL ES"
                             : "the software CUDA driver does not accept it from OpenGL ES",
        .instead = gl_format_for_es(format, stored)};
    return gl_format_refuse(&refused, name, context);
}

gr_status gl_format_refuse_stored(unsigned int internal, const struct gl_stored *stored,
                                  unsigned int name, const struct gl_context *context)
{
    char bits[GL_STORED_TEXT], text[GL_STORED_TEXT + 32];
    const struct gl_format *known = gl_format_of(internal);
    const char *listed = listed_for(stored, context->es),
               *of = *gl_stored_text(stored, bits) ? " of " : "";
    const struct gl_format format = {
        .name = text,
        .refused = stored->depth        ? NO_DEPTH
                   : stored->compressed ? COMPRESSED
                                        : "grinterop does not support it",
        .instead_es = stored->depth ? COPY_DEPTH : NULL,
        .instead = stored->depth        ? READ_DEPTH "GL_DEPTH_COMPONENT24, and " BY_COPY
                   : stored->compressed ? COPY_COLOR
                   : listed             ? listed
                                        : "GL_RGBA8 or another one that docs/formats.md lists"};
    if (known)
        snprintf(text, sizeof(text), "%s%s%s", known->name, of, bits);
    else
        snprintf(text, sizeof(text), "0x%04X%s%s", internal, of, bits);
    return gl_format_refuse(&format, name, context);
}

/* clang-format off */
#define TARGET(gl, binding, instead) {GL_##gl, "GL_" #gl, GL_##binding, instead}
/* clang-format on */

static const struct gl_target targets[] = {
    TARGET(TEXTURE_2D, TEXTURE_BINDING_2D, NULL),
    TARGET(TEXTURE_3D, TEXTURE_BINDING_3D, NULL),
    TARGET(TEXTURE_RECTANGLE, TEXTURE_BINDING_RECTANGLE, NULL),
    TARGET(TEXTURE_CUBE_MAP, TEXTURE_BINDING_CUBE_MAP, NULL),
    TARGET(TEXTURE_2D_ARRAY, TEXTURE_BINDING_2D_ARRAY, NULL),
    TARGET(RENDERBUFFER, RENDERBUFFER_BINDING, NULL),
    TARGET(TEXTURE_1D, TEXTURE_BINDING_1D, "a GL_TEXTURE_2D of height 1"),
    TARGET(TEXTURE_1D_ARRAY, TEXTURE_BINDING_1D_ARRAY, "a GL_TEXTURE_2D with a row for each layer"),
    TARGET(TEXTURE_CUBE_MAP_ARRAY, TEXTURE_BINDING_CUBE_MAP_ARRAY,
           "a GL_TEXTURE_2D_ARRAY with 6 layers for each cube, such as a glTextureView() of it"),
    TARGET(TEXTURE_2D_MULTISAMPLE, TEXTURE_BINDING_2D_MULTISAMPLE,
           "a GL_TEXTURE_2D that glBlitFramebuffer resolves it into"),
    TARGET(TEXTURE_2D_MULTISAMPLE_ARRAY, TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
           "a GL_TEXTURE_2D_ARRAY that it is resolved into"),
    TARGET(TEXTURE_BUFFER, TEXTURE_BINDING_BUFFER,
           "gr_from_gl_buffer() with the buffer behind the texture"),
    {GL_TEXTURE_EXTERNAL_OES, "GL_TEXTURE_EXTERNAL_OES", 0,
     "glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image) with the same EGLImage, and pass that "
     "texture as GL_TEXTURE_2D"},
};
#define TARGET_COUNT (sizeof(targets) / sizeof(targets[0]))

const struct gl_target *gl_target_of(unsigned int target)
{
    for (size_t i = 0; i < TARGET_COUNT; i++)
        if (targets[i].target == target)
            return &targets[i];
    return NULL;
}

/* Queries the texture that is bound to a target in the active unit. */
static GLint bound_to(const struct gl_target *target)
{
    GLint bound = 0;
    if (target->binding && target->target != GL_RENDERBUFFER)
        glGetIntegerv(target->binding, &bound);
    return bound;
}

/*
 * Queries the texture bindings of the active unit. False if a deleted texture is among them, which
 * could not be bound again.
 */
static bool get_bindings(GLint bound[TARGET_COUNT])
{
    bool exist = true;
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        bound[i] = bound_to(&targets[i]);
        exist = exist && (!bound[i] || glIsTexture((GLuint)bound[i]));
    }
    return exist;
}

unsigned int gl_direct_target(unsigned int name, const struct gl_context *context)
{
    GLint target = 0;
    if (context->tells_targets)
        glGetTextureParameteriv(name, GL_TEXTURE_TARGET, &target);
    return (unsigned)target;
}

/*
 * Otherwise binds the texture to the last unit, which applications use least. glBindTextureUnit()
 * binds it to its own target.
 */
const struct gl_target *gl_texture_target(unsigned int name, const struct gl_context *context)
{
    GLint unit, before[TARGET_COUNT];
    const struct gl_target *found = gl_target_of(gl_direct_target(name, context));
    if (found)
        return found;
    GL_SAVED(saved, GL_SAVE(ACTIVE_TEXTURE));
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &unit);
    do
        glActiveTexture(GL_TEXTURE0 + (GLenum)--unit);
    while (!get_bindings(before) && unit > 0);
    glBindTextureUnit((GLuint)unit, name);
    for (size_t i = 0; i < TARGET_COUNT && !found; i++) {
        if ((GLuint)bound_to(&targets[i]) != name)
            continue;
        found = &targets[i];
        glBindTexture(found->target, (GLuint)before[i]);
    }
    return found;
}
