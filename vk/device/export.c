/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports handles of memory and semaphores, which CUDA or another process imports. */
#include "lib/base/error.h"
#include "lib/cuda/import_handle.h"
#include "vk/device/device.h"

#define NAME(function) #function
#define NAME_OF(macro) NAME(macro)

#define ALLOCATE_LIKE_THIS                                                                         \
    "Was it allocated, not imported, with VkExportMemoryAllocateInfo in the pNext of "             \
    "VkMemoryAllocateInfo and the handleTypes VK_EXTERNAL_MEMORY_HANDLE_TYPE_" GR_VK_HANDLE_NAME   \
    "_BIT? gr_create_vk_buffer() and gr_create_vk_image() allocate memory that way."

#define CREATE_LIKE_THIS                                                                           \
    "Was it created with VkExportSemaphoreCreateInfo in its pNext, whose handleTypes are "         \
    "VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_" GR_VK_HANDLE_NAME "_BIT? gr_semaphore_create_vk() makes " \
    "such semaphores; a timeline also works with through_host."

static gr_status check(VkResult result, vk_handle handle, const char *call, const char *what,
                       unsigned long long number, const char *advice)
{
    GR_CALL_AS(call);
    if (result == VK_SUCCESS && handle != GR_VK_NO_HANDLE)
        return GR_OK;
    GR_TRY(gr_fd_check_left());
    if (result == VK_SUCCESS) /* lavapipe does this if the memory was not allocated for export */
        return gr_fail(GR_ERR_VULKAN,
                       "Vulkan succeeded but returned no " GR_VK_HANDLE_TEXT
                       " for the %s 0x%llx. %s",
                       what, number, advice);
    return vk_fail(result, call, "The %s 0x%llx cannot be exported. %s", what, number, advice);
}

gr_status vk_export_memory(const gr_vk_device *device, VkDeviceMemory memory, vk_handle *handle)
{
    const GR_VK_GET_MEMORY_INFO info = {
        .sType = GR_VK_GET_MEMORY_STYPE, .memory = memory, .handleType = GR_VK_MEMORY_HANDLE};
    *handle = GR_VK_NO_HANDLE;
    VkResult result = device->vk.GR_VK_GET_MEMORY(device->device, &info, handle);
    return check(result, *handle, NAME_OF(GR_VK_GET_MEMORY), "memory", GR_VK_NUMBER(memory),
                 ALLOCATE_LIKE_THIS);
}

gr_status vk_export_semaphore(const gr_vk_device *device, VkSemaphore semaphore, vk_handle *handle)
{
    const GR_VK_GET_SEMAPHORE_INFO info = {.sType = GR_VK_GET_SEMAPHORE_STYPE,
                                           .semaphore = semaphore,
                                           .handleType = GR_VK_SEMAPHORE_HANDLE};
    *handle = GR_VK_NO_HANDLE;
    VkResult result = device->vk.GR_VK_GET_SEMAPHORE(device->device, &info, handle);
    return check(result, *handle, NAME_OF(GR_VK_GET_SEMAPHORE), "semaphore",
                 GR_VK_NUMBER(semaphore), CREATE_LIKE_THIS);
}
