/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records Vulkan errors, and formats result codes and handles for messages. */
#ifndef GR_VK_DEVICE_ERROR_H
#define GR_VK_DEVICE_ERROR_H

#include <stdint.h>

#include <grinterop/vk.h>

#include "lib/base/error.h"

/* Like gr_fail(), for a Vulkan error: records GR_ERR_VULKAN. */
gr_status vk_fail(VkResult result, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* Returns the name of a result, such as "VK_ERROR_DEVICE_LOST". The string is static. */
const char *vk_result_name(VkResult result);

/* Converts a handle for "0x%llx". Handles are pointers or integers, depending on the platform. */
#define GR_VK_NUMBER(handle) ((unsigned long long)(uint64_t)(handle))

#endif
