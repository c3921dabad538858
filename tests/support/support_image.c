/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Image formats, targets and storage for the tests. The texels are in support_texels.c. */
#define _GNU_SOURCE /* setenv() */
#include "support_image.h"

#include <string.h>

/* ---- Formats --------------------------------------------------------------------------------- */

#define SIZED(name, kind, channels, bytes, transfer, type)                                         \
    {                                                                                              \
#name, GL_##name, IMAGE_##kind, channels, bytes, GL_##transfer, GL_##type, 0               \
    }
#define STEPPED(name, channels, bytes, transfer, type, step)                                       \
    {                                                                                              \
#name, GL_##name, IMAGE_NORMALIZED, channels, bytes, GL_##transfer, GL_##type, step        \
    }
#define REFUSED(name)                                                                              \
    {                                                                                              \
#name, GL_##name, IMAGE_REFUSED, 0, 0, 0, 0, 0                                             \
    }

/* Formats with one to four channels of one kind. */
#define FOUR(r, rg, rgb, rgba, kind, bytes, type)                                                  \
    SIZED(r, kind, 1, bytes, RED, type), SIZED(rg, kind, 2, bytes, RG, type),                      \
        SIZED(rgb, kind, 3, bytes, RGB, type), SIZED(rgba, kind, 4, bytes, RGBA, type)
#define FOUR_INTEGER(r, rg, rgb, rgba, kind, bytes, type)                                          \
    SIZED(r, kind, 1, bytes, RED_INTEGER, type), SIZED(rg, kind, 2, bytes, RG_INTEGER, type),      \
        SIZED(rgb, kind, 3, bytes, RGB_INTEGER, type),                                             \
        SIZED(rgba, kind, 4, bytes, RGBA_INTEGER, type)

const struct image_format image_formats[] = {
    FOUR(R8, RG8, RGB8, RGBA8, NORMALIZED, 1, UNSIGNED_BYTE),
    SIZED(SRGB8, NORMALIZED, 3, 1, RGB, UNSIGNED_BYTE),
    SIZED(SRGB8_ALPHA8, NORMALIZED, 4, 1, RGBA, UNSIGNED_BYTE),
    FOUR(R16, RG16, RGB16, RGBA16, NORMALIZED, 2, UNSIGNED_SHORT),
    REFUSED(R8_SNORM),
    REFUSED(RG8_SNORM),
    REFUSED(RGB8_SNORM),
    REFUSED(RGBA8_SNORM),
    REFUSED(R16_SNORM),
    REFUSED(RG16_SNORM),
    REFUSED(RGB16_SNORM),
    REFUSED(RGBA16_SNORM),
    SIZED(R16F, FLOAT, 1, 2, RED, HALF_FLOAT),
    SIZED(RG16F, FLOAT, 2, 2, RG, HALF_FLOAT),
    REFUSED(RGB16F),
    SIZED(RGBA16F, FLOAT, 4, 2, RGBA, HALF_FLOAT),
    FOUR(R32F, RG32F, RGB32F, RGBA32F, FLOAT, 4, FLOAT),
    FOUR_INTEGER(R8I, RG8I, RGB8I, RGBA8I, SIGNED, 1, BYTE),
    FOUR_INTEGER(R8UI, RG8UI, RGB8UI, RGBA8UI, UNSIGNED, 1, UNSIGNED_BYTE),
    FOUR_INTEGER(R16I, RG16I, RGB16I, RGBA16I, SIGNED, 2, SHORT),
    FOUR_INTEGER(R16UI, RG16UI, RGB16UI, RGBA16UI, UNSIGNED, 2, UNSIGNED_SHORT),
    FOUR_INTEGER(R32I, RG32I, RGB32I, RGBA32I, SIGNED, 4, INT),
    FOUR_INTEGER(R32UI, RG32UI, RGB32UI, RGBA32UI, UNSIGNED, 4, UNSIGNED_INT),
    SIZED(RGB10_A2, PACKED, 1, 4, RGBA, UNSIGNED_INT_2_10_10_10_REV),
    REFUSED(RGB10_A2UI),
    SIZED(R11F_G11F_B10F, PACKED, 1, 4, RGB, UNSIGNED_INT_10F_11F_11F_REV),
    SIZED(RGB9_E5, PACKED, 1, 4, RGB, UNSIGNED_INT_5_9_9_9_REV),
    STEPPED(RGBA4, 4, 1, RGBA, UNSIGNED_BYTE, 17),
    REFUSED(RGB5_A1),
    SIZED(RGB565, PACKED, 1, 2, RGB, UNSIGNED_SHORT_5_6_5),
    REFUSED(R3_G3_B2),
    STEPPED(RGBA2, 4, 1, RGBA, UNSIGNED_BYTE, 85),
    STEPPED(RGB12, 3, 2, RGB, UNSIGNED_SHORT, 13107),
    STEPPED(RGBA12, 4, 2, RGBA, UNSIGNED_SHORT, 13107),
    SIZED(DEPTH_COMPONENT16, DEPTH, 1, 4, DEPTH_COMPONENT, FLOAT),
    SIZED(DEPTH_COMPONENT24, DEPTH, 1, 4, DEPTH_COMPONENT, FLOAT),
    SIZED(DEPTH_COMPONENT32F, DEPTH, 1, 4, DEPTH_COMPONENT, FLOAT),
    REFUSED(DEPTH24_STENCIL8),
    REFUSED(DEPTH32F_STENCIL8),
    SIZED(STENCIL_INDEX8, UNSIGNED, 1, 1, STENCIL_INDEX, UNSIGNED_BYTE),
    {"COMPRESSED_RGBA_S3TC_DXT1", GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, IMAGE_REFUSED, 0, 0, 0, 0, 0},
    REFUSED(COMPRESSED_RGBA_BPTC_UNORM),
    REFUSED(COMPRESSED_RED_RGTC1),
};
const size_t image_format_count = sizeof(image_formats) / sizeof(image_formats[0]);

