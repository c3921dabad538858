/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The use of semaphores: increasing values, several resources with one pair, cancelled submits, and
 * images with barriers.
 */
#include "tests/support/support_vulkan_image.h"
#include "vk_sync_tests.h"

#include <string.h>

void fill_late(gr_resource *resource, int value, CUstream stream)
{
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    gate_open_after(gate_put(stream), LATE_MS);
    fill_and_release(buffer, value);
}

/* Vulkan reads the resource in a submit that has begun, after the waits of the submit. */
static struct vulkan_host *read_after(gr_resource *resource, gr_submit *submit)
{
    struct vulkan_host *seen = vulkan_host(SIZE);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
    vulkan_submit_begun(commands, submit, NULL);
    return seen;
}

void check_read_after(gr_resource *resource, gr_submit *submit, int value)
{
    struct vulkan_host *seen = read_after(resource, submit);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, value);
}

uint64_t counter(const gr_semaphore *semaphore)
{
    uint64_t value = 0;
    VK(GetSemaphoreCounterValue(vk.h->device, gr_vk_semaphore(semaphore), &value));
    return value;
}

GROUP("values", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

VULKAN_TEST(values_increase_by_one_with_each_use)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    for (uint64_t i = 1; i <= 5; i++) {
        gr_submit *submit = begin_submit(resource);
        ck_assert_ptr_eq(signal_of(submit), pair.drawn);
        ck_assert_uint_eq(signal_value_of(submit), i);
        ck_assert_ptr_eq(wait_of(submit), i == 1 ? NULL : pair.computed);
        ck_assert_uint_eq(wait_value_of(submit), i - 1);
        fill_in(submit, resource, (int)i, NULL);
        gr_buffer *buffer = must_map(resource);
        must_release(buffer);
        ck_assert_uint_eq(counter(pair.drawn), i);
        ck_assert_uint_eq(counter(pair.computed), i);
    }
    vulkan_finish();
    free_pair(&pair);
}

VULKAN_TEST(releases_signal_even_without_a_submit)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    for (int i = 1; i <= 3; i++)
        fill_late(resource, i, i % 2 ? fx.stream : fx.other);
    gr_submit *submit = begin_submit(resource);
    ck_assert_uint_eq(wait_value_of(submit), 3);
    ck_assert_uint_eq(signal_value_of(submit), 1);
    check_read_after(resource, submit, 3);
    free_pair(&pair);
}

/* Without a semaphore, the caller orders the uses in the direction of that semaphore. */
VULKAN_TEST(either_semaphore_of_a_resource_may_be_omitted)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(NULL);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, pair.computed));
    fill_late(resource, 0x11, fx.stream);
    gr_submit *submit = begin_submit(resource);
    ck_assert_ptr_null(signal_of(submit));
    ck_assert_ptr_eq(wait_of(submit), pair.computed);
    check_read_after(resource, submit, 0x11);

    assert_ok(gr_resource_set_sync(resource, pair.drawn, GR_SEMAPHORE_NONE));
    submit = begin_submit(resource);
    ck_assert_ptr_null(wait_of(submit));
    ck_assert_ptr_eq(signal_of(submit), pair.drawn);
    struct vulkan_gate *gate = vulkan_gate();
    fill_in(submit, resource, 0x12, gate);
    vulkan_gate_open_after(gate, LATE_MS);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, 0x12);
    must_release(buffer);

    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    submit = begin_submit(resource);
    ck_assert(submit->wait_count == 0 && submit->signal_count == 0);
    gr_submit_free(submit);
    vulkan_finish();
    free_pair(&pair);
}

