/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Searches Vulkan pNext chains; see chain.h. */
#include "vk/device/chain.h"

#include <stddef.h>

const void *vk_chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *each = chain; each; each = each->pNext)
        if (each->sType == type)
            return each;
    return NULL;
}
