/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Submits that gr_vk_submit() refuses. */
#include "vk_submit.h"

GROUP("refused submits", add_vulkan_case)

VULKAN_TEST(invalid_submits_are_refused, 2)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(16, 1));
    gr_submit *submit = gr_submit_begin(&resource, 1), *of_gl = gr_submit_begin(&gl, 1);
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .first = &copying);
    assert_invalid(gr_vk_submit(NULL, &desc), "NULL");
    assert_invalid(gr_vk_submit(submit, NULL), "desc");
    assert_invalid(gr_vk_submit(of_gl, &desc), "no Vulkan");
    desc.struct_size = 0;
    assert_invalid(gr_vk_submit(submit, &desc), "gr_vk_submit_desc");
    gr_vk_use wrong = copying;
    wrong.stages = 0;
    desc = GR_INIT(gr_vk_submit_desc, .last = &wrong);
    assert_invalid(gr_vk_submit(submit, &desc), "`last->stages`");
    const uint32_t family = 1000;
    wrong = copying;
    wrong.queue_family = &family;
    assert_invalid(gr_vk_submit(submit, &desc), "1000");
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    desc = GR_INIT(gr_vk_submit_desc, .info = &info);
    assert_invalid(gr_vk_submit(submit, &desc), "sType");
    info = (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2, .signalSemaphoreInfoCount = 1};
    assert_invalid(gr_vk_submit(submit, &desc), "pSignalSemaphoreInfos");
    ck_assert_uint_eq(submits[0] + submits[1], 0);
    assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .first = NULL)));
    ck_assert_uint_eq(pools, 0); /* no barriers were recorded */
    gr_submit_free(submit);
    gr_submit_free(of_gl);
    end_device();
}

VULKAN_TEST(submits_that_need_vkQueueSubmit2_are_refused_without_it)
{
    begin_device(PLAIN);
    GR_AUTO(gr_resource) *resource = make_buffer();
    assert_fails(gr_vk_submit_commands(&resource, 1, VK_NULL_HANDLE,
                                       VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                       VK_ACCESS_2_SHADER_STORAGE_READ_BIT, 0),
                 GR_ERR_UNSUPPORTED, 0, "accesses 0x200000000");
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
    VkSemaphoreSubmitInfo point = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                   .stageMask = VK_PIPELINE_STAGE_2_COPY_BIT};
    VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                        .deviceMask = 2};
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                          .waitSemaphoreInfoCount = 1,
                          .pWaitSemaphoreInfos = &point};
    const gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .info = &info);
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_UNSUPPORTED, 0, "stages");
    point.stageMask = VK_PIPELINE_STAGE_2_TRANSFER_BIT;
    point.deviceIndex = 1;
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_UNSUPPORTED, 0, "deviceIndex");
    info = (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                           .commandBufferInfoCount = 1,
                           .pCommandBufferInfos = &buffer};
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_UNSUPPORTED, 0, "deviceMask");
    info =
        (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2, .flags = VK_SUBMIT_PROTECTED_BIT};
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_UNSUPPORTED, 0, "flags");
    const gr_vk_use wide = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_COPY_BIT);
    const gr_vk_submit_desc by_wide = GR_INIT(gr_vk_submit_desc, .first = &wide);
    assert_fails(gr_vk_submit(submit, &by_wide), GR_ERR_UNSUPPORTED, 0, "synchronization2");
    ck_assert_uint_eq(submits[0] + submits[1], 0);
    end_device();
}

/*
 * Catches: the structs were passed on beside added semaphores and command buffers, and the driver
 * read past their lists.
 */
VULKAN_TEST(structs_with_an_entry_per_semaphore_are_refused, 2)
{
    static const VkStructureType types[] = {VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
                                            VK_STRUCTURE_TYPE_D3D12_FENCE_SUBMIT_INFO_KHR};
    begin_device(PLAIN);
    GR_AUTO(gr_resource) *resource = make_buffer();
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&resource, 1));
    const VkBaseInStructure own = {.sType = types[_i]};
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, .pNext = &own};
    const void *const chains[] = {&own, &values};
    for (size_t i = 0; i < 2; i++) {
        const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .pNext = chains[i]};
        const gr_vk_submit_desc desc =
            GR_INIT(gr_vk_submit_desc, .first = &copying, .last = &copying, .info_v1 = &info);
        VkSubmitInfo filled = {.sType = VK_STRUCTURE_TYPE_MAX_ENUM};
        assert_fails(gr_vk_submit(submit, &desc), GR_ERR_UNSUPPORTED, 0, "VkSubmitInfo2");
        assert_fails(gr_vk_submit_fill_v1(submit, &info, 0, &filled), GR_ERR_UNSUPPORTED, 0,
                     _i ? "VkD3D12FenceSubmitInfoKHR" : "VkDeviceGroupSubmitInfo");
        ck_assert_int_eq(filled.sType, VK_STRUCTURE_TYPE_MAX_ENUM);
    }
    ck_assert_uint_eq(submits[0] + submits[1], 0);
    end_device();
}

VULKAN_TEST(submits_on_a_device_without_a_queue_are_refused)
{
    gr_vk_device_desc info = vulkan_desc(NULL);
    info.queue = VK_NULL_HANDLE;
    device = must_make(gr_vk_device_from_vk(&info));
    GR_AUTO(gr_resource) *resource = make_buffer();
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
    assert_invalid(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .first = &copying)), "queue");
    assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .queue = vk.h->graphics,
                                            .first = &copying, .last = &copying)));
    end_device();
}
