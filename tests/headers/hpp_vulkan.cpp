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
using grinterop::vk_device;

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
    const VkBufferCreateInfo info = vulkan_buffer_info(hpp_size);
    const resource buffer(gr_create_vk_buffer(device.get(), &info, GR_READ_WRITE));
    hpp_fill(buffer.map(fx.stream).pointer(), 5);
    {
        const submit undone = submit::begin({buffer});
        EXPECT(undone->wait_count == 1 && undone->signal_count == 1);
        EXPECT(hpp_thrown([&] { buffer.map(fx.stream); }).status == GR_ERR_STATE);
    }
    gr_vk_use use = GR_INIT(gr_vk_use);
    use.stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc);
    desc.first = desc.last = &use;
    {
        const submit one = submit::begin({buffer});
        grinterop::vk_submit(one, desc);
        EXPECT(hpp_thrown([&] { grinterop::vk_submit(one, desc); }).status == GR_ERR_STATE);
    }
    EXPECT(buffer.map(fx.stream).size() == hpp_size);
    vulkan_finish();
    grinterop::check(fx.cu->StreamSynchronize(fx.stream), "cuStreamSynchronize");
}

static void a_device_that_cannot_be_wrapped_throws()
{
    EXPECT(hpp_thrown([] { vk_device::from_vk(gr_vk_device_desc()); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { vk_device().info(); }).status == GR_ERR_INVALID_VALUE);
}

static const hpp_case cases[] = {
    HPP_CASE(semaphores_signal_and_wait),
    HPP_CASE(a_vulkan_submit_commits_or_is_undone),
    HPP_CASE(a_device_that_cannot_be_wrapped_throws),
};

const hpp_part *hpp_vulkan()
{
    static const hpp_part part = {"vulkan", std::size(cases),
                                  [](int i) { return hpp_run(cases[i]); }};
    return &part;
}
