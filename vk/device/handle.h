/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What depends on the platform: the Vulkan loader, and the handles of exported memory and
 * semaphores, which are file descriptors or Windows handles (handle_posix.c, handle_windows.c).
 */
#ifndef GR_VK_DEVICE_HANDLE_H
#define GR_VK_DEVICE_HANDLE_H

#include <stdbool.h>

#include <grinterop/vk.h>

/* GR_VK_HANDLE_FUNCTIONS(X) lists the functions of the handles like the lists in functions.h. */
#if defined(_WIN32)
#include <windows.h>
#include <vulkan/vulkan_win32.h>
#define GR_VK_LOADER              "vulkan-1.dll"
#define GR_VK_LOADER_ADVICE       "It comes with the graphics driver."
#define GR_VK_DRIVER_ADVICE       "Is the NVIDIA graphics driver installed?"
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_win32"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_WIN32"
#define GR_VK_HANDLE_TEXT         "handle"
#define GR_VK_HANDLE_FIELD        win32_handle /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_GET_MEMORY          vkGetMemoryWin32HandleKHR
#define GR_VK_GET_SEMAPHORE       vkGetSemaphoreWin32HandleKHR
#define GR_VK_GET_MEMORY_INFO     VkMemoryGetWin32HandleInfoKHR
#define GR_VK_GET_SEMAPHORE_INFO  VkSemaphoreGetWin32HandleInfoKHR
#define GR_VK_GET_MEMORY_STYPE    VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR
#define GR_VK_GET_SEMAPHORE_STYPE VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
#define GR_VK_NO_HANDLE           NULL
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryWin32HandleKHR, GR_VK_MEMORY_EXTENSION)                                           \
    X(vkGetSemaphoreWin32HandleKHR, GR_VK_SEMAPHORE_EXTENSION)
typedef void *vk_handle;
#else
#define GR_VK_LOADER        "libvulkan.so.1"
#define GR_VK_LOADER_ADVICE "Install it (on Debian libvulkan1)."
#define GR_VK_DRIVER_ADVICE                                                                        \
    "Is the NVIDIA Vulkan driver installed (nvidia_icd.json and its libGLX_nvidia.so.0; in a "     \
    "container NVIDIA_DRIVER_CAPABILITIES must contain graphics)?"
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_fd"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_fd"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_FD"
#define GR_VK_HANDLE_TEXT         "file descriptor"
#define GR_VK_HANDLE_FIELD        fd /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_GET_MEMORY          vkGetMemoryFdKHR
#define GR_VK_GET_SEMAPHORE       vkGetSemaphoreFdKHR
#define GR_VK_GET_MEMORY_INFO     VkMemoryGetFdInfoKHR
#define GR_VK_GET_SEMAPHORE_INFO  VkSemaphoreGetFdInfoKHR
#define GR_VK_GET_MEMORY_STYPE    VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR
#define GR_VK_GET_SEMAPHORE_STYPE VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
#define GR_VK_NO_HANDLE           (-1)
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryFdKHR, GR_VK_MEMORY_EXTENSION)                                                    \
    X(vkGetSemaphoreFdKHR, GR_VK_SEMAPHORE_EXTENSION)
typedef int vk_handle;
#endif

/*
 * Closes the handle after CUDA imported it, or failed to. An import takes over a file descriptor,
 * whose number may then be in use for another file, but it duplicates a Windows handle.
 */
void vk_handle_close(vk_handle handle, bool imported);

/*
 * The end of the pNext chain of exportable memory and of exportable semaphores: the access rights
 * of a Windows handle, or NULL.
 */
extern const void *const vk_memory_rights;
extern const void *const vk_semaphore_rights;

#endif
