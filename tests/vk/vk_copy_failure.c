/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A kernel fails while frames of a Vulkan buffer or image are in flight. The next call with CUDA
 * signals in its place, so that Vulkan finishes its submits and goes on.
 */
#define _GNU_SOURCE
#include "vk_copy.h"

#include "tests/support/child_check.h"

GROUP("frames in flight after a kernel that failed", add_vulkan_case)
TAG("alone")

#define FRAMES 4

static struct vulkan_image image; /* if the frames are those of an image */
static gr_resource *resource, *reader;
static gr_buffer *buffer; /* of the reader, mapped before the failure */
static struct vulkan_host *seen;

static gr_buffer *map_resource(void)
{
    return gr_map(resource, fx.stream);
}

static void submit_frame(void)
{
    if (image.image)
        submit_image(&image, seen, false);
    else
        must_submit(resource, vulkan_begin());
}

/* ---- Calls that report the failure ----------------------------------------------------------- */

static gr_status map(void)
{
    return map_resource() ? GR_OK : gr_last_error()->status;
}

static gr_status release(void)
{
    child_check(gr_buffer_release(buffer) == GR_ERR_DEVICE_LOST);
    return map();
}

/* A submit calls nothing of CUDA, and waits like those before it. */
static gr_status submit(void)
{
    submit_frame();
    return gr_resource_wait(resource, GR_WAIT_FOREVER);
}

/* The staging memory outlives the submits that are still to copy from it. */
static gr_status close_it(void)
{
    const gr_status status = gr_resource_close(resource, GR_STREAM_OF_MAP);
    child_check(status == GR_OK || status == GR_ERR_PARTIAL);
    return GR_ERR_DEVICE_LOST;
}

static gr_status free_it(void)
{
    gr_resource_free(resource);
    resource = NULL;
    return GR_ERR_DEVICE_LOST;
}

/* ---- The failure ----------------------------------------------------------------------------- */

static void begin_frames(int way, bool of_image)
{
    leaves_all_open = true; /* CUDA drops the host functions, which leaks their arguments */
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing && !kernels_load());
    begin_copying(way);
    seen = vulkan_host(SIZE);
    if (of_image)
        image = fly_image(GR_WRITE_DISCARD, FRAMES);
    if (of_image)
        begin_image(&image);
    resource = of_image ? image.resource : must_fly(GR_WRITE_DISCARD, FRAMES);
    reader = must_fly(GR_READ_ONLY, FRAMES);
    assert_ok(gr_vk_hand_over(&reader, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    buffer = must_map(reader);
}

/* All frames are in flight when the kernel of one fails. The last submits wait for CUDA. */
static void fail_one(void)
{
    struct gate *gate = gate_put(fx.stream);
    for (int i = 0; i < FRAMES; i++) {
        gr_buffer *mapped = must_make(map_resource());
        if (i == FRAMES / 2)
            kernel_fail(fx.stream);
        assert_ok(gr_buffer_release(mapped));
        submit_frame();
    }
    gate_open(gate);
    child_check(fx.cu->StreamSynchronize(fx.stream) != CUDA_SUCCESS);
}

/*
 * Vulkan has executed everything, and goes on. Its device then has no object left, which is checked
 * where CUDA signals through the host: the validation layer does not see other signals.
 */
static void end_frames(void)
{
    VK(QueueWaitIdle(vk.h->graphics));
    const VkBuffer other = vulkan_own(SIZE, false).buffer;
    vulkan_write_pattern(other, SIZE, 1);
    assert_vulkan_pattern(other, SIZE, 1);
    gr_resource_free(resource);
    gr_buffer_release_later(buffer);
    gr_resource_free(reader);
    if (image.image)
        vk.DestroyImage(vk.h->device, image.image, NULL);
    gr_vk_device_free(copying);
    if (vk.exports)
        return;
    vulkan_teardown();
    vulkan_end();
}

CHILD_TEST_UNLESS(vulkan_failures_missing(), vulkan_goes_on_after_a_failed_kernel, 5 * 2 * WAYS)
{
    static gr_status (*const calls[])(void) = {map, release, submit, close_it, free_it};
    begin_frames(_i % WAYS, _i / WAYS % 2);
    fail_one();
    child_check(calls[_i / WAYS / 2]() == GR_ERR_DEVICE_LOST);
    end_frames();
    return 0;
}
