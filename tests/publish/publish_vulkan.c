/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes tensors to Vulkan images of every shape, to each level and layer, and to Vulkan
 * buffers.
 */
#include "publish_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support_vulkan_image.h"

/*
 * A tensor with the pattern of one level and layer as floats, one plane per channel. Converting it
 * needs a kernel.
 */
static gr_tensor *make_floats(const struct vulkan_image *image, unsigned level, unsigned layer)
{
    const size_t size = vulkan_image_bytes(image, level), count = size / 4;
    unsigned char *bytes = must_allocate(size);
    float *values = must_allocate(4 * size);
    const int64_t width = vulkan_image_width(image, level);
    const int64_t height = vulkan_image_height(image, level);
    const int64_t flat[] = {4, height, width},
                  deep[] = {4, (int64_t)count / height / width, height, width};
    const bool volume = image->shape->slices > 1;
    vulkan_image_pattern(image, level, layer, 2, bytes);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 4; c++)
            values[c * count + i] = (float)bytes[4 * i + c] / 255;
    gr_tensor *tensor =
        tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, volume ? 4 : 3, volume ? deep : flat, values);
    free(values);
    free(bytes);
    return tensor;
}

static void check_shape(const struct vulkan_shape *shape, unsigned flags)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, shape->name, 13, 13, 2,
                                             VK_IMAGE_USAGE_STORAGE_BIT, flags);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    for (unsigned level = 0; level < 2; level++)
        for (unsigned layer = 0; layer < shape->layers; layer++) {
            const gr_publish_options o =
                GR_INIT(gr_publish_options, .level = level, .layer = layer);
            assert_ok(gr_buffer_publish(buffer, make_floats(&image, level, layer), &o, fx.stream));
            tensors_end();
        }
    must_release(buffer); /* the image is read without semaphores */
    assert_vulkan_image(&image, 2);
    gr_resource_free(image.resource);
}

GROUP("vulkan_shapes", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(publish_writes_each_level_and_layer_of_a_vulkan_image, vulkan_shape_count)
{
    need_publish_kernels();
    check_shape(&vulkan_shapes[_i], GR_SURFACE_LOAD_STORE);
    check_shape(&vulkan_shapes[_i], GR_READ_WRITE);
}

/* A tensor with the pattern of all layers, which `bytes` gets, or of all slices of a 3D image. */
static gr_tensor *make_layers(const struct vulkan_image *image, unsigned level, gr_layout layout,
                              unsigned char *bytes)
{
    const int64_t width = vulkan_image_width(image, level);
    const int64_t height = vulkan_image_height(image, level);
    const size_t size = vulkan_image_bytes(image, level), pixels = (size_t)(width * height);
    const size_t count = image->shape->layers * size;
    const int64_t n = (int64_t)(count / pixels / 4);
    const int64_t hwc[] = {n, height, width, 4}, chw[] = {n, 4, height, width};
    unsigned char *texels = must_allocate(count);
    for (unsigned layer = 0; layer < image->shape->layers; layer++)
        vulkan_image_pattern(image, level, layer, 2, texels + layer * size);
    for (size_t i = 0; i < count; i++) {
        const size_t planar = (i / 4 / pixels * 4 + i % 4) * pixels + i / 4 % pixels;
        bytes[layout == GR_LAYOUT_CHW ? planar : i] = texels[i];
    }
    free(texels);
    return tensor_of(GR_DTYPE_U8, layout, 4, layout == GR_LAYOUT_CHW ? chw : hwc, bytes);
}

static void check_layers(const struct vulkan_shape *shape, gr_layout layout, unsigned flags)
{
    static unsigned char bytes[16384], got[16384];
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, shape->name, 13, 13, 2,
                                             VK_IMAGE_USAGE_STORAGE_BIT, flags);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    for (unsigned level = 0; level < 2; level++) {
        const gr_publish_options o =
            GR_INIT(gr_publish_options, .level = level, .layer = GR_ALL_LAYERS);
        const size_t size = shape->layers * vulkan_image_bytes(&image, level);
        gr_tensor *tensor = make_layers(&image, level, layout, bytes);
        assert_ok(gr_buffer_publish(buffer, tensor, &o, fx.stream));
        CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, size, fx.stream));
        assert_ok(gr_buffer_fetch(buffer, tensor, &o, fx.stream));
        tensor_to_host(tensor, got, size);
        ck_assert_mem_eq(got, bytes, size);
        tensors_end();
    }
    must_release(buffer);
    assert_vulkan_image(&image, 2);
    gr_resource_free(image.resource);
}

