/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls on external memory and semaphores in which a driver call fails midway: the caller keeps the
 * descriptor, nothing partial remains, and objects that existed before still work.
 */
#define _GNU_SOURCE
#include "external_import.h"
#include "tests/drivers/fault_driver.h"

#include <string.h>

#define SIZE 65536

/* The part of the memory that most cases import. */
static const gr_external_part_desc usual = {.struct_size = sizeof(usual), .size = SIZE};

static void let_fail(const char *function, CUresult code)
{
    fault->reset();
    ck_assert_msg(fault->set(function, (int)code, 0), "%s can't fail", function);
}

/* The last error must name the code of the driver, and a function of the driver or of grinterop. */
static void assert_refused(CUresult code)
{
    assert_error(class_of_code((int)code), (int)code, "");
}

GROUP("imports", add_vulkan_case)

VULKAN_TEST(a_failed_import_leaves_the_descriptor_to_the_caller)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    let_fail("cuImportExternalMemory", CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(gr_from_external_memory(&info, GR_READ_WRITE));
    assert_refused(CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 0);
    ck_assert(is_open(info.fd));
    gr_resource *resource = must_import(&info);
    ck_assert(!is_open(info.fd));
    gr_resource_free(resource);
}

/*
 * When this function fails, the driver already owns a descriptor, which must not be that of the
 * caller.
 */
static void assert_taken_back(const gr_external_memory_desc *info, const char *function,
                              CUresult code)
{
    let_fail(function, code);
    ck_assert_ptr_null(gr_from_external_memory(info, GR_READ_WRITE));
    assert_refused(code);
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 1);
    assert_mine(info->fd);
}

VULKAN_TEST(a_buffer_that_fails_after_the_import_leaves_the_descriptor_to_the_caller)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    assert_taken_back(&info, "cuExternalMemoryGetMappedBuffer", CUDA_ERROR_INVALID_VALUE);
}

VULKAN_TEST(an_image_that_fails_after_the_import_leaves_the_descriptor_to_the_caller)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_external_image_desc image =
        GR_INIT(gr_external_image_desc, .width = 16, .height = 16,
                .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 4);
    gr_external_memory_desc info = external_info(&own, &usual);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &image);
    info.part = &part;
    assert_taken_back(&info, "cuExternalMemoryGetMappedMipmappedArray", CUDA_ERROR_NOT_SUPPORTED);
}

VULKAN_TEST(a_failed_second_part_leaves_the_first_part_usable)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .offset = 256, .size = 256);
    GR_AUTO(gr_resource) *resource = must_import(&info);
    let_fail("cuExternalMemoryGetMappedBuffer", CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(gr_from_same_memory(resource, &part, GR_READ_WRITE));
    assert_refused(CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 0);
    vulkan_write_pattern(own.buffer, SIZE, 1);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_pattern(buffer, 1);
    must_release(buffer);
}

/*
 * Vulkan objects that grinterop created must be destroyed again: the last case detects remaining
 * objects.
 */
