/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Inserts the layer into the chain of Vulkan instances and devices; see exporter_layer.h. */
#include "exporter_layer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

/*
 * The dispatch table that the loader stores at the start of each handle. An instance or device and
 * the objects in it have the same table.
 */
static void *key_of(const void *handle)
{
    return *(void *const *)handle;
}

static struct instance {
    void *key; /* NULL: the entry is free */
    VkInstance instance;
    PFN_vkGetInstanceProcAddr next;
    PFN_vkDestroyInstance destroy;
    PFN_vkEnumerateDeviceExtensionProperties list;
} instances[MOST];
static struct exporter_device devices[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct instance *instance_of(const void *handle)
{
    struct instance *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && !found; i++)
        if (instances[i].key == (handle ? key_of(handle) : NULL))
            found = &instances[i];
    pthread_mutex_unlock(&lock);
    return found;
}

struct exporter_device *exporter_device_of(const void *handle)
{
    struct exporter_device *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && !found; i++)
        if (devices[i].key == (handle ? key_of(handle) : NULL))
            found = &devices[i];
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- Instances ------------------------------------------------------------------------------- */

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *memory, VkInstance *made)
{
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)info->pNext;
    while (chain->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
           chain->function != VK_LAYER_LINK_INFO)
        chain = (VkLayerInstanceCreateInfo *)chain->pNext;
    PFN_vkGetInstanceProcAddr next = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)next(NULL, "vkCreateInstance");
    struct instance *place = instance_of(NULL);
    if (!place)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkInstanceCreateInfo newer = *info;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    if (info->pApplicationInfo)
        application = *info->pApplicationInfo;
    if (application.apiVersion < VK_API_VERSION_1_2)
        application.apiVersion = VK_API_VERSION_1_2;
    newer.pApplicationInfo = &application;
    VkResult result = create(&newer, memory, made);
    if (result != VK_SUCCESS)
        return result;
    /* These functions are looked up now: the loader later returns those of the first layer. */
    *place = (struct instance){.key = key_of(*made), .instance = *made, .next = next};
    place->destroy = (PFN_vkDestroyInstance)next(*made, "vkDestroyInstance");
    place->list = (PFN_vkEnumerateDeviceExtensionProperties)next(
        *made, "vkEnumerateDeviceExtensionProperties");
    return result;
}

static void VKAPI_CALL destroy_instance(VkInstance handle, const VkAllocationCallbacks *memory)
{
    struct instance *instance = handle ? instance_of(handle) : NULL;
    if (!instance)
        return;
    instance->destroy(handle, memory);
    instance->key = NULL;
}

/* ---- Properties of the device ---------------------------------------------------------------- */

static const VkExtensionProperties own = {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, 1};

static bool has_own(const VkExtensionProperties list[], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, own.extensionName) == 0)
            return true;
    return false;
}

static VkResult VKAPI_CALL list_extensions(VkPhysicalDevice physical, const char *layer,
                                           uint32_t *count, VkExtensionProperties *list)
{
    struct instance *instance = instance_of(physical);
    if (layer)
        return instance->list(physical, layer, count, list);
    uint32_t n = 0, room = *count;
    VkResult result = instance->list(physical, NULL, &n, NULL);
    VkExtensionProperties *all = result == VK_SUCCESS ? calloc(n + 1, sizeof(*all)) : NULL;
    if (!all)
        return result == VK_SUCCESS ? VK_ERROR_OUT_OF_HOST_MEMORY : result;
    result = instance->list(physical, NULL, &n, all);
    if (result == VK_SUCCESS && !has_own(all, n))
        all[n++] = own;
    *count = !list || n < room ? n : room;
    if (list)
        memcpy(list, all, *count * sizeof(*all));
    free(all);
    return result == VK_SUCCESS && list && room < n ? VK_INCOMPLETE : result;
}

static void VKAPI_CALL ask_semaphores(VkPhysicalDevice physical,
                                      const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                      VkExternalSemaphoreProperties *properties)
{
    (void)physical;
    bool ours = info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    properties->exportFromImportedHandleTypes = 0;
    properties->compatibleHandleTypes = ours ? info->handleType : 0;
    properties->externalSemaphoreFeatures = ours ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT : 0;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Removes the extension of the layer, which the driver below does not have. */
static VkDeviceCreateInfo without_own(const VkDeviceCreateInfo *info, const char **names)
{
    VkDeviceCreateInfo less = *info;
    less.enabledExtensionCount = 0;
    less.ppEnabledExtensionNames = names;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], own.extensionName) != 0)
            names[less.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
    return less;
}

