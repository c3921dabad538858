/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels on Vulkan images: surfaces of every shape, with all layers in one surface, and textures
 * that are sampled as in Vulkan.
 */
#include "tests/support/support_vulkan_image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/publish.h>

#include "examples/support/kernel_image.h"
#include "tests/tensor/tensor.h"

KERNEL_IMAGE(vk_kernels);
KERNEL_IMAGE(image_kernels);

static CUmodule surfaces, textures;
static gr_buffer *buffer;

static void begin_kernels(void)
{
    surfaces = textures = NULL;
    buffer = NULL;
    if (vk.missing)
        return;
    const struct kernel_image *images[] = {&vk_kernels_image, &image_kernels_image};
    CUmodule *modules[] = {&surfaces, &textures};
    for (int i = 0; i < 2; i++)
        if ((gr_cuda_is_software() ? images[i]->host : images[i]->gpu)[0] != 0)
            ck_assert(kernel_image_load(images[i], modules[i]));
}

static void end_kernels(void)
{
    CU(CtxSetCurrent(fx.context));
    if (surfaces)
        CU(ModuleUnload(surfaces));
    if (textures)
        CU(ModuleUnload(textures));
}

static const char *missing(void)
{
    const char *images = vk.missing;
    if (images)
        return images;
    return surfaces && textures ? NULL : "the kernels were not built for this driver";
}

#define KERNEL_TEST(...) TEST_UNLESS(missing(), __VA_ARGS__)

/* ---- Surfaces -------------------------------------------------------------------------------- */

static const struct {
    const char *shape, *kernels;
} shaped[] = {
    {"1D", "1d"},     {"1D array", "1d_layers"},     {"2D", "2d"}, {"2D array", "2d_layers"},
    {"cube", "cube"}, {"cube array", "cube_layers"}, {"3D", "3d"},
};

static unsigned depth_of(const struct vulkan_image *image, unsigned level)
{
    unsigned depth = image->info.extent.depth >> level;
    return image->info.arrayLayers * (depth > 0 ? depth : 1);
}

/*
 * Runs a kernel over a whole level, which copies between the surface of the level and linear
 * memory.
 */
static void run_surface(const char *verb, int shape, const struct vulkan_image *image,
                        unsigned level, CUdeviceptr memory)
{
    char name[32];
    int width = (int)vulkan_image_width(image, level);
    int height = (int)vulkan_image_height(image, level), layers = (int)depth_of(image, level);
    CUsurfObject surface = gr_buffer_surface(buffer, level, image->info.arrayLayers - 1);
    ck_assert_msg(surface != 0, "no surface: %s", error_text());
    snprintf(name, sizeof(name), "%s_%s", verb, shaped[shape].kernels);
    launch_kernel(surfaces, name, (size_t)width * (size_t)height * (size_t)layers,
                  (void *[]){&surface, &memory, &width, &height, &layers});
}

/* The size in bytes of all layers of a level together. */
static size_t level_bytes(const struct vulkan_image *image, unsigned level)
{
    return vulkan_image_bytes(image, level) * image->info.arrayLayers;
}

static void level_pattern(const struct vulkan_image *image, unsigned level, unsigned number,
                          unsigned char *texels)
{
    for (unsigned layer = 0; layer < image->info.arrayLayers; layer++)
        vulkan_image_pattern(image, level, layer, number,
                             texels + layer * vulkan_image_bytes(image, level));
}

static void check_load(int shape, const struct vulkan_image *image, unsigned level,
                       CUdeviceptr memory)
{
    size_t bytes = level_bytes(image, level);
    unsigned char *got = malloc(bytes), *wanted = malloc(bytes);
    ck_assert(got && wanted);
    CU(MemsetD8Async(memory, 0xEE, bytes, fx.stream));
    run_surface("load", shape, image, level, memory);
    cuda_read(got, memory, bytes, fx.stream);
    level_pattern(image, level, 1, wanted);
    ck_assert_msg(memcmp(got, wanted, bytes) == 0, "%s, level %u: a surface reads other texels",
                  shaped[shape].shape, level);
    free(got);
    free(wanted);
}

