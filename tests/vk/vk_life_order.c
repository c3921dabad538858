/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan objects, the wrapped device and semaphores may be freed before the resource, and a
 * resource before its mapping.
 */
#include "vk_life.h"

#include <string.h>

GROUP("what is freed first", add_vulkan_case)

VULKAN_TEST(vulkan_memory_may_be_freed_before_the_resource, 2)
{
    struct vulkan_own own = vulkan_own(SIZE, _i == 1);
    GR_AUTO(gr_resource) *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    vulkan_write_pattern(own.buffer, SIZE, 1);
    vulkan_own_free(&own);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_pattern(buffer, 1);
    cuda_write_pattern(buffer, 2);
    must_release(buffer);
    buffer = must_map(resource);
    assert_cuda_pattern(buffer, 2);
    must_release(buffer);
}

VULKAN_TEST(vulkan_memory_may_be_freed_while_mapped)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_resource *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    vulkan_write_pattern(own.buffer, SIZE, 3);
    gr_buffer *buffer = must_map(resource);
    vulkan_own_free(&own);
    assert_cuda_pattern(buffer, 3);
    gr_resource_free(resource);
    assert_cuda_pattern(buffer, 3);
    assert_ok(gr_buffer_release(buffer));
}

/* The map waits for the fill by Vulkan, and the read by Vulkan waits for the fill by CUDA. */
void check_round_trip(gr_resource *resource, int value)
{
    struct vulkan_host *seen = vulkan_host(SIZE);
    gr_submit *submit = vulkan_begin_submit(&resource, 1);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SIZE, value);
    vulkan_submit_begun(commands, submit, NULL);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, value);
    fill_and_release(buffer, value + 1);
    submit = vulkan_begin_submit(&resource, 1);
    commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
    vulkan_submit_begun(commands, submit, NULL);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, value + 1);
}

/*
 * Creates a resource with semaphores. The caller frees the device and the semaphores, which the
 * resource keeps alive.
 */
gr_resource *make_alone(void)
{
    gr_vk_device *device = vulkan_wrap();
    gr_semaphore *drawn = must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    GR_AUTO(gr_semaphore) *computed =
        must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *resource = must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
    gr_vk_device_free(device);
    assert_ok(gr_resource_set_sync(resource, drawn, computed));
    gr_semaphore_free(drawn);
    return resource;
}

VULKAN_TEST(the_wrapped_device_and_semaphores_may_be_freed_before_the_resource)
{
    GR_AUTO(gr_resource) *resource = make_alone();
    for (int i = 0; i < 3; i++)
        check_round_trip(resource, 0x10 + 2 * i);
}

/*
 * Catches: a pair of semaphores and its device kept each other alive. The validation layer reported
 * that at the end.
 */
VULKAN_TEST(the_default_semaphores_end_with_the_last_resource)
{
    gr_vk_device *device = vulkan_wrap();
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *first = must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
    GR_AUTO(gr_resource) *second = must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
    gr_vk_device_free(device);
    check_round_trip(first, 0x20);
    gr_resource_free(first);
    check_round_trip(second, 0x30);
    assert_ok(gr_resource_set_sync(second, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
}

VULKAN_TEST(semaphores_may_outlive_their_device)
{
    gr_vk_device *device = vulkan_wrap();
    GR_AUTO(gr_semaphore) *semaphore =
        must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    gr_vk_device_free(device);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    assert_ok(gr_semaphore_wait(&point, 1, fx.other));
    CU(StreamSynchronize(fx.other));
}

GROUP("buffers and resources", add_vulkan_case)

/* The close signals like a release. A wait for that signal ends. */
VULKAN_TEST(close_while_mapped_signals_vulkan)
{
    GR_AUTO(gr_semaphore) *computed =
        must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, computed));
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x22);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    struct vulkan_host *seen = vulkan_host(SIZE);
    VkCommandBuffer commands = vulkan_begin();
    const uint64_t value = 1;
    const gr_submit closed = {.wait_count = 1, .waits = &computed, .wait_values = &value};
    vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
    vulkan_submit(commands, &closed, NULL);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, 0x22);
    assert_ok(gr_buffer_release(buffer));
}

