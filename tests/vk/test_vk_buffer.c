/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan buffers as resources: bytes in both directions, for buffers of grinterop and of the
 * application; several buffers in one memory; and refusals.
 */
#define _GNU_SOURCE
#include "tests/support/support_vulkan_case.h"

#include <string.h>

#define SIZE 65536

GROUP("bytes", add_vulkan_case)

static const size_t sizes[] = {1, 3, 4, 100, 4096, 65536, 65537, 2097152, 3000001};

VULKAN_TEST(created_buffers_pass_bytes_both_ways, sizeof(sizes) / sizeof(sizes[0]))
{
    GR_AUTO(gr_resource) *resource = must_create(sizes[_i], GR_READ_WRITE);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), sizes[_i], 1);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), sizes[_i], 3);
}

VULKAN_TEST(application_buffers_pass_bytes_both_ways, sizeof(sizes) / sizeof(sizes[0]))
{
    struct vulkan_own own = vulkan_own(sizes[_i], false);
    GR_AUTO(gr_resource) *resource = must_register_own(&own, sizes[_i], GR_READ_WRITE);
    ck_assert(gr_vk_buffer(resource) == own.buffer);
    ck_assert(gr_vk_memory(resource) == own.memory);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), sizes[_i], 5);
}

VULKAN_TEST(dedicated_buffers_pass_bytes_both_ways, sizeof(sizes) / sizeof(sizes[0]))
{
    struct vulkan_own own = vulkan_own(sizes[_i], true);
    GR_AUTO(gr_resource) *resource = must_register_own(&own, sizes[_i], GR_READ_WRITE);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), sizes[_i], 7);
}

VULKAN_TEST(kernels_and_vulkan_read_each_others_bytes)
{
    need_kernels();
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, 9, fx.stream);
    must_release(buffer);
    assert_vulkan_pattern(gr_vk_buffer(resource), SIZE, 9);
    vulkan_fill(gr_vk_buffer(resource), SIZE, 0x20);
    buffer = must_map(resource);
    kernel_add_one(gr_buffer_ptr(buffer), SIZE, fx.stream);
    must_release(buffer);
    assert_vulkan_bytes(gr_vk_buffer(resource), SIZE, 0x21);
}

/* As a program that gives the address to a framework for good, and waits by fences. */
VULKAN_TEST(a_mapping_without_semaphores_lasts_while_vulkan_uses_the_buffer)
{
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    gr_buffer *buffer = must_map(resource);
    const CUdeviceptr address = gr_buffer_ptr(buffer);
    for (int i = 1; i <= 5; i++) {
        cuda_fill(buffer, i);
        CU(StreamSynchronize(fx.stream));
        assert_vulkan_bytes(gr_vk_buffer(resource), SIZE, i);
        vulkan_fill(gr_vk_buffer(resource), SIZE, 0x10 + i);
        assert_cuda_bytes(buffer, 0x10 + i);
    }
    must_release(buffer);
    buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), address);
    must_release(buffer);
}

/* ---- Several buffers in one memory ----------------------------------------------------------- */

#define PARTS 3

/* Several buffers in one memory, with gaps between them. */
struct shared {
    VkDeviceMemory memory;
    VkDeviceSize memory_size, offset[PARTS];
    VkBuffer buffer[PARTS];
    gr_resource *resource[PARTS];
};

static const VkDeviceSize part_size[PARTS] = {5000, 1, 70000};

