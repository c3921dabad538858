/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The extensions that grinterop uses and the application has to enable, and the extensions that a
 * device supports.
 */
#include "vk/device/extensions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/plural.h"
#include "lib/base/struct_size.h"
#include "vk/device/error.h"

static const char *const instance_extensions[] = {
#define NAME(name, required) name,
    GR_VK_INSTANCE_EXTENSIONS(NAME)};

static const char *const device_extensions[] = {GR_VK_DEVICE_EXTENSIONS(NAME)
#undef NAME
};
#define DEVICE_EXTENSION_COUNT (sizeof(device_extensions) / sizeof(device_extensions[0]))

gr_status vk_extensions_get(PFN_vkEnumerateDeviceExtensionProperties enumerate,
                            VkPhysicalDevice device, struct vk_extensions *extensions)
{
    static const char call[] = "vkEnumerateDeviceExtensionProperties";
    *extensions = (struct vk_extensions){0};
    VkResult result = enumerate(device, NULL, &extensions->count, NULL);
    if (result == VK_SUCCESS && extensions->count) {
        extensions->list = calloc(extensions->count, sizeof(*extensions->list));
        if (!extensions->list)
            return gr_fail_memory(call);
        result = enumerate(device, NULL, &extensions->count, extensions->list);
    }
    if (result == VK_SUCCESS)
        return GR_OK;
    vk_extensions_end(extensions);
    return vk_fail(result, call, "The device did not list its extensions.");
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

/*
 * Implements the two-call idiom of Vulkan: returns the number of names, or the names and their
 * number.
 */
static gr_status hand_out(const char *const found[], uint32_t n, const char *names[],
                          uint32_t *count, const char *call)
{
    if (names && *count < n)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "There are %u extension%s but room for only %u: query the number first, "
                       "with `names` NULL.",
                       n, gr_s(n), *count);
    for (uint32_t i = 0; names && i < n; i++)
        names[i] = found[i];
    *count = n;
    return GR_OK;
}

static gr_status fail_null(const char *argument, const char *call)
{
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`%s` is NULL.", argument);
}

gr_status gr_vk_instance_extensions(const char *names[], uint32_t *count)
{
    if (!count)
        return fail_null("count", __func__);
    return hand_out(instance_extensions,
                    sizeof(instance_extensions) / sizeof(instance_extensions[0]), names, count,
                    __func__);
}

static gr_status check_device(const gr_vk_device_desc *info, const char *call)
{
    if (info->get_instance_proc_addr && info->instance && info->physical_device)
        return GR_OK;
    return fail_null(!info->get_instance_proc_addr ? "desc->get_instance_proc_addr"
                     : !info->instance             ? "desc->instance"
                                                   : "desc->physical_device",
                     call);
}

static gr_status extensions_of(const gr_vk_device_desc *info, struct vk_extensions *has)
{
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        (PFN_vkEnumerateDeviceExtensionProperties)info->get_instance_proc_addr(
            info->instance, "vkEnumerateDeviceExtensionProperties");
    if (!enumerate)
        return gr_fail(GR_ERR_VULKAN, "vkGetInstanceProcAddr",
                       "There is no vkEnumerateDeviceExtensionProperties, which every Vulkan has: "
                       "do get_instance_proc_addr and the instance belong to the same Vulkan?");
    return vk_extensions_get(enumerate, info->physical_device, has);
}

gr_status gr_vk_device_extensions(const gr_vk_device_desc *given, const char *names[],
                                  uint32_t *count)
{
    if (!given || !count)
        return fail_null(given ? "count" : "desc", __func__);
    struct vk_extensions has;
    gr_vk_device_desc info;
    GR_TRY(GR_TAKE(gr_vk_device_desc, &info, given, __func__));
    GR_TRY(check_device(&info, __func__));
    GR_TRY(extensions_of(&info, &has));
    const char *found[DEVICE_EXTENSION_COUNT];
    uint32_t n = 0;
    for (size_t i = 0; i < DEVICE_EXTENSION_COUNT; i++)
        if (vk_extensions_have(&has, device_extensions[i]))
            found[n++] = device_extensions[i];
    vk_extensions_end(&has);
    return hand_out(found, n, names, count, __func__);
}
