/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan buffers in the memory of tensors: bytes, ends and refusals. */
#define _GNU_SOURCE
#include "tests/support/support_vulkan_case.h"

#include <grinterop/tensor.h>

#include <string.h>

enum { SIZE = 65536, PART = 4096 };

#define USAGE                                                                                      \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* Vulkan tests may run with CUDA on another device, whose memory Vulkan cannot import. */
static const char *missing(void)
{
    return vulkan_image_missing();
}

#define TENSOR_TEST(...) TEST_UNLESS(missing(), __VA_ARGS__)

static VkBufferCreateInfo info_of(VkDeviceSize size)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = USAGE};
}

static gr_tensor *must_export(int64_t size, bool exportable)
{
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = &size, .exportable = exportable);
    return must_make(gr_tensor_create(&desc, fx.stream));
}

static gr_resource *must_share(gr_tensor *tensor, VkDeviceSize size)
{
    const VkBufferCreateInfo info = info_of(size);
    return must_make(gr_create_vk_buffer_of(vk.wrap, &info, tensor, GR_READ_WRITE));
}

GROUP("tensors", add_vulkan_case)

static const int64_t sizes[] = {64, PART, SIZE + 4, 2 << 20};

TENSOR_TEST(vulkan_and_a_tensor_have_the_same_bytes, sizeof(sizes) / sizeof(*sizes))
{
    const size_t size = (size_t)sizes[_i];
    GR_AUTO(gr_tensor) *tensor = must_export(sizes[_i], true);
    GR_AUTO(gr_resource) *resource = must_share(tensor, _i % 2 ? 0 : size);
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), gr_tensor_get_info(tensor)->ptr);
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    must_release(buffer);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), size, 3);
    assert_described(resource, "transport external (in the memory of a tensor)");
}

TENSOR_TEST(a_tensor_and_its_buffer_end_in_any_order, 2)
{
    gr_tensor *tensor = must_export(SIZE, true);
    gr_resource *resource = must_share(tensor, SIZE);
    if (_i)
        gr_tensor_free(tensor);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), SIZE, 5);
    gr_resource_free(resource);
    if (!_i)
        gr_tensor_free(tensor);
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_tensor_collect(1000));
}

TENSOR_TEST(parts_of_a_tensor_are_buffers_at_an_offset)
{
    const int64_t size = PART;
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE, true);
    gr_resource *parts[4];
    for (int i = 0; i < 4; i++) {
        const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                            .shape = &size, .offset = (size_t)i * 2 * PART);
        GR_AUTO(gr_tensor) *part = must_make(gr_tensor_view(tensor, &desc));
        parts[i] = must_share(part, PART);
    }
    for (int i = 0; i < 4; i++)
        vulkan_bytes_both_ways(parts[i], gr_vk_buffer(parts[i]), PART, 7 + (unsigned)i);
    free_resources(parts, 4);
}

/* The second buffer begins within the allocation. */
TENSOR_TEST(memory_of_the_program_is_a_buffer, 2)
{
    const size_t granule = 2 << 20;
    const int64_t size = PART;
    const CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device};
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = location};
    CUdeviceptr ptr;
    CUmemGenericAllocationHandle allocation;
    CU(MemAddressReserve(&ptr, granule, 0, 0, 0));
    CU(MemCreate(&allocation, granule, &prop, 0));
    CU(MemMap(ptr, granule, 0, allocation, 0));
    CU(MemSetAccess(ptr, granule, &(CUmemAccessDesc){location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                    1));
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &size);
    gr_tensor *tensor = must_make(gr_tensor_from_memory(
        &desc, (void *)(uintptr_t)(ptr + (size_t)_i * PART), GR_STREAM_NONE, NULL, NULL));
    gr_resource *resource = must_share(tensor, PART);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), PART, 9);
    gr_resource_free(resource);
    gr_tensor_free(tensor);
    CU(StreamSynchronize(fx.stream));
    CU(MemUnmap(ptr, granule));
    CU(MemAddressFree(ptr, granule));
    CU(MemRelease(allocation));
}

GROUP("refused tensors", add_vulkan_case)

TENSOR_TEST(wrong_arguments_are_refused)
{
    VkBufferCreateInfo info = info_of(SIZE);
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE, true), *other = must_export(SIZE, false);
    assert_null_invalid(gr_create_vk_buffer_of(vk.wrap, &info, tensor, GR_SURFACE_LOAD_STORE),
                        "surface_load_store");
    assert_null(gr_create_vk_buffer_of(vk.wrap, &info, other, 0), GR_ERR_UNSUPPORTED,
                CUDA_ERROR_INVALID_VALUE, "exportable_memory()");
    info.size = SIZE + 1;
    assert_null_invalid(gr_create_vk_buffer_of(vk.wrap, &info, tensor, 0), "65536 bytes");
    info = info_of(SIZE);
    info.usage = 0;
    assert_null_invalid(gr_create_vk_buffer_of(vk.wrap, &info, tensor, 0), "`usage` is 0");
}

TENSOR_TEST(parts_that_are_not_aligned_are_refused)
{
    const int64_t size = PART;
    const VkBufferCreateInfo info = info_of(0);
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE, true);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &size, .offset = 1);
    GR_AUTO(gr_tensor) *part = must_make(gr_tensor_view(tensor, &desc));
    assert_null(gr_create_vk_buffer_of(vk.wrap, &info, part, 0), GR_ERR_UNSUPPORTED, 0,
                "begins 1 byte after the start");
}

TENSOR_TEST(tensors_of_another_context_are_refused)
{
    const VkBufferCreateInfo info = info_of(SIZE);
    CUcontext other;
    CU(CtxCreate(&other, 0, fx.device));
    gr_tensor *tensor =
        must_make(gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                            .shape = &(const int64_t){SIZE}, .exportable = true),
                                   GR_STREAM_NONE));
    assert_null(gr_create_vk_buffer_of(vk.wrap, &info, tensor, 0), GR_ERR_UNSUPPORTED, 0,
                "was wrapped for the context");
    gr_tensor_free(tensor);
    CU(CtxDestroy(other));
}

GROUP("devices that copy", add_copied_vulkan_case)

VULKAN_TEST(a_device_that_copies_refuses_tensors)
{
    const VkBufferCreateInfo info = info_of(SIZE);
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE, true);
    assert_null(gr_create_vk_buffer_of(vk.wrap, &info, tensor, 0), GR_ERR_UNSUPPORTED, 0,
                "publish the tensor");
}