GROUP("several resources", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

/* Vulkan reads both resources in one submit. Then both are freed. */
static void check_both(gr_resource *const both[2], gr_submit *submit, int first, int second)
{
    const int values[] = {first, second};
    struct vulkan_host *seen[] = {vulkan_host(SIZE), vulkan_host(SIZE)};
    VkCommandBuffer commands = vulkan_begin();
    for (int i = 0; i < 2; i++)
        vulkan_cmd_read(commands, gr_vk_buffer(both[i]), seen[i]);
    vulkan_submit_begun(commands, submit, NULL);
    vulkan_finish();
    for (int i = 0; i < 2; i++) {
        assert_bytes(seen[i]->bytes, SIZE, values[i]);
        gr_resource_free(both[i]);
    }
}

VULKAN_TEST(two_resources_with_one_pair_can_be_in_one_submit)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *both[] = {make_resource(&pair), make_resource(&pair)};
    gr_buffer *buffers[2];
    struct vulkan_gate *gate = vulkan_gate();
    gr_submit *submit = vulkan_begin_submit(both, 2);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(both[0]), SIZE, 0x21);
    vulkan_cmd_fill(commands, gr_vk_buffer(both[1]), SIZE, 0x22);
    vulkan_submit_begun(commands, submit, gate);
    vulkan_gate_open_after(gate, LATE_MS);
    assert_ok(gr_map_many(both, 2, fx.stream, NULL, buffers));
    assert_cuda_bytes(buffers[0], 0x21);
    assert_cuda_bytes(buffers[1], 0x22);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    cuda_fill(buffers[0], 0x23);
    cuda_fill(buffers[1], 0x24);
    assert_ok(gr_buffer_release_many(buffers, 2, fx.stream, NULL));
    submit = vulkan_begin_submit(both, 2);
    ck_assert_uint_eq(wait_value_of(submit), 1); /* one signal for both resources */
    check_both(both, submit, 0x23, 0x24);
    free_pair(&pair);
}

/* The resources are released one at a time, on two streams whose work ends in reverse order. */
VULKAN_TEST(a_wait_for_a_pair_covers_releases_on_two_streams)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *both[] = {make_resource(&pair), make_resource(&pair)};
    fill_late(both[0], 0x31, fx.stream);
    gr_buffer *buffer = must_make(gr_map(both[1], fx.other));
    fill_and_release(buffer, 0x32);
    gr_submit *submit = vulkan_begin_submit(both, 2);
    ck_assert_uint_eq(wait_value_of(submit), 2);
    check_both(both, submit, 0x31, 0x32);
    free_pair(&pair);
}

/* Waiting for one resource must not delay the other. */
VULKAN_TEST(resources_with_different_pairs_do_not_wait_for_each_other)
{
    struct pair slow = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    struct pair quick = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *held = make_resource(&slow), *free = make_resource(&quick);
    gr_buffer *first = must_map(held);
    struct gate *gate = gate_open_after(gate_put(fx.stream), 5000);
    fill_and_release(first, 0x41);
    gr_buffer *buffer = must_map_on(free, fx.other);
    fill_and_release(buffer, 0x42);
    gr_submit *submit = begin_submit(free);
    check_read_after(free, submit, 0x42);
    ck_assert_msg(!gate_is_open(gate), "the second resource waited for the first one's stream");
    gate_open(gate);
    submit = begin_submit(held);
    check_read_after(held, submit, 0x41);
    gr_resource_free(held);
    gr_resource_free(free);
    free_pair(&slow);
    free_pair(&quick);
}

GROUP("an engine with its own timeline", add_vulkan_case)

/* Submits the commands after one value of the timeline, and signals the next. */
static void submit_next(VkCommandBuffer commands, gr_semaphore *timeline, uint64_t value)
{
    gr_semaphore *const its[] = {timeline};
    const uint64_t next = value + 1;
    const gr_submit step = {1, its, &value, 1, its, &next};
    vulkan_submit(commands, &step, NULL);
}

