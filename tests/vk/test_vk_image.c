/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan images as resources: the description of a mapped image, and the contract of maps.
 * vk_image_bytes.c tests the bytes, vk_image_kernels.c kernels, vk_image_refusals.c refusals.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "tests/support/support_vulkan_image.h"

#include <string.h>

GROUP("what a mapped image reports", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(info_describes_images_of_each_shape, vulkan_shape_count)
{
    const struct vulkan_shape *shape = &vulkan_shapes[_i];
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R16G16_SFLOAT, shape->name, 26, 14, 3, 0, GR_READ_WRITE);
    gr_buffer *buffer = must_hand_over(&image);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_uint_eq(info->width, 26);
    ck_assert_uint_eq(info->height, image.info.extent.height);
    ck_assert_uint_eq(info->depth, shape->slices);
    ck_assert_uint_eq(info->levels, 3);
    ck_assert_uint_eq(info->layers, shape->layers);
    ck_assert_int_eq(info->cube, shape->cube);
    ck_assert_int_eq(info->layered, shape->layers > 1);
    ck_assert_int_eq(info->format, CU_AD_FORMAT_HALF);
    ck_assert_uint_eq(info->channels, 2);
    ck_assert_uint_eq(info->texel_bytes, 4);
    ck_assert(!info->srgb && !info->normalized);
    vulkan_image_end(&image, buffer);
}

VULKAN_TEST(info_describes_formats)
{
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_SRGB,
                                       VK_FORMAT_R8G8B8A8_UINT,
                                       VK_FORMAT_R16_SNORM,
                                       VK_FORMAT_D32_SFLOAT,
                                       VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                                       VK_FORMAT_BC1_RGBA_SRGB_BLOCK,
                                       VK_FORMAT_BC6H_UFLOAT_BLOCK};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct vulkan_image image = vulkan_image(formats[i], "2D", 8, 8, 1, 0, GR_READ_WRITE);
        gr_buffer *buffer = must_hand_over(&image);
        const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
        ck_assert_uint_eq(info->format, image.format->cuda);
        ck_assert_uint_eq(info->channels, image.format->channels);
        ck_assert_uint_eq(info->texel_bytes,
                          image.format->is & FORMAT_COMPRESSED ? 0 : image.format->element_bytes);
        ck_assert_int_eq(info->srgb, (image.format->is & FORMAT_SRGB) != 0);
        ck_assert_int_eq(info->normalized, (image.format->is & FORMAT_NORMALIZED) != 0);
        vulkan_image_end(&image, buffer);
    }
}

VULKAN_TEST(arrays_have_the_sizes_of_the_levels)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D array", 26, 14, 2, 0, GR_READ_WRITE);
    gr_buffer *buffer = must_hand_over(&image);
    assert_made(gr_buffer_mipmapped_array(buffer));
    for (unsigned level = 0; level < 2; level++) {
        CUarray array = must_make(gr_buffer_array(buffer, level, 0));
        ck_assert_ptr_eq(gr_buffer_array(buffer, level, 2), array);
        CUDA_ARRAY3D_DESCRIPTOR described;
        CU(Array3DGetDescriptor(&described, array));
        ck_assert_uint_eq(described.Width, 26 >> level);
        ck_assert_uint_eq(described.Height, 14 >> level);
        ck_assert_uint_eq(described.Depth, 3);
        ck_assert_uint_ne(described.Flags & CUDA_ARRAY3D_LAYERED, 0);
    }
    ck_assert_ptr_null(gr_buffer_array(buffer, 2, 0));
    assert_error(GR_ERR_INVALID_VALUE, 0, "level");
    ck_assert_ptr_null(gr_buffer_array(buffer, 0, 3));
    assert_error(GR_ERR_INVALID_VALUE, 0, "layer");
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    assert_error(GR_ERR_STATE, 0, "image");
    vulkan_image_end(&image, buffer);
}

GROUP("contract", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

VULKAN_TEST(copies_to_a_read_only_image_are_refused)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 8, 8, 1, 0, GR_READ_ONLY);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    unsigned char texels[8 * 8 * 4] = {0};
    const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
    assert_fails(gr_buffer_copy_from_linear(buffer, 0, 0, &from, fx.stream), GR_ERR_STATE, 0,
                 "read_only");
    must_release(buffer);
    assert_vulkan_image(&image, 1);
    gr_resource_free(image.resource);
}

VULKAN_TEST(describe_names_the_image)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R16G16B16A16_SFLOAT, "2D array", 101, 37, 1,
                                             VK_IMAGE_USAGE_STORAGE_BIT, GR_SURFACE_LOAD_STORE);
    assert_described(image.resource, "Vulkan", "image", "101", "R16G16B16A16_SFLOAT",
                     "surface_load_store");
    assert_ok(gr_resource_close(image.resource, fx.stream));
    assert_described(image.resource, "closed", "R16G16B16A16_SFLOAT");
    gr_resource_free(image.resource);
}

static struct vulkan_image steady;

static void frame(GLuint unused)
{
    (void)unused;
    gr_buffer *buffer = must_map_vulkan(&steady);
    ck_assert_ptr_nonnull(gr_buffer_array(buffer, 0, 0));
    assert_ok(gr_buffer_release(buffer));
}

VULKAN_TEST(map_and_release_allocate_nothing)
{
    need_counting();
    steady = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 64, 64, 1, VK_IMAGE_USAGE_STORAGE_BIT,
                          GR_SURFACE_LOAD_STORE);
    unordered(steady.resource);
    gr_buffer *buffer = must_hand_over(&steady);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
    must_release(buffer);
    int fds = open_fds();
    assert_allocates_nothing(frame, 0, 0, 200);
    ck_assert_int_eq(open_fds(), fds);
    gr_resource_free(steady.resource);
}
