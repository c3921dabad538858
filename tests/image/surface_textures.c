/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texture objects in kernels: point and linear filtering, address modes, reads as floats or
 * integers, the sRGB curve, mip levels, layers, cubes and slices. Samples are taken only where all
 * GPUs agree: at the centre of a texel, or half way between two texels.
 */
#include "surface_tests.h"

#include "tests/support/child_check.h"

#include <math.h>
#include <string.h>

struct place {
    float x, y, z, level;
};

struct colour {
    float r, g, b, a;
};

/* ---- Images with known texels ---------------------------------------------------------------- */

static unsigned char texels[IMAGE_MOST_BYTES];

/*
 * Fills the image. Texel (x, y) of a level and layer of an RGBA8 image has red 40 x, green 30 y,
 * blue 20 layer, alpha 50 level.
 */
static void fill_known(const struct image *image)
{
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++) {
            unsigned width = image_width(image, level), height = image_height(image, level);
            for (unsigned i = 0; i < width * height * image_slices(image, level); i++) {
                unsigned slice = i / (width * height);
                texels[4 * i] = (unsigned char)(40 * (i % width));
                texels[4 * i + 1] = (unsigned char)(30 * (i / width % height));
                texels[4 * i + 2] = (unsigned char)(20 * (layer + slice));
                texels[4 * i + 3] = (unsigned char)(50 * level + 5);
            }
            image_upload(image, level, layer, texels);
        }
}

/*
 * The colour that fill_known() wrote at (x, y). At fractional coordinates this is the result of
 * linear filtering.
 */
static struct colour known(float x, float y, float layer, float level)
{
    return (struct colour){40 * x / 255, 30 * y / 255, 20 * layer / 255, (50 * level + 5) / 255};
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static gr_resource *resource;
static gr_buffer *buffer;

/*
 * Creates, registers and maps an image whose texels encode their position. The image ends with the
 * context.
 */
static void map_known(const char *format, const char *target, unsigned width, unsigned height,
                      unsigned levels)
{
    struct image image = image_make(format, target, width, height, levels);
    fill_known(&image);
    resource = must_register_image(&image, GR_READ_ONLY);
    buffer = must_map_image(resource);
}

static void end_map(void)
{
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

static void sample_bytes(const char *kernel, const gr_texture_options *options, struct place at,
                         void *out, size_t size)
{
    CUtexObject texture = gr_buffer_texture(buffer, options);
    ck_assert_msg(texture != 0, "no texture: %s", error_text());
    CUdeviceptr places = 0, result = 0;
    int count = 1;
    CU(MemAlloc(&places, sizeof(at)));
    CU(MemAlloc(&result, size));
    CU(MemcpyHtoDAsync(places, &at, sizeof(at), fx.stream));
    image_kernel(kernel, 1, (void *[]){&texture, &result, &places, &count});
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(out, result, size));
    CU(MemFree(places));
    CU(MemFree(result));
}

/* The sample at this position must have the expected colour. Each channel may differ by 1/500. */
static void check(const char *kernel, const gr_texture_options *options, struct place at,
                  struct colour wanted)
{
    struct colour got = {-1, -1, -1, -1};
    sample_bytes(kernel, options, at, &got, sizeof(got));
    bool same = fabsf(got.r - wanted.r) < 0.002f && fabsf(got.g - wanted.g) < 0.002f &&
                fabsf(got.b - wanted.b) < 0.002f && fabsf(got.a - wanted.a) < 0.002f;
    ck_assert_msg(same, "%s at (%g, %g, %g, %g) gave (%g, %g, %g, %g), not (%g, %g, %g, %g)",
                  kernel, (double)at.x, (double)at.y, (double)at.z, (double)at.level, (double)got.r,
                  (double)got.g, (double)got.b, (double)got.a, (double)wanted.r, (double)wanted.g,
                  (double)wanted.b, (double)wanted.a);
}

GROUP("textures", add_kernel_case)

IMAGE_KERNEL_TEST(without_options_textures_return_floats)
{
    map_known("RGBA8", "2D", 4, 4, 1);
    const gr_texture_options zero = GR_INIT(gr_texture_options);
    for (unsigned i = 0; i < 16; i++) {
        float x = (float)(i % 4), y = (float)(i / 4);
        struct place at = {x + 0.5f, y + 0.5f, 0, 0};
        check("sample_2d", NULL, at, known(x, y, 0, 0));
        check("sample_2d", &zero, at, known(x, y, 0, 0));
    }
    /* Point sampling returns the texel that contains the position. */
    check("sample_2d", NULL, (struct place){1.9f, 2.1f, 0, 0}, known(1, 2, 0, 0));
    /* The default address mode clamps to the edge. */
    check("sample_2d", NULL, (struct place){-7, 99, 0, 0}, known(0, 3, 0, 0));
    end_map();
}

IMAGE_KERNEL_TEST(linear_filtering_mixes_neighbours)
{
    map_known("RGBA8", "2D", 4, 4, 1);
    const gr_texture_options linear = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR);
    check("sample_2d", &linear, (struct place){1.5f, 2.5f, 0, 0}, known(1, 2, 0, 0));
    check("sample_2d", &linear, (struct place){2, 2.5f, 0, 0}, known(1.5f, 2, 0, 0));
    check("sample_2d", &linear, (struct place){2, 3, 0, 0}, known(1.5f, 2.5f, 0, 0));
    check("sample_2d", &linear, (struct place){0, 0, 0, 0}, known(0, 0, 0, 0));
    const gr_texture_options normalized = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR,
                                                  .normalized_coordinates = GR_CHOICE_YES);
    check("sample_2d", &normalized, (struct place){0.5f, 0.625f, 0, 0}, known(1.5f, 2, 0, 0));
    end_map();
}

