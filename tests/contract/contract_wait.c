/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* gr_resource_wait(): the host waits until CUDA has finished with the resource. */
#include "contract.h"
#include "tests/support/support_vulkan.h"

GROUP("waiting", add_resource_case)

static void assert_waits(gr_resource *resource)
{
    assert_ok(gr_resource_wait(resource, 0));
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    gr_buffer *buffer = must_map(resource);
    assert_fails(gr_resource_wait(resource, 0), GR_ERR_STATE, 0, "mapped");
    struct gate *gate = gate_put(fx.stream);
    fill_and_release(buffer, 0x31);
    assert_fails(gr_resource_wait(resource, 0), GR_ERR_NOT_READY, 0, "not done");
    assert_fails(gr_resource_wait(resource, 30), GR_ERR_TIMEOUT, 0, "30 ms");
    ck_assert(!gate_is_open(gate));
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(resource, 20000));
    ck_assert(gate_is_open(gate));
    assert_ok(gr_resource_wait(resource, 0));

    buffer = must_map(resource);
    gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    ck_assert(gate_is_open(gate));
}

TEST(wait_blocks_until_cuda_has_finished_with_a_registered_buffer)
{
    if (gr_cuda_is_software())
        skip("the software driver's unmap waits for its stream, so that no work is left");
    assert_waits(fx.resource);
}

TEST(wait_returns_at_once_without_pending_work)
{
    assert_ok(gr_resource_wait(fx.resource, 0));
    fill_mapped(fx.resource, 0x32);
    assert_ok(gr_resource_wait(fx.resource, 1000));
    assert_ok(gr_resource_wait(fx.resource, 0));
    assert_gl_bytes(fx.name, SIZE, 0x32);
    GR_AUTO(gr_resource) *copy = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_copy));
    assert_ok(gr_resource_wait(copy, 0));
    fill_mapped(copy, 0x33);
    assert_ok(gr_resource_wait(copy, 0));
}

TEST(wait_on_a_closed_resource_is_refused)
{
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    assert_fails(gr_resource_wait(fx.resource, 0), GR_ERR_STATE, 0, "closed");
}

GROUP("waiting for Vulkan resources", add_vulkan_case)

TEST_UNLESS(vk.missing, wait_blocks_until_cuda_has_finished_with_a_vulkan_buffer)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    assert_waits(resource);
}

TEST_UNLESS(vk.missing, wait_blocks_with_vulkan_timelines)
{
    GR_AUTO(gr_semaphore) *acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_semaphore) *release = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
    assert_ok(gr_resource_set_sync(resource, acquire, release));
    assert_waits(resource);
}
