/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images that are refused. */
#include "tests/support/support_vulkan_image.h"

#include <string.h>

GROUP("images that are refused", add_vulkan_case, add_copied_vulkan_case)

static VkImageCreateInfo good_info(const char *shape)
{
    return vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape(shape), 16, 16,
                             1, 0);
}

/* test_vk_format has all formats. */
VULKAN_TEST(images_of_unsupported_formats_are_refused)
{
    VkImageCreateInfo info = good_info("2D");
    info.format = VK_FORMAT_R8G8B8_UNORM;
    assert_null(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "VK_FORMAT_R8G8B8_UNORM: CUDA has no arrays with 3 channels. Use "
                "VK_FORMAT_R8G8B8A8_UNORM.");
    ck_assert_ptr_null(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    ck_assert_str_eq(gr_last_error()->call, "gr_create_vk_image");
}

/* The layout after the barrier must be one to which an image can be transitioned. */
VULKAN_TEST(undefined_layouts_are_refused)
{
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, 0, GR_READ_WRITE);
    gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                .access = VK_ACCESS_TRANSFER_WRITE_BIT, .layout = VK_IMAGE_LAYOUT_UNDEFINED);
    VkCommandBuffer commands = vulkan_begin();
    assert_invalid(gr_vk_cmd_from_cuda(commands, &image.resource, 1, &use),
                   "VK_IMAGE_LAYOUT_UNDEFINED");
    use.layout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &image.resource, 1, &use),
                   "VK_IMAGE_LAYOUT_PREINITIALIZED");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_resource_free(image.resource);
}

VULKAN_TEST(invalid_image_create_infos_are_refused)
{
#define FIELD(name) offsetof(VkImageCreateInfo, name)
    static const struct {
        const char *shape;
        size_t field;
        uint32_t value;
        gr_status status;
        const char *text;
    } rows[] = {
        {"2D", FIELD(extent.width), 0, GR_ERR_INVALID_VALUE, "extent"},
        {"2D", FIELD(extent.height), 0, GR_ERR_INVALID_VALUE, "extent"},
        {"2D", FIELD(extent.depth), 0, GR_ERR_INVALID_VALUE, "extent"},
        {"2D", FIELD(extent.depth), 2, GR_ERR_INVALID_VALUE,
         "A 2D image cannot have the extent 16x16x2"},
        {"1D", FIELD(extent.height), 2, GR_ERR_INVALID_VALUE,
         "A 1D image cannot have the extent 16x2"},
        {"3D", FIELD(arrayLayers), 2, GR_ERR_INVALID_VALUE, "layers"},
        {"cube", FIELD(arrayLayers), 5, GR_ERR_INVALID_VALUE, "6"},
        {"cube", FIELD(extent.height), 8, GR_ERR_INVALID_VALUE, "square"},
        {"2D", FIELD(mipLevels), 0, GR_ERR_INVALID_VALUE, "mipLevels is 0"},
        {"2D", FIELD(arrayLayers), 0, GR_ERR_INVALID_VALUE, "arrayLayers 0"},
        {"2D", FIELD(samples), 0, GR_ERR_INVALID_VALUE, "samples 0"},
        {"2D", FIELD(sType), VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, GR_ERR_INVALID_VALUE,
         "VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO"},
        {"2D", FIELD(mipLevels), 6, GR_ERR_INVALID_VALUE, "levels"},
        {"2D", FIELD(imageType), 99, GR_ERR_INVALID_VALUE, "99 is not a VkImageType"},
        {"2D", FIELD(usage), 0, GR_ERR_INVALID_VALUE, "`usage` is 0"},
        {"2D", FIELD(samples), VK_SAMPLE_COUNT_4_BIT, GR_ERR_UNSUPPORTED,
         "this one has 4 samples per pixel: share an image with one sample, and resolve into it by "
         "vkCmdResolveImage, or depth by a resolve attachment"},
        {"2D", FIELD(flags), VK_IMAGE_CREATE_SPARSE_BINDING_BIT, GR_ERR_UNSUPPORTED, "flags 0x1"},
        {"2D", FIELD(tiling), VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT, GR_ERR_UNSUPPORTED,
         "VK_IMAGE_TILING_OPTIMAL"},
    };
#undef FIELD
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        VkImageCreateInfo info = good_info(rows[i].shape);
        memcpy((char *)&info + rows[i].field, &rows[i].value, sizeof(rows[i].value));
        assert_null(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE), rows[i].status, 0,
                    rows[i].text);
    }
}