/* The resources have no order of their own, and no submit of grinterop: docs/vulkan.md. */
VULKAN_TEST(a_batch_follows_the_timeline_of_an_engine)
{
    enum { FRAMES = 4 };
    GR_AUTO(gr_semaphore) *timeline =
        must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = timeline);
    gr_resource *both[] = {make_resource(NULL), make_resource(NULL)};
    struct vulkan_host *seen[2 * FRAMES];
    gr_buffer *buffers[2];
    for (int i = 0; i < 2; i++)
        assert_ok(gr_resource_set_sync(both[i], GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    for (int frame = 0; frame < FRAMES; frame++) {
        VkCommandBuffer commands = vulkan_begin();
        for (int i = 0; i < 2; i++)
            vulkan_cmd_fill(commands, gr_vk_buffer(both[i]), SIZE, 0x10 * frame + i);
        submit_next(commands, timeline, point.value++);
        assert_ok(gr_semaphore_wait(&point, 1, fx.stream));
        assert_ok(gr_map_many(both, 2, fx.stream, NULL, buffers));
        for (int i = 0; i < 2; i++) {
            assert_cuda_bytes(buffers[i], 0x10 * frame + i);
            cuda_fill(buffers[i], 0x11 * frame + i + 8);
        }
        gate_open_after(gate_put(fx.stream), LATE_MS);
        assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
        point.value++;
        assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
        commands = vulkan_begin();
        for (int i = 0; i < 2; i++) {
            seen[2 * frame + i] = vulkan_host(SIZE);
            vulkan_cmd_read(commands, gr_vk_buffer(both[i]), seen[2 * frame + i]);
        }
        submit_next(commands, timeline, point.value++);
    }
    vulkan_finish();
    for (int i = 0; i < 2 * FRAMES; i++)
        assert_bytes(seen[i]->bytes, SIZE, 0x11 * (i / 2) + i % 2 + 8);
    free_resources(both, 2);
}

GROUP("cancelled submits", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

VULKAN_TEST(a_map_does_not_wait_for_a_cancelled_submit)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    {
        GR_AUTO(gr_submit) *submit = begin_submit(resource);
        ck_assert_uint_eq(signal_value_of(submit), 1);
    }
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x51);
    must_release(buffer); /* the map would hang if it waited for the cancelled submit */

    /* The value of the cancelled submit is skipped: all waits use values that are signalled. */
    gr_submit *again = begin_submit(resource);
    ck_assert_uint_eq(signal_value_of(again), 2);
    check_read_after(resource, again, 0x51);
    must_release(must_map(resource));
    free_pair(&pair);
}

/* The map still waits for the submit before the cancelled one. */
VULKAN_TEST(a_map_waits_for_the_submit_before_a_cancelled_one)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    struct vulkan_gate *gate = vulkan_gate();
    fill_in(begin_submit(resource), resource, 0x52, gate);
    gr_submit *second = begin_submit(resource);
    ck_assert_uint_eq(signal_value_of(second), 2);
    gr_submit_free(second);
    vulkan_gate_open_after(gate, LATE_MS);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, 0x52);
    must_release(buffer);
    vulkan_finish();
    free_pair(&pair);
}

/* Cancels the first two of three submits, and makes the last one. */
VULKAN_TEST(submits_can_be_cancelled_in_any_order)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *r[3];
    gr_submit *submits[3];
    for (int i = 0; i < 3; i++) {
        r[i] = make_resource(&pair);
        fill_late(r[i], 0x61 + i, fx.stream);
        submits[i] = begin_submit(r[i]);
    }
    gr_submit_free(submits[0]);
    gr_submit_free(submits[1]);
    check_read_after(r[2], submits[2], 0x63);
    for (int i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map_on(r[i], fx.other);
        assert_cuda_bytes(buffer, 0x61 + i);
        must_release(buffer);
        gr_resource_free(r[i]);
    }
    free_pair(&pair);
}

GROUP("submits of several pairs", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

/*
 * The submit has one wait and one signal per pair. One resource has no semaphores, and one is an
 * OpenGL buffer.
 */
VULKAN_TEST(a_submit_can_use_several_pairs)
{
    struct pair one = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    struct pair two = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *r[] = {make_resource(&one), make_resource(&two), make_resource(&one),
                        make_resource(NULL), must_register(gl_buffer_filled(SIZE, 1))};
    for (int i = 0; i < 3; i++)
        fill_late(r[i], 0x11 + i, i == 1 ? fx.other : fx.stream);
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(r, 5));
    ck_assert_uint_eq(submit->wait_count, 2);
    ck_assert_uint_eq(submit->signal_count, 2);
    ck_assert(submit->waits[0] == one.computed && submit->waits[1] == two.computed);
    ck_assert(submit->signals[0] == one.drawn && submit->signals[1] == two.drawn);
    ck_assert(submit->wait_values[0] == 2 && submit->wait_values[1] == 1);
    ck_assert(submit->signal_values[0] == 1 && submit->signal_values[1] == 1);
    assert_null(gr_map(r[3], fx.stream), GR_ERR_STATE, 0, "gr_submit_commit");
    must_release(must_map(r[4])); /* the submit has no effect on the OpenGL resource */
    struct vulkan_host *seen[3];
    VkCommandBuffer commands = vulkan_begin();
    for (int i = 0; i < 3; i++) {
        seen[i] = vulkan_host(SIZE);
        vulkan_cmd_read(commands, gr_vk_buffer(r[i]), seen[i]);
    }
    vulkan_submit(commands, submit, NULL);
    assert_ok(gr_submit_commit(submit));
    for (int i = 0; i < 4; i++)
        must_release(must_map(r[i]));
    vulkan_finish();
    for (int i = 0; i < 3; i++)
        assert_bytes(seen[i]->bytes, SIZE, 0x11 + i);
    free_resources(r, 5);
    free_pair(&one);
    free_pair(&two);
}

