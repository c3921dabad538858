/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Searches Vulkan pNext chains. */
#ifndef GR_VK_DEVICE_CHAIN_H
#define GR_VK_DEVICE_CHAIN_H

#include <vulkan/vulkan_core.h>

/* Returns the first struct of that type in the chain; NULL if there is none. */
const void *vk_chain_find(const void *chain, VkStructureType type);

#endif