VULKAN_TEST(a_tensor_has_all_layers_of_a_vulkan_image, vulkan_shape_count)
{
    const struct vulkan_shape *shape = &vulkan_shapes[_i];
    need_publish_kernels();
    for (int surface = 0; surface < 2; surface++) {
        const unsigned flags = surface ? GR_SURFACE_LOAD_STORE : GR_READ_WRITE;
        check_layers(shape, GR_LAYOUT_HWC, flags);
        if (shape->slices == 1) /* a 3D image has its channels before the slices */
            check_layers(shape, GR_LAYOUT_CHW, flags);
    }
}

GROUP("vulkan", add_vulkan_case, add_copied_vulkan_case)

/* Publishes a tensor with the option `bgr`, reads the image, and ends it. */
static gr_buffer *publish_bgr(struct vulkan_image *image, gr_tensor *tensor, unsigned char *got)
{
    vulkan_image_fill(image, 1);
    gr_buffer *buffer = must_map_vulkan(image);
    assert_ok(
        gr_buffer_publish(buffer, tensor, &GR_INIT(gr_publish_options, .bgr = true), fx.stream));
    image_get(buffer, 0, 0, got);
    return buffer;
}

/*
 * An image in the order blue, green, red needs a tensor that begins with blue, or the option `bgr`.
 */
VULKAN_TEST(rgb_is_published_to_a_bgr_image_with_the_bgr_option)
{
    need_publish_kernels();
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_B8G8R8A8_UNORM, "2D", 8, 1, 1, 0, GR_SURFACE_LOAD_STORE);
    unsigned char rgb[24], got[32];
    pattern_fill(rgb, sizeof(rgb), 4);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, (const int64_t[]){1, 8, 3}, rgb);
    gr_buffer *buffer = publish_bgr(&image, tensor, got);
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 3; c++)
            ck_assert_int_eq(got[4 * i + c], rgb[3 * i + 2 - c]);
    vulkan_image_end(&image, buffer);
    tensors_end();
}

VULKAN_TEST(yuv_is_published_to_and_fetched_from_a_bgr_image_with_the_bgr_option)
{
    need_publish_kernels();
    static const unsigned char red[] = {63, 63, 63, 63, 102, 102, 102, 102, 240, 240, 240, 240};
    static const int64_t shape[] = {3, 1, 4};
    unsigned char got[16];
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_B8G8R8A8_UNORM, "2D", 4, 1, 1, 0, GR_SURFACE_LOAD_STORE);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, shape, red);
    gr_buffer *buffer = publish_bgr(&image, tensor, got);
    for (int i = 0; i < 16; i += 4)
        ck_assert(got[i] == 0 && got[i + 1] <= 1 && got[i + 2] == 255 && got[i + 3] == 255);
    gr_tensor *back = tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, shape, got);
    assert_ok(gr_buffer_fetch(buffer, back, &GR_INIT(gr_publish_options, .bgr = true), fx.stream));
    tensor_to_host(back, got, 12);
    for (int i = 0; i < 12; i++)
        ck_assert(abs(got[i] - red[i]) <= 1);
    vulkan_image_end(&image, buffer);
    tensors_end();
}

static float part_of(uint32_t texel, int c)
{
    return c < 3 ? (float)(texel >> 10 * c & 1023) / 1023 : (float)(texel >> 30) / 3;
}

