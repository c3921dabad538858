/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copied Vulkan resources: allocations, lifetimes, failing calls, descriptions and refusals. */
#define _GNU_SOURCE
#include "vk_copy.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/share.h>

#include "tests/drivers/fault_driver.h"
#include "tests/support/allocations.h"

GROUP("life", add_vulkan_case)

VULKAN_TEST(frames_allocate_nothing, 2)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    need_counting();
    begin_copying_by(IMPORTED, false);
    GR_AUTO(gr_resource) *resource =
        _i ? must_fly(GR_WRITE_DISCARD, 4) : must_copy(SIZE, GR_READ_WRITE);
    for (int i = 0; i < 100; i++) {
        if (i == 20)
            start_counting();
        gr_buffer *buffer = must_map(resource);
        unsigned long before = allocations;
        assert_ok(gr_buffer_release(buffer));
        ck_assert(i < 20 || allocations == before);
        assert_ok(submit_with(&resource, 1, VK_NULL_HANDLE, &use, &use));
        VK(QueueWaitIdle(vk.h->graphics));
    }
    end_copying();
}

VULKAN_TEST(freeing_does_not_wait_for_the_stream, WAYS)
{
    begin_copying(_i);
    gr_resource *resource = must_copy(SIZE, GR_READ_WRITE);
    struct gate *gate = gate_open_after(gate_put(fx.stream), 5000);
    fill_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
    gate_open(gate);
    end_copying();
}

/* grinterop keeps the headless VkDevice until the copies in the stream are done. */
VULKAN_TEST(a_device_can_be_freed_before_its_copied_resource, 2 * WAYS)
{
    begin_copying(_i / 2);
    gr_resource *resource = _i % 2 ? must_fly(GR_WRITE_DISCARD, 4) : must_copy(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 1);
    gr_vk_device_free(copying);
    struct gate *gate = gate_open_after(gate_put(fx.stream), 5000);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
}

/* Catches: the end of the device waited forever for a submit that the program committed only. */
VULKAN_TEST(a_submit_that_was_never_made_does_not_keep_the_device, WAYS)
{
    begin_copying(_i);
    gr_resource *resource = must_copy(SIZE, GR_READ_WRITE);
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    assert_ok(gr_submit_commit(submit));
    gr_submit_free(submit);
    gr_resource_free(resource);
    gr_vk_device_free(copying);
}

/* The failed map leaves its copies in the stream. These copies must not use freed memory. */
VULKAN_TEST(a_failed_map_keeps_the_memory_of_pending_copies)
{
    begin_copying(IMPORTED);
    gr_resource *resource = must_copy(SIZE, GR_READ_WRITE);
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = NULL;
    CUevent event;
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ck_assert(fault->set("cuEventRecord", CUDA_ERROR_INVALID_HANDLE, 0));
    assert_fails(gr_map_many(&resource, 1, fx.stream,
                             &GR_INIT(gr_map_options, .ready_event = event), &buffer),
                 GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, "ready_event");
    fault->reset();
    gr_resource_free(resource);
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
    CU(EventDestroy(event));
    end_copying();
}

static const gr_slot *hand_over_frame(gr_ring *ring, CUstream stream)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, stream, &slot, 1, GR_WAIT_FOREVER));
    cuda_fill(slot->buffer, 8);
    CU(StreamSynchronize(stream));
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    return slot;
}

#define assert_destroyed(call)                                                                     \
    assert_fails(call, GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed")

/* Commands that were recorded before still copy the bytes of the last release. */
VULKAN_TEST(submits_after_the_destruction_of_the_context_are_refused, WAYS)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    const gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .first = &use, .last = &use);
    CUstream stream = NULL;
    CUcontext second = new_context(&stream);
    begin_copying(_i);
    gr_resource *resource = must_copy(SIZE, GR_READ_WRITE), *of_ring = must_copy(SIZE, 0);
    gr_ring *ring = must_make(gr_ring_create(&of_ring, 1, NULL));
    const gr_slot *slot = hand_over_frame(ring, stream);
    gr_buffer *buffer = must_map_on(resource, stream);
    cuda_fill(buffer, 7);
    CU(StreamSynchronize(stream));
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(stream));
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, &use));
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    end_context(second);
    assert_destroyed(gr_vk_submit(submit, &desc));
    assert_destroyed(gr_vk_submit_fill(submit, NULL, 0, &(VkSubmitInfo2){0}));
    gr_submit_free(submit);
    assert_null(gr_submit_begin(&resource, 1), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "was destroyed");
    assert_destroyed(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0));
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    assert_vulkan_bytes(gr_vk_buffer(resource), SIZE, 7);
    gr_ring_free(ring);
    gr_resource_free(of_ring);
    gr_resource_free(resource);
    gr_vk_device_free(copying);
}

