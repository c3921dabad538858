/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Devices that share memory with CUDA, and copy the objects that CUDA cannot import: the transport
 * of each resource, the reason, and submits with resources of several transports.
 */
#include "vk_copy.h"

#include "tests/drivers/fault_driver.h"

#define SHARES (GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_PEER)

GROUP("the transport of each resource", add_vulkan_case)

static void begin_sharing(unsigned transports)
{
    copying = wrap_with(transports, vk.h->synchronization2);
}

static VkImageCreateInfo picture_info(VkImageUsageFlags usage)
{
    VkImageCreateInfo info = vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                               vulkan_shape("2D"), 64, 16, 1, 0);
    info.usage = usage;
    return info;
}

static void check_transport(gr_resource *resource, gr_transport transport, const char *why)
{
    assert_made(resource);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, transport);
    if (transport != GR_TRANSPORT_EXTERNAL)
        assert_described(resource, "was not chosen", why);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static const struct {
    unsigned allowed;
    gr_transport copies;
} sets[] = {{GR_TRANSPORT_ANY, GR_TRANSPORT_PEER},
            {SHARES, GR_TRANSPORT_PEER},
            {GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_COPY, GR_TRANSPORT_COPY}};

VULKAN_TEST(only_buffers_of_unknown_memory_are_copied, sizeof(sets) / sizeof(sets[0]))
{
    begin_sharing(sets[_i].allowed);
    ck_assert_int_eq(gr_vk_device_get_info(copying)->transport, GR_TRANSPORT_EXTERNAL);
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    const gr_vk_buffer_desc desc = hidden_buffer(false);
    gr_resource *shared = gr_create_vk_buffer(copying, &info, GR_READ_WRITE);
    gr_resource *copied = gr_from_vk_buffer(copying, &desc, GR_READ_WRITE);
    check_transport(shared, GR_TRANSPORT_EXTERNAL, "");
    check_transport(copied, sets[_i].copies,
                    fx.device == 0 ? "`memory` is VK_NULL_HANDLE" : "another device");
    check_bytes_both_ways(copied);
    check_bytes_both_ways(shared);
    gr_resource_free(copied);
    gr_resource_free(shared);
    end_copying();
}

/*
 * Exporting such memory is a mistake of the application, which newer validation layers report. The
 * NVIDIA driver (580) exports it all the same, and CUDA then sees other bytes than Vulkan.
 */
VULKAN_TEST(a_buffer_is_copied_if_its_memory_cannot_be_exported)
{
    vulkan_allow("VUID-VkMemoryGetFdInfoKHR-handleType-00671");
    begin_sharing(SHARES);
    const gr_vk_buffer_desc desc = hidden_buffer(true);
    gr_clear_error();
    gr_resource *resource = must_make(gr_from_vk_buffer(copying, &desc, GR_READ_WRITE));
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    if (gr_cuda_is_software() && fx.device == 0)
        check_transport(resource, GR_TRANSPORT_PEER, "allocate memory that way.");
    const bool exported = gr_resource_get_info(resource)->transport == GR_TRANSPORT_EXTERNAL;
    if (!exported)
        check_bytes_both_ways(resource);
    gr_resource_free(resource);
    end_copying();
    if (exported)
        skip("this Vulkan exports memory that was not allocated for it");
}

VULKAN_TEST(a_buffer_is_copied_if_cuda_refuses_its_memory, 2)
{
    static const char *const calls[] = {"cuImportExternalMemory",
                                        "cuExternalMemoryGetMappedBuffer"};
    begin_sharing(SHARES);
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    ck_assert(fault->set(calls[_i], CUDA_ERROR_UNKNOWN, 0));
    gr_resource *resource = gr_create_vk_buffer(copying, &info, GR_READ_WRITE);
    fault->reset();
    check_transport(resource, GR_TRANSPORT_PEER, calls[_i]);
    check_bytes_both_ways(resource);
    gr_resource_free(resource);
    end_copying();
}