const struct image_format *image_format(const char *name)
{
    for (size_t i = 0; i < image_format_count; i++)
        if (strcmp(image_formats[i].name, name) == 0)
            return &image_formats[i];
    return NULL;
}

unsigned image_channels(const struct image_format *format)
{
    return format->channels == 3 ? 4 : format->channels;
}

unsigned image_texel_bytes(const struct image_format *format)
{
    return image_channels(format) * format->channel_bytes;
}

CUarray_format image_cuda_format(const struct image_format *format)
{
    bool is_signed = format->kind == IMAGE_SIGNED;
    if (format->kind == IMAGE_FLOAT)
        return format->channel_bytes == 2 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    if (format->channel_bytes == 1)
        return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    if (format->channel_bytes == 2)
        return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

bool image_is_srgb(const struct image_format *format)
{
    return format->internal == GL_SRGB8 || format->internal == GL_SRGB8_ALPHA8;
}

/* ---- Targets --------------------------------------------------------------------------------- */

#define TARGET(name, gl, taken, mipmaps, multisampled)                                             \
    {                                                                                              \
        name, #gl, gl, taken, mipmaps, multisampled                                                \
    }

const struct image_target image_targets[] = {
    TARGET("1D", GL_TEXTURE_1D, false, true, false),
    TARGET("2D", GL_TEXTURE_2D, true, true, false),
    TARGET("3D", GL_TEXTURE_3D, true, true, false),
    TARGET("RECT", GL_TEXTURE_RECTANGLE, true, false, false),
    TARGET("CUBE", GL_TEXTURE_CUBE_MAP, true, true, false),
    TARGET("1D_ARRAY", GL_TEXTURE_1D_ARRAY, false, true, false),
    TARGET("2D_ARRAY", GL_TEXTURE_2D_ARRAY, true, true, false),
    TARGET("CUBE_ARRAY", GL_TEXTURE_CUBE_MAP_ARRAY, false, true, false),
    TARGET("2D_MS", GL_TEXTURE_2D_MULTISAMPLE, false, false, true),
    TARGET("RENDERBUFFER", GL_RENDERBUFFER, true, false, false),
    TARGET("RENDERBUFFER_MS", GL_RENDERBUFFER, false, false, true),
};
const size_t image_target_count = sizeof(image_targets) / sizeof(image_targets[0]);

const struct image_target *image_target(const char *name)
{
    for (size_t i = 0; i < image_target_count; i++)
        if (strcmp(image_targets[i].name, name) == 0)
            return &image_targets[i];
    return NULL;
}

/* ---- Storage --------------------------------------------------------------------------------- */

static void store_renderbuffer(struct image *image)
{
    GLsizei w = (GLsizei)image->width, h = (GLsizei)image->height;
    GLint before = 0;
    glGetIntegerv(GL_RENDERBUFFER_BINDING, &before);
    image->name = bound_renderbuffer();
    if (image->target->multisampled)
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, image->format->internal, w, h);
    else
        glRenderbufferStorage(GL_RENDERBUFFER, image->format->internal, w, h);
    glBindRenderbuffer(GL_RENDERBUFFER, (GLuint)before);
}