GROUP("resources that end", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

/* One resource is closed and one is freed, before the submit is committed or cancelled. */
VULKAN_TEST(resources_may_end_before_their_submit_does, 2)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *r[] = {make_resource(&pair), make_resource(&pair), make_resource(&pair)};
    gr_submit *submit = vulkan_begin_submit(r, 3);
    vulkan_submit(vulkan_begin(), submit, NULL);
    vulkan_finish();
    assert_ok(gr_resource_close(r[0], fx.stream));
    gr_resource_free(r[1]);
    free_pair(&pair); /* the submit still refers to the semaphores */
    ck_assert_int_gt(gr_semaphore_describe(signal_of(submit), NULL, 0), 0);
    if (_i == 0)
        assert_ok(gr_submit_commit(submit));
    gr_submit_free(submit);
    must_release(must_map(r[2]));
    gr_resource_free(r[0]);
    gr_resource_free(r[2]);
}

GROUP("barriers", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

/*
 * Vulkan clears and CUDA copies, alternately, with the barriers of grinterop and without host
 * waits.
 */
VULKAN_TEST(images_keep_their_layout_between_vulkan_and_cuda)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 64, 64, 1, 0, GR_READ_WRITE);
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    static unsigned char seen[8][64 * 64 * 4];
    vulkan_image_fill(&image, 1);
    assert_ok(gr_resource_set_sync(image.resource, pair.drawn, pair.computed));
    for (int i = 0; i < 8; i++) {
        float value = (float)(10 + i) / 255;
        const VkClearColorValue colour = {.float32 = {value, value, value, value}};
        gr_submit *submit = begin_submit(image.resource);
        VkCommandBuffer commands = vulkan_begin();
        vulkan_cmd_from_cuda(commands, &image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             VK_ACCESS_TRANSFER_WRITE_BIT);
        vk.CmdClearColorImage(commands, image.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour,
                              1, &all);
        vulkan_cmd_to_cuda(commands, &image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           VK_ACCESS_TRANSFER_WRITE_BIT);
        vulkan_submit_begun(commands, submit, NULL);
        gr_buffer *buffer = must_map_vulkan(&image);
        const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = seen[i]);
        assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &to, fx.stream));
        assert_ok(gr_buffer_release(buffer));
    }
    CU(StreamSynchronize(fx.stream));
    vulkan_finish();
    for (int i = 0; i < 8; i++)
        assert_bytes(seen[i], sizeof(seen[i]), 10 + i);
    gr_resource_free(image.resource);
    free_pair(&pair);
}

/* A buffer and an image in one barrier. */
VULKAN_TEST(one_barrier_can_contain_buffers_and_images)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R8_UNORM, "2D", 16, 16, 1, 0, GR_READ_WRITE);
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    gr_resource *both[] = {resource, image.resource};
    gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                .access = VK_ACCESS_TRANSFER_WRITE_BIT, .layout = VK_IMAGE_LAYOUT_UNDEFINED);
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 2, &use));
    use.layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    assert_ok(gr_vk_cmd_from_cuda(commands, both, 2, &use));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, 0x81818181u);
    assert_ok(gr_vk_cmd_to_cuda(commands, both, 2, &use));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, 0x81);
    vulkan_image_end(&image, buffer);
}
