/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/vulkan_list.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void vulkan_list_find(const struct vulkan_list *list, const char *name, void *function)
{
    PFN_vkVoidFunction found = list->get(list->instance, name);
    memcpy(function, &found, sizeof(found));
}

static const char *make_instance(struct vulkan_list *list)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pEngineName = "grinterop",
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    PFN_vkCreateInstance create = NULL;
    vulkan_list_find(list, "vkCreateInstance", &create);
    if (!create || create(&info, NULL, &list->instance) != VK_SUCCESS)
        return "Vulkan's loader found no driver that works: VK_DRIVER_FILES, or VK_ICD_FILENAMES, "
               "may hide it.";
    return NULL;
}

const char *vulkan_list_open(struct vulkan_list *list)
{
    void *file = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = file ? dlsym(file, "vkGetInstanceProcAddr") : NULL;
    PFN_vkEnumeratePhysicalDevices enumerate = NULL;
    *list = (struct vulkan_list){0};
    if (!symbol)
        return "libvulkan.so.1 was not found. Install it (on Debian libvulkan1).";
    memcpy(&list->get, &symbol, sizeof(symbol));
    const char *missing = make_instance(list);
    if (missing)
        return missing;
    vulkan_list_find(list, "vkEnumeratePhysicalDevices", &enumerate);
    list->count = VULKAN_LIST_MOST;
    if (!enumerate || enumerate(list->instance, &list->count, list->devices) < 0)
        list->count = 0;
    return NULL;
}
