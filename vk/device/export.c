/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports handles of memory and semaphores, which CUDA or another process imports. */
#include <unistd.h>

#include "lib/base/error.h"
#include "vk/device/device.h"

#define ALLOCATE_LIKE_THIS                                                                         \
    "Was it allocated, not imported, with VkExportMemoryAllocateInfo in the pNext of "             \
    "VkMemoryAllocateInfo and the handleTypes VK_EXTERNAL_MEMORY_HANDLE_TYPE_" GR_VK_HANDLE_NAME   \
    "_BIT? gr_create_vk_buffer() and gr_create_vk_image() allocate memory that way."

#define CREATE_LIKE_THIS                                                                           \
    "Was it created with VkExportSemaphoreCreateInfo in its pNext, whose handleTypes are "         \
    "VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_" GR_VK_HANDLE_NAME "_BIT? gr_semaphore_create_vk() makes " \
    "such semaphores; a timeline also works with through_host."

#if defined(_WIN32)

#define NO_HANDLE     NULL
#define HANDLE_TEXT   "handle"
#define GET_MEMORY    "vkGetMemoryWin32HandleKHR"
#define GET_SEMAPHORE "vkGetSemaphoreWin32HandleKHR"

static VkResult get_memory(const gr_vk_device *device, VkDeviceMemory memory, HANDLE *handle)
{
    const VkMemoryGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
        .memory = memory,
        .handleType = GR_VK_MEMORY_HANDLE};
    return device->vk.vkGetMemoryWin32HandleKHR(device->device, &info, handle);
}

static VkResult get_semaphore(const gr_vk_device *device, VkSemaphore semaphore, HANDLE *handle)
{
    const VkSemaphoreGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR,
        .semaphore = semaphore,
        .handleType = GR_VK_SEMAPHORE_HANDLE};
    return device->vk.vkGetSemaphoreWin32HandleKHR(device->device, &info, handle);
}

void vk_handle_close(vk_handle handle, bool imported)
{
    (void)imported;
    CloseHandle(handle);
}

#else

#define NO_HANDLE     (-1)
#define HANDLE_TEXT   "file descriptor"
#define GET_MEMORY    "vkGetMemoryFdKHR"
#define GET_SEMAPHORE "vkGetSemaphoreFdKHR"

static VkResult get_memory(const gr_vk_device *device, VkDeviceMemory memory, int *fd)
{
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = memory,
                                       .handleType = GR_VK_MEMORY_HANDLE};
    return device->vk.vkGetMemoryFdKHR(device->device, &info, fd);
}

static VkResult get_semaphore(const gr_vk_device *device, VkSemaphore semaphore, int *fd)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType = GR_VK_SEMAPHORE_HANDLE};
    return device->vk.vkGetSemaphoreFdKHR(device->device, &info, fd);
}

void vk_handle_close(vk_handle handle, bool imported)
{
    if (!imported)
        close(handle);
}

#endif

static gr_status check(VkResult result, vk_handle handle, const char *call, const char *what,
                       unsigned long long number, const char *advice)
{
    if (result == VK_SUCCESS && handle != NO_HANDLE)
        return GR_OK;
    if (result == VK_SUCCESS) /* lavapipe does this if the memory was not allocated for export */
        return gr_fail(GR_ERR_VULKAN, call,
                       "Vulkan succeeded but returned no " HANDLE_TEXT " for the %s 0x%llx. %s",
                       what, number, advice);
    return vk_fail(result, call, "The %s 0x%llx cannot be exported. %s", what, number, advice);
}

gr_status vk_export_memory(const gr_vk_device *device, VkDeviceMemory memory, vk_handle *handle)
{
    *handle = NO_HANDLE;
    VkResult result = get_memory(device, memory, handle);
    return check(result, *handle, GET_MEMORY, "memory", GR_VK_NUMBER(memory), ALLOCATE_LIKE_THIS);
}

gr_status vk_export_semaphore(const gr_vk_device *device, VkSemaphore semaphore, vk_handle *handle)
{
    *handle = NO_HANDLE;
    VkResult result = get_semaphore(device, semaphore, handle);
    return check(result, *handle, GET_SEMAPHORE, "semaphore", GR_VK_NUMBER(semaphore),
                 CREATE_LIKE_THIS);
}
