/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan buffers that are copied: bytes in both directions, parts of buffers, order without host
 * waits, and rings. The cases of test_vk_submit also run with copies. vk_copy_choice.c tests
 * devices that copy some resources only, and vk_copy_in_flight.c frames in flight.
 */
#define _GNU_SOURCE
#include "vk_copy.h"

#include <string.h>

#include "tests/drivers/fault_driver.h"

#define FRAMES 24

/* ---- Devices that copy ----------------------------------------------------------------------- */

static bool hides_import;
bool refuses_images, refuses_exports;

static VKAPI_ATTR VkResult VKAPI_CALL refuse_export(VkPhysicalDevice device,
                                                    const VkPhysicalDeviceImageFormatInfo2 *info,
                                                    VkImageFormatProperties2 *found)
{
    (void)device, (void)info, (void)found;
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

static VKAPI_ATTR VkResult VKAPI_CALL refuse_image(VkPhysicalDevice device, VkFormat format,
                                                   VkImageType type, VkImageTiling tiling,
                                                   VkImageUsageFlags usage,
                                                   VkImageCreateFlags flags,
                                                   VkImageFormatProperties *found)
{
    (void)device, (void)format, (void)type, (void)tiling, (void)usage, (void)flags, (void)found;
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name)
{
    return hides_import && strcmp(name, "vkGetMemoryHostPointerPropertiesEXT") == 0
               ? NULL
               : vulkan_device_function(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance,
                                                                  const char *name)
{
    if (refuses_images && strcmp(name, "vkGetPhysicalDeviceImageFormatProperties") == 0)
        return (PFN_vkVoidFunction)refuse_image;
    if (refuses_exports && strcmp(name, "vkGetPhysicalDeviceImageFormatProperties2") == 0)
        return (PFN_vkVoidFunction)refuse_export;
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)device_function
                                                    : vk.h->get_instance_proc_addr(instance, name);
}

gr_vk_device *copying;
static int way_of_copying;

gr_vk_device *wrap_with(unsigned transports, bool synchronization2)
{
    gr_vk_device_desc info = vulkan_desc(NULL);
    info.get_instance_proc_addr = instance_function;
    info.synchronization2 = synchronization2;
    info.transports = transports;
    return must_make(gr_vk_device_from_vk(&info));
}

void begin_copying_by(int way, bool synchronization2)
{
    hides_import = way != IMPORTED;
    way_of_copying = way;
    copying = wrap_with(way == BY_PEER ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY, synchronization2);
}

void begin_copying(int way)
{
    begin_copying_by(way, vk.h->synchronization2);
}

void end_copying(void)
{
    VK(QueueWaitIdle(vk.h->graphics));
    CU(StreamSynchronize(fx.stream));
    gr_vk_device_free(copying);
}

void refuse_registration(void)
{
    if (way_of_copying == BY_CPU)
        ck_assert(fault->set("cuMemHostRegister", CUDA_ERROR_NOT_SUPPORTED, 0));
}

gr_resource *must_copy(size_t size, unsigned flags)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(size);
    refuse_registration();
    gr_resource *resource = gr_create_vk_buffer(copying, &info, flags);
    fault->reset();
    assert_made(resource);
    return resource;
}

gr_vk_buffer_desc hidden_buffer(bool known)
{
    VkMemoryRequirements needs;
    VkBuffer own = vulkan_buffer(SIZE, &needs);
    VkDeviceMemory memory =
        vulkan_memory(needs.size, needs.memoryTypeBits, 0, VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK(BindBufferMemory(vk.h->device, own, memory, 0));
    gr_vk_buffer_desc desc = GR_INIT(gr_vk_buffer_desc, .buffer = own, .size = SIZE);
    if (known) {
        desc.memory = memory;
        desc.memory_size = needs.size;
    }
    return desc;
}

VkImage hidden_image(const VkImageCreateInfo *info)
{
    VkImage image = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    VK(CreateImage(vk.h->device, info, NULL, &image));
    vk.GetImageMemoryRequirements(vk.h->device, image, &needs);
    VK(BindImageMemory(
        vk.h->device, image,
        vulkan_memory(needs.size, needs.memoryTypeBits, 0, VK_NULL_HANDLE, VK_NULL_HANDLE), 0));
    return image;
}

/* ---- Submits --------------------------------------------------------------------------------- */

gr_vk_use transfers(VkImageLayout layout)
{
    return GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                   .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   .layout = layout);
}

