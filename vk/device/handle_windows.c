/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Windows NT handles of memory and semaphores. */
#include "vk/device/handle.h"

VkResult vk_get_memory(const struct vk_functions *vk, VkDevice device, VkDeviceMemory memory,
                       vk_handle *handle)
{
    const VkMemoryGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
        .memory = memory,
        .handleType = GR_VK_MEMORY_HANDLE};
    return vk->vkGetMemoryWin32HandleKHR(device, &info, handle);
}

VkResult vk_get_semaphore(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                          vk_handle *handle)
{
    const VkSemaphoreGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR,
        .semaphore = semaphore,
        .handleType = GR_VK_SEMAPHORE_HANDLE};
    return vk->vkGetSemaphoreWin32HandleKHR(device, &info, handle);
}

void vk_handle_close(vk_handle handle, bool imported)
{
    (void)imported;
    CloseHandle(handle);
}
