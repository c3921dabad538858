/* SPDX-License-Identifier: Apache-2.0 */
/* The device of Vulkan without a window, see headless_device.h. */
#include "vk/headless_device.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "vk/error.h"

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

static gr_status choose_families(const struct vk_headless_functions *vk,
                                 gr_vk_headless_info *handles, const char *call)
{
    /* Families of video engines can copy too, but not everything. */
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

static bool has_timeline(const struct vk_identity *identity, const char *const names[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME) == 0)
            return true;
    return identity->api_version >= VK_API_VERSION_1_2;
}

/*
 * Of what the device has: what grinterop uses, and images that shaders write whatever their format
 * is.
 */
static void choose_features(const struct vk_headless_functions *vk, VkPhysicalDevice device,
                            bool timeline, VkPhysicalDeviceFeatures2 *features)
{
    VkPhysicalDeviceFeatures2 has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = timeline ? features->pNext : NULL};
    vk->vkGetPhysicalDeviceFeatures2(device, &has);
    features->features.shaderStorageImageReadWithoutFormat =
        has.features.shaderStorageImageReadWithoutFormat;
    features->features.shaderStorageImageWriteWithoutFormat =
        has.features.shaderStorageImageWriteWithoutFormat;
    if (!timeline)
        features->pNext = NULL;
}

static gr_status make_device(const struct vk_headless_functions *vk,
                             const struct vk_identity *identity, const char *const names[],
                             uint32_t name_count, gr_vk_headless_info *handles)
{
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    choose_features(vk, handles->physical_device, has_timeline(identity, names, name_count),
                    &features);
    VkDeviceQueueCreateInfo queues[3];
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = list_queues(handles, queues),
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = name_count,
                               .ppEnabledExtensionNames = names};
    VkResult result = vk->vkCreateDevice(handles->physical_device, &info, NULL, &handles->device);
    if (result == VK_SUCCESS)
        return GR_OK;
    handles->device = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateDevice", "A device of %s could not be made.", identity->name);
}

gr_status vk_headless_create_device(const struct vk_headless_functions *vk,
                                    const struct vk_identity *identity,
                                    gr_vk_headless_info *handles, const char *call)
{
    const char *names[MOST_EXTENSIONS];
    uint32_t name_count = MOST_EXTENSIONS;
    gr_vk_device_desc device = {.get_instance_proc_addr = handles->get_instance_proc_addr,
                                .instance = handles->instance,
                                .physical_device = handles->physical_device};
    gr_status status = gr_vk_device_extensions(&device, names, &name_count);
    if (status == GR_OK)
        status = choose_families(vk, handles, call);
    if (status == GR_OK)
        status = make_device(vk, identity, names, name_count, handles);
    if (status != GR_OK)
        return status;
    get_queue(vk, handles->device, handles->graphics_family, &handles->graphics);
    get_queue(vk, handles->device, handles->compute_family, &handles->compute);
    get_queue(vk, handles->device, handles->transfer_family, &handles->transfer);
    return GR_OK;
}