/* Whether the program itself passes a struct with the feature of timeline semaphores. */
static bool names_timelines(const VkDeviceCreateInfo *info)
{
    const VkBaseInStructure *in = info->pNext;
    while (in && in->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES &&
           in->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
        in = in->pNext;
    return in;
}

/* A device may have a function only under its core name, or only under that of its extension. */
static PFN_vkVoidFunction find_below(VkDevice device, PFN_vkGetDeviceProcAddr next,
                                     const char *name, const char *khr_name)
{
    PFN_vkVoidFunction found = next(device, name);
    return found ? found : next(device, khr_name);
}

static void fill_in(struct exporter_device *place, VkDevice device, PFN_vkGetDeviceProcAddr next)
{
    place->device = device;
    place->next = next;
#define LOAD(name)                                                                                 \
    place->name = (PFN_vk##name)find_below(device, next, "vk" #name, "vk" #name "KHR");
    EXPORTER_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    place->key = key_of(device);
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *memory, VkDevice *made)
{
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)info->pNext;
    while (chain->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
           chain->function != VK_LAYER_LINK_INFO)
        chain = (VkLayerDeviceCreateInfo *)chain->pNext;
    const VkLayerDeviceLink *link = chain->u.pLayerInfo;
    chain->u.pLayerInfo = link->pNext;
    struct instance *instance = instance_of(physical);
    struct exporter_device *place = exporter_device_of(NULL);
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof(*names));
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)link->pfnNextGetInstanceProcAddr(instance->instance, "vkCreateDevice");
    if (!place || !names) {
        free(names);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkDeviceCreateInfo less = without_own(info, names);
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = (void *)info->pNext,
        .timelineSemaphore = VK_TRUE};
    if (!names_timelines(info))
        less.pNext = &timelines;
    VkResult result = create(physical, &less, memory, made);
    if (result == VK_SUCCESS)
        fill_in(place, *made, link->pfnNextGetDeviceProcAddr);
    place->exports = less.enabledExtensionCount < info->enabledExtensionCount;
    free(names);
    return result;
}

static void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *memory)
{
    struct exporter_device *device = handle ? exporter_device_of(handle) : NULL;
    if (!device)
        return;
    device->DestroyDevice(handle, memory);
    device->key = NULL;
}

/* ---- The functions --------------------------------------------------------------------------- */

static PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name);
static PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char *name);

struct function {
    const char *name;
    PFN_vkVoidFunction function;
};

#define FUNCTION(name, function) {name, (PFN_vkVoidFunction)(function)},

/* clang-format off */
static const struct function of_instances[] = {
    FUNCTION("vkCreateDevice", create_device)
    FUNCTION("vkCreateInstance", create_instance)
    FUNCTION("vkDestroyInstance", destroy_instance)
    FUNCTION("vkEnumerateDeviceExtensionProperties", list_extensions)
    FUNCTION("vkGetInstanceProcAddr", instance_function)
    FUNCTION("vkGetPhysicalDeviceExternalSemaphoreProperties", ask_semaphores)
    FUNCTION("vkGetPhysicalDeviceExternalSemaphorePropertiesKHR", ask_semaphores)
};

static const struct function of_devices[] = {
    FUNCTION("vkCreateSemaphore", exporter_create)
    FUNCTION("vkDestroyDevice", destroy_device)
    FUNCTION("vkDestroySemaphore", exporter_destroy)
    FUNCTION("vkGetDeviceProcAddr", device_function)
    FUNCTION("vkGetSemaphoreCounterValue", exporter_counter)
    FUNCTION("vkGetSemaphoreCounterValueKHR", exporter_counter)
    FUNCTION("vkGetSemaphoreFdKHR", exporter_get_fd)
    FUNCTION("vkQueueSubmit", exporter_submit)
    FUNCTION("vkQueueSubmit2", exporter_submit2)
    FUNCTION("vkQueueSubmit2KHR", exporter_submit2)
};
/* clang-format on */

#define FIND(list, wanted)                                                                         \
    for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]); i++)                                  \
        if (strcmp((list)[i].name, wanted) == 0)                                                   \
    return (list)[i].function

/* Returns NULL for a function that the device below lacks, unless the layer adds that function. */
static PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice handle, const char *name)
{
    const struct exporter_device *device = exporter_device_of(handle);
    PFN_vkVoidFunction below = device->next(handle, name);
    if (below || (device->exports && strcmp(name, "vkGetSemaphoreFdKHR") == 0))
        FIND(of_devices, name);
    return below;
}

static PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char *name)
{
    FIND(of_instances, name);
    if (!instance)
        return NULL;
    FIND(of_devices, name);
    return instance_of(instance)->next(instance, name);
}

__attribute__((visibility("default"))) VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = instance_function;
    version->pfnGetDeviceProcAddr = device_function;
    version->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