static void store(int shape, const struct vulkan_image *image, unsigned level, CUdeviceptr memory)
{
    size_t bytes = level_bytes(image, level);
    unsigned char *texels = malloc(bytes);
    ck_assert_ptr_nonnull(texels);
    level_pattern(image, level, 2, texels);
    CU(MemcpyHtoDAsync(memory, texels, bytes, fx.stream));
    run_surface("store", shape, image, level, memory);
    CU(StreamSynchronize(fx.stream));
    free(texels);
}

static TCase *add_case_with_kernels(Suite *suite, const char *name)
{
    TCase *made = add_vulkan_case(suite, name);
    tcase_add_checked_fixture(made, begin_kernels, end_kernels);
    return made;
}

static TCase *add_copied_with_kernels(Suite *suite, const char *name)
{
    TCase *made = add_copied_vulkan_case(suite, name);
    tcase_add_checked_fixture(made, begin_kernels, end_kernels);
    return made;
}

GROUP("surfaces", add_case_with_kernels, add_copied_with_kernels)

KERNEL_TEST(kernels_read_and_write_surfaces_of_every_shape, 7)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, shaped[_i].shape, 21, 13, 3,
                                             VK_IMAGE_USAGE_STORAGE_BIT, GR_SURFACE_LOAD_STORE);
    CUdeviceptr memory = 0;
    CUsurfObject surface = 0;
    CU(MemAlloc(&memory, level_bytes(&image, 0)));
    for (int round = 0; round < 3; round++) {
        vulkan_image_fill(&image, 1);
        buffer = must_map_vulkan(&image);
        surface = round ? surface : gr_buffer_surface(buffer, 0, 0);
        ck_assert_uint_eq(gr_resource_surface(image.resource, 0, 0), surface);
        for (unsigned level = 0; level < 3; level++) {
            check_load(_i, &image, level, memory);
            store(_i, &image, level, memory);
        }
        must_release(buffer);
        assert_vulkan_image(&image, 2);
    }
    gr_resource_free(image.resource);
    CU(MemFree(memory));
}

VULKAN_TEST(one_surface_has_all_layers_of_a_level)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D array", 21, 13, 2,
                                             VK_IMAGE_USAGE_STORAGE_BIT, GR_SURFACE_LOAD_STORE);
    buffer = must_hand_over(&image);
    CUsurfObject surface = gr_buffer_surface(buffer, 0, 0);
    ck_assert_uint_ne(surface, 0);
    ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 2), surface);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 1, 0), surface);
    ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 3), 0);
    assert_error(GR_ERR_INVALID_VALUE, 0, "layer");
    vulkan_image_end(&image, buffer);
}

VULKAN_TEST(surfaces_without_the_flag_are_refused)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 8, 8, 1, 0, GR_READ_WRITE);
    buffer = must_hand_over(&image);
    ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 0), 0);
    assert_error(GR_ERR_STATE, 0, "GR_SURFACE_LOAD_STORE");
    vulkan_image_end(&image, buffer);
}

/* ---- Textures -------------------------------------------------------------------------------- */

struct place {
    float x, y, z, level;
};

struct colour {
    float r, g, b, a;
};

static struct colour sample(const char *kernel, const gr_texture_options *options, struct place at)
{
    struct colour got = {-1, -1, -1, -1};
    CUtexObject texture = gr_buffer_texture(buffer, options);
    ck_assert_msg(texture != 0, "no texture: %s", error_text());
    CUdeviceptr places = 0, result = 0;
    int count = 1;
    CU(MemAlloc(&places, sizeof(at)));
    CU(MemAlloc(&result, sizeof(got)));
    CU(MemcpyHtoDAsync(places, &at, sizeof(at), fx.stream));
    launch_kernel(textures, kernel, 1, (void *[]){&texture, &result, &places, &count});
    cuda_read(&got, result, sizeof(got), fx.stream);
    CU(MemFree(places));
    CU(MemFree(result));
    return got;
}

static void check(const char *kernel, const gr_texture_options *options, struct place at,
                  struct colour wanted)
{
    struct colour got = sample(kernel, options, at);
    if (fabsf(got.r - wanted.r) < 0.002f && fabsf(got.g - wanted.g) < 0.002f &&
        fabsf(got.b - wanted.b) < 0.002f && fabsf(got.a - wanted.a) < 0.002f)
        return;
    note_difference("%s at (%g, %g, %g, %g) gave (%g, %g, %g, %g), not (%g, %g, %g, %g)", kernel,
                    (double)at.x, (double)at.y, (double)at.z, (double)at.level, (double)got.r,
                    (double)got.g, (double)got.b, (double)got.a, (double)wanted.r, (double)wanted.g,
                    (double)wanted.b, (double)wanted.a);
}

