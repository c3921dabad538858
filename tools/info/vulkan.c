/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan's devices, and whether CUDA shares memory and semaphores with them. */
#include <stdio.h>
#include <string.h>

#include <grinterop/cuda.h>
#include <grinterop/vk.h>

#include "lib/uuid_text.h"
#include "tools/info/finders.h"
#include "tools/info/say.h"
#include "tools/info/vulkan_desc.h"
#include "tools/info/vulkan_list.h"
#include "vk/identity.h"

/* ---- All devices ----------------------------------------------------------------------------- */

/* The CUDA device that it is, or -1. */
static int cuda_device_of(const struct vulkan_list *list, VkPhysicalDevice device)
{
    int count = 0;
    VkPhysicalDevice same;
    const gr_cuda_api *cu = gr_cuda();
    if (!cu || cu->DeviceGetCount(&count) != CUDA_SUCCESS)
        return -1;
    for (int i = 0; i < count; i++)
        if (gr_vk_physical_device(list->get, list->instance, i, &same) == GR_OK && same == device)
            return i;
    return -1;
}

static void say_device(const struct vulkan_list *list, uint32_t number)
{
    char id[40], is[40] = "no CUDA device", label[400], uuid[GR_UUID_TEXT_SIZE];
    PFN_vkGetPhysicalDeviceProperties2 get = NULL;
    struct vk_identity its;
    vulkan_list_find(list, "vkGetPhysicalDeviceProperties2", &get);
    if (!get)
        return;
    vk_identify(get, list->devices[number], &its);
    int cuda = cuda_device_of(list, list->devices[number]);
    if (cuda >= 0)
        snprintf(is, sizeof(is), "CUDA device %d", cuda);
    gr_uuid_text(its.uuid, uuid);
    snprintf(id, sizeof(id), "vulkan/device/%u", (unsigned)number);
    snprintf(label, sizeof(label), "Vulkan device %u: %s, %s", (unsigned)number, its.name, is);
    say(id, MARK_NOTE, label, "%s", "");
    say_fact("uuid", "%s", uuid);
    say_fact("version", "%u.%u", VK_API_VERSION_MAJOR(its.api_version),
             VK_API_VERSION_MINOR(its.api_version));
    if (cuda >= 0)
        say_fact("cuda_device", "%d", cuda);
}

void find_vulkan_devices(const struct find *find)
{
    struct vulkan_list list;
    (void)find;
    const char *missing = vulkan_list_open(&list);
    if (missing) {
        say("vulkan/loader", MARK_BAD, "no Vulkan", "%s", missing);
        return;
    }
    for (uint32_t i = 0; i < list.count; i++)
        say_device(&list, i);
}

/* ---- One that is a CUDA device --------------------------------------------------------------- */

static gr_vk_device *wrap(const gr_vk_headless *headless)
{
    const gr_vk_device_desc desc = vulkan_desc(gr_vk_headless_get(headless));
    return gr_vk_device_wrap(&desc);
}

static void say_extensions(const char *id, const gr_vk_headless *headless)
{
    enum { MOST = 16 };
    const gr_vk_device_desc desc = vulkan_desc(gr_vk_headless_get(headless));
    const char *names[MOST];
    char whole[48], text[800] = "";
    uint32_t count = MOST;
    size_t used = 0;
    if (gr_vk_device_extensions(&desc, names, &count) != GR_OK)
        return;
    for (uint32_t i = 0; i < count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", names[i]);
    snprintf(whole, sizeof(whole), "%s/extensions", id);
    say_detail(whole, MARK_NOTE, "Vulkan's extensions for sharing", "It has %s.",
               count ? text : "none");
    say_fact("has", "%s", text);
}

void find_vulkan(const struct find *find)
{
    char id[32], label[160], described[700];
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = find->device);
    snprintf(id, sizeof(id), "vulkan/%d", find->device);
    gr_vk_headless *headless = gr_vk_headless_create(&options);
    gr_vk_device *device = headless ? wrap(headless) : NULL;
    if (!device) {
        snprintf(label, sizeof(label), "CUDA device %d: no Vulkan", find->device);
        say_error(id, label);
        say_fact("path", "vulkan");
        return;
    }
    bool semaphores = gr_vk_device_has_semaphores(device);
    gr_vk_device_describe(device, described, sizeof(described));
    snprintf(label, sizeof(label), "CUDA device %d: Vulkan's memory%s", find->device,
             semaphores ? " and semaphores" : "; the host waits in the place of semaphores");
    say(id, MARK_GOOD, label, "%s", described);
    say_fact("path", "vulkan");
    say_fact("cuda_device", "%d", find->device);
    say_fact("semaphores", "%s", semaphores ? "yes" : "no");
    say_extensions(id, headless);
}