/* Makes a driver function fail in a release, then in a map. Both succeed when repeated. */
static void check_refused(int way, const char *of_release, const char *of_map, const char *text)
{
    begin_copying(way);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    ck_assert(fault->set(of_release, CUDA_ERROR_UNKNOWN, 0));
    assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, text);
    assert_ok(gr_buffer_release(buffer));
    ck_assert(fault->set(of_map, CUDA_ERROR_UNKNOWN, 0));
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, text);
    must_release(must_map(resource));
    end_copying();
}

VULKAN_TEST(calls_can_be_repeated_after_a_failed_cuda_copy)
{
    check_refused(IMPORTED, "cuMemcpyAsync", "cuMemcpyAsync", "Vulkan buffer");
}

/* On one device CUDA works in the memory of a buffer, and nothing copies. */
static const char *one_device(void)
{
    return vk.missing || fx.device != 0 ? vk.missing : "CUDA and Vulkan use one device";
}

TEST_UNLESS(one_device(), calls_can_be_repeated_after_a_failed_peer_copy)
{
    check_refused(BY_PEER, "cuMemcpyAsync", "cuMemcpyAsync", "Vulkan buffer");
}

VULKAN_TEST(calls_can_be_repeated_after_a_failed_host_function)
{
    check_refused(BY_CPU, "cuLaunchHostFunc", "cuLaunchHostFunc", "CPU's copy");
}

/* If CUDA refuses memory of the process, Vulkan allocates memory, which CUDA registers. */
VULKAN_TEST(cuda_registers_vulkan_memory_if_it_refuses_other_memory)
{
    begin_copying(IMPORTED);
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_clear_error();
    ck_assert(fault->set("cuMemHostRegister", CUDA_ERROR_OUT_OF_MEMORY, 0));
    GR_AUTO(gr_resource) *resource = gr_create_vk_buffer(copying, &info, GR_READ_WRITE);
    fault->reset();
    assert_made(resource);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    assert_described(resource, "that CUDA registered");
    ck_assert(fault->set("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 0));
    assert_null(gr_create_vk_buffer(copying, &info, GR_READ_WRITE), GR_ERR_NO_MEMORY,
                CUDA_ERROR_OUT_OF_MEMORY, "device memory");
    end_copying();
}

/* If CUDA cannot use memory of Vulkan on the other device, host memory is used, if allowed. */
VULKAN_TEST(a_failed_import_by_peer_copies_through_host_memory_if_allowed, 2)
{
    static const char *const calls[] = {"cuImportExternalMemory",
                                        "cuExternalMemoryGetMappedBuffer"};
    begin_copying(BY_PEER);
    gr_vk_device_desc either = vulkan_desc(NULL);
    either.transports = GR_TRANSPORT_PEER | GR_TRANSPORT_COPY;
    gr_vk_device *both = must_make(gr_vk_device_from_vk(&either));
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_clear_error();
    ck_assert(fault->set(calls[_i], CUDA_ERROR_UNKNOWN, 0));
    gr_resource *resource = must_make(gr_create_vk_buffer(both, &info, GR_READ_WRITE));
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    gr_resource_free(resource);
    ck_assert(fault->set(calls[_i], CUDA_ERROR_UNKNOWN, 0));
    assert_null(gr_create_vk_buffer(copying, &info, GR_READ_WRITE), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN,
                _i ? "could not be mapped" : "did not import");
    fault->reset();
    gr_vk_device_free(both);
    end_copying();
}

GROUP("descriptions and refusals", add_vulkan_case)

VULKAN_TEST(describe_and_info_report_the_copy_transport, WAYS)
{
    static const char *const ways[] = {"Vulkan imported", "CUDA registered", "CPU copies",
                                       "of the Vulkan GPU that CUDA imported"};
    const unsigned transport = _i == BY_PEER ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY;
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    assert_described(resource, _i == BY_PEER ? "transport peer" : "transport copy", ways[_i],
                     "GR_TRANSPORT_EXTERNAL is not allowed");
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, transport);
    ck_assert_ptr_null(gr_resource_get_info(resource)->external_memory);
    ck_assert_int_eq(gr_vk_device_get_info(copying)->transport, transport);
    ck_assert_int_eq(gr_vk_device_get_info(vk.wrap)->transport, GR_TRANSPORT_EXTERNAL);
    assert_ok(gr_resource_close(resource, fx.stream));
    assert_described(resource, "closed");
    end_copying();
}

/* The memory contains the bytes of only one buffer, and other processes cannot access it. */
VULKAN_TEST(sharing_a_copied_resource_is_refused, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = 16);
    assert_null(gr_from_same_memory(resource, &part, GR_READ_WRITE), GR_ERR_STATE, 0,
                _i == BY_PEER ? "transport peer" : "transport copy");
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_fails(gr_resource_send(ends[0], resource, NULL, 0, 0), GR_ERR_UNSUPPORTED, 0,
                 "copy transport");
    close(ends[0]);
    close(ends[1]);
    end_copying();
}