/* Writes known texels: the bytes of texel (x, y) are 40 x, 30 y, 20 layer, 50 level + 5. */
static void put_known(const struct vulkan_image *image)
{
    unsigned char texels[8 * 8 * 4];
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
    for (unsigned level = 0; level < image->info.mipLevels; level++)
        for (unsigned layer = 0; layer < image->info.arrayLayers; layer++) {
            unsigned width = vulkan_image_width(image, level);
            for (unsigned i = 0; i < vulkan_image_bytes(image, level) / 4; i++) {
                texels[4 * i] = (unsigned char)(40 * (i % width));
                texels[4 * i + 1] = (unsigned char)(30 * (i / width));
                texels[4 * i + 2] = (unsigned char)(20 * layer);
                texels[4 * i + 3] = (unsigned char)(50 * level + 5);
            }
            assert_ok(gr_buffer_copy_from_linear(buffer, level, layer, &from, fx.stream));
            CU(StreamSynchronize(fx.stream));
        }
}

static struct vulkan_image map_known(VkFormat format, const char *shape, unsigned levels)
{
    struct vulkan_image image =
        vulkan_image(format, shape, 4, 4, levels, VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    buffer = must_hand_over(&image);
    put_known(&image);
    return image;
}

static struct colour known(float x, float y, float layer, float level)
{
    return (struct colour){40 * x / 255, 30 * y / 255, 20 * layer / 255, (50 * level + 5) / 255};
}

GROUP("textures", add_case_with_kernels, add_copied_with_kernels)

KERNEL_TEST(textures_return_texels_as_floats)
{
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "2D", 1);
    for (unsigned i = 0; i < 16; i++) {
        float x = (float)(i % 4), y = (float)(i / 4);
        check("sample_2d", NULL, (struct place){x + 0.5f, y + 0.5f, 0, 0}, known(x, y, 0, 0));
    }
    const gr_texture_options linear = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR);
    check("sample_2d", &linear, (struct place){2, 1.5f, 0, 0}, known(1.5f, 1, 0, 0));
    vulkan_image_end(&image, buffer);
}

KERNEL_TEST(textures_can_have_one_level_or_all)
{
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "2D", 3);
    const gr_texture_options whole = GR_INIT(gr_texture_options, .whole = true);
    check("sample_2d_lod", &whole, (struct place){0.9f, 0.1f, 0, 0}, known(3, 0, 0, 0));
    check("sample_2d_lod", &whole, (struct place){0.9f, 0.1f, 0, 1}, known(1, 0, 0, 1));
    check("sample_2d_lod", &whole, (struct place){0.9f, 0.1f, 0, 2}, known(0, 0, 0, 2));
    const gr_texture_options second = GR_INIT(gr_texture_options, .level = 1);
    check("sample_2d", &second, (struct place){1.5f, 0.5f, 0, 0}, known(1, 0, 0, 1));
    vulkan_image_end(&image, buffer);
}

/*
 * Tests of layers. The loop index selects the number of levels of the image, at most 3. Levels and
 * kinds of coordinates are tested separately, since drivers locate a layer differently for each.
 */
#define LAYERS 3

/* Samples texels at different places in each layer of a level. */
static void check_layers(unsigned levels, unsigned level, gr_choice choice)
{
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "2D array", levels);
    const gr_texture_options options =
        GR_INIT(gr_texture_options, .level = level, .normalized_coordinates = choice);
    /*
     * By default, coordinates are normalized if the NVIDIA driver would sample the wrong layers
     * with texel coordinates.
     */
    bool normalized = choice == GR_CHOICE_YES || (choice == GR_CHOICE_DEFAULT && levels > 1);
    unsigned size = vulkan_image_width(&image, level);
    float unit = normalized ? (float)size : 1;
    for (unsigned layer = 0; layer < LAYERS; layer++)
        for (unsigned i = 0; i < size; i++) {
            float x = (float)i, y = (float)(size - 1 - i), z = (float)layer;
            const struct place at = {(x + 0.5f) / unit, (y + 0.5f) / unit, z, 0};
            check("sample_layer", &options, at, known(x, y, z, (float)level));
        }
    vulkan_image_end(&image, buffer);
}

