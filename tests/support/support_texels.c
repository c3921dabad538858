/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The texels of the test images, see support_image.h: patterns, and transfers with OpenGL and CUDA.
 */
#include "support_image.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Space for a whole level with all layers, and for one layer, each with four channels. */
static unsigned char level_bytes[6 * IMAGE_MOST_BYTES], layer_bytes[IMAGE_MOST_BYTES],
    got_bytes[IMAGE_MOST_BYTES];

/* ---- Patterns -------------------------------------------------------------------------------- */

/*
 * The value of a channel from a random number. Floats are finite and normal: denormals are slow on
 * the CPU. Depth is from 0.5 to 1.
 */
static uint32_t channel_value(const struct image_format *format, uint32_t random)
{
    if (format->kind == IMAGE_FLOAT && format->channel_bytes == 2)
        return (random & 0xBFFFu) | 0x2000u;
    if (format->kind == IMAGE_FLOAT)
        return (random & 0xBFFFFFFFu) | 0x20000000u;
    if (format->kind == IMAGE_DEPTH)
        return (random & 0x007FFFFFu) | 0x3F000000u;
    if (format->step != 0) {
        uint32_t most = format->channel_bytes == 1 ? 255 : 65535;
        return random % (most / format->step + 1) * format->step;
    }
    return random;
}

void image_pattern(const struct image_format *format, void *texels, size_t bytes, unsigned seed)
{
    unsigned char *out = texels;
    size_t channel = format->channel_bytes;
    bool is_integer = format->kind == IMAGE_SIGNED || format->kind == IMAGE_UNSIGNED;
    for (size_t i = 0; i * channel < bytes; i++) {
        uint32_t random = 0;
        for (size_t k = 0; k < 4; k++)
            random = random << 8 | pattern_byte(seed, 4 * i + k);
        uint32_t value = channel_value(format, random);
        if (format->channels == 3 && i % 4 == 3)
            value = is_integer ? 1 : 0;
        memcpy(out + i * channel, &value, channel); /* little-endian, like a GPU */
    }
}

unsigned image_seed(unsigned number, unsigned level, unsigned layer)
{
    return number * 100 + level * 10 + layer;
}

/* ---- Through OpenGL -------------------------------------------------------------------------- */

/*
 * Converts texels between the layouts of CUDA and OpenGL. OpenGL texels may lack the fourth
 * channel.
 */
static size_t pack(const struct image_format *format, unsigned char *gl, const unsigned char *cuda,
                   size_t cuda_bytes)
{
    size_t ours = image_texel_bytes(format), theirs = format->channels * format->channel_bytes;
    for (size_t i = 0; i < cuda_bytes / ours; i++)
        memcpy(gl + i * theirs, cuda + i * ours, theirs);
    return cuda_bytes / ours * theirs;
}

static void unpack(const struct image_format *format, unsigned char *cuda, const unsigned char *gl,
                   size_t cuda_bytes)
{
    size_t ours = image_texel_bytes(format), theirs = format->channels * format->channel_bytes;
    uint32_t fourth = format->kind == IMAGE_SIGNED || format->kind == IMAGE_UNSIGNED ? 1 : 0;
    for (size_t i = 0; i < cuda_bytes / ours; i++) {
        memcpy(cuda + i * ours, gl + i * theirs, theirs);
        memcpy(cuda + i * ours + theirs, &fourth, ours - theirs);
    }
}

/* A renderbuffer's texels are transferred through a texture of the same format. */
static GLuint bind_scratch(const struct image *image)
{
    GLuint scratch = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, image->format->internal, (GLsizei)image->width,
                   (GLsizei)image->height);
    return scratch;
}

static void copy_image(const struct image *image, GLuint from, GLenum from_target, GLuint to,
                       GLenum to_target)
{
    glCopyImageSubData(from, from_target, 0, 0, 0, 0, to, to_target, 0, 0, 0, 0,
                       (GLsizei)image->width, (GLsizei)image->height, 1);
}

static GLenum face_target(const struct image *image, unsigned layer)
{
    GLenum target = image->target->target;
    return target == GL_RENDERBUFFER       ? GL_TEXTURE_2D
           : target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + layer
                                           : target;
}

