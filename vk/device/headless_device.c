/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates the headless VkDevice; see headless_device.h. */
#include "vk/device/headless_device.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "vk/device/error.h"
#include "vk/device/extensions.h"

#define MOST_EXTENSIONS 16

/* Returns the first queue family that has one of the `wanted` flags and none of `without`. */
static uint32_t find_family(const VkQueueFamilyProperties families[], uint32_t count,
                            VkQueueFlags wanted, VkQueueFlags without)
{
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueCount && (families[i].queueFlags & wanted) &&
            !(families[i].queueFlags & without))
            return i;
    return VK_QUEUE_FAMILY_IGNORED;
}

static gr_status choose_families(const struct vk_headless_functions *vk,
                                 gr_vk_headless_info *handles, const char *call)
{
    /* The queue families of video engines also support transfers, but not all kinds of them. */
    const VkQueueFlags copying_only =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    VkPhysicalDevice device = handles->physical_device;
    uint32_t count = 0;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count ? count : 1, sizeof(*families));
    if (!families)
        return gr_fail_memory(call);
    vk->vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    handles->graphics_family = find_family(families, count, VK_QUEUE_GRAPHICS_BIT, 0);
    handles->compute_family =
        find_family(families, count, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT);
    handles->transfer_family = find_family(families, count, VK_QUEUE_TRANSFER_BIT, ~copying_only);
    free(families);
    return GR_OK;
}

static uint32_t list_queues(const gr_vk_headless_info *handles, VkDeviceQueueCreateInfo list[3])
{
    static const float priority = 1;
    const uint32_t families[] = {handles->graphics_family, handles->compute_family,
                                 handles->transfer_family};
    uint32_t n = 0;
    for (size_t i = 0; i < 3; i++)
        if (families[i] != VK_QUEUE_FAMILY_IGNORED)
            list[n++] =
                (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = families[i],
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    return n;
}

static void get_queue(const struct vk_headless_functions *vk, VkDevice device, uint32_t family,
                      VkQueue *queue)
{
    if (family != VK_QUEUE_FAMILY_IGNORED)
        vk->vkGetDeviceQueue(device, family, 0, queue);
}

static bool has_name(const char *const names[], uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The features to enable, as a pNext chain. Only features that the device knows may be queried. */
struct features {
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceSynchronization2Features synchronization2;
};

/*
 * Enables the features that grinterop uses, and storage images without a format, if the device
 * supports them.
 */
static void choose_features(const struct vk_headless_functions *vk, VkPhysicalDevice device,
                            bool knows_timeline, bool knows_synchronization2, struct features *f)
{
    *f = (struct features){
        .all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .synchronization2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
    };
    void **end = &f->all.pNext;
    if (knows_timeline) {
        *end = &f->timeline;
        end = &f->timeline.pNext;
    }
    if (knows_synchronization2)
        *end = &f->synchronization2;
    vk->vkGetPhysicalDeviceFeatures2(device, &f->all);
    f->all.features = (VkPhysicalDeviceFeatures){
        .shaderStorageImageReadWithoutFormat = f->all.features.shaderStorageImageReadWithoutFormat,
        .shaderStorageImageWriteWithoutFormat =
            f->all.features.shaderStorageImageWriteWithoutFormat,
    };
}

static gr_status make_device(const struct vk_headless_functions *vk,
                             const struct vk_identity *identity, uint32_t version,
                             const char *const names[], uint32_t name_count,
                             gr_vk_headless_info *handles)
{
    struct features features;
    if (version > identity->api_version)
        version = identity->api_version;
    bool knows_timeline = version >= VK_API_VERSION_1_2 ||
                          has_name(names, name_count, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
    bool knows_synchronization2 =
        version >= VK_API_VERSION_1_3 ||
        has_name(names, name_count, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
    choose_features(vk, handles->physical_device, knows_timeline, knows_synchronization2,
                    &features);
    VkDeviceQueueCreateInfo queues[3];
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features.all,
                               .queueCreateInfoCount = list_queues(handles, queues),
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = name_count,
                               .ppEnabledExtensionNames = names};
    VkResult result = vk->vkCreateDevice(handles->physical_device, &info, NULL, &handles->device);
    if (result == VK_SUCCESS) {
        handles->synchronization2 = features.synchronization2.synchronization2;
        return GR_OK;
    }
    handles->device = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateDevice", "A device of %s could not be created.",
                   identity->name);
}

/* Chooses the extensions that grinterop uses, and synchronization2 if the device supports it. */
static gr_status choose_extensions(const gr_vk_headless_info *handles, const char *names[],
                                   uint32_t *count)
{
    gr_vk_device_desc device =
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = handles->get_instance_proc_addr,
                .instance = handles->instance, .physical_device = handles->physical_device);
    struct vk_extensions has;
    GR_TRY(gr_vk_device_extensions(&device, names, count));
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        (PFN_vkEnumerateDeviceExtensionProperties)handles->get_instance_proc_addr(
            handles->instance, "vkEnumerateDeviceExtensionProperties");
    GR_TRY(vk_extensions_get(enumerate, handles->physical_device, &has));
    if (vk_extensions_have(&has, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME))
        names[(*count)++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    vk_extensions_end(&has);
    return GR_OK;
}

gr_status vk_headless_create_device(const struct vk_headless_functions *vk,
                                    const struct vk_identity *identity, uint32_t version,
                                    gr_vk_headless_info *handles, const char *call)
{
    const char *names[MOST_EXTENSIONS];
    uint32_t name_count = MOST_EXTENSIONS - 1;
    GR_TRY(choose_extensions(handles, names, &name_count));
    GR_TRY(choose_families(vk, handles, call));
    GR_TRY(make_device(vk, identity, version, names, name_count, handles));
    get_queue(vk, handles->device, handles->graphics_family, &handles->graphics);
    get_queue(vk, handles->device, handles->compute_family, &handles->compute);
    get_queue(vk, handles->device, handles->transfer_family, &handles->transfer);
    return GR_OK;
}