/* grinterop owns the VkBuffer and its memory. They end with the last mapping, not before. */
VULKAN_TEST(a_mapping_keeps_created_vulkan_objects_alive)
{
    gr_resource *resource = make_alone();
    check_round_trip(resource, 0x30);
    gr_buffer *buffer = must_map(resource);
    gr_resource_free(resource);
    cuda_fill(buffer, 0x24);
    assert_cuda_bytes(buffer, 0x24);
    assert_ok(release_on(buffer, fx.other));
    CU(StreamSynchronize(fx.other));
}

/* ---- Releases by the finalizer of a garbage collector ---------------------------------------- */

static struct {
    gr_resource *resource;
    gr_buffer *buffer, *ended; /* of a mapping, and of an earlier mapping that has ended */
} meeting;

/* Two buffers that the finalizer releases: the older one is freed only. */
static void begin_meeting(void)
{
    meeting.ended = must_map(meeting.resource);
    assert_ok(gr_resource_unmap(meeting.resource, GR_STREAM_OF_MAP));
    meeting.buffer = must_map(meeting.resource);
}

static void finalize(void)
{
    gr_buffer_release_later(meeting.buffer);
    gr_buffer_release_later(meeting.ended);
}

/* Fails only while the release has yet to begin. */
static void map_or_refuse(void)
{
    gr_buffer *buffer = gr_map(meeting.resource, fx.stream);
    if (buffer)
        assert_ok(gr_buffer_release(buffer));
    else
        assert_error(GR_ERR_STATE, 0, "already mapped");
}

static void unmap_or_refuse(void)
{
    gr_status status = gr_resource_unmap(meeting.resource, GR_STREAM_OF_MAP);
    if (status != GR_OK)
        assert_error(GR_ERR_STATE, 0, "not mapped");
}

static void submit_or_refuse(void)
{
    gr_submit *submit = gr_submit_begin(&meeting.resource, 1);
    if (submit)
        gr_submit_free(submit);
    else
        assert_error(GR_ERR_STATE, 0, "is mapped");
}

static void wait_or_refuse(void)
{
    if (gr_resource_wait(meeting.resource, GR_WAIT_FOREVER) != GR_OK)
        assert_error(GR_ERR_STATE, 0, "is mapped");
}

static void describe(void)
{
    char text[640];
    gr_resource_describe(meeting.resource, text, sizeof(text));
    gr_resource_get_info(meeting.resource);
}

static void close_and_free(void)
{
    assert_ok(gr_resource_close(meeting.resource, GR_STREAM_OF_MAP));
    gr_resource_free(meeting.resource);
}

static void make_and_begin(void)
{
    meeting.resource = make_alone();
    gr_semaphore *none = GR_SEMAPHORE_NONE;
    assert_ok(gr_resource_set_sync(meeting.resource, none, none));
    begin_meeting();
}

VULKAN_TEST(a_finalizer_may_release_during_any_call_on_the_resource, 5)
{
    static void (*const calls[])(void) = {map_or_refuse, unmap_or_refuse, submit_or_refuse,
                                          wait_or_refuse, describe};
    meeting.resource = must_create(SIZE, GR_READ_WRITE);
    unordered(meeting.resource);
    meet(begin_meeting, calls[_i], finalize);
    gr_buffer *buffer = must_map(meeting.resource);
    cuda_fill(buffer, 0x31);
    assert_cuda_bytes(buffer, 0x31);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(meeting.resource);
}

VULKAN_TEST(a_finalizer_may_release_during_the_close)
{
    meet(make_and_begin, close_and_free, finalize);
}
