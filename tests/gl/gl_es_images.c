/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images of OpenGL ES: formats, targets and levels, by interop and by copy. */
#include "gl_es.h"

#include <math.h>
#include <string.h>

#include <grinterop/publish.h>

static unsigned char wanted[IMAGE_MOST_BYTES];
static uint32_t words[IMAGE_MOST_BYTES / 4 * 4];

/* ---- Texels in OpenGL ES: independent of the library, with the formats that ES promises -------
 */

static void attach(const struct image *image, unsigned level, unsigned slice)
{
    const GLenum target = image->target->target, to = GL_READ_FRAMEBUFFER;
    if (target == GL_RENDERBUFFER)
        glFramebufferRenderbuffer(to, GL_COLOR_ATTACHMENT0, target, image->name);
    else if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        glFramebufferTextureLayer(to, GL_COLOR_ATTACHMENT0, image->name, (GLint)level,
                                  (GLint)slice);
    else
        glFramebufferTexture2D(
            to, GL_COLOR_ATTACHMENT0,
            target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + slice : target,
            image->name, (GLint)level);
}

static double half_value(unsigned bits)
{
    const double fraction = ldexp(1024 + (bits & 1023), (int)(bits >> 10 & 31) - 25);
    return bits & 0x8000 ? -fraction : fraction;
}

/* The channel at this place as a number; `at` counts channels. */
static double number_at(const struct image_format *f, const void *texels, size_t at)
{
    const unsigned char *from = (const unsigned char *)texels + at * f->channel_bytes;
    uint32_t bits = 0;
    float real;
    memcpy(&bits, from, f->channel_bytes);
    if (f->kind == IMAGE_FLOAT && f->channel_bytes == 2)
        return half_value(bits);
    memcpy(&real, &bits, sizeof(real));
    if (f->kind == IMAGE_FLOAT)
        return (double)real;
    if (f->kind != IMAGE_SIGNED)
        return bits;
    return f->channel_bytes == 1   ? (int8_t)bits
           : f->channel_bytes == 2 ? (int16_t)bits
                                   : (double)(int32_t)bits;
}

/* Compares the texels of the framebuffer with packed ones, which are read as they are stored. */
static const char *packed_differs(const struct image_format *f, GLsizei w, GLsizei h,
                                  const unsigned char *texels)
{
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, w, h, f->transfer, f->type, words);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    return memcmp(words, texels, (size_t)(w * h) * f->channel_bytes) == 0
               ? NULL
               : "OpenGL ES reads other texels";
}

/* Compares a slice with the texels that CUDA has. */
static const char *slice_differs(const struct image *image, unsigned level, unsigned slice,
                                 const unsigned char *texels)
{
    const struct image_format *f = image->format;
    const GLsizei w = (GLsizei)image_width(image, level), h = (GLsizei)image_height(image, level);
    const bool integers = f->kind == IMAGE_SIGNED || f->kind == IMAGE_UNSIGNED;
    struct image_format wide = *f;
    wide.channel_bytes = integers || f->kind == IMAGE_FLOAT ? 4 : f->channel_bytes;
    const GLenum type = f->kind == IMAGE_FLOAT      ? GL_FLOAT
                        : f->kind == IMAGE_SIGNED   ? GL_INT
                        : f->kind == IMAGE_UNSIGNED ? GL_UNSIGNED_INT
                                                    : f->type;
    GLuint name = bound_framebuffer(GL_READ_FRAMEBUFFER);
    attach(image, level, slice);
    const char *packed = NULL;
    if (f->kind == IMAGE_PACKED)
        packed = packed_differs(f, w, h, texels);
    else
        glReadPixels(0, 0, w, h, integers ? GL_RGBA_INTEGER : GL_RGBA, type, words);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &name);
    if (glGetError() != GL_NO_ERROR)
        return "OpenGL ES cannot read it";
    for (size_t i = 0; f->kind != IMAGE_PACKED && i < (size_t)(w * h); i++)
        for (size_t c = 0; c < f->channels; c++)
            if (number_at(&wide, words, 4 * i + c) !=
                number_at(f, texels, i * image_channels(f) + c))
                return "OpenGL ES reads other texels";
    return packed;
}

static void check_slices(const struct image *image, unsigned level, unsigned layer)
{
    const unsigned slices = image_slices(image, level);
    const size_t bytes = image_bytes(image, level);
    for (unsigned i = 0; i < slices; i++) {
        image_note(image, slice_differs(image, level, slices > 1 ? i : layer,
                                        wanted + i * (bytes / slices)));
    }
}

/* ---- Both ways ------------------------------------------------------------------------------- */

static void check_bytes(const struct image *image, gr_resource *resource)
{
    image_fill(image, 1);
    gr_buffer *buffer = must_map_image(resource);
    image_note(image, mapped_image_differs(buffer, image, 1));
    mapped_image_write(buffer, image, 2);
    assert_ok(gr_buffer_release(buffer));
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++) {
            image_pattern(image->format, wanted, image_bytes(image, level),
                          image_seed(2, level, layer));
            check_slices(image, level, layer);
        }
}

