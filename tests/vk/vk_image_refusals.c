/* SPDX-License-Identifier: Apache-2.0 */
/* Formats: what CUDA has and how, what it has not and why; and images that are refused. */
#include "vk_image_tests.h"

#include <stdio.h>
#include <string.h>

/* The formats of Vulkan 1.0 have the numbers up to this one. */
#define LAST_FORMAT VK_FORMAT_ASTC_12x12_SRGB_BLOCK

static void check_known(const struct vulkan_format *format, const gr_vk_format_info *info)
{
    ck_assert_str_eq(info->name, format->name);
    ck_assert_msg(info->format == format->cuda && info->channels == format->channels &&
                      info->normalized == ((format->is & FORMAT_NORMALIZED) != 0) &&
                      info->srgb == ((format->is & FORMAT_SRGB) != 0) &&
                      info->depth == ((format->is & FORMAT_DEPTH) != 0) &&
                      info->swapped == ((format->is & FORMAT_SWAPPED) != 0),
                  "%s: CUDA's format is 0x%x x %u, normalized %d, srgb %d, depth %d, swapped %d",
                  info->name, (unsigned)info->format, info->channels, info->normalized, info->srgb,
                  info->depth, info->swapped);
}

GROUP("formats", add_vulkan_case)

TEST(every_format_is_cudas_or_refused_with_its_reason)
{
    for (int i = 0; i <= (int)LAST_FORMAT; i++) {
        const struct vulkan_format *format = vulkan_format((VkFormat)i);
        if (format) {
            const gr_vk_format_info *info = gr_vk_format((VkFormat)i);
            assert_made(info);
            check_known(format, info);
        } else {
            assert_null(gr_vk_format((VkFormat)i), GR_ERR_UNSUPPORTED, 0, "VK_FORMAT_");
        }
    }
}

TEST(unknown_formats_are_refused)
{
    assert_null(gr_vk_format((VkFormat)123456), GR_ERR_UNSUPPORTED, 0, "123456");
}

static const struct {
    VkFormat format;
    const char *name, *instead;
} refused[] = {
    {VK_FORMAT_UNDEFINED, "VK_FORMAT_UNDEFINED", ""},
    {VK_FORMAT_R8G8B8_UNORM, "VK_FORMAT_R8G8B8_UNORM", "VK_FORMAT_R8G8B8A8_UNORM"},
    {VK_FORMAT_R32G32B32_SFLOAT, "VK_FORMAT_R32G32B32_SFLOAT", "VK_FORMAT_R32G32B32A32_SFLOAT"},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, "VK_FORMAT_A2B10G10R10_UNORM_PACK32", "VK_FORMAT_R16"},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, "VK_FORMAT_B10G11R11_UFLOAT_PACK32", "SFLOAT"},
    {VK_FORMAT_D16_UNORM, "VK_FORMAT_D16_UNORM", "VK_FORMAT_D32_SFLOAT"},
    {VK_FORMAT_D24_UNORM_S8_UINT, "VK_FORMAT_D24_UNORM_S8_UINT", "VK_FORMAT_D32_SFLOAT"},
    {VK_FORMAT_S8_UINT, "VK_FORMAT_S8_UINT", "VK_FORMAT_R8_UINT"},
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, "VK_FORMAT_BC1_RGB_UNORM_BLOCK", "VK_FORMAT_R8G8B8A8_UNORM"},
    {VK_FORMAT_R64_SFLOAT, "VK_FORMAT_R64_SFLOAT", "VK_FORMAT_R32G32_UINT"},
    {VK_FORMAT_R8_USCALED, "VK_FORMAT_R8_USCALED", "VK_FORMAT_R8_UINT"},
};

/* The message names the format, and one to use instead. */
VULKAN_IMAGE_TEST(images_of_other_formats_are_refused, sizeof(refused) / sizeof(refused[0]))
{
    VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8_UNORM), vulkan_shape("2D"), 8, 8, 1, 0);
    info.format = refused[_i].format;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                refused[_i].name);
    ck_assert_ptr_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE));
    assert_error(GR_ERR_UNSUPPORTED, 0, refused[_i].instead);
}

GROUP("images that are refused", add_vulkan_case)

static VkImageCreateInfo good_info(const char *shape)
{
    return vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape(shape), 16, 16,
                             1, 0);
}

VULKAN_IMAGE_TEST(multisampled_images_are_refused)
{
    VkImageCreateInfo info = good_info("2D");
    info.samples = VK_SAMPLE_COUNT_4_BIT;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0, "sample");
}

