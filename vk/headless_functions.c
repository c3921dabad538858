/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads the functions of headless_functions.h. */
#include "vk/headless_functions.h"

#define LOAD(name) vk->name = (PFN_##name)get(instance, #name);

void vk_headless_load_global(struct vk_headless_functions *vk, PFN_vkGetInstanceProcAddr get)
{
    VkInstance instance = VK_NULL_HANDLE;
    GR_VK_HEADLESS_GLOBAL(LOAD)
}

void vk_headless_load_instance(struct vk_headless_functions *vk, PFN_vkGetInstanceProcAddr get,
                               VkInstance instance)
{
    GR_VK_HEADLESS_INSTANCE(LOAD)
}
