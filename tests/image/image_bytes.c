/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Image bytes from OpenGL to CUDA and back: every format that CUDA accepts with every target, every
 * level and layer, and odd sizes.
 */
#include "tests/support/support_image.h"

#include <string.h>

static struct image make_odd(const struct image_format *format, const struct image_target *target)
{
    bool cube = target->target == GL_TEXTURE_CUBE_MAP;
    return image_make_of(format, target, cube ? 7 : 13, 7, 5, 3, 3);
}

static void check_bytes(const struct image *image)
{
    image_fill(image, 1);
    GR_AUTO(gr_resource) *resource =
        gr_from_gl_image(image->name, image->target->target, GR_READ_WRITE);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    if (!buffer) {
        image_note(image, error_text());
        return;
    }
    image_both_ways(buffer, image, 1);
}

GROUP("bytes", add_image_case)

TEST(every_format_passes_both_ways, image_target_count)
{
    image_each_format(&image_targets[_i], make_odd, check_bytes);
}

/* ---- Formats of the compatibility profile ---------------------------------------------------- */

/* How OpenGL takes the texels. CUDA sees the same bytes. */
static const struct {
    GLint internal;
    GLenum transfer, type;
    CUarray_format format;
    unsigned channels;
    const char *described;
} legacy[] = {
#define LEGACY(internal, transfer, type, format, channels)                                         \
    {                                                                                              \
        GL_##internal, GL_##transfer, GL_##type, CU_AD_FORMAT_##format, channels, "GL_" #internal  \
    }
    LEGACY(LUMINANCE8, LUMINANCE, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(ALPHA8, ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(INTENSITY8, RED, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(LUMINANCE8_ALPHA8, LUMINANCE_ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 2),
    LEGACY(LUMINANCE16, LUMINANCE, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(ALPHA16, ALPHA, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(INTENSITY16, RED, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(LUMINANCE16_ALPHA16, LUMINANCE_ALPHA, UNSIGNED_SHORT, UNSIGNED_INT16, 2),
    LEGACY(LUMINANCE16F_ARB, LUMINANCE, HALF_FLOAT, HALF, 1),
    LEGACY(ALPHA16F_ARB, ALPHA, HALF_FLOAT, HALF, 1),
    LEGACY(INTENSITY16F_ARB, RED, HALF_FLOAT, HALF, 1),
    LEGACY(LUMINANCE_ALPHA16F_ARB, LUMINANCE_ALPHA, HALF_FLOAT, HALF, 2),
    LEGACY(LUMINANCE32F_ARB, LUMINANCE, FLOAT, FLOAT, 1),
    LEGACY(ALPHA32F_ARB, ALPHA, FLOAT, FLOAT, 1),
    LEGACY(INTENSITY32F_ARB, RED, FLOAT, FLOAT, 1),
    LEGACY(LUMINANCE_ALPHA32F_ARB, LUMINANCE_ALPHA, FLOAT, FLOAT, 2),
    LEGACY(ALPHA4, ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(LUMINANCE4, LUMINANCE, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(INTENSITY4, RED, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(LUMINANCE6_ALPHA2, LUMINANCE_ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 2),
    LEGACY(ALPHA12, ALPHA, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(LUMINANCE12, LUMINANCE, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(INTENSITY12, RED, UNSIGNED_SHORT, UNSIGNED_INT16, 1),
    LEGACY(LUMINANCE12_ALPHA12, LUMINANCE_ALPHA, UNSIGNED_SHORT, UNSIGNED_INT16, 2),
    LEGACY(SLUMINANCE8, LUMINANCE, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(SLUMINANCE, LUMINANCE, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    {1, GL_LUMINANCE, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, "GL_LUMINANCE"},
    {2, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 2, "GL_LUMINANCE_ALPHA"},
    {4, GL_RGBA, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 4, "GL_RGBA"},
    LEGACY(LUMINANCE, LUMINANCE, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(ALPHA, ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(INTENSITY, RED, UNSIGNED_BYTE, UNSIGNED_INT8, 1),
    LEGACY(LUMINANCE_ALPHA, LUMINANCE_ALPHA, UNSIGNED_BYTE, UNSIGNED_INT8, 2),
#undef LEGACY
};

#define LEGACY_SIZE 8

/* Every byte below 0x7C, so that floats of 16 and of 32 bits are finite. */
static void fill_legacy(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((i * 37 + seed * 11 + 1) % 0x60);
}

TEST(formats_of_the_compatibility_profile_pass_both_ways, 2 * sizeof(legacy) / sizeof(legacy[0]))
{
    const unsigned row = (unsigned)_i / 2;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = _i % 2 ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    const bool is_float =
        legacy[row].format == CU_AD_FORMAT_HALF || legacy[row].format == CU_AD_FORMAT_FLOAT;
    unsigned char wrote[LEGACY_SIZE * LEGACY_SIZE * 8], got[sizeof(wrote)] = {0};
    gr_egl *egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true)));
    GLuint name = bound_texture(GL_TEXTURE_2D);
    fill_legacy(wrote, sizeof(wrote), 1);
    glTexImage2D(GL_TEXTURE_2D, 0, legacy[row].internal, LEGACY_SIZE, LEGACY_SIZE, 0,
                 legacy[row].transfer, legacy[row].type, wrote);
    gr_resource *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &options));
    assert_described(resource, legacy[row].described);
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_int_eq((int)info->format, (int)legacy[row].format);
    ck_assert_uint_eq(info->channels, legacy[row].channels);
    ck_assert_uint_eq(info->normalized, !is_float);
    const size_t size = LEGACY_SIZE * LEGACY_SIZE * (size_t)info->texel_bytes;
    image_get(buffer, 0, 0, got);
    ck_assert_mem_eq(got, wrote, size);
    fill_legacy(wrote, sizeof(wrote), 2);
    image_put(buffer, 0, 0, wrote);
    assert_ok(gr_buffer_release(buffer));
    glGetTexImage(GL_TEXTURE_2D, 0, legacy[row].transfer, legacy[row].type, got);
    ck_assert_mem_eq(got, wrote, size);
    gr_resource_free(resource);
    assert_gl_clean();
    gr_egl_free(egl);
}

/* ---- Driver copies with the array ------------------------------------------------------------ */

/*
 * The driver functions for copies accept an array from gr_buffer_array(). Tests the last level and
 * layer.
 */
TEST(cuda_driver_copies_accept_arrays_from_grinterop)
{
    struct image image = image_filled("RGBA8", "2D_ARRAY", 13, 7, 2, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    unsigned char got[6 * 3 * 4], wanted[6 * 3 * 4];
    copy_array(gr_buffer_array(buffer, 1, 2), got, 6 * 4, 3, false);
    CU(StreamSynchronize(fx.stream));
    image_pattern(image.format, wanted, sizeof(wanted), image_seed(1, 1, 2));
    ck_assert_mem_eq(got, wanted, sizeof(got));

    image_pattern(image.format, wanted, sizeof(wanted), image_seed(2, 1, 2));
    copy_array(gr_buffer_array(buffer, 1, 2), wanted, 6 * 4, 3, true);
    assert_ok(gr_buffer_release(buffer));
    assert_no_difference(image_level_differs(&image, 1, 2, 2));
    /* All other levels and layers are unchanged. */
    for (unsigned layer = 0; layer < 3; layer++) {
        assert_no_difference(image_level_differs(&image, 0, layer, 1));
        if (layer < 2)
            assert_no_difference(image_level_differs(&image, 1, layer, 1));
    }
}

/* ---- Levels that end before 1 x 1 ------------------------------------------------------------ */

/* Fills a level with one byte, or checks that it has only this byte. */
static void level_texels(GLint level, unsigned char byte, bool fill)
{
    const GLsizei size = 64 >> level;
    static unsigned char texels[64 * 64 * 4];
    memset(texels, byte, sizeof(texels));
    if (fill) {
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                     texels);
        return;
    }
    memset(texels, 0, sizeof(texels));
    glGetTexImage(GL_TEXTURE_2D, level, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    for (GLsizei i = 0; i < size * size * 4; i++)
        ck_assert_uint_eq(texels[i], byte);
}

/* With both transports. */
TEST(levels_may_end_before_1_x_1, 4)
{
    enum { LEVELS = 3 };
    GLuint name = bound_texture(GL_TEXTURE_2D);
    for (GLint level = 0; level < LEVELS; level++)
        level_texels(level, (unsigned char)(10 + level), true);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, _i % 2 ? 1000 : LEVELS - 1);
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = _i / 2 ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    gr_resource *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &options));
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    ck_assert_uint_eq(gr_buffer_get_image_info(buffer)->levels, LEVELS);
    ck_assert_ptr_null(gr_buffer_array(buffer, LEVELS, 0));
    static unsigned char bytes[64 * 64 * 4];
    for (unsigned level = 0; level < LEVELS; level++) {
        const size_t size = 64 >> level;
        copy_array(gr_buffer_array(buffer, level, 0), bytes, size * 4, size, false);
        CU(StreamSynchronize(fx.stream));
        for (size_t i = 0; i < size * size * 4; i++)
            ck_assert_uint_eq(bytes[i], 10 + level);
        memset(bytes, 20 + (int)level, sizeof(bytes));
        copy_array(gr_buffer_array(buffer, level, 0), bytes, size * 4, size, true);
        CU(StreamSynchronize(fx.stream));
    }
    assert_ok(gr_buffer_release(buffer));
    for (GLint level = 0; level < LEVELS; level++)
        level_texels(level, (unsigned char)(20 + level), false);
    gr_resource_free(resource);
    glDeleteTextures(1, &name);
    assert_gl_clean();
}

/* ---- Order ----------------------------------------------------------------------------------- */

/*
 * CUDA reads texels that OpenGL draws right before the map, and OpenGL reads texels that CUDA
 * writes right before the release.
 */
TEST(bytes_pass_both_ways_without_a_host_wait)
{
    struct image image = image_make("RGBA8", "2D", 64, 64, 1);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image.name, 0);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    static unsigned char got[64 * 64 * 4], texels[64 * 64 * 4];
    for (int i = 1; i <= 5; i++) {
        glClearColor((float)i / 255, (float)i / 255, (float)i / 255, (float)i / 255);
        glClear(GL_COLOR_BUFFER_BIT);
        gr_buffer *buffer = must_map_image(resource);
        image_get(buffer, 0, 0, got);
        assert_bytes(got, sizeof(got), i);
        image_pattern(image.format, texels, sizeof(texels), image_seed((unsigned)i, 0, 0));
        const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
        assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &from, fx.stream));
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, (unsigned)i);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
}