/* The whole buffer must fit, whether the program names its memory or not. */
VULKAN_TEST(wrong_sizes_are_refused_by_each_transport, 2)
{
    begin_sharing(SHARES);
    gr_vk_buffer_desc desc = hidden_buffer(_i == 1);
    desc.size = 2 * SIZE;
    assert_null_invalid(gr_from_vk_buffer(copying, &desc, GR_READ_WRITE), "exceeds");
    end_copying();
}

/* ---- Images ---------------------------------------------------------------------------------- */

#define TRANSFERS (VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

VULKAN_TEST(images_that_cannot_be_imported_are_copied, 4)
{
    static const char *const reasons[] = {"cannot export images", "VK_IMAGE_TILING_LINEAR",
                                          "cuExternalMemoryGetMappedMipmappedArray",
                                          "`memory` is VK_NULL_HANDLE"};
    enum { NO_EXPORT, LINEAR, NO_ARRAY, HIDDEN };
    VkImageCreateInfo info = picture_info(TRANSFERS);
    refuses_exports = _i == NO_EXPORT;
    begin_sharing(GR_TRANSPORT_ANY);
    if (_i == LINEAR)
        info.tiling = VK_IMAGE_TILING_LINEAR;
    if (_i == NO_ARRAY)
        ck_assert(fault->set(reasons[_i], CUDA_ERROR_INVALID_VALUE, 0));
    VkImage own = _i == HIDDEN ? hidden_image(&info) : VK_NULL_HANDLE;
    const gr_vk_image_desc desc = GR_INIT(gr_vk_image_desc, .create_info = &info, .image = own);
    struct vulkan_image image = {.format = vulkan_format(info.format),
                                 .shape = vulkan_shape("2D"),
                                 .info = info,
                                 .resource = own ? gr_from_vk_image(copying, &desc, GR_READ_WRITE)
                                                 : gr_create_vk_image(copying, &info, 0)};
    refuses_exports = false;
    fault->reset();
    check_transport(image.resource, GR_TRANSPORT_PEER,
                    fx.device == 0 ? reasons[_i] : "another device");
    image.image = gr_vk_image(image.resource);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_map_vulkan(&image);
    assert_no_difference(cuda_image_differs(buffer, &image, 1));
    cuda_image_fill(buffer, &image, 2);
    must_release(buffer);
    assert_vulkan_image(&image, 2);
    gr_resource_free(image.resource);
    vk.DestroyImage(vk.h->device, own, NULL);
    end_copying();
}

/* Records a copy of the picture, then a barrier to the layout in which the program shows it. */
static VkCommandBuffer record_show(VkImage image, VkImageLayout shown, struct vulkan_host *seen)
{
    VkCommandBuffer commands = vulkan_begin();
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {64, 16, 1}};
    const VkImageMemoryBarrier show = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .newLayout = shown,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vk.CmdCopyImageToBuffer(commands, image, show.oldLayout, seen->buffer, 1, &region);
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &show);
    return commands;
}

/*
 * As docs/vulkan.md advises for swapchains: an empty submit hands the image over, and Vulkan keeps
 * it in the layout for the presentation after the submit that draws.
 */
VULKAN_TEST(an_empty_submit_hands_an_image_of_a_swapchain_over, 3)
{
    const VkImageCreateInfo info = picture_info(TRANSFERS);
    begin_sharing(_i == 2 ? GR_TRANSPORT_COPY : GR_TRANSPORT_ANY);
    VkImage own = hidden_image(&info);
    const gr_vk_image_desc desc =
        GR_INIT(gr_vk_image_desc, .create_info = &info, .image = own, .in_flight = _i == 1 ? 2 : 0);
    struct vulkan_image image = {.format = vulkan_format(info.format),
                                 .shape = vulkan_shape("2D"),
                                 .info = info,
                                 .image = own,
                                 .resource = must_make(gr_from_vk_image(
                                     copying, &desc, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE)),
                                 .cudas = true};
    const size_t size = vulkan_image_bytes(&image, 0);
    static unsigned char expected[64 * 16 * 4];
    const gr_vk_use draws = transfers(VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    const gr_vk_use nothing = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    struct vulkan_host *seen = vulkan_host(size);
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(submit_with(&image.resource, 1, VK_NULL_HANDLE, NULL, &nothing));
        gr_buffer *buffer = must_map_vulkan(&image);
        cuda_image_fill(buffer, &image, i);
        must_release(buffer);
        VkCommandBuffer show = record_show(own, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, seen);
        assert_ok(submit_with(&image.resource, 1, show, &draws, NULL));
        VK(QueueWaitIdle(vk.h->graphics));
        vulkan_image_pattern(&image, 0, 0, i, expected);
        ck_assert_mem_eq(seen->bytes, expected, size);
    }
    gr_resource_free(image.resource);
    vk.DestroyImage(vk.h->device, own, NULL);
    end_copying();
}