void image_upload(const struct image *image, unsigned level, unsigned layer, const void *texels)
{
    const struct image_format *f = image->format;
    GLenum target = image->target->target, face = face_target(image, layer);
    GLsizei w = (GLsizei)image_width(image, level), h = (GLsizei)image_height(image, level);
    GLuint scratch = target == GL_RENDERBUFFER ? bind_scratch(image) : 0;
    pack(f, level_bytes, texels, image_bytes(image, level));
    if (!scratch)
        glBindTexture(target, image->name);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    if (target == GL_TEXTURE_3D)
        glTexSubImage3D(target, (GLint)level, 0, 0, 0, w, h, (GLsizei)image_slices(image, level),
                        f->transfer, f->type, level_bytes);
    else if (target == GL_TEXTURE_2D_ARRAY)
        glTexSubImage3D(target, (GLint)level, 0, 0, (GLint)layer, w, h, 1, f->transfer, f->type,
                        level_bytes);
    else
        glTexSubImage2D(face, (GLint)level, 0, 0, w, h, f->transfer, f->type, level_bytes);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    if (scratch)
        copy_image(image, scratch, GL_TEXTURE_2D, image->name, GL_RENDERBUFFER);
    glBindTexture(scratch ? GL_TEXTURE_2D : target, 0);
    glDeleteTextures(1, &scratch);
    assert_gl_clean();
}

/* The output is first overwritten, so that texels of an earlier call do not pass for new ones. */
void image_download(const struct image *image, unsigned level, unsigned layer, void *texels)
{
    const struct image_format *f = image->format;
    GLenum target = image->target->target;
    size_t bytes = image_bytes(image, level);
    size_t theirs = bytes / image_texel_bytes(f) * f->channels * f->channel_bytes;
    GLuint scratch = target == GL_RENDERBUFFER ? bind_scratch(image) : 0;
    if (scratch)
        copy_image(image, image->name, GL_RENDERBUFFER, scratch, GL_TEXTURE_2D);
    else
        glBindTexture(target, image->name);
    memset(level_bytes, 0xEE, sizeof(level_bytes));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGetTexImage(face_target(image, layer), (GLint)level, f->transfer, f->type, level_bytes);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    unpack(f, texels, level_bytes + (target == GL_TEXTURE_2D_ARRAY ? layer * theirs : 0), bytes);
    glBindTexture(scratch ? GL_TEXTURE_2D : target, 0);
    glDeleteTextures(1, &scratch);
    assert_gl_clean();
}

void image_fill(const struct image *image, unsigned number)
{
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++) {
            image_pattern(image->format, layer_bytes, image_bytes(image, level),
                          image_seed(number, level, layer));
            image_upload(image, level, layer, layer_bytes);
        }
}

struct image image_filled(const char *format, const char *target, unsigned width, unsigned height,
                          unsigned levels, unsigned number)
{
    struct image image = image_make(format, target, width, height, levels);
    image_fill(&image, number);
    return image;
}

static bool is_fourth_of_three(const struct image_format *format, size_t byte)
{
    return format->channels == 3 && byte / format->channel_bytes % 4 == 3;
}

/* Compares the texels in got_bytes, which are from CUDA or from OpenGL, with the pattern. */
static const char *got_differ(bool from_cuda, const struct image *image, unsigned level,
                              unsigned layer, unsigned number)
{
    static char text[160];
    size_t bytes = image_bytes(image, level);
    image_pattern(image->format, layer_bytes, bytes, image_seed(number, level, layer));
    for (size_t i = 0; i < bytes; i++) {
        if (got_bytes[i] == layer_bytes[i] || (from_cuda && is_fourth_of_three(image->format, i)))
            continue;
        snprintf(text, sizeof(text),
                 "%s %s, level %u, layer %u: byte %zu of %zu is 0x%02x in %s, not 0x%02x",
                 image->format->name, image->target->name, level, layer, i, bytes, got_bytes[i],
                 from_cuda ? "CUDA" : "OpenGL", layer_bytes[i]);
        return text;
    }
    return NULL;
}

const char *image_level_differs(const struct image *image, unsigned level, unsigned layer,
                                unsigned number)
{
    image_download(image, level, layer, got_bytes);
    return got_differ(false, image, level, layer, number);
}

