/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A kernel fails after a release was enqueued, so that CUDA never signals Vulkan. The next call
 * with a resource signals in place of CUDA, so that Vulkan does not keep waiting.
 */
#include "vk_submit.h"

#include <grinterop/image.h>

#include "tests/support/child_check.h"

GROUP("submits after a kernel that failed", add_vulkan_case)

/* ---- Calls that report the failure ----------------------------------------------------------- */

static gr_resource *resource, *other, *image; /* Vulkan waits for CUDA's work with `resource` */
static gr_buffer *buffer;                     /* of `other` */
static gr_buffer *opengl;                     /* copied to OpenGL; mapped on fx.other */
static gr_semaphore *unused;
static CUevent event;

static gr_status map(void)
{
    return gr_map(resource, fx.stream) ? GR_OK : gr_last_error()->status;
}

static gr_status map_linear(void)
{
    return gr_map_linear(image, 0, 0, fx.stream) ? GR_OK : gr_last_error()->status;
}

static gr_status release(void)
{
    return gr_buffer_release(buffer);
}

static gr_status release_after_event(void)
{
    const gr_release_options options = GR_INIT(gr_release_options, .wait_event = event);
    return gr_buffer_release_many(&buffer, 1, GR_STREAM_OF_MAP, &options);
}

static gr_status wait(void)
{
    return gr_resource_wait(resource, GR_WAIT_FOREVER);
}

static gr_status release_to_opengl(void)
{
    child_check(gr_buffer_release(opengl) == GR_ERR_DEVICE_LOST);
    return wait();
}

static gr_status set_sync(void)
{
    return gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE);
}

/* The resource is closed whether the call reports the failure or not. */
static gr_status close_it(void)
{
    gr_status status = gr_resource_close(resource, GR_STREAM_OF_MAP);
    child_check(status == GR_OK || status == GR_ERR_PARTIAL);
    return GR_ERR_DEVICE_LOST;
}

/* Ends the objects of resources that were closed before the failure. */
static gr_status collect(void)
{
    gr_semaphore_free(unused);
    return GR_ERR_DEVICE_LOST;
}

/* ---- The failure ----------------------------------------------------------------------------- */

enum { CUDA_WAITS = 1, CLOSED = 2, FAILS_LATER = 4 };

static gr_status submit_nothing(gr_resource *submitted, VkFence fence)
{
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&submitted, 1));
    return gr_vk_submit(
        submit, &GR_INIT(gr_vk_submit_desc, .fence = fence, .first = &copying, .last = &copying));
}

static void begin(int kind)
{
    const VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 8, 8, 1,
                          VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    leaves_all_open = true; /* CUDA drops the host functions, which leaks their arguments */
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing && !kernels_load());
    begin_device(kind);
    resource = make_buffer();
    other = make_buffer();
    if (kind / COPIED)
        image = must_make(gr_create_vk_image(device, &info, GR_READ_WRITE));
    buffer = must_map(other);
    opengl = must_map_on(
        must_make(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), GR_WRITE_DISCARD,
                                         &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY))),
        fx.other);
    unused = must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
}

/*
 * Submits work that waits for CUDA, whose kernel then fails. Returns the fence of the submit. With
 * CUDA_WAITS, another stream waits for that submit. With CLOSED, the resource was closed before the
 * failure. With FAILS_LATER, the kernel fails during the next call.
 */
static VkFence leave_waiting(int how)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    VK(CreateFence(vk.h->device, &info, NULL, &fence));
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *mapped = must_map(resource);
    kernel_fail(fx.stream);
    assert_ok(gr_buffer_release(mapped));
    assert_ok(submit_nothing(resource, fence));
    if (how & CUDA_WAITS)
        assert_ok(gr_buffer_release(must_map_on(resource, fx.other)));
    if (how & CLOSED)
        assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    if (how & FAILS_LATER) {
        gate_open_after(gate, 100);
        return fence;
    }
    gate_open(gate);
    child_check(fx.cu->StreamSynchronize(fx.stream) != CUDA_SUCCESS);
    child_check(vk.WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 50000000) == VK_TIMEOUT);
    return fence;
}

static int fail_on(int kind, int how, gr_status (*call)(void))
{
    begin(kind);
    assert_ok(submit_nothing(call == map_linear ? image : resource, VK_NULL_HANDLE));
    VkFence fence = leave_waiting(how);
    child_check(call() == GR_ERR_DEVICE_LOST);
    child_check(vk.WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 20000000000u) == VK_SUCCESS);
    VK(QueueWaitIdle(vk.h->graphics));
    gr_resource_free(resource);
    gr_resource_free(image);
    gr_buffer_release(buffer);
    gr_resource_free(other);
    if (call != collect)
        gr_semaphore_free(unused);
    gr_vk_device_free(device);
    gates_open();
    return 0;
}

static const struct {
    int kind, how;
    gr_status (*call)(void);
} failures[] = {{PLAIN, 0, map},
                {PLAIN, 0, release},
                {PLAIN + COPIED, 0, map},
                {PLAIN + COPIED, 0, release},
                {PLAIN + COPIED, 0, map_linear},
                {PLAIN, 0, release_after_event},
                {PLAIN, CUDA_WAITS, wait},
                {PLAIN, CUDA_WAITS, set_sync},
                {PLAIN, CUDA_WAITS + FAILS_LATER, wait},
                {PLAIN, CUDA_WAITS + FAILS_LATER, set_sync},
                {PLAIN, CUDA_WAITS + FAILS_LATER, release_to_opengl},
                {PLAIN, 0, close_it},
                {PLAIN, CUDA_WAITS, close_it},
                {PLAIN, CLOSED, collect},
                {PLAIN, CUDA_WAITS + CLOSED, collect}};

CHILD_TEST_UNLESS(vulkan_failures_missing(), a_failed_kernel_does_not_leave_vulkan_waiting,
                  sizeof(failures) / sizeof(*failures))
{
    return fail_on(failures[_i].kind, failures[_i].how, failures[_i].call);
}
