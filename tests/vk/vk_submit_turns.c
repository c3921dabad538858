/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Who has a resource, Vulkan or CUDA: gr_vk_submit() leaves out barriers that are not needed and
 * refuses submits that lack one. And uses of single resources, and VkSubmitInfo. The validation
 * layer is on.
 */
#include "vk_submit.h"

#include <string.h>

#include <grinterop/image.h>

#define SIDE 16

GROUP("turns of Vulkan and CUDA", add_vulkan_case)

static VkCommandBuffer record_fill(gr_resource *resource, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, (uint32_t)value * 0x01010101u);
    VK(EndCommandBuffer(commands));
    return commands;
}

/* Submits by `desc`, with `commands` in its info_v1, and waits for the end. */
static gr_status submit_v1(gr_resource *resource, VkCommandBuffer commands, gr_vk_submit_desc desc)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&resource, 1));
    desc.info_v1 = &info;
    gr_status status = gr_vk_submit(submit, &desc);
    VK(QueueWaitIdle(vk.h->graphics));
    return status;
}

static void check_mapped(gr_resource *resource, int value)
{
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, value);
    must_release(buffer);
}

VULKAN_TEST(a_submit_takes_back_only_what_cuda_has, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    const gr_vk_submit_desc takes = GR_INIT(gr_vk_submit_desc, .first = &copying);
    const gr_vk_submit_desc hands = GR_INIT(gr_vk_submit_desc, .last = &copying);
    const gr_vk_submit_desc both = GR_INIT(gr_vk_submit_desc, .first = &copying, .last = &copying);
    const gr_vk_submit_desc neither = GR_INIT(gr_vk_submit_desc);

    /* a new buffer needs no barrier, and `first` is allowed all the same */
    assert_ok(submit_v1(resource, record_fill(resource, 0x11), takes));
    ck_assert_uint_eq(pools, 0);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_vk_hand_over()");
    assert_ok(submit_v1(resource, record_fill(resource, 0x12), neither));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "`last`");
    assert_ok(submit_v1(resource, record_fill(resource, 0x13), both));
    check_mapped(resource, 0x13);

    /* now CUDA has the buffer */
    VkCommandBuffer commands = record_fill(resource, 0x14);
    assert_fails(submit_v1(resource, commands, neither), GR_ERR_STATE, 0, "`first`");
    assert_fails(submit_v1(resource, commands, hands), GR_ERR_STATE, 0, "own_barriers");
    check_mapped(resource, 0x13);
    assert_ok(submit_v1(resource, commands, takes));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "Vulkan has the resource");
    assert_ok(gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    check_mapped(resource, 0x14);
    assert_fails(gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED), GR_ERR_STATE, 0,
                 "CUDA already has resource 0: leave it out");
    gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED);
    ck_assert_str_eq(gr_last_error()->call, "gr_vk_hand_over");
    gr_vk_hand_over(NULL, 1, VK_IMAGE_LAYOUT_UNDEFINED);
    ck_assert_str_eq(gr_last_error()->call, "gr_vk_hand_over");
    end_device();
}

/* Catches: after a map that failed, the submit had to take back a buffer that CUDA never had. */
VULKAN_TEST(a_failed_map_leaves_a_new_buffer_to_vulkan, DEVICE_KINDS)
{
    CUevent destroyed;
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    CU(EventCreate(&destroyed, 0));
    CU(EventDestroy(destroyed));
    if (!gr_cuda_is_software())
        skip("only the software driver refuses destroyed events");
    const gr_map_options options = GR_INIT(gr_map_options, .ready_event = destroyed);
    if (gr_map_with(resource, fx.stream, &options))
        ck_abort_msg("a destroyed event was accepted");
    assert_ok(submit_v1(resource, record_fill(resource, 0x15),
                        GR_INIT(gr_vk_submit_desc, .last = &copying)));
    check_mapped(resource, 0x15);
    end_device();
}

VULKAN_TEST(commands_may_contain_the_barriers, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    VkCommandBuffer commands = vulkan_begin();
    check_mapped(resource, 0);
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, &copying));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, 0x21212121);
    assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, &copying));
    VK(EndCommandBuffer(commands));
    assert_ok(submit_v1(resource, commands, GR_INIT(gr_vk_submit_desc, .own_barriers = true)));
    ck_assert_uint_eq(pools, 0);
    check_mapped(resource, 0x21);
    end_device();
}

