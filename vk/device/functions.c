/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads Vulkan functions. If functions are missing, reports which extensions to enable. */
#include "vk/device/functions.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "vk/device/extensions.h"

/*
 * Returns the name that the extension uses for a function that became part of Vulkan later; "" if
 * `name` is already that name.
 */
static void extension_name(const char *name, char text[64])
{
    size_t length = strlen(name);
    bool has_it = length > 3 && strcmp(name + length - 3, "KHR") == 0;
    snprintf(text, 64, "%s%s", has_it ? "" : name, has_it ? "" : "KHR");
}

static PFN_vkVoidFunction of_instance(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                      const char *name, const char *extension)
{
    char other[64];
    PFN_vkVoidFunction function = get(instance, name);
    if (function || !extension)
        return function;
    extension_name(name, other);
    return other[0] ? get(instance, other) : NULL;
}

static PFN_vkVoidFunction of_device(PFN_vkGetDeviceProcAddr get, VkDevice device, const char *name,
                                    const char *extension)
{
    char other[64];
    PFN_vkVoidFunction function = get(device, name);
    if (function || !extension)
        return function;
    extension_name(name, other);
    return other[0] ? get(device, other) : NULL;
}

void vk_load_instance(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get, VkInstance instance)
{
#define LOAD(name, extension) vk->name = (PFN_##name)of_instance(get, instance, #name, extension);
    GR_VK_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
}

void vk_load_device(struct vk_functions *vk, VkDevice device)
{
    if (!vk->vkGetDeviceProcAddr)
        return;
#define LOAD(name, extension)                                                                      \
    vk->name = (PFN_##name)of_device(vk->vkGetDeviceProcAddr, device, #name, extension);
    GR_VK_DEVICE_FUNCTIONS(LOAD)
    GR_VK_OPTIONAL_FUNCTIONS(LOAD)
#undef LOAD
}

/* ---- Missing functions ----------------------------------------------------------------------- */

/* A growing text that lists each extension once. */
struct list {
    char text[260];
    size_t used;
};

static void add(struct list *list, const char *extension, const char *function)
{
    if (strstr(list->text, extension) || list->used >= sizeof(list->text))
        return;
    list->used += (size_t)snprintf(list->text + list->used, sizeof(list->text) - list->used,
                                   "%s%s (%s)", list->used ? ", " : "", extension, function);
}

struct missing {
    const char *core;     /* a missing function of Vulkan 1.0, or NULL */
    struct list instance; /* missing instance extensions */
    struct list disabled; /* extensions that the device supports, but that are not enabled */
    struct list absent;   /* required extensions that the device does not support */
    struct list needed;   /* the missing extensions that sharing memory requires */
};

static bool is_required(const char *extension)
{
#define REQUIRED(name, required)                                                                   \
    if (strcmp(extension, name) == 0)                                                              \
        return required;
    GR_VK_DEVICE_EXTENSIONS(REQUIRED)
#undef REQUIRED
    return true;
}

static void miss_instance(struct missing *missing, const char *name, const char *extension)
{
    if (!extension) {
        missing->core = missing->core ? missing->core : name;
        return;
    }
    add(&missing->instance, extension, name);
    add(&missing->needed, extension, name);
}

static void miss_device(struct missing *missing, const struct vk_extensions *extensions,
                        const char *name, const char *extension)
{
    if (!extension)
        missing->core = missing->core ? missing->core : name;
    else if (vk_extensions_have(extensions, extension))
        add(&missing->disabled, extension, name);
    else if (is_required(extension))
        add(&missing->absent, extension, name);
    if (extension && is_required(extension))
        add(&missing->needed, extension, name);
}

static gr_status fail_missing(const struct missing *missing, const char *call)
{
    struct gr_error_record shape;
    char text[sizeof(shape.message)] = "Vulkan extensions are missing.";
    const struct {
        const char *before, *names, *after;
    } parts[] = {
        {" The instance lacks ", missing->instance.text,
         ": create it for Vulkan 1.1 or newer, or with these."},
        {" The device supports these, but they were not enabled: ", missing->disabled.text,
         "; add them to ppEnabledExtensionNames of vkCreateDevice "
         "(gr_vk_device_extensions() lists them)."},
        {" The device does not support ", missing->absent.text, ": it needs a newer driver."},
    };
    size_t used = strlen(text);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && used < sizeof(text); i++)
        if (parts[i].names[0])
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s", parts[i].before,
                                     parts[i].names, parts[i].after);
    return gr_fail(GR_ERR_UNSUPPORTED, call, "%s", text);
}

gr_status vk_check_functions(const struct vk_functions *vk, VkPhysicalDevice device, char *lacks,
                             size_t size, const char *call)
{
    struct missing missing = {0};
    struct vk_extensions extensions = {0};
#define CHECK(name, extension)                                                                     \
    if (!vk->name)                                                                                 \
        miss_instance(&missing, #name, extension);
    GR_VK_INSTANCE_FUNCTIONS(CHECK)
#undef CHECK
    if (vk->vkEnumerateDeviceExtensionProperties) {
        GR_TRY(vk_extensions_get(vk->vkEnumerateDeviceExtensionProperties, device, &extensions));
    }
#define CHECK(name, extension)                                                                     \
    if (!vk->name)                                                                                 \
        miss_device(&missing, &extensions, #name, extension);
    GR_VK_DEVICE_FUNCTIONS(CHECK)
#undef CHECK
    vk_extensions_end(&extensions);
    if (missing.core)
        return gr_fail(GR_ERR_VULKAN, "vkGetInstanceProcAddr",
                       "%s found no %s, which every Vulkan has: do get_instance_proc_addr, the "
                       "instance and the device belong to the same Vulkan?",
                       call, missing.core);
    if (lacks)
        snprintf(lacks, size, "%s", missing.needed.text);
    else if (missing.instance.used || missing.disabled.used || missing.absent.used)
        return fail_missing(&missing, call);
    return GR_OK;
}