VULKAN_TEST(wrong_flags_are_refused)
{
    const VkImageCreateInfo info = good_info("2D");
    assert_null_invalid(gr_create_vk_image(vk.wrap, &info, GR_READ_ONLY | GR_WRITE_DISCARD),
                        "write_discard");
    assert_null_invalid(gr_create_vk_image(vk.wrap, &info, 0x100), "bits");
}

static void check_first_map(gr_resource *resource, bool refused)
{
    assert_made(resource);
    if (refused)
        assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "because it is new");
    else
        must_release(must_make(gr_map(resource, fx.stream)));
    gr_resource_free(resource);
}

/*
 * Images have a layout, and copied buffers of the application have contents: both are Vulkan's
 * until a submit hands them over.
 */
VULKAN_TEST(a_new_object_is_mapped_before_a_submit_only_if_that_loses_nothing)
{
    static const unsigned all[] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD};
    const VkBufferCreateInfo buffer_info = vulkan_buffer_info(256);
    const VkImageCreateInfo image_info = good_info("2D");
    struct vulkan_own own = vulkan_own(256, false);
    struct vulkan_image image =
        vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, false, GR_READ_WRITE);
    const gr_vk_buffer_desc buffer =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = 256, .dedicated = own.dedicated);
    image.own.create_info = &image.info;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        gr_resource *given = must_make(gr_from_vk_buffer(vk.wrap, &buffer, all[i]));
        const bool copied = gr_resource_get_info(given)->transport != GR_TRANSPORT_EXTERNAL;
        check_first_map(given, copied && all[i] != GR_WRITE_DISCARD);
        check_first_map(gr_create_vk_buffer(vk.wrap, &buffer_info, all[i]), false);
        check_first_map(gr_create_vk_image(vk.wrap, &image_info, all[i]), true);
        check_first_map(gr_from_vk_image(vk.wrap, &image.own, all[i]), true);
    }
    vulkan_image_own_free(&image);
    vulkan_own_free(&own);
}

VULKAN_TEST(wrong_offsets_and_sizes_of_memory_are_refused)
{
    struct vulkan_image image =
        vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, false, GR_READ_WRITE);
    gr_vk_image_desc good = image.own;
    good.create_info = &image.info;
#define FIELD(name) offsetof(gr_vk_image_desc, name), sizeof(good.name)
    const struct {
        size_t field, size;
        uint64_t value;
        const char *text;
    } rows[] = {
        {FIELD(offset), good.memory_size, "offset"},
        {FIELD(memory_size), 0, "memory_size"},
        {FIELD(memory), 0, "memory"},
        {FIELD(create_info), 0, "create_info"},
        {FIELD(image), 0, "`image` is"},
        {FIELD(struct_size), 0, "GR_INIT(gr_vk_image_desc"},
    };
#undef FIELD
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        gr_vk_image_desc info = good;
        memcpy((char *)&info + rows[i].field, &rows[i].value, rows[i].size);
        if (!info.memory && (vk.copies || fx.device != 0)) /* copies need no memory */
            gr_resource_free(must_make(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE)));
        else
            assert_null_invalid(gr_from_vk_image(vk.wrap, &info, GR_READ_WRITE), rows[i].text);
    }
    vulkan_image_own_free(&image);
}