/* Texel coordinates must be refused if the NVIDIA driver samples the wrong layers with them. */
static void check_refused(unsigned levels, unsigned level)
{
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "2D array", levels);
    const gr_texture_options options =
        GR_INIT(gr_texture_options, .level = level, .normalized_coordinates = GR_CHOICE_NO);
    gr_clear_error();
    ck_assert_uint_eq(gr_buffer_texture(buffer, &options), 0);
    assert_error(GR_ERR_UNSUPPORTED, 0, "normalized_coordinates");
    vulkan_image_end(&image, buffer);
}

KERNEL_TEST(layers_of_level_0_are_sampled_by_texel_coordinates_or_refused, 3)
{
    if (_i == 0)
        check_layers(1, 0, GR_CHOICE_NO);
    else
        check_refused((unsigned)_i + 1, 0);
}

KERNEL_TEST(layers_of_level_0_are_sampled_by_normalized_coordinates, 3)
{
    check_layers((unsigned)_i + 1, 0, GR_CHOICE_YES);
    check_layers((unsigned)_i + 1, 0, GR_CHOICE_DEFAULT);
}

KERNEL_TEST(layers_of_level_1_by_texel_coordinates_are_refused, 2)
{
    check_refused((unsigned)_i + 2, 1);
}

KERNEL_TEST(layers_of_level_1_are_sampled_by_normalized_coordinates, 2)
{
    check_layers((unsigned)_i + 2, 1, GR_CHOICE_YES);
    check_layers((unsigned)_i + 2, 1, GR_CHOICE_DEFAULT);
}

KERNEL_TEST(layers_of_a_texture_with_all_levels_are_sampled, 3)
{
    unsigned levels = (unsigned)_i + 1;
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "2D array", levels);
    const gr_texture_options whole = GR_INIT(gr_texture_options, .whole = true);
    for (unsigned level = 0; level < levels; level++)
        for (unsigned layer = 0; layer < LAYERS; layer++) {
            float last = (float)(vulkan_image_width(&image, level) - 1), z = (float)layer;
            const struct place at = {0.95f, 0.05f, z, (float)level};
            check("sample_layer_lod", &whole, at, known(last, 0, z, (float)level));
        }
    vulkan_image_end(&image, buffer);
}

/* The blue channel identifies the face of the cube. */
KERNEL_TEST(textures_of_cubes_are_sampled_by_direction)
{
    static const struct place faces[6] = {{1, 0, 0, 0},  {-1, 0, 0, 0}, {0, 1, 0, 0},
                                          {0, -1, 0, 0}, {0, 0, 1, 0},  {0, 0, -1, 0}};
    struct vulkan_image image = map_known(VK_FORMAT_R8G8B8A8_UNORM, "cube", 1);
    const gr_texture_options options = GR_INIT(
        gr_texture_options, .normalized_coordinates = GR_CHOICE_YES, .filter = GR_FILTER_LINEAR);
    for (unsigned face = 0; face < 6; face++)
        check("sample_cube", &options, faces[face], known(1.5f, 1.5f, (float)face, 0));
    vulkan_image_end(&image, buffer);
}

/* In memory blue comes first. CUDA returns it as channel x. */
KERNEL_TEST(textures_of_bgra_formats_return_blue_first)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_B8G8R8A8_UNORM, "2D", 4, 4, 1, 0, GR_READ_WRITE);
    const VkClearColorValue colour = {.float32 = {0.2f, 0.4f, 0.6f, 0.8f}};
    vulkan_image_fill(&image, 1);
    vulkan_image_clear(&image, &colour);
    buffer = must_map_vulkan(&image);
    check("sample_2d", NULL, (struct place){1.5f, 1.5f, 0, 0},
          (struct colour){0.6f, 0.4f, 0.2f, 0.8f});
    vulkan_image_end(&image, buffer);
}

