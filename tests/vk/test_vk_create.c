/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * VkImageCreateInfo and VkBufferCreateInfo with their chains and sharing modes, and the
 * VkPhysicalDevice of a CUDA device. test_structs has structs of other header versions.
 */
#include "tests/support/support_vulkan_image.h"

#include <string.h>

#define SIZE 4096

GROUP("chains", add_vulkan_case)

static VkImageCreateInfo image_info(VkFormat format)
{
    return vulkan_image_info(vulkan_format(format), vulkan_shape("2D"), 32, 16, 1,
                             VK_IMAGE_USAGE_SAMPLED_BIT);
}

/* CUDA writes to the image, and Vulkan must read the same bytes. */
static void check_image(gr_resource *resource)
{
    struct vulkan_image image = {.format = vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                 .shape = vulkan_shape("2D"),
                                 .info = image_info(VK_FORMAT_R8G8B8A8_UNORM),
                                 .image = gr_vk_image(resource),
                                 .resource = resource};
    vulkan_image_fill(&image, 3);
    gr_buffer *buffer = must_map_vulkan(&image);
    assert_no_difference(cuda_image_differs(buffer, &image, 3));
    cuda_image_fill(buffer, &image, 4);
    must_release(buffer);
    assert_vulkan_image(&image, 4);
}

/*
 * Catches: the list of formats got lost. Without the list the validation layer reports views of
 * another format.
 */
VULKAN_TEST(a_chained_list_of_formats_reaches_the_image)
{
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB};
    const VkImageFormatListCreateInfo list = {.sType =
                                                  VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
                                              .viewFormatCount = 2,
                                              .pViewFormats = formats};
    VkImageCreateInfo info = image_info(VK_FORMAT_R8G8B8A8_UNORM);
    info.pNext = &list;
    info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    ck_assert_ptr_eq(info.pNext, &list);
    check_image(resource);
}

/*
 * Catches: the image had a second VkExternalMemoryImageCreateInfo, which the validation layer
 * reports.
 */
VULKAN_TEST(chained_external_memory_info_is_not_chained_again)
{
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImageCreateInfo info = image_info(VK_FORMAT_R8G8B8A8_UNORM);
    info.pNext = &external;
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    check_image(resource);
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    assert_null_invalid(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE), "OPAQUE_FD");
}

VULKAN_TEST(buffers_accept_chained_external_memory_info)
{
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    info.pNext = &external;
    GR_AUTO(gr_resource) *resource = must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
    vulkan_write_pattern(gr_vk_buffer(resource), SIZE, 7);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_cuda_pattern(buffer, 7);
    must_release(buffer);
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    assert_null_invalid(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "OPAQUE_FD");
}

VULKAN_TEST(invalid_buffer_create_infos_are_refused)
{
    VkBufferCreateInfo info = vulkan_buffer_info(0);
    assert_null_invalid(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "size");
    info = vulkan_buffer_info(SIZE);
    info.usage = 0;
    assert_null_invalid(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE), "usage");
    info = vulkan_buffer_info(SIZE);
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    assert_null_invalid(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE),
                        "VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO");
    info = vulkan_buffer_info(SIZE);
    info.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    assert_null(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "sparse");
    info = vulkan_buffer_info(SIZE);
    assert_null_invalid(gr_create_vk_buffer(vk.wrap, &info, GR_SURFACE_LOAD_STORE),
                        "surface_load_store");
}

GROUP("the physical device", add_vulkan_case)

VULKAN_TEST(gr_vk_physical_device_finds_the_cuda_device)
{
    VkPhysicalDevice found = VK_NULL_HANDLE;
    assert_ok(
        gr_vk_physical_device(vk.h->get_instance_proc_addr, vk.h->instance, fx.device, &found));
    ck_assert_ptr_eq(found, vk.h->physical_device);
}

VULKAN_TEST(gr_vk_physical_device_refuses_missing_arguments_and_devices)
{
    VkPhysicalDevice found = vk.h->physical_device, before = found;
    PFN_vkGetInstanceProcAddr get = vk.h->get_instance_proc_addr;
    assert_invalid(gr_vk_physical_device(NULL, vk.h->instance, 0, &found),
                   "get_instance_proc_addr");
    assert_invalid(gr_vk_physical_device(get, VK_NULL_HANDLE, 0, &found), "instance");
    assert_invalid(gr_vk_physical_device(get, vk.h->instance, 0, NULL), "physical_device");
    assert_invalid(gr_vk_physical_device(get, vk.h->instance, -1, &found), "CUDA device -1");
    assert_invalid(gr_vk_physical_device(get, vk.h->instance, 1000, &found), "CUDA device 1000");
    ck_assert_ptr_eq(found, before);
}

/* Simulates an instance without the CUDA device; the message lists the devices of the instance. */
static VKAPI_ATTR VkResult VKAPI_CALL one_other_device(VkInstance instance, uint32_t *count,
                                                       VkPhysicalDevice *devices)
{
    (void)instance;
    if (devices)
        devices[0] = vk.h->physical_device;
    *count = 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL of_another_kind(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties)
{
    vk.GetPhysicalDeviceProperties2(device, properties);
    properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    strcpy(properties->properties.deviceName, "Some other device");
    for (VkBaseOutStructure *each = properties->pNext; each; each = each->pNext)
        if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)
            memset(((VkPhysicalDeviceIDProperties *)each)->deviceUUID, 0xAB, VK_UUID_SIZE);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL lie(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkEnumeratePhysicalDevices") == 0)
        return (PFN_vkVoidFunction)one_other_device;
    if (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0)
        return (PFN_vkVoidFunction)of_another_kind;
    return vk.h->get_instance_proc_addr(instance, name);
}

VULKAN_TEST(the_message_lists_the_devices_of_the_instance)
{
    VkPhysicalDevice found = VK_NULL_HANDLE;
    assert_fails(gr_vk_physical_device(lie, vk.h->instance, 0, &found), GR_ERR_UNSUPPORTED, 0,
                 "Some other device (UUID GPU-abababab");
    ck_assert(found == VK_NULL_HANDLE);
}