gr_status submit_to(gr_submit *submit, VkCommandBuffer commands, const gr_vk_use *first,
                    const gr_vk_use *last)
{
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = commands != VK_NULL_HANDLE,
                                .pCommandBufferInfos = &buffer};
    if (commands)
        VK(EndCommandBuffer(commands));
    return gr_vk_submit(submit,
                        &GR_INIT(gr_vk_submit_desc, .info = &info, .first = first, .last = last));
}

gr_status submit_with(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                      const gr_vk_use *first, const gr_vk_use *last)
{
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(resources, n));
    return submit_to(submit, commands, first, last);
}

void must_submit(gr_resource *resource, VkCommandBuffer commands)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    assert_ok(submit_with(&resource, 1, commands, &use, &use));
}

void fill_by_vulkan(gr_resource *resource, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, VK_WHOLE_SIZE,
                     (uint32_t)(unsigned char)value * 0x01010101u);
    must_submit(resource, commands);
}

/* Records a copy to the host. The submit first copies the bytes of CUDA to the buffer. */
static void record_read(VkCommandBuffer commands, gr_resource *resource,
                        const struct vulkan_host *to)
{
    vulkan_cmd_copy_to_host(commands, gr_vk_buffer(resource), to, 0, to->size);
}

static struct vulkan_host *read_by_vulkan(gr_resource *resource)
{
    struct vulkan_host *seen = vulkan_host(gr_resource_get_info(resource)->size);
    VkCommandBuffer commands = vulkan_begin();
    record_read(commands, resource, seen);
    must_submit(resource, commands);
    VK(QueueWaitIdle(vk.h->graphics));
    return seen;
}

void check_by_vulkan(gr_resource *resource, const unsigned char *bytes)
{
    struct vulkan_host *seen = read_by_vulkan(resource);
    size_t i = 0;
    while (i + 1 < seen->size && seen->bytes[i] == bytes[i])
        i++;
    ck_assert_msg(seen->bytes[i] == bytes[i], "byte %zu is 0x%02x, not 0x%02x", i, seen->bytes[i],
                  bytes[i]);
    vulkan_host_end(seen);
}

void check_all_by_vulkan(gr_resource *resource, int value)
{
    struct vulkan_host *seen = read_by_vulkan(resource);
    assert_bytes(seen->bytes, seen->size, value);
    vulkan_host_end(seen);
}

void check_bytes_both_ways(gr_resource *resource)
{
    for (int round = 0; round < 3; round++) {
        fill_by_vulkan(resource, 0x10 + round);
        gr_buffer *buffer = must_map(resource);
        assert_cuda_bytes(buffer, 0x10 + round);
        fill_and_release(buffer, 0x20 + round);
        check_all_by_vulkan(resource, 0x20 + round);
    }
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

GROUP("bytes", add_vulkan_case)
TAG("bytes")

static const size_t sizes[] = {4, 100, 4096, 65536, 65540, 3000004};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

VULKAN_TEST(copied_buffers_pass_bytes_both_ways, SIZES *WAYS)
{
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_copy(sizes[_i / WAYS], GR_READ_WRITE);
    check_bytes_both_ways(resource);
    end_copying();
}

/*
 * Read-only buffers are copied only to CUDA, and write_discard buffers only to Vulkan. The
 * read-only buffer belongs to the application.
 */
VULKAN_TEST(the_flags_select_the_directions_of_copies, WAYS)
{
    begin_copying(_i);
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE, .dedicated = own.dedicated);
    gr_resource *input = must_make(gr_from_vk_buffer(copying, &desc, GR_READ_ONLY));
    gr_resource *output = must_copy(SIZE, GR_WRITE_DISCARD);
    for (int i = 0; i < FRAMES; i++) {
        fill_by_vulkan(input, i);
        gr_buffer *from = must_map(input), *to = must_map(output);
        CU(MemcpyDtoDAsync(gr_buffer_ptr(to), gr_buffer_ptr(from), SIZE, fx.stream));
        cuda_fill(from, 0xEE); /* is not copied back */
        assert_ok(gr_buffer_release(from));
        assert_ok(gr_buffer_release(to));
        check_all_by_vulkan(output, i);
        check_all_by_vulkan(input, i);
    }
    gr_resource_free(input);
    gr_resource_free(output);
    end_copying();
}