IMAGE_KERNEL_TEST(samples_beyond_the_edge_follow_the_address_mode)
{
    map_known("RGBA8", "2D", 4, 4, 1);
    gr_texture_options o = GR_INIT(
        gr_texture_options, .address = {GR_ADDRESS_BORDER, GR_ADDRESS_BORDER, GR_ADDRESS_BORDER},
        .border = {0.25f, 0.5f, 0.75f, 1});
    check("sample_2d", &o, (struct place){-0.5f, 1.5f, 0, 0},
          (struct colour){0.25f, 0.5f, 0.75f, 1});
    check("sample_2d", &o, (struct place){3.5f, 1.5f, 0, 0}, known(3, 1, 0, 0));
    memset(o.border, 0, sizeof(o.border));
    check("sample_2d", &o, (struct place){1.5f, 4.5f, 0, 0}, (struct colour){0, 0, 0, 0});

    o = GR_INIT(gr_texture_options, .normalized_coordinates = GR_CHOICE_YES);
    check("sample_2d", &o, (struct place){1.125f, 0.375f, 0, 0}, known(3, 1, 0, 0));
    o.address[0] = GR_ADDRESS_WRAP;
    check("sample_2d", &o, (struct place){1.125f, 0.375f, 0, 0}, known(0, 1, 0, 0));
    check("sample_2d", &o, (struct place){-0.125f, 1.375f, 0, 0}, known(3, 3, 0, 0));
    o.address[0] = GR_ADDRESS_MIRROR;
    check("sample_2d", &o, (struct place){1.375f, 0.375f, 0, 0}, known(2, 1, 0, 0));
    /* Each axis has its own mode. */
    o.address[1] = GR_ADDRESS_WRAP;
    check("sample_2d", &o, (struct place){1.375f, 1.375f, 0, 0}, known(2, 1, 0, 0));
    end_map();
}