VULKAN_TEST(images_of_10_10_10_2_bits_are_converted, 2)
{
    need_publish_kernels();
    static const int64_t hwc[] = {3, 13, 4}, chw[] = {3, 3, 13}, plane[] = {9, 13};
    static const int64_t small[] = {3, 12, 4};
    uint32_t texels[39], got[39];
    float values[156], back[156];
    uint16_t luma[117];
    struct vulkan_image image = vulkan_image(VK_FORMAT_A2B10G10R10_UNORM_PACK32, "2D", 13, 3, 1,
                                             _i ? VK_IMAGE_USAGE_STORAGE_BIT : 0,
                                             _i ? GR_SURFACE_LOAD_STORE : GR_READ_WRITE);
    /* 13 x 3 texels, some of which are converted one by one */
    for (uint32_t i = 0; i < 39; i++)
        texels[i] = (i * 26) | (1023 - i * 17) << 10 | (i * i % 1024) << 20 | (i % 4) << 30;
    for (int i = 0; i < 156; i++)
        values[i] = part_of(texels[i / 4], i % 4);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    gr_tensor *floats = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 3, hwc, values);
    assert_ok(gr_buffer_publish(buffer, floats, NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    ck_assert_mem_eq(got, texels, sizeof(got));
    floats = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 3, hwc, NULL);
    assert_ok(gr_buffer_fetch(buffer, floats, NULL, fx.stream));
    tensor_to_host(floats, back, sizeof(back));
    for (int i = 0; i < 156; i++)
        ck_assert_float_eq_tol(back[i], values[i], 1e-7f);
    /* blue becomes red: values above 1 and below 0 are clamped */
    for (int i = 0; i < 117; i++)
        values[i] = i < 39 ? 1 : i < 78 ? 2 : -1;
    assert_ok(gr_buffer_publish(
        buffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, 3, chw, values),
        &GR_INIT(gr_publish_options, .bgr = true, .alpha = &(const float){0.3f}), fx.stream));
    image_get(buffer, 0, 0, got);
    for (int i = 0; i < 39; i++)
        ck_assert_uint_eq(got[i], 1023u << 10 | 1023u << 20 | 1u << 30);
    gr_tensor *yuv = tensor_of(GR_DTYPE_U16, GR_LAYOUT_YUV444, 2, plane, NULL);
    assert_ok(gr_buffer_fetch(buffer, yuv, &GR_INIT(gr_publish_options, .bits = 10), fx.stream));
    tensor_to_host(yuv, luma, sizeof(luma));
    for (int i = 0; i < 39; i++)
        ck_assert_int_eq(luma[i], (int)(64 + 876 * (1 - 0.2126) + 0.5));
    assert_fails(
        gr_buffer_publish(buffer, yuv, &GR_INIT(gr_publish_options, .bits = 10), fx.stream),
        GR_ERR_UNSUPPORTED, 0, "the 10:10:10:2 image is (3, 13, 4)");
    assert_invalid(gr_buffer_publish(buffer,
                                     tensor_of(GR_DTYPE_U16, GR_LAYOUT_SHAPE, 3, small, NULL), NULL,
                                     fx.stream),
                   "the 10:10:10:2 image is (3, 13, 4)");
    vulkan_image_end(&image, buffer);
    tensors_end();
}

/* OpenGL and CUDA do not share such images, but Vulkan and CUDA do. */
VULKAN_TEST(signed_normalized_images_represent_minus_1_to_1)
{
    need_publish_kernels();
    static const float values[] = {-2, -1, -0.5f, 0, 0.25f, 1, 2, NAN};
    static const signed char texels[] = {-127, -127, -64, 0, 32, 127, 127, 0};
    static const int64_t shape[] = {1, 8};
    float read[8];
    signed char bytes[8] = {-128, 127};
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8_SNORM, "2D", 8, 1, 1, 0, GR_SURFACE_LOAD_STORE);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    gr_tensor *floats = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, shape, values);
    gr_tensor *least = tensor_of(GR_DTYPE_I8, GR_LAYOUT_SHAPE, 2, shape, bytes);
    assert_ok(gr_buffer_publish(buffer, floats, NULL, fx.stream));
    image_get(buffer, 0, 0, (unsigned char *)bytes);
    ck_assert_mem_eq(bytes, texels, sizeof(texels));
    assert_ok(gr_buffer_publish(buffer, least, NULL, fx.stream));
    assert_ok(gr_buffer_fetch(buffer, floats, NULL, fx.stream));
    tensor_to_host(floats, read, sizeof(read));
    ck_assert(read[0] == -1 && read[1] == 1 && read[2] == 0);
    vulkan_image_end(&image, buffer);
    tensors_end();
}

VULKAN_TEST(a_vulkan_buffer_returns_the_published_bytes)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(96);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
    unsigned char bytes[48], got[48];
    const int64_t shape[] = {4, 3};
    pattern_fill(bytes, sizeof(bytes), 9);
    gr_tensor *tensor = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, shape, bytes);
    gr_tensor *back = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, shape, NULL);
    const gr_publish_options o = GR_INIT(gr_publish_options, .offset = 16);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    assert_ok(gr_fetch(resource, back, &o, fx.stream));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(got, gr_tensor_get_info(back)->ptr, sizeof(got)));
    ck_assert_mem_eq(got, bytes, sizeof(got));
    tensors_end();
}
