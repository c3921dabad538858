/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan devices, semaphores and submits: the part of gr.hpp that needs vk.h before it. */
#include <grinterop/vk.h>

#include "hpp_cases.hpp"

/* In C++ the functions of this header hide the structs that they return. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "tests/support/support_vulkan.h"
}
#pragma GCC diagnostic pop
#undef fail

using grinterop::resource;
using grinterop::semaphore;
using grinterop::submit;
using grinterop::tensor;
using grinterop::vk_device;

/* Waits until the submits are done, before the objects of the case are destroyed. */
static void finish()
{
    EXPECT(vk.QueueWaitIdle(vk.h->graphics) == VK_SUCCESS);
}

static gr_vk_use any_use()
{
    gr_vk_use use = GR_INIT(gr_vk_use);
    use.stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    use.access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    return use;
}

static resource new_buffer(const vk_device &device)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(hpp_size);
    return resource(gr_create_vk_buffer(device.get(), &info, GR_READ_WRITE));
}

static bool has_bytes(const resource &buffer, unsigned char value)
{
    std::vector<unsigned char> seen(hpp_size);
    const grinterop::mapping mapped = buffer.map(fx.stream);
    grinterop::check(fx.cu->MemcpyDtoHAsync(seen.data(), mapped.pointer(), seen.size(), fx.stream),
                     "cuMemcpyDtoHAsync");
    grinterop::check(fx.cu->StreamSynchronize(fx.stream), "cuStreamSynchronize");
    return seen == std::vector<unsigned char>(hpp_size, value);
}

static void semaphores_signal_and_wait()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    EXPECT(*device.info().description);
    const semaphore timeline(gr_semaphore_create_vk(device.get(), VK_SEMAPHORE_TYPE_TIMELINE));
    EXPECT(timeline.info().timeline);
    timeline.signal(3, fx.stream);
    timeline.wait(3, fx.other);
    grinterop::check(fx.cu->StreamSynchronize(fx.other), "cuStreamSynchronize");
    EXPECT(hpp_thrown([&] { timeline.signal(2, fx.stream); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([&] { semaphore().wait(1, fx.stream); }).status == GR_ERR_INVALID_VALUE);
}

/* vk_submit() commits; a submit without a commit is undone at the end of its scope. */
static void a_vulkan_submit_commits_or_is_undone()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    const resource buffer = new_buffer(device);
    hpp_fill(buffer.map(fx.stream).pointer(), 5);
    {
        const submit undone = submit::begin({buffer});
        EXPECT(undone->wait_count == 1 && undone->signal_count == 1);
        EXPECT(hpp_thrown([&] { buffer.map(fx.stream); }).status == GR_ERR_STATE);
    }
    const gr_vk_use use = any_use();
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc);
    desc.first = desc.last = &use;
    {
        const submit one = submit::begin({buffer});
        grinterop::vk_submit(one, desc);
        EXPECT(hpp_thrown([&] { grinterop::vk_submit(one, desc); }).status == GR_ERR_STATE);
    }
    EXPECT(buffer.map(fx.stream).size() == hpp_size);
    finish();
    grinterop::check(fx.cu->StreamSynchronize(fx.stream), "cuStreamSynchronize");
}

static void commands_are_submitted_by_one_call()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    const resource buffer = new_buffer(device), other = new_buffer(device);
    const gr_vk_use use = any_use();
    const VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(buffer.get()), 0, hpp_size, 0x08080808);
    EXPECT(vk.EndCommandBuffer(commands) == VK_SUCCESS);
    grinterop::vk_submit_commands({buffer, other}, commands, use.stages, use.access, use.layout);
    EXPECT(has_bytes(buffer, 8));
    finish();
}

/* Ends the commands, and submits them as `info_v1` with one or two buffers. */
template <typename Resources = grinterop::resource_list>
static void submit_v1(VkCommandBuffer commands, const Resources &buffers, gr_vk_submit_desc desc)
{
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    desc.info_v1 = &info;
    EXPECT(vk.EndCommandBuffer(commands) == VK_SUCCESS);
    grinterop::vk_submit(submit::begin(buffers), desc);
    finish();
}

