/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A kernel fails after a release was enqueued, so that CUDA never signals Vulkan. The next call
 * reports the failure and signals in place of CUDA, so that Vulkan does not keep waiting.
 */
#include "vk_submit.h"

#include <stdlib.h>

#include "tests/support/child_check.h"

/*
 * LeakSanitizer calls this when the process ends. CUDA drops the host functions of the library,
 * which leaks their arguments.
 */
static bool leaks;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return leaks;
}

GROUP("submits after a kernel that failed", add_vulkan_case)

static gr_status submit_nothing(gr_resource *resource, VkFence fence)
{
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&resource, 1));
    return gr_vk_submit(
        submit, &GR_INIT(gr_vk_submit_desc, .fence = fence, .first = &copying, .last = &copying));
}

/* Submits work that waits for CUDA, whose kernel then fails. Returns the fence of the submit. */
static VkFence leave_waiting(gr_resource *resource)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    VK(CreateFence(vk.h->device, &info, NULL, &fence));
    assert_ok(submit_nothing(resource, VK_NULL_HANDLE));
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = must_map(resource);
    kernel_fail(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    assert_ok(submit_nothing(resource, fence));
    gate_open(gate);
    child_check(fx.cu->StreamSynchronize(fx.stream) != CUDA_SUCCESS);
    child_check(vk.WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 50000000) == VK_TIMEOUT);
    return fence;
}

/* The next map, or the release of a buffer that is mapped, reports the failure. */
static int fail_on(int kind, bool releases)
{
    leaks = true;
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing && !kernels_load());
    begin_device(kind);
    gr_resource *resource = make_buffer();
    GR_AUTO(gr_resource) *mapped = make_buffer();
    gr_buffer *buffer = must_map(mapped);
    VkFence fence = leave_waiting(resource);
    if (releases)
        child_check(gr_buffer_release(buffer) != GR_OK);
    else
        child_check(!gr_map(resource, fx.stream));
    child_check(gr_last_error()->status == GR_ERR_DEVICE_LOST);
    child_check(vk.WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 20000000000u) == VK_SUCCESS);
    VK(QueueWaitIdle(vk.h->graphics));
    gr_resource_free(resource);
    gr_vk_device_free(device);
    return 0;
}

CHILD(map_fails)
{
    return fail_on(PLAIN, false);
}

CHILD(release_fails)
{
    return fail_on(PLAIN, true);
}

CHILD(map_of_a_copy_fails)
{
    return fail_on(PLAIN + COPIED, false);
}

CHILD(release_of_a_copy_fails)
{
    return fail_on(PLAIN + COPIED, true);
}

VULKAN_TEST(a_failed_kernel_does_not_leave_vulkan_waiting, 4)
{
    static const char *const children[] = {"map_fails", "release_fails", "map_of_a_copy_fails",
                                           "release_of_a_copy_fails"};
    need_kernels();
    if (!gr_cuda_is_software() && !getenv("GR_TEST_FAULTS"))
        skip("a kernel that fails may break later OpenGL contexts; GR_TEST_FAULTS=1 runs it");
    expect_child(children[_i]);
}
