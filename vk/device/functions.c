/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Looks up Vulkan functions. */
#include "vk/device/functions.h"

#include <stdio.h>

/* The object whose functions are looked up: the device if it is not NULL, or the instance. */
struct owner {
    PFN_vkGetInstanceProcAddr get_of_instance;
    VkInstance instance;
    PFN_vkGetDeviceProcAddr get_of_device;
    VkDevice device;
};

static PFN_vkVoidFunction get(const struct owner *o, const char *name)
{
    return o->device ? o->get_of_device(o->device, name) : o->get_of_instance(o->instance, name);
}

static PFN_vkVoidFunction find(const struct owner *o, const char *name, const char *extension)
{
    char other[64];
    PFN_vkVoidFunction found = get(o, name);
    if (found || !extension)
        return found;
    snprintf(other, sizeof(other), "%sKHR", name);
    return get(o, other);
}

void vk_load(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get_of_instance,
             VkInstance instance, VkDevice device)
{
#define LOAD(name, extension) vk->name = (PFN_##name)find(&o, #name, extension);
    struct owner o = {.get_of_instance = get_of_instance, .instance = instance};
    if (!instance) {
        GR_VK_GLOBAL_FUNCTIONS(LOAD)
        return;
    }
    GR_VK_HEADLESS_FUNCTIONS(LOAD)
    GR_VK_INSTANCE_FUNCTIONS(LOAD)
    o.get_of_device = vk->vkGetDeviceProcAddr;
    o.device = o.get_of_device ? device : VK_NULL_HANDLE;
    if (!o.device)
        return;
    GR_VK_DEVICE_FUNCTIONS(LOAD)
    GR_VK_OPTIONAL_FUNCTIONS(LOAD)
#undef LOAD
}
