/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Searches Vulkan pNext chains. */
#ifndef GR_VK_DEVICE_CHAIN_H
#define GR_VK_DEVICE_CHAIN_H

#include <stddef.h>

#include <vulkan/vulkan_core.h>

/* Returns the first struct of that type in the chain; NULL if there is none. */
static inline const void *vk_chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *each = chain; each; each = each->pNext)
        if (each->sType == type)
            return each;
    return NULL;
}

#endif