/* A program may not know the memory, such as that of an image of a swapchain. */
VULKAN_TEST(copies_need_no_memory, WAYS)
{
    const gr_vk_buffer_desc known = hidden_buffer(true);
    gr_vk_buffer_desc desc = GR_INIT(gr_vk_buffer_desc, .buffer = known.buffer, .size = SIZE);
    if (fx.device == 0)
        assert_null_invalid(gr_from_vk_buffer(vk.wrap, &desc, GR_READ_WRITE), "GR_TRANSPORT_ANY");
    begin_copying(_i);
    gr_resource *resource = must_make(gr_from_vk_buffer(copying, &desc, GR_READ_WRITE));
    ck_assert(gr_vk_memory(resource) == VK_NULL_HANDLE);
    fill_by_vulkan(resource, 0x31);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, 0x31);
    fill_and_release(buffer, 0x32);
    check_all_by_vulkan(resource, 0x32);
    gr_resource_free(resource);
    desc.size = known.memory_size + 1;
    assert_null_invalid(gr_from_vk_buffer(copying, &desc, GR_READ_WRITE), "exceeds");
    end_copying();
}

VULKAN_TEST(a_map_selects_the_directions_of_its_copies, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    for (int round = 0; round < 3; round++) {
        fill_by_vulkan(resource, 0x10 + round);
        gr_buffer *buffer = must_make(
            gr_map_with(resource, fx.stream, &GR_INIT(gr_map_options, .access = GR_MAP_READ_ONLY)));
        assert_cuda_bytes(buffer, 0x10 + round);
        cuda_fill(buffer, 0xEE); /* is not copied back */
        assert_ok(gr_buffer_release(buffer));
        check_all_by_vulkan(resource, 0x10 + round);
        buffer = must_make(gr_map_with(resource, fx.stream,
                                       &GR_INIT(gr_map_options, .access = GR_MAP_WRITE_DISCARD)));
        if (_i != BY_PEER || fx.device != 0)
            assert_cuda_bytes(buffer, 0xEE); /* the map has copied nothing */
        fill_and_release(buffer, 0x20 + round);
        check_all_by_vulkan(resource, 0x20 + round);
    }
    end_copying();
}

/* ---- Parts ----------------------------------------------------------------------------------- */

void write_part(gr_resource *resource, size_t offset, size_t size, int value,
                unsigned char *expected)
{
    gr_buffer *buffer = NULL;
    const gr_map_options part = GR_INIT(gr_map_options, .offset = offset, .size = size);
    assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    fill_and_release(buffer, value);
    memset(expected + offset, value, size);
}

/*
 * CUDA writes 80 parts, more than one copy command takes, and overlapping and adjacent parts. The
 * bytes between the parts must not change.
 */