/* Samples a texel whose channels all have the value 1, or with `beyond` the border colour. */
static void check_exactly(const char *format, bool beyond, struct colour wanted)
{
    static const float ones[4] = {1, 1, 1, 1};
    static const unsigned short half_ones[4] = {0x3C00, 0x3C00, 0x3C00, 0x3C00};
    static const unsigned char integer_ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const gr_texture_options o = GR_INIT(
        gr_texture_options, .address = {GR_ADDRESS_BORDER, GR_ADDRESS_BORDER, GR_ADDRESS_BORDER},
        .border = {0.25f, -0.5f, 0.75f, 3});
    struct image image = image_make(format, "2D", 1, 1, 1);
    image_upload(&image, 0, 0,
                 strstr(format, "32F")   ? (const void *)ones
                 : strstr(format, "16F") ? (const void *)half_ones
                                         : (const void *)integer_ones);
    resource = must_register_image(&image, GR_READ_ONLY);
    buffer = must_map_image(resource);
    struct colour got = {-1, -1, -1, -1};
    sample_bytes("sample_2d", &o, (struct place){beyond ? 1.5f : 0.5f, 0.5f, 0, 0}, &got,
                 sizeof(got));
    ck_assert_msg(memcmp(&got, &wanted, sizeof(got)) == 0, "%s gave (%g, %g, %g, %g)", format,
                  (double)got.r, (double)got.g, (double)got.b, (double)got.a);
    end_map();
}

IMAGE_KERNEL_TEST(channels_that_a_format_lacks_are_0)
{
    check_exactly("R8", false, (struct colour){1, 0, 0, 0});
    check_exactly("RG8", false, (struct colour){1, 1, 0, 0});
    check_exactly("R32F", false, (struct colour){1, 0, 0, 0});
    check_exactly("RGBA8", false, (struct colour){1, 1, 1, 1});
}

IMAGE_KERNEL_TEST(border_colours_have_the_format_of_the_image)
{
    check_exactly("RGBA8", true, (struct colour){64 / 255.f, 0, 191 / 255.f, 1});
    check_exactly("R8", true, (struct colour){64 / 255.f, 0, 0, 0});
    check_exactly("RGBA16", true, (struct colour){16384 / 65535.f, 0, 49151 / 65535.f, 1});
    check_exactly("RGBA16F", true, (struct colour){0.25f, -0.5f, 0.75f, 3});
    check_exactly("RG32F", true, (struct colour){0.25f, -0.5f, 0, 0});
}

IMAGE_KERNEL_TEST(textures_of_one_level_layer_or_face_are_sampled)
{
    static const struct {
        const char *target;
        unsigned level, layer;
    } parts[] = {{"2D", 1, 0},   {"2D_ARRAY", 0, 2}, {"2D_ARRAY", 1, 1},    {"CUBE", 0, 4},
                 {"CUBE", 1, 5}, {"RECT", 0, 0},     {"RENDERBUFFER", 0, 0}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        map_known("RGBA8", parts[i].target, 4, 4, 2);
        const gr_texture_options o =
            GR_INIT(gr_texture_options, .level = parts[i].level, .layer = parts[i].layer);
        check("sample_2d", &o, (struct place){1.5f, 0.5f, 0, 0},
              known(1, 0, (float)parts[i].layer, (float)parts[i].level));
        end_map();
    }
}

IMAGE_KERNEL_TEST(slices_of_a_3d_image_are_sampled)
{
    map_known("RGBA8", "3D", 4, 4, 2);
    const gr_texture_options linear = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR),
                             second = GR_INIT(gr_texture_options, .level = 1);
    check("sample_3d", NULL, (struct place){1.5f, 2.5f, 3.5f, 0}, known(1, 2, 3, 0));
    check("sample_3d", &linear, (struct place){1.5f, 2.5f, 3, 0}, known(1, 2, 2.5f, 0));
    check("sample_3d", &second, (struct place){1.5f, 0.5f, 1.5f, 0}, known(1, 0, 1, 1));
    end_map();
}

/* ---- How values are converted ---------------------------------------------------------------- */

struct bytes4 {
    unsigned char v[4];
};

static void check_integers(const gr_texture_options *options, struct place at, struct bytes4 wanted)
{
    struct bytes4 got = {{0}};
    sample_bytes("sample_2d_uchar", options, at, &got, sizeof(got));
    ck_assert_mem_eq(&got, &wanted, sizeof(got));
}

