/* SPDX-License-Identifier: Apache-2.0 */
/* The device of Vulkan without a window: its queues, its features and grinterop's extensions. */
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "vk/device.h"
#include "vk/headless.h"

#define MOST_EXTENSIONS 16

/* The first family that has one of `wanted` and nothing of `without`. */
static uint32_t find_family(const VkQueueFamilyProperties families[], uint32_t count,
                            VkQueueFlags wanted, VkQueueFlags without)
{
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueCount && (families[i].queueFlags & wanted) &&
            !(families[i].queueFlags & without))
            return i;
    return VK_QUEUE_FAMILY_IGNORED;
}

static gr_status choose_families(struct gr_vk_headless *h, const char *call)
{
    /* Families of video engines can copy too, but not everything. */
    const VkQueueFlags copying_only =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    VkPhysicalDevice device = h->handles.physical_device;
    uint32_t count = 0;
    h->vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count ? count : 1, sizeof(*families));
    if (!families)
        return gr_fail_memory(call);
    h->vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    h->handles.graphics_family = find_family(families, count, VK_QUEUE_GRAPHICS_BIT, 0);
    h->handles.compute_family =
        find_family(families, count, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT);
    h->handles.transfer_family = find_family(families, count, VK_QUEUE_TRANSFER_BIT, ~copying_only);
    free(families);
    return GR_OK;
}

static uint32_t list_queues(const gr_vk_headless_handles *handles, VkDeviceQueueCreateInfo list[3])
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

static void get_queue(struct gr_vk_headless *h, uint32_t family, VkQueue *queue)
{
    if (family != VK_QUEUE_FAMILY_IGNORED)
        h->vk.vkGetDeviceQueue(h->handles.device, family, 0, queue);
}

static bool has_timeline(const struct gr_vk_headless *h, const char *const names[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME) == 0)
            return true;
    return h->identity.api_version >= VK_API_VERSION_1_2;
}

/*
 * Of what the device has: what grinterop uses, and images that shaders write whatever their format
 * is.
 */
static void choose_features(const struct gr_vk_headless *h, bool timeline,
                            VkPhysicalDeviceFeatures2 *features)
{
    VkPhysicalDeviceFeatures2 has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = timeline ? features->pNext : NULL};
    h->vk.vkGetPhysicalDeviceFeatures2(h->handles.physical_device, &has);
    features->features.shaderStorageImageReadWithoutFormat =
        has.features.shaderStorageImageReadWithoutFormat;
    features->features.shaderStorageImageWriteWithoutFormat =
        has.features.shaderStorageImageWriteWithoutFormat;
    if (!timeline)
        features->pNext = NULL;
}

gr_status vk_headless_create_device(struct gr_vk_headless *h, const char *call)
{
    const char *names[MOST_EXTENSIONS];
    uint32_t name_count = MOST_EXTENSIONS;
    gr_vk_device_info device = {.get_instance_proc_addr = h->handles.get_instance_proc_addr,
                                .instance = h->handles.instance,
                                .physical_device = h->handles.physical_device};
    gr_status status = gr_vk_device_extensions(&device, names, &name_count);
    if (status == GR_OK)
        status = choose_families(h, call);
    if (status != GR_OK)
        return status;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    choose_features(h, has_timeline(h, names, name_count), &features);
    VkDeviceQueueCreateInfo queues[3];
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = list_queues(&h->handles, queues),
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = name_count,
                               .ppEnabledExtensionNames = names};
    VkResult result =
        h->vk.vkCreateDevice(h->handles.physical_device, &info, NULL, &h->handles.device);
    if (result != VK_SUCCESS) {
        h->handles.device = VK_NULL_HANDLE;
        return vk_fail(result, "vkCreateDevice", "A device of %s could not be made.",
                       h->identity.name);
    }
    get_queue(h, h->handles.graphics_family, &h->handles.graphics);
    get_queue(h, h->handles.compute_family, &h->handles.compute);
    get_queue(h, h->handles.transfer_family, &h->handles.transfer);
    return GR_OK;
}