/* 0x80 in sRGB is the linear value 0.2159. */
KERNEL_TEST(textures_of_srgb_formats_return_linear_values)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_SRGB, "2D", 4, 4, 1,
                                             VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    unsigned char texels[4 * 4 * 4];
    memset(texels, 0x80, sizeof(texels));
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
    const gr_texture_options raw = GR_INIT(gr_texture_options, .srgb = GR_CHOICE_NO);
    buffer = must_hand_over(&image);
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &from, fx.stream));
    CU(StreamSynchronize(fx.stream));
    float linear = 0.2158605f, half = 128 / 255.0f;
    check("sample_2d", NULL, (struct place){1.5f, 1.5f, 0, 0},
          (struct colour){linear, linear, linear, half});
    check("sample_2d", &raw, (struct place){1.5f, 1.5f, 0, 0},
          (struct colour){half, half, half, half});
    vulkan_image_end(&image, buffer);
}

/* ---- Packed and compressed texels ------------------------------------------------------------ */

static struct vulkan_image map_filled(VkFormat format, unsigned flags, const void *texels)
{
    struct vulkan_image image =
        vulkan_image(format, "2D", 4, 4, 1, VK_IMAGE_USAGE_SAMPLED_BIT, flags);
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = (void *)(uintptr_t)texels);
    buffer = must_hand_over(&image);
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &from, fx.stream));
    CU(StreamSynchronize(fx.stream));
    return image;
}

KERNEL_TEST(packed_texels_are_sampled_as_colours)
{
    uint32_t texels[16];
    for (uint32_t i = 0; i < 16; i++)
        texels[i] = 1023 | 60 * i << 10 | 341 << 20 | i % 4 << 30;
    struct vulkan_image image =
        map_filled(VK_FORMAT_A2B10G10R10_UNORM_PACK32, GR_READ_WRITE, texels);
    for (uint32_t i = 0; i < 16; i++)
        check("sample_2d", NULL, (struct place){(float)(i % 4) + 0.5f, (float)(i / 4) + 0.5f, 0, 0},
              (struct colour){1, 60 * (float)i / 1023, 1 / 3.0f, (float)(i % 4) / 3});
    vulkan_image_end(&image, buffer);
}

KERNEL_TEST(surfaces_have_packed_texels)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_A2B10G10R10_UNORM_PACK32, "2D", 21, 13, 1, 0, GR_SURFACE_LOAD_STORE);
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, level_bytes(&image, 0)));
    vulkan_image_fill(&image, 1);
    buffer = must_map_vulkan(&image);
    check_load(2, &image, 0, memory);
    store(2, &image, 0, memory);
    must_release(buffer);
    assert_vulkan_image(&image, 2);
    gr_resource_free(image.resource);
    CU(MemFree(memory));
}

/* A block of one colour: both end points are pure blue, whose 5 bits are the lowest. */
KERNEL_TEST(compressed_blocks_are_sampled_as_colours)
{
    static const unsigned char blue[8] = {0x1f, 0, 0x1f, 0};
    static const VkFormat formats[] = {VK_FORMAT_BC1_RGBA_UNORM_BLOCK,
                                       VK_FORMAT_BC1_RGBA_SRGB_BLOCK};
    for (int i = 0; i < 2; i++) {
        struct vulkan_image image = map_filled(formats[i], GR_READ_WRITE, blue);
        const gr_texture_options raw = GR_INIT(gr_texture_options, .srgb = GR_CHOICE_NO);
        if (gr_cuda_is_software()) {
            ck_assert_uint_eq(gr_buffer_texture(buffer, NULL), 0);
            assert_error(GR_ERR_CUDA, CUDA_ERROR_NOT_SUPPORTED, "");
        } else {
            check("sample_2d", NULL, (struct place){1.5f, 2.5f, 0, 0}, (struct colour){0, 0, 1, 1});
        }
        if (formats[i] == VK_FORMAT_BC1_RGBA_SRGB_BLOCK) {
            ck_assert_uint_eq(gr_buffer_texture(buffer, &raw), 0);
            assert_error(GR_ERR_INVALID_VALUE, 0, "sRGB");
        }
        vulkan_image_end(&image, buffer);
    }
}

/* As the messages advise. */
static void read_as_integers(gr_dtype dtype, unsigned ndim, const int64_t *shape,
                             const int64_t *strides, void *to, size_t size)
{
    GR_AUTO(gr_tensor) *tensor =
        must_make(gr_buffer_tensor(buffer, &GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim,
                                                    .shape = shape, .strides = strides)));
    tensor_to_host(tensor, to, size);
}

