/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables of formats and targets (format.h). */
#include "gl/format.h"

#include <stddef.h>

#include <epoxy/gl.h>

#include "lib/array_format.h"

/* Rows for plain values, normalized integers, sRGB, depth and refused formats. */
/* clang-format off */
#define ROW(gl, type, channels, normalized, srgb) \
    {GL_##gl, "GL_" #gl, NULL, NULL, type, channels, normalized, srgb, false, 0}
#define PLAIN(gl, type, channels) ROW(gl, type, channels, false, false)
#define NORM(gl, type, channels)  ROW(gl, type, channels, true, false)
#define SRGB(gl, type, channels)  ROW(gl, type, channels, true, true)
#define DEPTH(gl, integers) \
    {GL_##gl, "GL_" #gl, NO_DEPTH, READ_DEPTH BY_COPY, F32, 1, false, false, true, integers}
#define NO(gl, why, instead) {GL_##gl, "GL_" #gl, why, instead, U8, 0, false, false, false, 0}
/* Rows for 1, 2, 3 and 4 channels. */
#define EACH(row, bits, type) \
    row(R##bits, type, 1), row(RG##bits, type, 2), row(RGB##bits, type, 4), row(RGBA##bits, type, 4)
/* clang-format on */

#define PACKED     "CUDA does not accept packed channels from OpenGL"
#define COMPRESSED "CUDA does not accept OpenGL's compressed textures"
#define NO_DEPTH   "CUDA does not accept depth from OpenGL"
#define SNORM      "CUDA does not accept signed normalized formats from OpenGL"
#define NO_STENCIL NO_DEPTH ", and OpenGL cannot copy depth without changing the stencil"
#define READ_DEPTH "gr_fetch_framebuffer() to read the depth into a tensor, or "
#define BY_COPY    "GR_TRANSPORT_COPY in gr_gl_options.transports to read and write it"
#define COPY_COLOR "a GL_RGBA8 image that a shader copies the colours into"

static const struct gl_format formats[] = {
    EACH(NORM, 8, U8),
    SRGB(SRGB8, U8, 4),
    SRGB(SRGB8_ALPHA8, U8, 4),
    EACH(NORM, 16, U16),
    PLAIN(R16F, F16, 1),
    PLAIN(RG16F, F16, 2),
    PLAIN(RGBA16F, F16, 4),
    EACH(PLAIN, 32F, F32),
    EACH(PLAIN, 8I, S8),
    EACH(PLAIN, 8UI, U8),
    EACH(PLAIN, 16I, S16),
    EACH(PLAIN, 16UI, U16),
    EACH(PLAIN, 32I, S32),
    EACH(PLAIN, 32UI, U32),

    /* Formats that the driver stores in whole bytes. */
    NORM(RGBA2, U8, 4),
    NORM(RGBA4, U8, 4),
    NORM(RGB12, U16, 4),
    NORM(RGBA12, U16, 4),
    PLAIN(STENCIL_INDEX8, U8, 1),

    /* Unsized formats: the driver uses 8 bits. */
    NORM(RED, U8, 1),
    NORM(RG, U8, 2),
    NORM(RGB, U8, 4),
    NORM(RGBA, U8, 4),
    SRGB(SRGB, U8, 4),
    SRGB(SRGB_ALPHA, U8, 4),

    NO(RGB16F, "CUDA accepts GL_RGB32F, but not this format", "GL_RGBA16F"),
    NO(R8_SNORM, SNORM, "GL_R8I or GL_R16F"),
    NO(RG8_SNORM, SNORM, "GL_RG8I or GL_RG16F"),
    NO(RGB8_SNORM, SNORM, "GL_RGBA8I or GL_RGBA16F"),
    NO(RGBA8_SNORM, SNORM, "GL_RGBA8I or GL_RGBA16F"),
    NO(R16_SNORM, SNORM, "GL_R16I or GL_R32F"),
    NO(RG16_SNORM, SNORM, "GL_RG16I or GL_RG32F"),
    NO(RGB16_SNORM, SNORM, "GL_RGBA16I or GL_RGBA32F"),
    NO(RGBA16_SNORM, SNORM, "GL_RGBA16I or GL_RGBA32F"),
    NO(RGB10_A2, PACKED, "GL_RGBA16"),
    NO(RGB10_A2UI, PACKED, "GL_RGBA16UI"),
    NO(R11F_G11F_B10F, PACKED, "GL_RGBA16F"),
    NO(RGB9_E5, PACKED, "GL_RGBA16F"),
    NO(RGB5_A1, PACKED, "GL_RGBA8"),
    NO(RGB565, PACKED, "GL_RGBA8"),
    NO(R3_G3_B2, PACKED, "GL_RGBA8"),
    DEPTH(DEPTH_COMPONENT, 4),
    DEPTH(DEPTH_COMPONENT16, 2),
    DEPTH(DEPTH_COMPONENT24, 4),
    DEPTH(DEPTH_COMPONENT32F, 0),
    NO(DEPTH_STENCIL, NO_STENCIL, READ_DEPTH "GL_DEPTH_COMPONENT24, and " BY_COPY),
    NO(DEPTH24_STENCIL8, NO_STENCIL, READ_DEPTH "GL_DEPTH_COMPONENT24, and " BY_COPY),
    NO(DEPTH32F_STENCIL8, NO_STENCIL, READ_DEPTH "GL_DEPTH_COMPONENT32F, and " BY_COPY),
    NO(COMPRESSED_RGB_S3TC_DXT1_EXT, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RGBA_S3TC_DXT1_EXT, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RGBA_S3TC_DXT3_EXT, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RGBA_S3TC_DXT5_EXT, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RED_RGTC1, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RG_RGTC2, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_RGBA_BPTC_UNORM, COMPRESSED, COPY_COLOR),
    NO(COMPRESSED_SRGB_ALPHA_BPTC_UNORM, COMPRESSED, COPY_COLOR),
};

const struct gl_format *gl_format_of(unsigned int internal)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].internal == internal)
            return &formats[i];
    return NULL;
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
           "a GL_TEXTURE_2D_ARRAY with 6 layers for each cube, or a GL_TEXTURE_CUBE_MAP for each"),
    TARGET(TEXTURE_2D_MULTISAMPLE, TEXTURE_BINDING_2D_MULTISAMPLE,
           "a GL_TEXTURE_2D that glBlitFramebuffer resolves it into, or gr_fetch_framebuffer(), "
           "which resolves it"),
    TARGET(TEXTURE_2D_MULTISAMPLE_ARRAY, TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
           "a GL_TEXTURE_2D_ARRAY that it is resolved into"),
    TARGET(TEXTURE_BUFFER, TEXTURE_BINDING_BUFFER,
           "gr_from_gl_buffer() with the buffer behind the texture"),
};
#define TARGET_COUNT (sizeof(targets) / sizeof(targets[0]))

const struct gl_target *gl_target_of(unsigned int target)
{
    for (size_t i = 0; i < TARGET_COUNT; i++)
        if (targets[i].target == target)
            return &targets[i];
    return NULL;
}

/* Queries the texture bindings of the active unit. */
static void get_bindings(GLint bound[TARGET_COUNT])
{
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        bound[i] = 0;
        if (targets[i].target != GL_RENDERBUFFER)
            glGetIntegerv(targets[i].binding, &bound[i]);
    }
}

const struct gl_target *gl_texture_target(unsigned int name)
{
    /*
     * Uses the last texture unit, which applications use least. glBindTextureUnit() binds a texture
     * to its own target.
     */
    GLint active, units, before[TARGET_COUNT], after[TARGET_COUNT];
    const struct gl_target *found = NULL;
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    glActiveTexture(GL_TEXTURE0 + (GLenum)units - 1);
    get_bindings(before);
    glBindTextureUnit((GLuint)units - 1, name);
    get_bindings(after);
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        if ((GLuint)after[i] != name)
            continue;
        found = &targets[i];
        glBindTexture(found->target, (GLuint)before[i]);
    }
    glActiveTexture((GLenum)active);
    return found;
}
