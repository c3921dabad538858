/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bytes of Vulkan images in both directions: every format that CUDA supports with every shape,
 * and every level and layer, with odd sizes.
 */
#include "tests/support/support_vulkan_image.h"

#include <stdio.h>
#include <string.h>

static void note(const struct vulkan_image *image, const char *what)
{
    note_difference("%s %s: %s", image->format->name, image->shape->name, what);
}

/* CUDA reads texels that Vulkan wrote, and then Vulkan reads texels that CUDA wrote. */
static void check_bytes(struct vulkan_image *image)
{
    vulkan_image_fill(image, 1);
    gr_buffer *buffer = gr_map(image->resource, fx.stream);
    if (!buffer) {
        note(image, error_text());
        return;
    }
    const char *difference = cuda_image_differs(buffer, image, 1);
    if (difference)
        note(image, difference);
    cuda_image_fill(buffer, image, 2);
    must_release(buffer);
    difference = vulkan_image_differs(image, 2);
    if (difference)
        note(image, difference);
}

/* The number of formats that this device can share in this shape. */
static unsigned check_formats(const struct vulkan_shape *shape, unsigned width, unsigned height,
                              unsigned levels)
{
    unsigned count = 0;
    for (size_t i = 0; i < vulkan_format_count; i++) {
        const struct vulkan_format *format = &vulkan_formats[i];
        const VkImageCreateInfo info =
            vulkan_image_info(format, shape, width, height, levels, VK_IMAGE_USAGE_SAMPLED_BIT);
        if (!vulkan_image_possible(&info))
            continue;
        struct vulkan_image image = vulkan_image_try(format, shape, width, height, levels,
                                                     VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
        if (!image.resource)
            note(&image, error_text());
        else
            check_bytes(&image);
        gr_resource_free(image.resource);
        count++;
    }
    return count;
}

GROUP("bytes", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)
TAG("bytes")

VULKAN_TEST(every_format_passes_both_ways, vulkan_shape_count)
{
    const struct vulkan_shape *shape = &vulkan_shapes[_i];
    unsigned count = check_formats(shape, 13, 7, 3);
    printf("%s: %u of %zu formats\n", shape->name, count, vulkan_format_count);
    ck_assert_uint_ge(count, 30);
}

/* ---- Sizes and levels ------------------------------------------------------------------------ */

static const struct {
    const char *shape;
    unsigned width, height, levels;
} sizes[] = {
    {"2D", 1, 1, 1},    {"2D", 101, 37, 1}, {"2D", 101, 37, 7},       {"2D", 640, 480, 10},
    {"2D", 1, 200, 1},  {"2D", 1000, 1, 1}, {"2D array", 101, 37, 7}, {"cube", 37, 37, 6},
    {"3D", 101, 37, 7}, {"1D", 1001, 1, 5}, {"1D array", 1001, 1, 2}, {"cube array", 33, 33, 2},
};

VULKAN_TEST(many_sizes_pass_both_ways, sizeof(sizes) / sizeof(sizes[0]))
{
    static const VkFormat formats[] = {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8B8A8_UNORM,
                                       VK_FORMAT_R32G32B32A32_SFLOAT};
    for (int i = 0; i < 3; i++) {
        struct vulkan_image image =
            vulkan_image(formats[i], sizes[_i].shape, sizes[_i].width, sizes[_i].height,
                         sizes[_i].levels, 0, GR_READ_WRITE);
        check_bytes(&image);
        gr_resource_free(image.resource);
    }
}

VULKAN_TEST(images_of_each_usage_pass_both_ways)
{
    static const struct {
        VkFormat format;
        VkImageUsageFlags usage;
    } used[] = {
        {VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_STORAGE_BIT},
        {VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
        {VK_FORMAT_R32G32B32A32_SFLOAT,
         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_STORAGE_BIT},
        {VK_FORMAT_D32_SFLOAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT},
    };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        struct vulkan_image image =
            vulkan_image(used[i].format, "2D", 101, 37, 1, used[i].usage, GR_READ_WRITE);
        check_bytes(&image);
        gr_resource_free(image.resource);
    }
}

/* The NVIDIA driver creates CUDA arrays of some linear images, but their texels are wrong. */
VULKAN_TEST(linear_images_pass_both_ways_only_if_they_are_copied)
{
    struct vulkan_image image = {.format = vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                 .shape = vulkan_shape("2D")};
    image.info =
        vulkan_image_info(image.format, image.shape, 64, 64, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
    image.info.tiling = VK_IMAGE_TILING_LINEAR;
    image.resource = gr_create_vk_image(vk.wrap, &image.info, GR_READ_WRITE);
    if (!vk.copies && fx.device == 0) {
        ck_assert_ptr_null(image.resource);
        assert_error(GR_ERR_UNSUPPORTED, 0,
                     "use VK_IMAGE_TILING_OPTIMAL, or a buffer (gr_create_vk_buffer())");
        return;
    }
    image.image = gr_vk_image(must_make(image.resource));
    check_bytes(&image);
    gr_resource_free(image.resource);
}

/* The case runs for each kind of queue that the device may have. */
VULKAN_TEST(images_pass_both_ways_on_each_kind_of_queue, 3)
{
    const VkQueue queues[] = {vk.h->graphics, vk.h->compute, vk.h->transfer};
    const uint32_t families[] = {vk.h->graphics_family, vk.h->compute_family,
                                 vk.h->transfer_family};
    if (queues[_i] == VK_NULL_HANDLE)
        skip("the device has no such queue of its own");
    vulkan_use_queue(queues[_i], families[_i]);
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 128, 64, 1, 0, GR_READ_WRITE);
    for (int frame = 0; frame < 3; frame++)
        check_bytes(&image);
    gr_resource_free(image.resource);
}

/* ---- From the application -------------------------------------------------------------------- */

VULKAN_TEST(application_images_pass_both_ways, 2)
{
    for (size_t i = 0; i < vulkan_shape_count; i++) {
        struct vulkan_image image = vulkan_image_own(
            VK_FORMAT_R8G8B8A8_UNORM, vulkan_shapes[i].name, 101, 37, 2, _i == 1, GR_READ_WRITE);
        ck_assert(gr_vk_image(image.resource) == image.image);
        ck_assert(gr_vk_memory(image.resource) == image.own.memory);
        ck_assert(gr_vk_buffer(image.resource) == VK_NULL_HANDLE);
        check_bytes(&image);
        vulkan_image_own_free(&image);
    }
}

/* ---- Other access paths ---------------------------------------------------------------------- */

VULKAN_TEST(a_linear_map_passes_one_level_and_layer)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D array", 101, 37, 2, 0, GR_READ_WRITE);
    static unsigned char got[50 * 18 * 4], wanted[50 * 18 * 4];
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_make(gr_map_linear(image.resource, 1, 2, fx.stream));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = gr_buffer_ptr(buffer),
                          .srcPitch = gr_buffer_get_info(buffer)->pitch,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .dstPitch = 50 * 4,
                          .WidthInBytes = 50 * 4,
                          .Height = 18};
    CU(Memcpy2DAsync(&copy, fx.stream));
    CU(StreamSynchronize(fx.stream));
    vulkan_image_pattern(&image, 1, 2, 1, wanted);
    ck_assert_mem_eq(got, wanted, sizeof(got));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x77, gr_buffer_size(buffer), fx.stream));
    must_release(buffer);
    buffer = must_map_vulkan(&image);
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = got);
    assert_ok(gr_buffer_copy_to_linear(buffer, 1, 2, &to, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_bytes(got, sizeof(got), 0x77);
    assert_ok(gr_buffer_copy_to_linear(buffer, 1, 1, &to, fx.stream));
    CU(StreamSynchronize(fx.stream));
    vulkan_image_pattern(&image, 1, 1, 1, wanted);
    ck_assert_mem_eq(got, wanted, sizeof(got));
    vulkan_image_end(&image, buffer);
}

/* CUDA writes to an image that Vulkan has not used yet. */
VULKAN_TEST(vulkan_reads_an_image_that_cuda_wrote_first)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 101, 37, 3, 0, GR_WRITE_DISCARD);
    gr_buffer *buffer = must_hand_over(&image);
    cuda_image_fill(buffer, &image, 3);
    must_release(buffer);
    assert_vulkan_image(&image, 3);
    gr_resource_free(image.resource);
}

/* Vulkan writes with clears, not only with copies. */
VULKAN_TEST(cuda_reads_a_cleared_image)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 101, 37, 1, 0, GR_READ_ONLY);
    const VkClearColorValue colour = {
        .float32 = {0x40 / 255.0f, 0x40 / 255.0f, 0x40 / 255.0f, 0x40 / 255.0f}};
    static unsigned char got[101 * 37 * 4];
    vulkan_image_fill(&image, 1);
    vulkan_image_clear(&image, &colour);
    gr_buffer *buffer = must_map_vulkan(&image);
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = got);
    assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &to, fx.stream));
    must_release(buffer);
    assert_bytes(got, sizeof(got), 0x40);
    gr_resource_free(image.resource);
}
