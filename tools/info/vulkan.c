/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the Vulkan devices, and whether CUDA shares memory and semaphores with them. */
#include <dlfcn.h>
#include <string.h>

#include <grinterop/vk.h>

#include "lib/cuda/driver_functions.h"
#include "lib/base/uuid_text.h"
#include "tools/info/finding.h"
#include "tools/info/try.h"
#include "vk/device/identity.h"

enum { MOST_DEVICES = 32 };

/* ---- All devices ----------------------------------------------------------------------------- */

/* A Vulkan instance and its functions. The instance lives until the process ends. */
struct loader {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
};

/* Loads any Vulkan function. Uses memcpy(), as ISO C can't convert between such pointers. */
static void find_function(const struct loader *loader, const char *name, void *function)
{
    PFN_vkVoidFunction found = loader->get(loader->instance, name);
    memcpy(function, &found, sizeof(found));
}

/* Creates the instance. Returns NULL, or what is missing. */
static const char *open_loader(struct loader *loader)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pEngineName = "grinterop",
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    PFN_vkCreateInstance create = NULL;
    void *file = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = file ? dlsym(file, "vkGetInstanceProcAddr") : NULL;
    *loader = (struct loader){0};
    if (!symbol)
        return "libvulkan.so.1 was not found: install it (on Debian libvulkan1).";
    memcpy(&loader->get, &symbol, sizeof(symbol));
    find_function(loader, "vkCreateInstance", &create);
    if (!create || create(&info, NULL, &loader->instance) != VK_SUCCESS)
        return "The Vulkan loader found no working driver: VK_DRIVER_FILES, or VK_ICD_FILENAMES, "
               "may hide it.";
    return NULL;
}

static void say_device(const struct loader *loader, VkPhysicalDevice device, unsigned number)
{
    char uuid[GR_UUID_TEXT_SIZE];
    PFN_vkGetPhysicalDeviceProperties2 get = NULL;
    struct vk_identity its;
    find_function(loader, "vkGetPhysicalDeviceProperties2", &get);
    if (!get)
        return;
    vk_identify(get, device, &its);
    gr_uuid_text(its.uuid, uuid);
    int cuda = -1; /* if no CUDA device is the same GPU */
    gr_cuda_find_device(its.uuid, &cuda);
    const char *is = cuda >= 0 ? text_of("CUDA device %d", cuda) : "no CUDA device";
    say(text_of("vulkan/device/%u", number), MARK_NOTE,
        text_of("Vulkan device %u: %s, %s", number, its.name, is), "%s",
        cuda >= 0 ? ""
                  : "CUDA shares no memory with it. gr_vk_device_from_vk() copies if "
                    "gr_vk_device_desc.transports has GR_TRANSPORT_COPY.");
    say_fact("uuid", "%s", uuid);
    say_fact("version", "%u.%u", VK_API_VERSION_MAJOR(its.api_version),
             VK_API_VERSION_MINOR(its.api_version));
    if (cuda >= 0)
        say_fact("cuda_device", "%d", cuda);
}

void find_vulkan_devices(const struct find *find)
{
    struct loader loader;
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    PFN_vkEnumeratePhysicalDevices enumerate = NULL;
    (void)find;
    const char *missing = open_loader(&loader);
    if (missing) {
        say("vulkan/loader", MARK_BAD, "no Vulkan", "%s", missing);
        return;
    }
    find_function(&loader, "vkEnumeratePhysicalDevices", &enumerate);
    if (!enumerate || enumerate(loader.instance, &count, devices) < 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        say_device(&loader, devices[i], (unsigned)i);
}

/* ---- Vulkan on a CUDA device ----------------------------------------------------------------- */

gr_vk_device *vulkan_open(int cuda_device, unsigned transports, const gr_vk_headless_info **made)
{
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = cuda_device);
    gr_vk_headless *headless = gr_vk_headless_create(&options);
    *made = headless ? gr_vk_headless_get_info(headless) : NULL;
    if (!headless)
        return NULL;
    return gr_vk_device_from_headless(headless, transports);
}

void find_vulkan(const struct find *find)
{
    const gr_vk_headless_info *made;
    const char *id = text_of("vulkan/%d", find->device);
    const gr_vk_device *device = vulkan_open(find->device, 0, &made);
    if (!device) {
        say_error(id, text_of("CUDA device %d: no Vulkan", find->device));
        say_fact("path", "vulkan");
        return;
    }
    const gr_vk_device_info *info = gr_vk_device_get_info(device);
    say(id, MARK_GOOD,
        text_of("CUDA device %d: Vulkan memory%s", find->device,
                info->has_semaphores ? " and semaphores"
                                     : "; the host waits instead of semaphores"),
        "%s", info->description);
    say_fact("path", "vulkan");
    say_fact("cuda_device", "%d", find->device);
    say_fact("semaphores", "%s", info->has_semaphores ? "yes" : "no");
}