VULKAN_TEST(packed_texels_are_integers)
{
    uint32_t texels[16], got[16], rows[4][64];
    pattern_fill(texels, sizeof(texels), 3);
    struct vulkan_image image =
        map_filled(VK_FORMAT_A2B10G10R10_UNORM_PACK32, GR_READ_WRITE, texels);
    must_release(buffer);
    buffer = must_make(gr_map_linear(image.resource, 0, 0, fx.stream));
    ck_assert_uint_eq(gr_buffer_get_info(buffer)->pitch, 256);
    static const int64_t strides[] = {256, 4};
    read_as_integers(GR_DTYPE_U32, 2, (int64_t[]){4, 4}, strides, got, sizeof(got));
    ck_assert_mem_eq(got, texels, sizeof(texels));
    assert_null(gr_buffer_tensor(buffer, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U32, .ndim = 2,
                                                  .shape = (int64_t[]){4, 4})),
                GR_ERR_INVALID_VALUE, 0, "a pitch of 256");
    read_as_integers(GR_DTYPE_U32, 2, (int64_t[]){4, 64}, NULL, rows, sizeof(rows));
    ck_assert_mem_eq(rows[1], texels + 4, 16);
    read_as_integers(GR_DTYPE_U32, 1, (int64_t[]){4 * 64}, NULL, rows, sizeof(rows));
    ck_assert_mem_eq(rows[3], texels + 12, 16);
    read_as_integers(GR_DTYPE_U8, 2, (int64_t[]){4, 4}, NULL, got, 16); /* the first row */
    ck_assert_mem_eq(got, texels, 16);
    read_as_integers(GR_DTYPE_U8, 3, (int64_t[]){0, 4, 4}, NULL, got, 0);
    vulkan_image_end(&image, buffer);
}

VULKAN_TEST(compressed_blocks_are_tensors_of_bytes)
{
    static const unsigned char block[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char got[8];
    struct vulkan_image image = map_filled(VK_FORMAT_BC1_RGBA_UNORM_BLOCK, GR_READ_WRITE, block);
    must_release(buffer);
    buffer = must_make(gr_map_linear(image.resource, 0, 0, fx.stream));
    assert_null(gr_buffer_tensor(buffer, NULL), GR_ERR_UNSUPPORTED, 0, "uint8 of each block");
    read_as_integers(GR_DTYPE_U8, 3, (int64_t[]){1, 1, 8}, NULL, got, sizeof(got));
    ck_assert_mem_eq(got, block, sizeof(block));
    vulkan_image_end(&image, buffer);
}

VULKAN_TEST(rectangles_have_whole_compressed_blocks)
{
    uint64_t blocks[3][5], got[2][3], all[3][5], one = 0x0102030405060708;
    pattern_fill(blocks, sizeof(blocks), 3);
    struct vulkan_image image = vulkan_image(VK_FORMAT_BC1_RGBA_UNORM_BLOCK, "2D", 18, 10, 1,
                                             VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    const gr_linear_desc whole = GR_INIT(gr_linear_desc, .host = blocks),
                         part = GR_INIT(gr_linear_desc, .host = got, .x = 8, .y = 4),
                         block =
                             GR_INIT(gr_linear_desc, .host = &one, .x = 4, .width = 4, .height = 4),
                         back = GR_INIT(gr_linear_desc, .host = all);
    buffer = must_hand_over(&image);
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &whole, fx.stream));
    assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &part, fx.stream));
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &block, fx.stream));
    assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &back, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_mem_eq(got[0], &blocks[1][2], sizeof(got[0]));
    ck_assert_mem_eq(got[1], &blocks[2][2], sizeof(got[1]));
    blocks[0][1] = one;
    ck_assert_mem_eq(all, blocks, sizeof(blocks));
    for (unsigned i = 0; i < 4; i++) {
        const gr_linear_desc cut =
            GR_INIT(gr_linear_desc, .host = got, .x = i == 0, .y = 2 * (i == 1),
                    .width = i == 2 ? 6 : 0, .height = i == 3 ? 9 : 0);
        assert_invalid(gr_buffer_copy_to_linear(buffer, 0, 0, &cut, fx.stream), "multiples of 4");
    }
    vulkan_image_end(&image, buffer);
}