/* Each direction of a copy needs its own usage flag, which an image of the application may lack. */
VULKAN_TEST(images_without_the_usage_for_a_copy_are_refused, 2)
{
    begin_copying(IMPORTED);
    const unsigned flags = _i ? GR_WRITE_DISCARD : GR_READ_ONLY;
    VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 8, 8, 1, 0);
    VkImage image = VK_NULL_HANDLE;
    info.usage = _i ? VK_IMAGE_USAGE_TRANSFER_DST_BIT : VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    VK(CreateImage(vk.h->device, &info, NULL, &image));
    VkMemoryRequirements needs;
    vk.GetImageMemoryRequirements(vk.h->device, image, &needs);
    const gr_vk_image_desc desc =
        GR_INIT(gr_vk_image_desc, .create_info = &info, .image = image,
                .memory = vulkan_memory(needs.size, needs.memoryTypeBits, 0, VK_NULL_HANDLE,
                                        VK_NULL_HANDLE),
                .memory_size = needs.size);
    VK(BindImageMemory(vk.h->device, image, desc.memory, 0));
    assert_null_invalid(gr_from_vk_image(copying, &desc, GR_READ_WRITE),
                        _i ? "TRANSFER_SRC_BIT" : "TRANSFER_DST_BIT");
    gr_resource *resource = must_make(gr_from_vk_image(copying, &desc, flags));
    gr_resource_free(resource);
    vk.DestroyImage(vk.h->device, image, NULL);
    end_copying();
}

VULKAN_TEST(failures_to_create_copied_images_are_reported)
{
    begin_copying(IMPORTED);
    VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 8, 8, 1, 0);
    info.extent.width = 1u << 20;
    assert_null_invalid(gr_create_vk_image(copying, &info, GR_READ_WRITE), "at most");
    info.extent.width = 8;
    ck_assert(fault->set("cuMipmappedArrayCreate", CUDA_ERROR_OUT_OF_MEMORY, 0));
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    assert_null(gr_create_vk_image(copying, &info, GR_READ_WRITE), GR_ERR_NO_MEMORY,
                CUDA_ERROR_OUT_OF_MEMORY, "array");
    end_copying();
}

VULKAN_TEST(copied_images_of_unsupported_formats_are_refused)
{
    const VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 8, 8, 1, 0);
    refuses_images = true;
    begin_copying(IMPORTED);
    refuses_images = false;
    assert_null(gr_create_vk_image(copying, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED,
                VK_ERROR_FORMAT_NOT_SUPPORTED, "cannot create images");
    end_copying();
}