static void store_texture(struct image *image)
{
    GLenum target = image->target->target, internal = image->format->internal;
    GLsizei w = (GLsizei)image->width, h = (GLsizei)image->height, n = (GLsizei)image->levels;
    image->name = bound_texture(target);
    switch (target) {
    case GL_TEXTURE_1D:
        glTexStorage1D(target, n, internal, w);
        break;
    case GL_TEXTURE_1D_ARRAY:
        glTexStorage2D(target, n, internal, w, (GLsizei)image->layers);
        break;
    case GL_TEXTURE_2D_MULTISAMPLE:
        glTexStorage2DMultisample(target, 4, internal, w, h, GL_TRUE);
        break;
    case GL_TEXTURE_3D:
        glTexStorage3D(target, n, internal, w, h, (GLsizei)image->slices);
        break;
    case GL_TEXTURE_2D_ARRAY:
    case GL_TEXTURE_CUBE_MAP_ARRAY:
        glTexStorage3D(target, n, internal, w, h, (GLsizei)image->layers);
        break;
    default:
        glTexStorage2D(target, n, internal, w, h);
    }
    glBindTexture(target, 0);
}

struct image image_make_of(const struct image_format *format, const struct image_target *target,
                           unsigned width, unsigned height, unsigned slices, unsigned layers,
                           unsigned levels)
{
    struct image image = {.format = format, .target = target, .width = width, .height = height};
    GLenum what = target->target;
    image.levels = target->mipmaps ? levels : 1;
    image.slices = what == GL_TEXTURE_3D ? slices : 1;
    image.layers = what == GL_TEXTURE_CUBE_MAP                                  ? 6
                   : what == GL_TEXTURE_2D_ARRAY || what == GL_TEXTURE_1D_ARRAY ? layers
                   : what == GL_TEXTURE_CUBE_MAP_ARRAY                          ? 12
                                                                                : 1;
    assert_gl_clean();
    if (what == GL_RENDERBUFFER)
        store_renderbuffer(&image);
    else
        store_texture(&image);
    if (glGetError() == GL_NO_ERROR)
        return image;
    image_delete(&image);
    image.name = 0;
    return image;
}

struct image image_make(const char *format, const char *target, unsigned width, unsigned height,
                        unsigned levels)
{
    const struct image_format *f = image_format(format);
    const struct image_target *t = image_target(target);
    ck_assert_msg(f && t, "the tests know no %s or no %s", format, target);
    struct image image = image_make_of(f, t, width, height, 5, 3, levels);
    ck_assert_msg(image.name != 0, "OpenGL refuses %s as %s", format, target);
    return image;
}

void image_delete(const struct image *image)
{
    if (image->target->target == GL_RENDERBUFFER)
        glDeleteRenderbuffers(1, &image->name);
    else
        glDeleteTextures(1, &image->name);
}

bool image_create_again(struct image *image, const char *format, unsigned width, unsigned height,
                        unsigned levels, unsigned number)
{
    const struct image old = *image;
    image_delete(&old);
    *image = image_filled(format, old.target->name, width, height, levels, number);
    return image->name == old.name;
}

void image_each_format(const struct image_target *target,
                       struct image (*make)(const struct image_format *format,
                                            const struct image_target *target),
                       void (*look)(const struct image *image))
{
    unsigned count = 0;
    const size_t step = EACH_NTH(3);
    /* all targets together have each format */
    const size_t first = (size_t)(target - image_targets) % step;
    for (size_t i = first; i < image_format_count && target->taken; i += step) {
        if (image_formats[i].kind <= IMAGE_PACKED)
            continue;
        struct image image = make(&image_formats[i], target);
        if (image.name == 0)
            continue; /* test_image_table names the images that this OpenGL refuses */
        count++;
        look(&image);
        image_delete(&image);
    }
    if (target->taken)
        ck_assert_uint_ge(count * step + step - 1, 30);
}

static unsigned halved(unsigned size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

unsigned image_width(const struct image *image, unsigned level)
{
    return halved(image->width, level);
}

unsigned image_height(const struct image *image, unsigned level)
{
    return halved(image->height, level);
}

unsigned image_slices(const struct image *image, unsigned level)
{
    return halved(image->slices, level);
}

size_t image_bytes(const struct image *image, unsigned level)
{
    size_t bytes = (size_t)image_width(image, level) * image_height(image, level) *
                   image_slices(image, level) * image_texel_bytes(image->format);
    ck_assert_uint_le(bytes, IMAGE_MOST_BYTES);
    return bytes;
}