void es_check_image(const char *format, const char *target, unsigned levels,
                    const gr_gl_options *way)
{
    const struct image image = image_make(format, target, 12, 12, levels);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, image.target->target, 0, way));
    check_bytes(&image, resource);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    image_delete(&image);
    assert_gl_clean();
}

GROUP("images", add_es_case)

static const char *const targets[] = {"2D", "3D", "CUBE", "2D_ARRAY", "RENDERBUFFER"};
#define TARGETS (sizeof(targets) / sizeof(targets[0]))

TEST(texels_of_each_target_pass_both_ways, ES_WAYS *TARGETS)
{
    es_check_image("RGBA8", targets[_i / ES_WAYS], 3, es_ways[_i % ES_WAYS]);
}

/*
 * Formats that every OpenGL ES 3.2 can draw to. Others may be refused by name. Mesa accepts storage
 * of desktop formats, too, but no texels.
 */
TEST(texels_of_each_format_pass_both_ways_or_are_refused, ES_WAYS)
{
    static const char *const required[] = {"R8",    "RG8",   "RGBA8",   "R32F",   "RGBA32F",
                                           "R8UI",  "RG8UI", "RGBA8UI", "RGBA8I", "R32UI",
                                           "R16UI", "RG32I", "RGBA16I", "RGBA32I"};
    const size_t most = sizeof(required) / sizeof(*required);
    unsigned passed = 0;
    for (size_t i = 0; i < image_format_count; i++) {
        const struct image_format *f = &image_formats[i];
        const bool rounds =
            f->kind == IMAGE_PACKED && f->channel_bytes == 4 && f->transfer == GL_RGB;
        const bool unreadable = f->kind <= IMAGE_DEPTH || f->internal == GL_STENCIL_INDEX8;
        if (unreadable || f->channels == 3 || f->step || rounds)
            continue;
        struct image image = image_make_of(f, image_target("2D"), 13, 11, 1, 1, 1);
        if (!image.name)
            continue;
        bool is_required = false;
        for (size_t k = 0; k < most; k++)
            is_required = is_required || strcmp(required[k], f->name) == 0;
        gr_clear_error();
        GR_AUTO(gr_resource) *resource =
            gr_from_gl_image_with(image.name, GL_TEXTURE_2D, 0, es_ways[_i]);
        if (resource)
            check_bytes(&image, resource);
        else if (is_required)
            image_note(&image, gr_last_error()->message);
        else if (es_ways[_i] == &by_copy)
            assert_error(GR_ERR_UNSUPPORTED, 0, "OpenGL ES cannot");
        passed += resource != NULL;
        gr_resource_free(resource);
        resource = NULL;
        image_delete(&image);
        assert_gl_clean();
    }
    ck_assert_uint_ge(passed, most);
}

/* CUDA writes all texels, so that OpenGL ES need not read them. */
TEST(images_that_cuda_only_writes_need_no_reads, ES_WAYS)
{
    const struct image image = image_make("RGBA16F", "2D", 12, 12, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_WRITE_DISCARD, es_ways[_i]));
    gr_buffer *buffer = must_map_image(resource);
    image_pattern(image.format, wanted, image_bytes(&image, 0), 7);
    image_put(buffer, 0, 0, wanted);
    assert_ok(gr_buffer_release(buffer));
    check_slices(&image, 0, 0);
    gr_resource_free(resource);
    resource = NULL;
    image_delete(&image);
}

/* gr_fetch() and gr_publish() of a rectangle of one layer. */
TEST(a_rectangle_is_fetched_and_published, ES_WAYS)
{
    static unsigned char part[4 * 5 * 4];
    const int64_t shape[] = {4, 5, 4};
    const gr_publish_options at =
        GR_INIT(gr_publish_options, .layer = 1, .x = 3, .y = 2, .width = 5, .height = 4);
    const struct image image = image_filled("RGBA8", "2D_ARRAY", 12, 12, 1, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D_ARRAY, 0, es_ways[_i]));
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, shape);
    assert_ok(gr_fetch(resource, tensor, &at, fx.stream));
    tensor_to_host(tensor, part, sizeof(part));
    image_pattern(image.format, wanted, image_bytes(&image, 0), image_seed(1, 0, 1));
    for (size_t y = 0; y < 4; y++)
        ck_assert_mem_eq(part + y * 20, wanted + ((y + 2) * 12 + 3) * 4, 20);
    memset(part, 0x5A, sizeof(part));
    for (size_t y = 0; y < 4; y++)
        memset(wanted + ((y + 2) * 12 + 3) * 4, 0x5A, 20);
    assert_ok(gr_tensor_copy_from_host(tensor, part, sizeof(part), fx.stream));
    assert_ok(gr_publish(resource, tensor, &at, fx.stream));
    check_slices(&image, 0, 1);
    CU(StreamSynchronize(fx.stream));
}
