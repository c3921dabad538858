/* SPDX-License-Identifier: Apache-2.0 */
/* An instance of Vulkan and its devices, whether or not CUDA knows them. */
#ifndef INFO_VULKAN_LIST_H
#define INFO_VULKAN_LIST_H

#include <vulkan/vulkan_core.h>

enum { VULKAN_LIST_MOST = 32 };

struct vulkan_list {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice devices[VULKAN_LIST_MOST];
    uint32_t count;
};

/* They last until the process ends. NULL, or what is missing. */
const char *vulkan_list_open(struct vulkan_list *list);

/* The function of the instance, which has it since Vulkan 1.1, by memcpy() into what is given. */
void vulkan_list_find(const struct vulkan_list *list, const char *name, void *function);

#endif