VULKAN_TEST(only_the_written_parts_are_copied_to_vulkan, 2 * WAYS)
{
    static unsigned char expected[SIZE];
    begin_copying(_i / 2);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, _i % 2 ? GR_WRITE_DISCARD : GR_READ_WRITE);
    fill_by_vulkan(resource, 0x77);
    memset(expected, 0x77, SIZE);
    for (size_t i = 0; i < 80; i++)
        write_part(resource, 4096 + 512 * i, 100, (int)i, expected);
    write_part(resource, 4096 + 50, 512, 0xA1, expected);
    write_part(resource, 4096 + 562, 100, 0xA2, expected);
    write_part(resource, SIZE - 8, 8, 0xA3, expected);
    write_part(resource, 20000, 2000, 0xA4, expected);
    check_by_vulkan(resource, expected);
    write_part(resource, 0, 4, 0xA5, expected);
    check_by_vulkan(resource, expected);
    end_copying();
}

VULKAN_TEST(cuda_reads_a_mapped_part_of_a_copied_buffer, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_ONLY);
    fill_by_vulkan(resource, 0x31);
    gr_buffer *buffer = NULL;
    const gr_map_options part = GR_INIT(gr_map_options, .offset = 1000, .size = 500);
    assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
    assert_cuda_bytes(buffer, 0x31);
    must_release(buffer);
    end_copying();
}

/* ---- Order ----------------------------------------------------------------------------------- */

GROUP("order", add_vulkan_case)

/* The queue is blocked. Neither a map nor a release nor a submit may wait for it. */
VULKAN_TEST(map_release_and_submit_of_a_copied_buffer_do_not_block, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    struct vulkan_gate *gate = vulkan_gate();
    VkCommandBuffer nothing = vulkan_begin();
    vulkan_submit(nothing, NULL, gate); /* blocks the queue */
    fill_by_vulkan(resource, 0x41);
    gr_buffer *buffer = must_map(resource);
    CU(MemsetD8Async(gr_buffer_ptr(buffer) + 100, 0x42, 100, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    must_submit(resource, VK_NULL_HANDLE);
    ck_assert(!vulkan_gate_is_open(gate));
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    static unsigned char expected[SIZE];
    memset(expected, 0x41, SIZE);
    memset(expected + 100, 0x42, 100);
    check_by_vulkan(resource, expected);
    vulkan_finish();
    end_copying();
}

/*
 * A submit copies the bytes of CUDA to Vulkan once. Later submits must not copy these bytes again,
 * because Vulkan may have written newer ones.
 */
VULKAN_TEST(bytes_of_cuda_are_copied_to_vulkan_only_once, 2)
{
    begin_copying_by(IMPORTED, _i == 0 && vk.h->synchronization2);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_WRITE_DISCARD);
    fill_mapped(resource, 0x51);
    gr_submit_free(gr_submit_begin(&resource, 1)); /* takes nothing */
    check_all_by_vulkan(resource, 0x51);
    fill_by_vulkan(resource, 0x52);
    check_all_by_vulkan(resource, 0x52);
    end_copying();
}

/*
 * The program records the copies with gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda(), which copy
 * whole buffers.
 */
VULKAN_TEST(the_program_can_record_the_copies, WAYS)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    for (int i = 0; i < 4; i++) {
        gr_buffer *buffer = must_map(resource);
        if (i > 0)
            assert_cuda_bytes(buffer, 0x60 + i);
        fill_and_release(buffer, 0x70 + i);
        struct vulkan_host *seen = vulkan_host(SIZE);
        VkCommandBuffer commands = vulkan_begin();
        assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, &use));
        record_read(commands, resource, seen);
        const VkMemoryBarrier after = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                       .srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
                                       .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};
        vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &after, 0, NULL, 0, NULL);
        vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE,
                         (uint32_t)(0x61 + i) * 0x01010101u);
        assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, &use));
        vulkan_submit_begun(commands, vulkan_begin_submit(&resource, 1), NULL);
        vulkan_finish();
        assert_bytes(seen->bytes, SIZE, 0x70 + i);
        vulkan_host_end(seen);
    }
    check_all_by_vulkan(resource, 0x64);
    end_copying();
}