const char *image_differs(const struct image *image, unsigned number)
{
    const char *difference = NULL;
    for (unsigned level = 0; level < image->levels && !difference; level++)
        for (unsigned layer = 0; layer < image->layers && !difference; layer++)
            difference = image_level_differs(image, level, layer, number);
    return difference;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void use_images(void)
{
    static unsigned char texels[IMAGE_MOST_BYTES];
    static const char *const targets[] = {"2D", "3D", "CUBE", "RENDERBUFFER"};
    for (int i = 0; i < 4; i++) {
        struct image image = image_filled("RGBA8", targets[i], 8, 8, 1, 1);
        GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
        gr_buffer *buffer = must_map_image(resource);
        image_get(buffer, 0, 0, texels);
        image_put(buffer, 0, 0, texels);
        ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
        ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, 1);
    }
}

TCase *add_image_case(Suite *suite, const char *name)
{
    return with_first_use(add_case(suite, name), use_images);
}

void image_note(const struct image *image, const char *what)
{
    if (what)
        note_difference("%s %s: %s", image->format->name, image->target->name, what);
}

/* ---- Resources ------------------------------------------------------------------------------- */

gr_resource *must_register_image(const struct image *image, unsigned flags)
{
    gr_resource *resource = gr_from_gl_image(image->name, image->target->target, flags);
    ck_assert_msg(resource, "%s %s is refused: %s", image->format->name, image->target->name,
                  error_text());
    return resource;
}

gr_buffer *must_map_image(gr_resource *resource)
{
    return must_make(gr_map(resource, fx.stream));
}

void image_get(gr_buffer *buffer, unsigned level, unsigned layer, void *texels)
{
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = texels);
    assert_ok(gr_buffer_copy_to_linear(buffer, level, layer, &to, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
}

/*
 * The driver only reads `texels`. gr_linear_desc has no const pointer, because it serves both
 * directions.
 */
void image_put(gr_buffer *buffer, unsigned level, unsigned layer, const void *texels)
{
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = (void *)(uintptr_t)texels);
    assert_ok(gr_buffer_copy_from_linear(buffer, level, layer, &from, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(gr_buffer_get_info(buffer)->stream));
}

const char *mapped_level_differs(gr_buffer *buffer, const struct image *image, unsigned level,
                                 unsigned layer, unsigned number)
{
    memset(got_bytes, 0xEE, image_bytes(image, level));
    image_get(buffer, level, layer, got_bytes);
    return got_differ(true, image, level, layer, number);
}

void mapped_level_write(gr_buffer *buffer, const struct image *image, unsigned level,
                        unsigned layer, unsigned number)
{
    size_t bytes = image_bytes(image, level);
    image_pattern(image->format, layer_bytes, bytes, image_seed(number, level, layer));
    for (size_t i = 0; i < bytes; i++)
        if (is_fourth_of_three(image->format, i))
            layer_bytes[i] = 0x33;
    image_put(buffer, level, layer, layer_bytes);
}

const char *mapped_image_differs(gr_buffer *buffer, const struct image *image, unsigned number)
{
    const char *difference = NULL;
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers && !difference; layer++)
            difference = mapped_level_differs(buffer, image, level, layer, number);
    return difference;
}

void mapped_image_write(gr_buffer *buffer, const struct image *image, unsigned number)
{
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++)
            mapped_level_write(buffer, image, level, layer, number);
}

void image_both_ways(gr_buffer *buffer, const struct image *image, unsigned number)
{
    image_note(image, mapped_image_differs(buffer, image, number));
    mapped_image_write(buffer, image, number + 1);
    assert_ok(gr_buffer_release(buffer));
    image_note(image, image_differs(image, number + 1));
}

void write_mapped_image(gr_resource *resource, const struct image *image, unsigned number)
{
    gr_buffer *buffer = must_map_image(resource);
    mapped_image_write(buffer, image, number);
    assert_ok(gr_buffer_release(buffer));
}

/* ---- Signed normalized texels ---------------------------------------------------------------- */

static bool reads_by_the_old_rule(void)
{
    static int old = -1;
    const GLbyte zero = 0;
    GLfloat read = 0;
    GLint bound;
    if (old >= 0)
        return old;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8_SNORM, 1, 1, 0, GL_RED, GL_BYTE, &zero);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_FLOAT, &read);
    glBindTexture(GL_TEXTURE_2D, (GLuint)bound);
    glDeleteTextures(1, &name);
    old = read > 0;
    return old;
}

double image_signed_fraction(double read, int bits)
{
    const double value = (read * (ldexp(1, bits) - 1) - 1) / (ldexp(1, bits) - 2);
    return reads_by_the_old_rule() ? fmax(value, -1) : read;
}