VULKAN_IMAGE_TEST(linear_images_of_several_levels_or_layers_are_refused)
{
    VkImageCreateInfo info = good_info("2D array");
    info.tiling = VK_IMAGE_TILING_LINEAR;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "LINEAR");
    info = good_info("2D");
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.mipLevels = 2;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "LINEAR");
}

VULKAN_IMAGE_TEST(what_cuda_does_not_know_is_refused)
{
    VkImageCreateInfo info = good_info("2D");
    info.imageType = (VkImageType)99;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "99 is no VkImageType");
    info = good_info("2D");
    info.usage = 0;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "`usage` is 0");
    info = good_info("2D");
    info.flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "flags 0x1");
    info = good_info("2D");
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "VK_IMAGE_TILING_OPTIMAL");
}

/* The layout that an image is used in next is one that it can be brought into. */
VULKAN_IMAGE_TEST(layouts_that_nothing_is_brought_into_are_refused)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, 0, GR_READ_WRITE);
    gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                .access = VK_ACCESS_TRANSFER_WRITE_BIT, .layout = VK_IMAGE_LAYOUT_UNDEFINED);
    VkCommandBuffer commands = vulkan_begin();
    assert_fails(gr_vk_cmd_from_cuda(commands, &image.resource, 1, &use), GR_ERR_INVALID_VALUE, 0,
                 "VK_IMAGE_LAYOUT_UNDEFINED");
    use.layout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    assert_fails(gr_vk_cmd_from_cuda(commands, &image.resource, 1, &use), GR_ERR_INVALID_VALUE, 0,
                 "VK_IMAGE_LAYOUT_PREINITIALIZED");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_resource_free(image.resource);
}

VULKAN_IMAGE_TEST(impossible_images_are_refused)
{
#define FIELD(name) offsetof(VkImageCreateInfo, name)
    static const struct {
        const char *shape;
        size_t field;
        uint32_t value;
        const char *text;
    } rows[] = {
        {"2D", FIELD(extent.width), 0, "extent"},
        {"2D", FIELD(extent.height), 0, "extent"},
        {"2D", FIELD(extent.depth), 0, "extent"},
        {"2D", FIELD(extent.depth), 2, "A 2D image cannot have the extent 16x16x2"},
        {"1D", FIELD(extent.height), 2, "A 1D image cannot have the extent 16x2"},
        {"3D", FIELD(arrayLayers), 2, "layers"},
        {"cube", FIELD(arrayLayers), 5, "6"},
        {"cube", FIELD(extent.height), 8, "square"},
        {"2D", FIELD(mipLevels), 0, "mipLevels is 0"},
        {"2D", FIELD(arrayLayers), 0, "arrayLayers 0"},
        {"2D", FIELD(samples), 0, "samples 0"},
        {"2D", FIELD(sType), VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
         "VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO"},
        {"2D", FIELD(mipLevels), 6, "levels"},
    };
#undef FIELD
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        VkImageCreateInfo info = good_info(rows[i].shape);
        memcpy((char *)&info + rows[i].field, &rows[i].value, sizeof(rows[i].value));
        assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                    rows[i].text);
    }
}

VULKAN_IMAGE_TEST(wrong_flags_and_null_are_refused)
{
    const VkImageCreateInfo info = good_info("2D");
    assert_null(gr_vk_image_create(vk.wrap, &info, GR_READ_ONLY | GR_WRITE_DISCARD),
                GR_ERR_INVALID_VALUE, 0, "write_discard");
    assert_null(gr_vk_image_create(vk.wrap, &info, 0x100), GR_ERR_INVALID_VALUE, 0, "bits");
    assert_null(gr_vk_image_create(NULL, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0, "device");
    assert_null(gr_vk_image_create(vk.wrap, NULL, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_from_vk_image(vk.wrap, NULL, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0, "NULL");
}

VULKAN_IMAGE_TEST(wrong_places_in_memory_are_refused)
{
    struct vulkan_image image =
        vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, false, GR_READ_WRITE);
    gr_vk_image_desc good = image.own;
    good.create_info = &image.info;
    gr_vk_image_desc info = good;
    info.offset = info.memory_size;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0, "offset");
    info = good;
    info.memory_size = 0;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "memory_size");
    info = good;
    info.memory = VK_NULL_HANDLE;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0, "memory");
    info = good;
    info.create_info = NULL;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "create_info");
    info = good;
    info.image = VK_NULL_HANDLE;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "`image` is");
    info = good;
    info.struct_size = 0;
    assert_null(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_INVALID_VALUE, 0,
                "GR_INIT(gr_vk_image_desc");
    vulkan_image_own_free(&image);
}