IMAGE_KERNEL_TEST(integers_are_read_as_opengl_samples_them)
{
    const struct place at = {1.5f, 2.5f, 0, 0};
    const gr_texture_options as_float = GR_INIT(gr_texture_options, .as_float = GR_CHOICE_YES),
                             as_integer = GR_INIT(gr_texture_options, .as_float = GR_CHOICE_NO);
    map_known("RGBA8", "2D", 4, 4, 1);
    check("sample_2d", &as_float, at, known(1, 2, 0, 0));
    check_integers(&as_integer, at, (struct bytes4){{40, 60, 0, 5}});
    end_map();

    map_known("RGBA8UI", "2D", 4, 4, 1);
    check_integers(NULL, at, (struct bytes4){{40, 60, 0, 5}});
    check_integers(&as_integer, at, (struct bytes4){{40, 60, 0, 5}});
    check("sample_2d", &as_float, at, known(1, 2, 0, 0));
    end_map();
}

/* Samples the only texel of an image with four 32-bit channels. */
static void check_texel(const char *format, const char *kernel, const void *texel)
{
    unsigned got[4];
    struct image image = image_make(format, "2D", 1, 1, 1);
    image_upload(&image, 0, 0, texel);
    resource = must_register_image(&image, GR_READ_ONLY);
    buffer = must_map_image(resource);
    sample_bytes(kernel, NULL, (struct place){0.5f, 0.5f, 0, 0}, got, sizeof(got));
    ck_assert_mem_eq(got, texel, sizeof(got));
    end_map();
}

IMAGE_KERNEL_TEST(channels_of_32_bits_are_read_unchanged)
{
    static const unsigned integers[4] = {1, 0x80000001u, 0xFFFFFFFFu, 77};
    static const float floats[4] = {-1.5f, 1e10f, 0.25f, 3};
    check_texel("RGBA32UI", "sample_2d_uint", integers);
    check_texel("RGBA32F", "sample_2d", floats);
}

/* In sRGB, 188 encodes a linear value of one half. Alpha is always linear. */
IMAGE_KERNEL_TEST(srgb_colours_are_linear_in_kernels_as_in_opengl)
{
    static const unsigned char grey[4] = {188, 0, 255, 188};
    const struct colour linear = {0.5029f, 0, 1, 188 / 255.f};
    const struct colour stored = {188 / 255.f, 0, 1, 188 / 255.f};
    const struct place at = {0.5f, 0.5f, 0, 0};
    const gr_texture_options yes = GR_INIT(gr_texture_options, .srgb = GR_CHOICE_YES),
                             no = GR_INIT(gr_texture_options, .srgb = GR_CHOICE_NO);
    for (int i = 0; i < 2; i++) {
        struct image image = image_make(i == 0 ? "SRGB8_ALPHA8" : "RGBA8", "2D", 1, 1, 1);
        image_upload(&image, 0, 0, grey);
        resource = must_register_image(&image, GR_READ_ONLY);
        buffer = must_map_image(resource);
        check("sample_2d", NULL, at, i == 0 ? linear : stored);
        check("sample_2d", &yes, at, linear);
        check("sample_2d", &no, at, stored);
        end_map();
    }
}

IMAGE_KERNEL_TEST(srgb_of_one_channel_is_linear_in_kernels_as_in_opengl)
{
    static const unsigned char grey = 188;
    float got[4];
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_SR8_EXT, 1, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RED, GL_UNSIGNED_BYTE, &grey);
    resource = must_make(gr_from_gl_image(name, GL_TEXTURE_2D, GR_READ_ONLY));
    buffer = must_map_image(resource);
    sample_bytes("sample_2d", NULL, (struct place){0.5f, 0.5f, 0, 0}, got, sizeof(got));
    ck_assert_float_eq_tol(got[0], 0.5029f, 2e-3f);
    end_map();
}

GROUP("textures with all levels", add_kernel_case)