VULKAN_TEST(the_missing_usage_is_named_with_the_reason_for_the_copy)
{
    begin_sharing(GR_TRANSPORT_ANY);
    const VkImageCreateInfo info = picture_info(VK_IMAGE_USAGE_SAMPLED_BIT);
    VkImage own = hidden_image(&info);
    const gr_vk_image_desc desc = GR_INIT(gr_vk_image_desc, .create_info = &info, .image = own);
    assert_null_invalid(gr_from_vk_image(copying, &desc, GR_READ_ONLY),
                        "copied, since external was not chosen");
    assert_null_invalid(gr_from_vk_image(copying, &desc, GR_READ_ONLY),
                        "create it with VK_IMAGE_USAGE_TRANSFER_SRC_BIT");
    assert_null_invalid(gr_from_vk_image(copying, &desc, GR_WRITE_DISCARD),
                        "create it with VK_IMAGE_USAGE_TRANSFER_DST_BIT");
    vk.DestroyImage(vk.h->device, own, NULL);
    end_copying();
}

/* ---- Several transports in one submit -------------------------------------------------------- */

enum { SHARED, BY_GPU, BY_HOST, MIXED };

/* Buffers of one device: imported, copied by peer, and copied through host memory. */
static void make_mixed(gr_resource *resources[MIXED])
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    const gr_vk_buffer_desc hidden[] = {hidden_buffer(false), hidden_buffer(false)};
    begin_sharing(GR_TRANSPORT_ANY);
    resources[SHARED] = gr_create_vk_buffer(copying, &info, GR_READ_WRITE);
    resources[BY_GPU] = gr_from_vk_buffer(copying, &hidden[0], GR_READ_WRITE);
    ck_assert(fault->set("cuImportExternalMemory", CUDA_ERROR_UNKNOWN, 0));
    resources[BY_HOST] = gr_from_vk_buffer(copying, &hidden[1], GR_READ_WRITE);
    fault->reset();
    check_transport(resources[SHARED], GR_TRANSPORT_EXTERNAL, "");
    check_transport(resources[BY_GPU], GR_TRANSPORT_PEER, "");
    check_transport(resources[BY_HOST], GR_TRANSPORT_COPY, "peer was not chosen");
}

VULKAN_TEST(a_submit_takes_resources_of_several_transports)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    gr_resource *resources[MIXED];
    gr_buffer *buffers[MIXED];
    make_mixed(resources);
    for (int round = 0; round < 3; round++) {
        VkCommandBuffer commands = vulkan_begin();
        for (int i = 0; i < MIXED; i++)
            vk.CmdFillBuffer(commands, gr_vk_buffer(resources[i]), 0, SIZE,
                             (uint32_t)(0x10 * round + i) * 0x01010101u);
        assert_ok(submit_with(resources, MIXED, commands, &use, &use));
        assert_ok(gr_map_many(resources, MIXED, fx.stream, NULL, buffers));
        for (int i = 0; i < MIXED; i++) {
            assert_cuda_bytes(buffers[i], 0x10 * round + i);
            cuda_fill(buffers[i], 0x80 + 0x10 * round + i);
        }
        assert_ok(gr_buffer_release_many(buffers, MIXED, GR_STREAM_OF_MAP, NULL));
        assert_ok(submit_with(resources, MIXED, VK_NULL_HANDLE, &use, &use));
        for (int i = 0; i < MIXED; i++)
            check_all_by_vulkan(resources[i], 0x80 + 0x10 * round + i);
    }
    free_resources(resources, MIXED);
    end_copying();
}
