/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries Vulkan for the UUID of lavapipe. Lavapipe derives this UUID from the Mesa version, and
 * each version derives it in a different way. The Vulkan instance of this query is kept: destroying
 * the last instance makes the Vulkan loader unload the drivers, and an unloaded lavapipe leaves
 * threads and memory behind.
 */
#include "softcuda/driver/context/drawing_uuid.h"

#ifdef GR_WITHOUT_VULKAN

bool soft_drawing_uuid(unsigned char uuid[SOFT_UUID_SIZE])
{
    (void)uuid;
    return false;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#define LOADER      "libvulkan.so.1"
#define MAX_DEVICES 16

static unsigned char found_uuid[SOFT_UUID_SIZE];
static bool found;

struct vulkan {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
};

#define GET(vulkan, name) ((PFN_##name)(vulkan)->get((vulkan)->instance, #name))

/*
 * Stores the UUID if the device is lavapipe, which its type and driver ID identify. Vulkan 1.1 has
 * no driver ID, so the type must suffice.
 */
static bool read_uuid(const struct vulkan *vulkan, VkPhysicalDevice device)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    static const unsigned char none[SOFT_UUID_SIZE];
    PFN_vkGetPhysicalDeviceProperties2 ask = GET(vulkan, vkGetPhysicalDeviceProperties2);
    if (!ask)
        return false;
    ask(device, &properties);
    if (properties.properties.apiVersion >= VK_API_VERSION_1_2) {
        properties.pNext = &driver;
        ask(device, &properties);
    }
    if (properties.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU ||
        (driver.driverID != VK_DRIVER_ID_MESA_LLVMPIPE && driver.driverID != 0) ||
        memcmp(id.deviceUUID, none, SOFT_UUID_SIZE) == 0)
        return false;
    memcpy(found_uuid, id.deviceUUID, SOFT_UUID_SIZE);
    return true;
}

static void find_lavapipe_uuid(const struct vulkan *vulkan)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    PFN_vkEnumeratePhysicalDevices list = GET(vulkan, vkEnumeratePhysicalDevices);
    if (!list)
        return;
    VkResult result = list(vulkan->instance, &count, devices);
    for (uint32_t i = 0; result >= VK_SUCCESS && i < count && !found; i++)
        found = read_uuid(vulkan, devices[i]);
}

/* Vulkan 1.0 has no UUIDs. Its loader lacks vkEnumerateInstanceVersion. */
static bool make_instance(struct vulkan *vulkan)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    if (!GET(vulkan, vkEnumerateInstanceVersion))
        return false;
    PFN_vkCreateInstance create = GET(vulkan, vkCreateInstance);
    return create && create(&info, NULL, &vulkan->instance) == VK_SUCCESS;
}

static void query_vulkan(void)
{
    void *loader = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
    void *symbol = loader ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
    struct vulkan vulkan = {.instance = VK_NULL_HANDLE};
    memcpy(&vulkan.get, &symbol, sizeof(symbol));
    if (vulkan.get && make_instance(&vulkan))
        find_lavapipe_uuid(&vulkan);
}

bool soft_drawing_uuid(unsigned char uuid[SOFT_UUID_SIZE])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /*
     * A Vulkan layer may query the CUDA devices, and call this function, during the Vulkan query.
     */
    static _Thread_local bool asking;
    if (asking)
        return false;
    asking = true;
    pthread_once(&once, query_vulkan);
    asking = false;
    if (found)
        memcpy(uuid, found_uuid, SOFT_UUID_SIZE);
    return found;
}

#endif
