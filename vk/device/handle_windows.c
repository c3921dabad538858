/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Windows NT handles of memory and semaphores. They have no name, so that other processes cannot
 * open them. Vulkan exports such a handle only once per object. KMT handles are not used, because
 * CUDA has no type for KMT handles of timeline semaphores.
 */
#include "vk/device/handle.h"

/* The rights of DXGI_SHARED_RESOURCE_READ and _WRITE, which CUDA needs. */
#define RIGHTS (GENERIC_READ | 1u)

static const VkExportMemoryWin32HandleInfoKHR memory_rights = {
    .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_WIN32_HANDLE_INFO_KHR, .dwAccess = RIGHTS};
static const VkExportSemaphoreWin32HandleInfoKHR semaphore_rights = {
    .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR, .dwAccess = RIGHTS};

const void *const vk_memory_rights = &memory_rights;
const void *const vk_semaphore_rights = &semaphore_rights;

void vk_handle_close(vk_handle handle, bool imported)
{
    (void)imported;
    CloseHandle(handle);
}