/*
 * The commands contain only the barrier that hands the resource over. It is new, so the first
 * submit takes nothing back. Catches: recording the barrier counted as if CUDA had the resource
 * already.
 */
VULKAN_TEST(commands_may_contain_only_the_last_barrier, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .first = &copying, .own_barriers = true);
    for (int frame = 0; frame < 3; frame++) {
        VkCommandBuffer commands = vulkan_begin();
        vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, 0x22222222);
        assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, &copying));
        VK(EndCommandBuffer(commands));
        assert_ok(submit_v1(resource, commands, desc));
        ck_assert_uint_eq(pools, frame > 0);
        check_mapped(resource, 0x22);
    }
    end_device();
}

/* ---- Uses of single resources ---------------------------------------------------------------- */

static gr_resource *make_image(VkImageUsageFlags usage)
{
    const VkImageCreateInfo info = vulkan_image_info(
        vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), SIDE, SIDE, 1,
        usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    return must_make(gr_create_vk_image(device, &info, GR_READ_WRITE));
}

static void check_image(gr_resource *image, int value)
{
    unsigned char seen[SIDE * SIDE * 4];
    gr_buffer *buffer = must_make(gr_map(image, fx.stream));
    assert_ok(
        gr_buffer_copy_to_linear(buffer, 0, 0, &GR_INIT(gr_linear_desc, .host = seen), fx.stream));
    CU(StreamSynchronize(fx.stream));
    must_release(buffer);
    assert_bytes(seen, sizeof(seen), value);
}

static void fill_image(gr_resource *image, int value)
{
    unsigned char bytes[SIDE * SIDE * 4];
    memset(bytes, value, sizeof(bytes));
    gr_buffer *buffer = must_make(gr_map(image, fx.stream));
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &GR_INIT(gr_linear_desc, .host = bytes),
                                         fx.stream));
    CU(StreamSynchronize(fx.stream));
    must_release(buffer);
}

static VkCommandBuffer record_all(gr_resource *const all[3], const struct vulkan_host *seen)
{
    const VkClearColorValue colour = {.float32 = {1, 1, 1, 1}};
    const VkImageSubresourceRange level = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkBufferImageCopy whole = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                     .imageExtent = {SIDE, SIDE, 1}};
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdClearColorImage(commands, gr_vk_image(all[0]), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                          &colour, 1, &level);
    vk.CmdFillBuffer(commands, gr_vk_buffer(all[1]), 0, SIZE, 0x31313131);
    vk.CmdCopyImageToBuffer(commands, gr_vk_image(all[2]), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                            seen->buffer, 1, &whole);
    VK(EndCommandBuffer(commands));
    return commands;
}

/* One submit clears an image, fills a buffer, and reads another image: in three layouts. */
VULKAN_TEST(a_submit_uses_each_resource_in_its_own_way, DEVICE_KINDS)
{
    begin_device(_i);
    gr_resource *all[3] = {make_image(0), make_buffer(), make_image(0)};
    const gr_vk_use reading = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                      .access = VK_ACCESS_2_TRANSFER_READ_BIT,
                                      .layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    gr_vk_resource_use uses[2] = {
        GR_INIT(gr_vk_resource_use, .resource = all[0], .first = &copying),
        GR_INIT(gr_vk_resource_use, .resource = all[2], .first = &reading, .last = &reading)};
    gr_vk_use filling = copying;
    filling.layout = VK_IMAGE_LAYOUT_UNDEFINED; /* right for the buffer, and wrong for the images */
    struct vulkan_host *seen = vulkan_host(SIDE * SIDE * 4);
    assert_ok(gr_vk_hand_over(all, 3, VK_IMAGE_LAYOUT_UNDEFINED));
    fill_image(all[0], 0x32);
    fill_image(all[2], 0x33);

    VkCommandBuffer commands = record_all(all, seen);
    const VkCommandBufferSubmitInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &one};
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(all, 3));
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .info = &info, .first = &filling,
                                     .last = &copying, .uses = uses, .use_count = 1);
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_INVALID_VALUE, 0, "Resource 2 is an image");
    desc.use_count = 4;
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_INVALID_VALUE, 0, "use_count");
    desc.use_count = 2;
    desc.uses = NULL;
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_INVALID_VALUE, 0, "`uses` is NULL");
    desc.uses = uses;
    uses[1].resource = NULL;
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_INVALID_VALUE, 0, "uses[1]");
    uses[1].resource = all[0]; /* catches: the last use in the list counted */
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_INVALID_VALUE, 0, "uses[1] has a use before");
    uses[1].resource = all[2];
    assert_ok(gr_vk_submit(submit, &desc));
    VK(QueueWaitIdle(vk.h->graphics));
    check_image(all[0], 0xff);
    check_mapped(all[1], 0x31);
    check_image(all[2], 0x33);
    assert_bytes(seen->bytes, seen->size, 0x33);
    free_resources(all, 3);
    end_device();
}

