/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records Vulkan errors, and formats result codes and handles for messages. */
#ifndef GR_VK_ERROR_H
#define GR_VK_ERROR_H

#include <stdint.h>

#include <grinterop/vk.h>

#include "lib/error.h"

/* Like gr_fail(), with GR_ERR_VULKAN. */
gr_status vk_fail(VkResult result, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* "VK_ERROR_DEVICE_LOST"; static. */
const char *vk_result_name(VkResult result);

/* For 0x%llx. Handles are pointers or integers, depending on the platform. */
#define GR_VK_NUMBER(handle) ((unsigned long long)(uint64_t)(handle))

#endif