/* Without a submit between two maps, the second map sees the bytes that CUDA wrote. */
VULKAN_TEST(a_second_map_sees_the_bytes_of_the_first, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_copy(SIZE, GR_READ_WRITE);
    fill_mapped(resource, 0x11);
    gr_buffer *buffer = must_map_on(resource, fx.other);
    CU(StreamSynchronize(fx.other));
    assert_cuda_bytes(buffer, 0x11);
    cuda_fill(buffer, 0x12);
    CU(StreamSynchronize(fx.stream));
    assert_ok(release_on(buffer, fx.stream));
    check_all_by_vulkan(resource, 0x12);
    end_copying();
}

/*
 * A buffer of the application may have contents. Only a submit can copy them, so a map before that
 * is refused, unless its flags discard the contents.
 */
VULKAN_TEST(a_new_buffer_with_contents_needs_a_submit_before_its_map)
{
    begin_copying(IMPORTED);
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE, .dedicated = own.dedicated);
    gr_resource *resource = must_make(gr_from_vk_buffer(copying, &desc, GR_READ_WRITE));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "Vulkan has the resource");
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    assert_ok(submit_with(&resource, 1, VK_NULL_HANDLE, NULL, &use));
    must_release(must_map(resource));
    gr_resource_free(resource);
    resource = must_make(gr_from_vk_buffer(copying, &desc, GR_WRITE_DISCARD));
    must_release(must_map(resource));
    gr_resource_free(resource);
    end_copying();
}

/* ---- Rings ----------------------------------------------------------------------------------- */

#define SLOTS 3

static void submit_slot(const gr_slot *slot, VkCommandBuffer commands)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    assert_ok(submit_to(slot->submit, commands, &use, &use));
}

/* All frames are submitted before any is checked. */
VULKAN_TEST(vulkan_reads_every_copied_frame, WAYS)
{
    gr_resource *resources[SLOTS];
    struct vulkan_host *seen[FRAMES];
    begin_copying(_i);
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_copy(SIZE, GR_WRITE_DISCARD);
    gr_ring *ring = must_make(gr_ring_create(resources, SLOTS, NULL));
    const gr_slot *slot;
    gate_open_after(gate_put(fx.stream), 30);
    for (int i = 0; i < FRAMES; i++) {
        assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, GR_WAIT_FOREVER));
        CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), (unsigned char)i, SIZE, fx.stream));
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER));
        VkCommandBuffer commands = vulkan_begin();
        seen[i] = vulkan_host(SIZE);
        record_read(commands, slot->resource, seen[i]);
        submit_slot(slot, commands);
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        assert_bytes(seen[i]->bytes, SIZE, i);
    gr_ring_free(ring);
    free_resources(resources, SLOTS);
    end_copying();
}

VULKAN_TEST(cuda_reads_every_copied_frame, WAYS)
{
    gr_resource *resources[SLOTS];
    unsigned char seen[FRAMES][64];
    begin_copying(_i);
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_copy(SIZE, GR_READ_ONLY);
    gr_ring *ring = must_make(
        gr_ring_create(resources, SLOTS, &GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS)));
    const gr_slot *slot;
    for (int i = 0; i < FRAMES; i++) {
        assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER));
        VkCommandBuffer commands = vulkan_begin();
        vk.CmdFillBuffer(commands, gr_vk_buffer(slot->resource), 0, SIZE,
                         (uint32_t)i * 0x01010101u);
        submit_slot(slot, commands);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        assert_ok(gr_ring_acquire_read(ring, fx.stream, &slot, 1, GR_WAIT_FOREVER));
        CU(MemcpyDtoHAsync(seen[i], gr_buffer_ptr(slot->buffer) + SIZE - 64, 64, fx.stream));
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    CU(StreamSynchronize(fx.stream));
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        assert_bytes(seen[i], 64, i);
    gr_ring_free(ring);
    free_resources(resources, SLOTS);
    end_copying();
}

START(fault_control_start())