VULKAN_TEST(a_failed_import_of_a_vulkan_buffer_or_image_leaves_nothing)
{
    static const char *const functions[] = {"cuImportExternalMemory",
                                            "cuExternalMemoryGetMappedBuffer"};
    const VkBufferCreateInfo buffer = vulkan_buffer_info(SIZE);
    gr_resource_free(
        /* The first resource creates the semaphores of the device. */
        must_create(SIZE, GR_READ_WRITE));
    int fds = open_fds();
    for (int i = 0; i < 2; i++) {
        let_fail(functions[i], CUDA_ERROR_INVALID_VALUE);
        ck_assert_ptr_null(gr_create_vk_buffer(vk.wrap, &buffer, GR_READ_WRITE));
        assert_refused(CUDA_ERROR_INVALID_VALUE);
        ck_assert_int_eq(open_fds(), fds);
    }
    let_fail("cuExternalMemoryGetMappedMipmappedArray", CUDA_ERROR_INVALID_VALUE);
    const VkImageCreateInfo info = vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                                     vulkan_shape("2D"), 16, 16, 1, 0);
    ck_assert_ptr_null(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    assert_refused(CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(open_fds(), fds);
}

VULKAN_TEST(a_failed_import_of_a_vulkan_semaphore_leaves_nothing)
{
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    int fds = open_fds();
    let_fail("cuImportExternalSemaphore", CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    assert_refused(CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(open_fds(), fds);
}

/* Catches: the import ended while the stream of the last release still worked. */
VULKAN_TEST(a_map_whose_wait_fails_does_not_hide_the_last_release)
{
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    gr_resource *resource = must_create(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    let_fail("cuWaitExternalSemaphoresAsync", CUDA_ERROR_INVALID_VALUE);
    assert_null(gr_map(resource, fx.other), GR_ERR_CUDA, CUDA_ERROR_INVALID_VALUE, "");
    gr_resource_free(resource);
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    fault->reset();
    gr_resource_free(must_create(SIZE, GR_READ_WRITE));
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 2);
}

/* Otherwise a loop that only creates rings would keep the semaphores of all of them. */
VULKAN_TEST(a_new_semaphore_ends_those_that_were_freed_in_use)
{
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    gr_semaphore *freed = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = freed, .value = 1);
    const int fds = open_fds(); /* an import keeps one on the software driver */
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    gr_semaphore_free(freed);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    gr_semaphore *next = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    ck_assert_int_eq(open_fds(), fds);
    gr_semaphore_free(next);
}

GROUP("maps and releases", add_vulkan_case)

static gr_semaphore *drawn, *computed;
static gr_resource *resource;

static void make_resource(void)
{
    drawn = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    computed = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    assert_made(drawn);
    resource = must_create(SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(resource, drawn, computed));
}

static void end_resource(void)
{
    fault->reset();
    gr_resource_free(resource);
    gr_semaphore_free(drawn);
    gr_semaphore_free(computed);
}

static void assert_vulkan_reads(int value)
{
    struct vulkan_host *seen = vulkan_host(SIZE);
    gr_submit *submit = vulkan_begin_submit(&resource, 1);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
    vulkan_submit_begun(commands, submit, NULL);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, value);
}

VULKAN_TEST(a_release_whose_signal_failed_can_be_retried)
{
    make_resource();
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x21);
    let_fail(vk.exports ? "cuSignalExternalSemaphoresAsync" : "cuLaunchHostFunc",
             CUDA_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(gr_buffer_release(buffer), GR_ERR_DEVICE_LOST);
    assert_refused(CUDA_ERROR_LAUNCH_FAILED);
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    assert_ok(gr_buffer_release(buffer));
    gr_submit *submit = vulkan_begin_submit(&resource, 1);
    ck_assert_uint_eq(wait_value_of(submit), 1); /* the failed release used up no semaphore value */
    gr_submit_free(submit);
    assert_vulkan_reads(0x21);
    end_resource();
}

VULKAN_TEST(a_failed_manual_signal_uses_up_no_value)
{
    make_resource();
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = drawn, .value = 5);
    let_fail(vk.exports ? "cuSignalExternalSemaphoresAsync" : "cuLaunchHostFunc",
             CUDA_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(gr_semaphore_signal(&point, 1, fx.stream), GR_ERR_DEVICE_LOST);
    assert_refused(CUDA_ERROR_LAUNCH_FAILED);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    assert_ok(gr_semaphore_wait(&point, 1, fx.other));
    CU(StreamSynchronize(fx.other));
    end_resource();
}

/* Catches: NVIDIA's driver crashed in cuStreamIsCapturing. */
VULKAN_TEST(points_check_the_context_before_the_stream)
{
    CUstream stream = NULL;
    CUcontext own = new_context(&stream);
    GR_AUTO(gr_vk_device) *device = vulkan_wrap();
    GR_AUTO(gr_semaphore) *semaphore =
        must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    end_context(own);
    fault->reset();
    assert_fails(gr_semaphore_signal(&point, 1, stream), GR_ERR_CUDA,
                 CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    assert_fails(gr_semaphore_wait(&point, 1, stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                 "was destroyed");
    ck_assert_uint_eq(fault->calls("cuStreamIsCapturing"), 0);
}

/*
 * Catches: each poll recorded its own event, which completes slightly after the work. On a GPU with
 * other users, a caller that polls never saw such an event complete. If the host signals the
 * semaphores, the library uses the event of the release instead.
 */
VULKAN_TEST(polling_records_one_event)
{
    make_resource();
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    fault->reset();
    for (int i = 0; i < 20; i++)
        assert_fails(gr_resource_wait(resource, 0), GR_ERR_NOT_READY, 0, "not done");
    ck_assert_uint_le(fault->calls("cuEventRecord"), 1);
    gate_open(gate);
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    assert_ok(gr_resource_wait(resource, 0));
    ck_assert_uint_le(fault->calls("cuEventRecord"), 1);
    must_release(must_map(resource));
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    end_resource();
}

GROUP("ends", add_vulkan_case)

/*
 * Without an event the library cannot see when the work has ended, so it waits before it frees the
 * objects that the work uses.
 */
VULKAN_TEST(a_free_without_an_event_waits_for_the_stream)
{
    make_resource();
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    fault->reset();
    let_fail("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
    gate_open_after(gate, 50);
    gr_resource_free(resource);
    resource = NULL;
    /*
     * The library creates no event if it uses the event of the release. Otherwise the attempt to
     * create one fails, and the library waits for the context.
     */
    ck_assert_uint_eq(fault->calls("cuCtxSynchronize"), fault->calls("cuEventCreate"));
    CU(StreamSynchronize(fx.stream));
    end_resource();
}

/*
 * If a free was deferred because a stream still worked, the import is destroyed when the next
 * resource of any kind is freed.
 */
VULKAN_TEST(a_free_destroys_imports_that_earlier_frees_deferred)
{
    make_resource();
    gr_resource *next = must_create(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    fault->reset();
    gr_resource_free(resource);
    resource = NULL;
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(next);
    ck_assert_uint_eq(fault->calls("cuDestroyExternalMemory"), 2);
    end_resource();
}

START(fault_control_start())