static VkDeviceSize aligned(VkDeviceSize size, VkDeviceSize alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static struct shared share_memory(void)
{
    struct shared shared = {.memory_size = 0};
    VkMemoryRequirements needs[PARTS];
    uint32_t types = UINT32_MAX;
    for (int i = 0; i < PARTS; i++) {
        shared.buffer[i] = vulkan_buffer(part_size[i], &needs[i]);
        shared.offset[i] = aligned(shared.memory_size + 1000, needs[i].alignment);
        shared.memory_size = shared.offset[i] + needs[i].size;
        types &= needs[i].memoryTypeBits;
    }
    shared.memory =
        vulkan_memory(shared.memory_size, types, MEMORY_EXPORT, VK_NULL_HANDLE, VK_NULL_HANDLE);
    for (int i = 0; i < PARTS; i++)
        VK(BindBufferMemory(vk.h->device, shared.buffer[i], shared.memory, shared.offset[i]));
    return shared;
}

static gr_vk_buffer_desc part_info(const struct shared *shared, int i)
{
    return GR_INIT(gr_vk_buffer_desc, .buffer = shared->buffer[i], .memory = shared->memory,
                   .memory_size = shared->memory_size, .offset = shared->offset[i],
                   .size = part_size[i]);
}

/*
 * Writes to all buffers before reading any. A buffer at a wrong offset would overwrite another one.
 */
static void check_parts(struct shared *shared)
{
    gr_buffer *buffers[PARTS];
    for (unsigned i = 0; i < PARTS; i++)
        vulkan_write_pattern(shared->buffer[i], part_size[i], 20 + i);
    assert_ok(gr_map_many(shared->resource, PARTS, fx.stream, NULL, buffers));
    for (unsigned i = 0; i < PARTS; i++) {
        ck_assert_uint_eq(gr_buffer_size(buffers[i]), part_size[i]);
        assert_cuda_pattern(buffers[i], 20 + i);
    }
    for (unsigned i = 0; i < PARTS; i++)
        cuda_write_pattern(buffers[i], 30 + i);
    assert_ok(gr_buffer_release_many(buffers, PARTS, fx.stream, NULL));
    CU(StreamSynchronize(fx.stream));
    for (unsigned i = 0; i < PARTS; i++)
        assert_vulkan_pattern(shared->buffer[i], part_size[i], 30 + i);
}

/*
 * If CUDA runs on the other GPU, it imports memory only if the memory is dedicated to one buffer.
 */
static const char *one_memory_missing(void)
{
    if (vk.missing)
        return vk.missing;
    return fx.device == 0 ? NULL : "memory that is not dedicated is not shared between two devices";
}

#define MEMORY_TEST(...) TEST_UNLESS(one_memory_missing(), __VA_ARGS__)

VULKAN_TEST(buffers_in_one_memory_keep_their_bytes_apart)
{
    struct shared shared = share_memory();
    for (int i = 0; i < PARTS; i++) {
        const gr_vk_buffer_desc info = part_info(&shared, i);
        shared.resource[i] = must_make(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
        if (fx.device == 0)
            unordered(shared.resource[i]);
        else
            vulkan_submits_copy(shared.resource[i]);
    }
    check_parts(&shared);
    free_resources(shared.resource, PARTS);
}

MEMORY_TEST(buffers_in_one_import_keep_their_bytes_apart)
{
    struct shared shared = share_memory();
    const gr_vk_buffer_desc first = part_info(&shared, 0);
    shared.resource[0] = unordered(gr_from_vk_buffer(vk.wrap, &first, GR_READ_WRITE));
    for (int i = 1; i < PARTS; i++) {
        const gr_external_part_desc part =
            GR_INIT(gr_external_part_desc, .offset = shared.offset[i], .size = part_size[i]);
        shared.resource[i] =
            unordered(gr_from_same_memory(shared.resource[0], &part, GR_READ_WRITE));
        ck_assert_ptr_eq(driver_handle(shared.resource[i]), driver_handle(shared.resource[0]));
        ck_assert(gr_vk_buffer(shared.resource[i]) == VK_NULL_HANDLE);
    }
    check_parts(&shared);
    free_resources(shared.resource, PARTS);
}

/* ---- Host-mapped memory ---------------------------------------------------------------------- */

/* Whether a buffer with these memory types can be in host-visible and coherent memory. */
static bool host_can_map(uint32_t types)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties has;
    vk.GetPhysicalDeviceMemoryProperties(vk.h->physical_device, &has);
    for (uint32_t i = 0; i < has.memoryTypeCount; i++)
        if ((types >> i & 1) && (has.memoryTypes[i].propertyFlags & wanted) == wanted)
            return true;
    return false;
}

/*
 * As vk.h documents: the host flushes, a submit makes the writes of the host visible, and the host
 * invalidates after the CUDA work. In coherent memory the flush and the invalidation have no
 * effect.
 *
 * Catches: without the submit, CUDA on an H200 read the earlier bytes.
 */
VULKAN_TEST(host_writes_to_mapped_memory_reach_cuda_after_a_submit)
{
    VkMemoryRequirements needs;
    struct vulkan_own own = {.dedicated = true, .buffer = vulkan_buffer(SIZE, &needs)};
    if (!host_can_map(needs.memoryTypeBits))
        skip("no buffer that is shared lies in memory which the host can map");
    if (fx.device != 0 && !gr_cuda_is_software())
        skip("CUDA on another GPU reads old bytes even after the submit");
    own.memory_size = needs.size;
    own.memory =
        vulkan_memory(needs.size, needs.memoryTypeBits,
                      MEMORY_EXPORT | MEMORY_DEDICATED | MEMORY_HOST, own.buffer, VK_NULL_HANDLE);
    VK(BindBufferMemory(vk.h->device, own.buffer, own.memory, 0));
    void *bytes = NULL;
    VK(MapMemory(vk.h->device, own.memory, 0, VK_WHOLE_SIZE, 0, &bytes));
    const VkMappedMemoryRange range = {.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                       .memory = own.memory,
                                       .size = VK_WHOLE_SIZE};
    GR_AUTO(gr_resource) *resource =
        gr_from_vk_buffer(vk.wrap,
                          &GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                                   .memory_size = own.memory_size, .size = SIZE, .dedicated = true),
                          GR_READ_WRITE);
    if (!resource)
        skip("CUDA does not take memory that the host can map: %s", error_text());
    unordered(resource);
    for (unsigned round = 0; round < 20; round++) {
        pattern_fill(bytes, SIZE, 2 * round);
        VK(FlushMappedMemoryRanges(vk.h->device, 1, &range));
        VK(QueueSubmit(vk.h->graphics, 0, NULL, VK_NULL_HANDLE));
        VK(QueueWaitIdle(vk.h->graphics));
        gr_buffer *buffer = must_map(resource);
        assert_cuda_pattern(buffer, 2 * round);
        cuda_write_pattern(buffer, 2 * round + 1);
        assert_ok(gr_buffer_release(buffer));
        assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
        VK(InvalidateMappedMemoryRanges(vk.h->device, 1, &range));
        assert_no_difference(pattern_differs(bytes, SIZE, 2 * round + 1));
    }
}

