/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Barriers between Vulkan and CUDA: 32-bit and 64-bit flags, queue families, and memory that
 * several queue families share. The validation layer is on.
 */
#include "tests/support/support_vulkan_image.h"

#include <string.h>

#define SIZE 65536

/* Copies and clears, as synchronization2 names them. */
#define WIDE_STAGES (VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT)

/* Vulkan fills a buffer between the two barriers, and CUDA reads it. */
static void check_buffer(gr_resource *resource, const gr_vk_use *use, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, use));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE,
                     (uint32_t)(unsigned char)value * 0x01010101u);
    assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, use));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_cuda_bytes(buffer, value);
    must_release(buffer);
}

GROUP("flags", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(barriers_of_buffers_accept_64_bit_flags)
{
    if (!vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = WIDE_STAGES, .access = VK_ACCESS_2_TRANSFER_WRITE_BIT);
    check_buffer(resource, &use, 0x21);
    const gr_vk_use access =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                .access = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
    check_buffer(resource, &access, 0x22);
}

/* More resources than grinterop puts into one barrier command. */
VULKAN_TEST(barriers_of_images_accept_64_bit_flags)
{
    if (!vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    gr_resource *all[40];
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1,
                                             VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    vulkan_image_fill(&image, 1);
    for (int i = 0; i < 39; i++)
        all[i] = must_create(256, GR_READ_WRITE);
    all[39] = image.resource;
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkClearColorValue colour = {.float32 = {1, 0, 1, 0}};
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = WIDE_STAGES,
                                  .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .layout = layout);
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, all, 40, &use));
    vk.CmdClearColorImage(commands, image.image, layout, &colour, 1, &range);
    vk.CmdFillBuffer(commands, gr_vk_buffer(all[38]), 0, 256, 0x31313131);
    assert_ok(gr_vk_cmd_to_cuda(commands, all, 40, &use));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_buffer *buffers[2];
    assert_ok(gr_map_many(all + 38, 2, fx.stream, NULL, buffers));
    assert_cuda_bytes(buffers[0], 0x31);
    unsigned char texels[16 * 16 * 4];
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = texels);
    assert_ok(gr_buffer_copy_to_linear(buffers[1], 0, 0, &to, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(texels[i], i % 2 ? 0 : 255);
    assert_ok(gr_buffer_release_many(buffers, 2, fx.stream, NULL));
    CU(StreamSynchronize(fx.stream));
    free_resources(all, 40);
}

/* Catches: stages beyond 32 bits were truncated. */
VULKAN_TEST(flags_of_64_bits_without_synchronization2_are_refused)
{
    gr_vk_device_desc info = vulkan_desc(NULL);
    GR_AUTO(gr_vk_device) *plain = must_make(gr_vk_device_from_vk(&info));
    const VkBufferCreateInfo create = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(plain, &create, GR_READ_WRITE));
    gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                            .access = VK_ACCESS_2_TRANSFER_WRITE_BIT);
    VkCommandBuffer commands = vulkan_begin();
    assert_fails(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "VkPhysicalDeviceSynchronization2Features");
    assert_fails(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "gr_vk_device_desc");
    use.stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    use.access = VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    assert_fails(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), GR_ERR_UNSUPPORTED, 0,
                 "synchronization2");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    use.access = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    check_buffer(resource, &use, 0x41);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL without_barriers(VkDevice device, const char *name)
{
    return strncmp(name, "vkCmdPipelineBarrier2", 21) == 0 ? NULL
                                                           : vulkan_device_function(device, name);
}

VULKAN_TEST(a_device_without_vkCmdPipelineBarrier2_is_refused)
{
    gr_vk_device_desc info = vulkan_desc(without_barriers);
    info.synchronization2 = true;
    assert_null_invalid(gr_vk_device_from_vk(&info), "vkCmdPipelineBarrier2");
}

GROUP("queue families", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(a_wrong_queue_family_is_refused)
{
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    uint32_t family = vk.h->graphics_family;
    gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                            .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .queue_family = &family);
    check_buffer(resource, &use, 0x51);
    VkCommandBuffer commands = vulkan_begin();
    family = VK_QUEUE_FAMILY_EXTERNAL;
    assert_invalid(gr_vk_cmd_to_cuda(commands, &resource, 1, &use), "VK_QUEUE_FAMILY_EXTERNAL");
    family = 1000;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "1000");
    family = VK_QUEUE_FAMILY_IGNORED;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "families");
    use.queue_family = NULL;
    use.stages = 0;
    assert_invalid(gr_vk_cmd_from_cuda(commands, &resource, 1, &use), "`after->stages` is 0");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}

/*
 * Lists two different families if the device has them. Vulkan does not allow the same family twice.
 */
static uint32_t list_families(uint32_t families[2])
{
    families[0] = vk.h->graphics_family;
    families[1] = vk.h->compute != VK_NULL_HANDLE ? vk.h->compute_family : vk.h->transfer_family;
    return vk.h->compute != VK_NULL_HANDLE || vk.h->transfer != VK_NULL_HANDLE ? 2 : 1;
}

/*
 * Resources that several families share are owned by no family, so no ownership is transferred: the
 * validation layer refuses a barrier that names a family.
 */
VULKAN_TEST(barriers_of_concurrent_resources_name_no_family)
{
    uint32_t families[2];
    if (list_families(families) < 2)
        skip("this Vulkan device has one queue family");
    VkBufferCreateInfo create = vulkan_buffer_info(SIZE);
    create.sharingMode = VK_SHARING_MODE_CONCURRENT;
    create.queueFamilyIndexCount = 2;
    create.pQueueFamilyIndices = families;
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_vk_buffer(vk.wrap, &create, GR_READ_WRITE));
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_WRITE_BIT, .queue_family = &families[0]);
    check_buffer(resource, &use, 0x61);
}