/* ---- VkSubmitInfo ---------------------------------------------------------------------------- */

VULKAN_TEST(the_application_can_submit_a_filled_info_of_version_1, 2)
{
    begin_device(_i ? PLAIN + COPIED : PLAIN);
    GR_AUTO(gr_resource) *resource = make_buffer();
    GR_AUTO(gr_semaphore) *own =
        must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    VkSemaphore done = gr_vk_semaphore(own);
    VkCommandBuffer commands = vulkan_begin();
    const uint64_t signalled = 5, waited = 0;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    uint64_t value = 0;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &waited,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signalled};
    const VkProtectedSubmitInfo before = {.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
                                          .pNext = &values};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &before,
                         .waitSemaphoreCount = 1,
                         .pWaitSemaphores = &done,
                         .pWaitDstStageMask = &stage,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &done};
    check_mapped(resource, 0);
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, &copying));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, 0x41414141);
    assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, &copying));
    VK(EndCommandBuffer(commands));
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&resource, 1));
    VkSubmitInfo filled = {.sType = VK_STRUCTURE_TYPE_MAX_ENUM}, wrong = info;
    assert_invalid(gr_vk_submit_fill_v1(NULL, &info, 0, &filled), "NULL");
    assert_invalid(gr_vk_submit_fill_v1(submit, &info, 0, NULL), "out");
    assert_fails(gr_vk_submit_fill_v1(submit, &info, 0, &filled), GR_ERR_UNSUPPORTED, 0, "first");
    wrong.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    assert_invalid(gr_vk_submit_fill_v1(submit, &wrong, 0, &filled), "sType");
    wrong = info;
    wrong.pWaitDstStageMask = NULL;
    assert_invalid(gr_vk_submit_fill_v1(submit, &wrong, 0, &filled), "pWaitDstStageMask");
    wrong = info;
    wrong.pSignalSemaphores = NULL;
    assert_invalid(gr_vk_submit_fill_v1(submit, &wrong, 0, &filled), "pSignalSemaphores");
    wrong = info;
    wrong.pCommandBuffers = NULL;
    assert_invalid(gr_vk_submit_fill_v1(submit, &wrong, 0, &filled), "pCommandBuffers");
    ck_assert_int_eq(filled.sType, VK_STRUCTURE_TYPE_MAX_ENUM);
    VkTimelineSemaphoreSubmitInfo none = values; /* Vulkan allows NULL for the values */
    none.pWaitSemaphoreValues = none.pSignalSemaphoreValues = NULL;
    info.pNext = &none;
    assert_ok(gr_vk_submit_fill_v1(submit, &info, stage, &filled));
    info.pNext = &values;
    assert_ok(gr_vk_submit_fill_v1(submit, &info, stage, &filled));
    ck_assert_uint_eq(filled.waitSemaphoreCount, 2);
    ck_assert_uint_eq(filled.signalSemaphoreCount, 2);
    ck_assert_uint_eq(filled.pWaitDstStageMask[1], stage);
    VK(QueueSubmit(vk.h->graphics, 1, &filled, VK_NULL_HANDLE));
    assert_ok(gr_submit_commit(submit));
    check_mapped(resource, 0x41);
    VK(QueueWaitIdle(vk.h->graphics));
    VK(GetSemaphoreCounterValue(vk.h->device, done, &value));
    ck_assert_uint_eq(value, signalled);
    end_device();
}
