/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The handle type that the platform uses for exported memory and semaphores: a file descriptor, or
 * a Windows handle.
 */
#ifndef GR_VK_DEVICE_HANDLE_TYPE_H
#define GR_VK_DEVICE_HANDLE_TYPE_H

#include <grinterop/vk.h>

/*
 * GR_VK_HANDLE_FUNCTIONS(X) lists the functions as X(name, extension), like the lists in
 * functions.h.
 */
#if defined(_WIN32)
#include <windows.h>
#include <vulkan/vulkan_win32.h>
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_win32"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_WIN32"
#define GR_VK_HANDLE_FIELD        win32_handle /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryWin32HandleKHR, GR_VK_MEMORY_EXTENSION)                                           \
    X(vkGetSemaphoreWin32HandleKHR, GR_VK_SEMAPHORE_EXTENSION)
#else
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_fd"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_fd"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_FD"
#define GR_VK_HANDLE_FIELD        fd /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryFdKHR, GR_VK_MEMORY_EXTENSION)                                                    \
    X(vkGetSemaphoreFdKHR, GR_VK_SEMAPHORE_EXTENSION)
#endif

#endif
