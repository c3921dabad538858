/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The extensions that grinterop uses and the application has to enable, the extensions that a
 * device supports, and the error for those that were not enabled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/device/device.h"

/*
 * The extensions that gr_vk_instance_extensions() and gr_vk_device_extensions() list. Most became
 * part of Vulkan 1.1 or 1.2, where enabling the extension has no effect. grinterop requires those
 * of the instance.
 */
static const char *const instance_extensions[] = {
    "VK_KHR_get_physical_device_properties2",
    "VK_KHR_external_memory_capabilities",
    "VK_KHR_external_semaphore_capabilities",
};

static const struct {
    const char *name;
    bool required;
} device_extensions[] = {
    {"VK_KHR_get_memory_requirements2", true}, {"VK_KHR_dedicated_allocation", true},
    {"VK_KHR_external_memory", true},          {GR_VK_MEMORY_EXTENSION, true},
    {"VK_KHR_external_semaphore", false},      {GR_VK_SEMAPHORE_EXTENSION, false},
    {"VK_KHR_timeline_semaphore", false},      {"VK_EXT_external_memory_host", false},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

gr_status vk_extensions_get(const struct vk_functions *vk, VkPhysicalDevice device,
                            struct vk_extensions *extensions)
{
    PFN_vkEnumerateDeviceExtensionProperties enumerate = vk->vkEnumerateDeviceExtensionProperties;
    *extensions = (struct vk_extensions){0};
    VkResult result = enumerate(device, NULL, &extensions->count, NULL);
    if (result == VK_SUCCESS && extensions->count) {
        extensions->list = calloc(extensions->count, sizeof(*extensions->list));
        if (!extensions->list)
            return gr_fail_memory();
        result = enumerate(device, NULL, &extensions->count, extensions->list);
    }
    if (result == VK_SUCCESS)
        return GR_OK;
    vk_extensions_end(extensions);
    return vk_fail(result, "vkEnumerateDeviceExtensionProperties",
                   "The device did not list its extensions.");
}

bool vk_extensions_have(const struct vk_extensions *extensions, const char *name)
{
    for (uint32_t i = 0; i < extensions->count; i++)
        if (strcmp(extensions->list[i].extensionName, name) == 0)
            return true;
    return false;
}

void vk_extensions_end(struct vk_extensions *extensions)
{
    free(extensions->list);
    *extensions = (struct vk_extensions){0};
}

uint32_t vk_extensions_used(const struct vk_extensions *extensions,
                            const char *names[VK_EXTENSIONS_MOST])
{
    uint32_t n = 0;
    for (size_t i = 0; i < COUNT(device_extensions); i++)
        if (!extensions || vk_extensions_have(extensions, device_extensions[i].name))
            names[n++] = device_extensions[i].name;
    return n;
}

/* ---- Missing functions ----------------------------------------------------------------------- */

/* A growing text that lists each extension once. */
typedef char list[260];

static void add(list text, const char *extension, const char *function)
{
    const size_t used = strlen(text);
    if (!strstr(text, extension))
        snprintf(text + used, sizeof(list) - used, "%s%s (%s)", used ? ", " : "", extension,
                 function);
}

struct missing {
    const char *core; /* a missing function of Vulkan 1.0, or NULL */
    list instance;    /* missing instance extensions */
    list disabled;    /* extensions that the device supports, but that are not enabled */
    list absent;      /* required extensions that the device does not support */
    list needed;      /* the missing extensions that sharing memory requires */
};

static bool is_required(const char *extension)
{
    for (size_t i = 0; i < COUNT(device_extensions); i++)
        if (strcmp(extension, device_extensions[i].name) == 0)
            return device_extensions[i].required;
    return true;
}

static void miss(struct missing *missing, const struct vk_extensions *has, const char *function,
                 const char *extension, bool of_instance)
{
    if (!extension) {
        missing->core = missing->core ? missing->core : function;
        return;
    }
    const bool required = is_required(extension);
    if (of_instance)
        add(missing->instance, extension, function);
    else if (vk_extensions_have(has, extension))
        add(missing->disabled, extension, function);
    else if (required)
        add(missing->absent, extension, function);
    if (required)
        add(missing->needed, extension, function);
}

static gr_status fail_missing(const struct missing *missing)
{
    struct gr_error_record shape;
    char text[sizeof(shape.message)] = "Vulkan extensions are missing.";
    const struct {
        const char *before, *names, *after;
    } parts[] = {
        {" The instance lacks ", missing->instance,
         ": create it for Vulkan 1.1 or newer, or with these."},
        {" The device supports these, but they were not enabled: ", missing->disabled,
         "; add them to ppEnabledExtensionNames of vkCreateDevice "
         "(gr_vk_device_extensions() lists them)."},
        {" The device does not support ", missing->absent, ": it needs a newer driver."},
    };
    for (size_t i = 0; i < COUNT(parts); i++) {
        const size_t used = strlen(text);
        if (parts[i].names[0])
            snprintf(text + used, sizeof(text) - used, "%s%s%s", parts[i].before, parts[i].names,
                     parts[i].after);
    }
    return gr_fail(GR_ERR_UNSUPPORTED, "%s", text);
}

gr_status vk_extensions_check(const struct vk_functions *vk, VkPhysicalDevice device, char *lacks,
                              size_t size)
{
    struct missing missing = {0};
    struct vk_extensions has = {0};
    if (vk->vkEnumerateDeviceExtensionProperties)
        GR_TRY(vk_extensions_get(vk, device, &has));
#define CHECK_INSTANCE(name, extension)                                                            \
    if (!vk->name)                                                                                 \
        miss(&missing, &has, #name, extension, true);
#define CHECK_DEVICE(name, extension)                                                              \
    if (!vk->name)                                                                                 \
        miss(&missing, &has, #name, extension, false);
    GR_VK_INSTANCE_FUNCTIONS(CHECK_INSTANCE)
    GR_VK_DEVICE_FUNCTIONS(CHECK_DEVICE)
    vk_extensions_end(&has);
    if (missing.core)
        return gr_fail_code(
            GR_ERR_VULKAN, GR_DOMAIN_NONE, 0, NULL, "vkGetInstanceProcAddr",
            "%s found no %s, which every Vulkan has: do get_instance_proc_addr, the "
            "instance and the device belong to the same Vulkan?",
            gr_call, missing.core);
    if (lacks)
        snprintf(lacks, size, "%s", missing.needed);
    else if (missing.instance[0] || missing.disabled[0] || missing.absent[0])
        return fail_missing(&missing);
    return GR_OK;
}

/* ---- For the application --------------------------------------------------------------------- */

/* The two-call idiom of Vulkan: returns the number of names, or the names and their number. */
static gr_status hand_out(const char *const found[], uint32_t n, const char *names[],
                          uint32_t *count)
{
    GR_REFUSE_IF(!count, "`count` is NULL: pass a pointer for the number of extensions.");
    GR_REFUSE_IF(
        names && *count < n,
        "There are %u extension%s but room for only %u: query the number first, with `names` NULL.",
        n, gr_s(n), *count);
    for (uint32_t i = 0; names && i < n; i++)
        names[i] = found[i];
    *count = n;
    return GR_OK;
}

gr_status gr_vk_instance_extensions(const char *names[], uint32_t *count)
{
    GR_CALL();
    return hand_out(instance_extensions, COUNT(instance_extensions), names, count);
}

gr_status vk_take_desc(gr_vk_device_desc *info, const gr_vk_device_desc *given, bool has_device)
{
    GR_TRY(GR_TAKE(gr_vk_device_desc, info, given));
    GR_REFUSE_IF(!given, "`desc` is NULL: describe the device, by GR_INIT(gr_vk_device_desc).");
    const char *missing = !info->physical_device        ? "desc->physical_device"
                          : has_device && !info->device ? "desc->device"
                                                        : NULL;
    GR_REFUSE_IF(missing, "`%s` is NULL: pass the object that the application created.", missing);
    if (!info->get_instance_proc_addr && !info->instance)
        return vk_open_exported(&info->get_instance_proc_addr);
    GR_REFUSE_IF(!info->get_instance_proc_addr || !info->instance,
                 "Either `desc->get_instance_proc_addr` or `desc->instance` is NULL: pass both, or "
                 "neither for a device of " GR_VK_LOADER ".");
    return GR_OK;
}

gr_status gr_vk_device_extensions(const gr_vk_device_desc *given, const char *names[],
                                  uint32_t *count)
{
    GR_CALL();
    struct vk_functions vk = {0};
    struct vk_extensions has;
    const char *found[VK_EXTENSIONS_MOST];
    gr_vk_device_desc info;
    if (!given)
        return hand_out(found, vk_extensions_used(NULL, found), names, count);
    GR_TRY(vk_take_desc(&info, given, false));
    vk_load(&vk, info.get_instance_proc_addr, info.instance, VK_NULL_HANDLE);
    if (!vk.vkEnumerateDeviceExtensionProperties)
        return gr_fail_code(
            GR_ERR_VULKAN, GR_DOMAIN_NONE, 0, NULL, "vkGetInstanceProcAddr",
            "There is no vkEnumerateDeviceExtensionProperties, which every Vulkan has: "
            "do get_instance_proc_addr and the instance belong to the same Vulkan?");
    GR_TRY(vk_extensions_get(&vk, info.physical_device, &has));
    uint32_t n = vk_extensions_used(&has, found);
    vk_extensions_end(&has);
    return hand_out(found, n, names, count);
}
