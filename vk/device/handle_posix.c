/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* File descriptors of memory and semaphores. */
#include "vk/device/handle.h"

#include <unistd.h>

const void *const vk_memory_rights = NULL;
const void *const vk_semaphore_rights = NULL;

VkResult vk_get_memory(const struct vk_functions *vk, VkDevice device, VkDeviceMemory memory,
                       vk_handle *handle)
{
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = memory,
                                       .handleType = GR_VK_MEMORY_HANDLE};
    return vk->vkGetMemoryFdKHR(device, &info, handle);
}

VkResult vk_get_semaphore(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                          vk_handle *handle)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType = GR_VK_SEMAPHORE_HANDLE};
    return vk->vkGetSemaphoreFdKHR(device, &info, handle);
}

void vk_handle_close(vk_handle handle, bool imported)
{
    if (!imported)
        close(handle);
}
