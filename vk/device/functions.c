/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Looks up Vulkan functions. */
#include "vk/device/functions.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/loader.h"
#include "lib/base/lock.h"

/* ---- The Vulkan loader ----------------------------------------------------------------------- */

/*
 * Opens the loader once and never closes it, because drivers leave threads and exit handlers of
 * threads behind. NULL, with the reason in `why`, if there is none.
 */
static void *open_file(char *why, size_t size)
{
    static struct gr_lock lock = GR_LOCK(VULKAN_LOADER);
    static void *file;
    GR_LOCKED(&lock);
    if (!file)
        file = gr_loader_open(GR_VK_LOADER, why, size);
    return file;
}

/* In place of the function of an instance: the loader exports the core functions. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL exported(VkInstance instance, const char *name)
{
    (void)instance;
    PFN_vkVoidFunction function = NULL;
    void *file = open_file((char[256]){0}, 256);
    void *symbol = file ? gr_loader_symbol(file, name) : NULL;
    memcpy(&function, &symbol, sizeof(symbol));
    return function;
}

gr_status vk_open_loader(PFN_vkGetInstanceProcAddr *get)
{
    char why[256] = "it is not a Vulkan loader";
    const bool opened = open_file(why, sizeof(why));
    *get = opened ? (PFN_vkGetInstanceProcAddr)exported(NULL, "vkGetInstanceProcAddr") : NULL;
    if (*get)
        return GR_OK;
    return gr_fail(
        GR_ERR_UNSUPPORTED,
        "The Vulkan loader " GR_VK_LOADER " could not be loaded: %s. " GR_VK_LOADER_ADVICE, why);
}

gr_status vk_open_exported(PFN_vkGetInstanceProcAddr *get)
{
    GR_TRY(vk_open_loader(get));
    *get = exported;
    return GR_OK;
}

/* ---- Functions ------------------------------------------------------------------------------- */

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

#define LOAD(name, extension) vk->name = (PFN_##name)find(&o, #name, extension);

void vk_load_global(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get)
{
    const struct owner o = {.get_of_instance = get};
    GR_VK_GLOBAL_FUNCTIONS(LOAD)
}

void vk_load(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get_of_instance,
             VkInstance instance, VkDevice device)
{
    struct owner o = {.get_of_instance = get_of_instance, .instance = instance};
    GR_VK_HEADLESS_FUNCTIONS(LOAD)
    GR_VK_INSTANCE_FUNCTIONS(LOAD)
    o.get_of_device = vk->vkGetDeviceProcAddr;
    o.device = o.get_of_device ? device : VK_NULL_HANDLE;
    if (!o.device)
        return;
    GR_VK_DEVICE_FUNCTIONS(LOAD)
    GR_VK_OPTIONAL_FUNCTIONS(LOAD)
}
#undef LOAD