/* CUDA gets back only the buffer whose own use has `last`. */
static void a_submit_uses_each_resource_in_its_own_way()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    const resource filled = new_buffer(device), kept = new_buffer(device);
    grinterop::vk_hand_over({filled, kept}, VK_IMAGE_LAYOUT_UNDEFINED);
    EXPECT(hpp_thrown([&] { grinterop::vk_hand_over({kept}, VK_IMAGE_LAYOUT_UNDEFINED); }).status ==
           GR_ERR_STATE);

    const gr_vk_use use = any_use();
    gr_vk_resource_use own = GR_INIT(gr_vk_resource_use);
    own.resource = filled.get();
    own.first = own.last = &use;
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc);
    desc.first = &use;
    desc.uses = &own;
    desc.use_count = 1;
    const VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(filled.get()), 0, hpp_size, 0x06060606);
    submit_v1(commands, {filled, kept}, desc);
    EXPECT(has_bytes(filled, 6));
    EXPECT(hpp_thrown([&] { kept.map(fx.stream); }).status == GR_ERR_STATE);
}

static void commands_may_have_their_own_barriers()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    const resource buffer = new_buffer(device);
    hpp_fill(buffer.map(fx.stream).pointer(), 5);
    const gr_vk_use use = any_use();
    const std::vector<gr_resource *> all = grinterop::pointers({buffer});
    const VkCommandBuffer commands = vulkan_begin();
    grinterop::check(gr_vk_cmd_from_cuda(commands, all.data(), all.size(), &use));
    vk.CmdFillBuffer(commands, gr_vk_buffer(buffer.get()), 0, hpp_size, 0x07070707);
    grinterop::check(gr_vk_cmd_to_cuda(commands, all.data(), all.size(), &use));
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc);
    desc.own_barriers = true;
    submit_v1(commands, {buffer}, desc);
    EXPECT(has_bytes(buffer, 7));
}

static void a_tensor_is_a_vulkan_buffer()
{
    const vk_device device = vk_device::from_vk(vulkan_desc(nullptr));
    const VkBufferCreateInfo info = vulkan_buffer_info(hpp_size);
    const std::int64_t size = hpp_size;
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc);
    desc.dtype = GR_DTYPE_U8;
    desc.ndim = 1;
    desc.shape = &size;
    const auto buffer_of = [&](const tensor &of) {
        return resource(gr_create_vk_buffer_of(device.get(), &info, of.get(), GR_READ_WRITE));
    };
    const auto refused = hpp_thrown([&] { buffer_of(tensor::create(desc, fx.stream)); });
    EXPECT(refused.status == GR_ERR_UNSUPPORTED && refused.code == CUDA_ERROR_INVALID_VALUE);
    EXPECT(hpp_says(refused, "gr_tensor_create() with `exportable`"));
    if (vulkan_image_missing())
        return;
    desc.exportable = true;
    const tensor of = tensor::create(desc, fx.stream);
    const resource buffer = buffer_of(of);
    EXPECT(buffer.map(fx.stream).pointer() == of.info().ptr);
}

static void a_device_that_cannot_be_wrapped_throws()
{
    EXPECT(hpp_thrown([] { vk_device::from_vk(gr_vk_device_desc()); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { vk_device::from_headless({}); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { vk_device().info(); }).status == GR_ERR_INVALID_VALUE);
}

static const hpp_case cases[] = {
    HPP_CASE(semaphores_signal_and_wait),
    HPP_CASE(a_vulkan_submit_commits_or_is_undone),
    HPP_CASE(commands_are_submitted_by_one_call),
    HPP_CASE(a_submit_uses_each_resource_in_its_own_way),
    HPP_CASE(commands_may_have_their_own_barriers),
    HPP_CASE(a_tensor_is_a_vulkan_buffer),
    HPP_CASE(a_device_that_cannot_be_wrapped_throws),
};

HPP_PART(vulkan)