IMAGE_KERNEL_TEST(whole_textures_have_all_levels)
{
    map_known("RGBA8", "2D", 8, 8, 4);
    gr_texture_options o = GR_INIT(gr_texture_options, .whole = true);
    struct place at = {0.0625f, 0.0625f, 0, 0};
    for (int level = 0; level < 4; level++) {
        at.level = (float)level;
        check("sample_2d_lod", &o, at, known(0, 0, 0, (float)level));
    }
    at.level = 1.5f;
    o.mip_filter = GR_FILTER_LINEAR;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 1.5f));
    o.level_count = 2;
    at.level = 3;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 1));
    o.level_count = 1;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 0));
    o.min_level = 1;
    o.level_count = 2;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 2));
    o.level_count = 0;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 3));
    o.min_level = 2;
    at.level = 0;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 2));
    end_map();
}

/* CUDA reports 4 levels, but OpenGL allocated 2: kernels must not see the other two. */
IMAGE_KERNEL_TEST(whole_textures_have_only_the_allocated_levels)
{
    map_known("RGBA8", "2D", 8, 8, 2);
    gr_texture_options o = GR_INIT(gr_texture_options, .whole = true);
    const struct place at = {0.0625f, 0.0625f, 0, 3};
    check("sample_2d_lod", &o, at, known(0, 0, 0, 1));
    o.level_count = 2;
    check("sample_2d_lod", &o, at, known(0, 0, 0, 1));
    end_map();
}

IMAGE_KERNEL_TEST(whole_textures_have_all_layers)
{
    map_known("RGBA8", "2D_ARRAY", 4, 4, 2);
    const gr_texture_options o = GR_INIT(gr_texture_options, .whole = true);
    for (int layer = 0; layer < 3; layer++) {
        struct place at = {0.375f, 0.625f, (float)layer, 0};
        check("sample_layer", &o, at, known(1, 2, (float)layer, 0));
        at = (struct place){0.75f, 0.25f, (float)layer, 1};
        check("sample_layer_lod", &o, at, known(1, 0, (float)layer, 1));
    }
    end_map();
}

/* The driver creates a texture object for a whole cube, but samples on an H200 are zeros. */
/* Samples the centre of each face, in the order of OpenGL: +x, -x, +y, -y, +z, -z. */
IMAGE_KERNEL_TEST(a_whole_cube_is_refused_but_each_face_is_sampled)
{
    map_known("RGBA8", "CUBE", 5, 5, 3);
    ck_assert(gr_buffer_texture(buffer, &GR_INIT(gr_texture_options, .whole = true)) == 0);
    assert_error(GR_ERR_UNSUPPORTED, 0, "each face");
    for (unsigned face = 0; face < 6; face++) {
        const gr_texture_options o = GR_INIT(gr_texture_options, .layer = face);
        check("sample_2d", &o, (struct place){2.5f, 2.5f, 0, 0}, known(2, 2, (float)face, 0));
    }
    end_map();
}

IMAGE_KERNEL_TEST(whole_textures_have_all_slices)
{
    map_known("RGBA8", "3D", 4, 4, 1);
    const gr_texture_options o = GR_INIT(gr_texture_options, .whole = true);
    check("sample_3d", &o, (struct place){0.375f, 0.625f, 0.7f, 0}, known(1, 2, 3, 0));
    end_map();
}

CHILD(use_texture_after_release)
{
    fixture_setup();
    child_check(!image_kernels_load());
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    resource = must_register_image(&image, GR_READ_WRITE);
    buffer = must_map_image(resource);
    CUtexObject texture = gr_buffer_texture(buffer, NULL);
    child_check(texture != 0);
    child_check(gr_buffer_release(buffer) == GR_OK);
    const struct place at = {0.5f, 0.5f, 0, 0};
    CUdeviceptr places = device_copy(&at, sizeof(at)), result = device_copy(NULL, 16);
    int count = 1;
    image_kernel("sample_2d", 1, (void *[]){&texture, &result, &places, &count});
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}