GROUP("contract", add_vulkan_case)

VULKAN_TEST(cuda_copies_from_read_only_to_write_discard_buffers)
{
    GR_AUTO(gr_resource) *input = must_create(SIZE, GR_READ_ONLY);
    GR_AUTO(gr_resource) *output = must_create(SIZE, GR_WRITE_DISCARD);
    vulkan_write_pattern(gr_vk_buffer(input), SIZE, 40);
    gr_buffer *from = must_map(input), *to = must_map(output);
    CU(MemcpyDtoDAsync(gr_buffer_ptr(to), gr_buffer_ptr(from), SIZE, fx.stream));
    must_release(from);
    must_release(to);
    assert_vulkan_pattern(gr_vk_buffer(output), SIZE, 40);
    assert_described(input, "read_only");
    assert_described(output, "write_discard");
}

GROUP("descriptions and refusals", add_vulkan_case)

VULKAN_TEST(describe_names_the_api_kind_and_size)
{
    GR_AUTO(gr_resource) *resource = must_create(12345, GR_READ_WRITE);
    assert_described(resource, "Vulkan", "buffer", "12345");
    ck_assert(gr_vk_memory(resource) != VK_NULL_HANDLE);
    ck_assert(gr_vk_image(resource) == VK_NULL_HANDLE);
    ck_assert_ptr_nonnull(gr_resource_get_info(resource)->external_memory);
    ck_assert_int_eq(gr_resource_get_info(resource)->api, GR_GRAPHICS_VULKAN);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_EXTERNAL);
    gr_buffer *buffer = must_map(resource);
    assert_described(resource, "mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(resource, fx.stream));
    ck_assert_ptr_null(driver_handle(resource));
    assert_described(resource, "closed", "12345");
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "closed");
}

VULKAN_TEST(resources_of_other_apis_have_no_vulkan_objects)
{
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(16, 1));
    ck_assert(gr_vk_buffer(gl) == VK_NULL_HANDLE && gr_vk_image(gl) == VK_NULL_HANDLE &&
              gr_vk_memory(gl) == VK_NULL_HANDLE);
    ck_assert(gr_vk_buffer(NULL) == VK_NULL_HANDLE && gr_vk_image(NULL) == VK_NULL_HANDLE &&
              gr_vk_memory(NULL) == VK_NULL_HANDLE);
}

VULKAN_TEST(wrong_sizes_and_flags_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc good =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE);
    gr_vk_buffer_desc info = good;
    info.offset = own.memory_size - SIZE + 1;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "offset");
    info = good;
    info.offset = UINT64_MAX - 16;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "offset");
    info = good;
    info.size = own.memory_size + 1;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "size");
    info = good;
    info.size = 0;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "`size` is 0");
    info = good;
    info.dedicated = true;
    info.offset = 16;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE),
                        "dedicated memory is used from offset 0");
    info = good;
    info.offset = 1;
    info.memory_size += 1;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE),
                        "the alignment that Vulkan requires");
    info = good;
    info.memory_size = 0;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE),
                        "`memory_size` is 0: pass the allocationSize of the whole memory (with "
                        "VMA: VmaAllocationInfo2::blockSize)");
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &good, GR_READ_ONLY | GR_WRITE_DISCARD),
                        "write_discard");
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &good, GR_SURFACE_LOAD_STORE),
                        "surface_load_store");
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &good, 0x100), "bits");
    info = good;
    info.struct_size = 0;
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE),
                        "GR_INIT(gr_vk_buffer_desc");
}

VULKAN_TEST(null_is_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_vk_buffer_desc info =
        GR_INIT(gr_vk_buffer_desc, .memory = own.memory, .memory_size = own.memory_size,
                .size = SIZE, .dedicated = own.dedicated);
    assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "buffer");
    info.buffer = own.buffer;
    info.memory = VK_NULL_HANDLE;
    if (fx.device == 0)
        assert_null_invalid(gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "memory");
}

/*
 * To export memory that was not allocated for export is a mistake of the application, which newer
 * validation layers report. The NVIDIA Vulkan driver nevertheless exports the memory.
 */
MEMORY_TEST(memory_that_was_not_allocated_for_export_is_refused)
{
    vulkan_allow("VUID-VkMemoryGetFdInfoKHR-handleType-00671");
    VkMemoryRequirements needs;
    struct vulkan_host *host = vulkan_host(SIZE);
    vk.GetBufferMemoryRequirements(vk.h->device, host->buffer, &needs);
    const gr_vk_buffer_desc info =
        GR_INIT(gr_vk_buffer_desc, .buffer = host->buffer, .memory = host->memory,
                .memory_size = needs.size, .size = SIZE);
    gr_clear_error();
    gr_resource *resource = gr_from_vk_buffer(vk.wrap, &info, GR_READ_WRITE);
    if (!resource) {
        assert_error(GR_ERR_VULKAN, -1, "VkExportMemoryAllocateInfo");
        return;
    }
    gr_resource_free(resource);
    ck_assert(!gr_cuda_is_software());
    skip("this Vulkan exports memory that was not allocated for it");
}
