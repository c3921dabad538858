/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan without a window: an instance, and a device on the GPU of a CUDA device. */
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "vk/device/device.h"

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

struct gr_vk_headless {
    gr_vk_headless_options options; /* messages use them as long as the instance lives */
    struct vk_functions vk;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t version; /* the newest Vulkan version that devices of the instance may use */
    struct vk_identity identity;
    gr_vk_headless_info handles;
    unsigned holds; /* the number of references: one by the caller, and one per wrap */
    struct gr_vk_headless *next;
};

/* ---- Instance -------------------------------------------------------------------------------- */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    (void)severity, (void)types;
    const gr_vk_headless_options *options = user;
    if (options->message)
        options->message(options->user, data->pMessage);
    else
        gr_log(GR_LOG_WARNING, "%s", data->pMessage);
    return VK_FALSE;
}

static gr_status check_layer(const struct vk_functions *vk)
{
    uint32_t count = 0;
    VkResult result = vk->vkEnumerateInstanceLayerProperties(&count, NULL);
    VkLayerProperties *layers = calloc(count ? count : 1, sizeof(*layers));
    if (!layers)
        return gr_fail_memory();
    if (result == VK_SUCCESS)
        result = vk->vkEnumerateInstanceLayerProperties(&count, layers);
    bool found = false;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        found = found || strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    free(layers);
    if (found)
        return GR_OK;
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkEnumerateInstanceLayerProperties",
                       "%s: the Vulkan loader did not list its layers.", gr_call);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "Vulkan has no layer " VALIDATION_LAYER
                   ". Install it (on Debian vulkan-validationlayers), or set VK_LAYER_PATH to its "
                   "folder, or do without validation.");
}

static gr_status choose_version(struct gr_vk_headless *h)
{
    uint32_t of_loader = VK_API_VERSION_1_0;
    VkResult result = VK_SUCCESS;
    if (h->vk.vkEnumerateInstanceVersion) /* Vulkan 1.0 does not have this function */
        result = h->vk.vkEnumerateInstanceVersion(&of_loader);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkEnumerateInstanceVersion",
                       "%s: the Vulkan loader did not report its version.", gr_call);
    if (of_loader < VK_API_VERSION_1_1)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The Vulkan loader has version 1.0; 1.1 is required. Install a newer one.");
    /* 1.3 at most: it has the functions that the Vulkan 1.3 headers name without KHR */
    h->version = of_loader < VK_API_VERSION_1_3 ? of_loader : VK_API_VERSION_1_3;
    return GR_OK;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(struct gr_vk_headless *h)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = &h->options};
}

static gr_status make_instance(struct gr_vk_headless *h)
{
    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t validation = h->options.validation;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pEngineName = "grinterop",
                                     .apiVersion = h->version};
    /* This messenger receives messages about creating and destroying the instance itself. */
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(h);
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validation ? &messenger : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validation,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validation,
                                 .ppEnabledExtensionNames = extensions};
    VkResult result = h->vk.vkCreateInstance(&info, NULL, &h->handles.instance);
    if (result == VK_SUCCESS)
        return GR_OK;
    h->handles.instance = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateInstance", "An instance could not be created%s. %s",
                   result == VK_ERROR_INCOMPATIBLE_DRIVER ? ": the loader found no working driver"
                                                          : "",
                   vk_driver_hint());
}

static gr_status open_instance(struct gr_vk_headless *h)
{
    PFN_vkGetInstanceProcAddr *get = &h->handles.get_instance_proc_addr;
    GR_TRY(vk_open_loader(get));
    vk_load_global(&h->vk, *get);
    GR_TRY(choose_version(h));
    if (h->options.validation)
        GR_TRY(check_layer(&h->vk));
    GR_TRY(make_instance(h));
    vk_load(&h->vk, *get, h->handles.instance, VK_NULL_HANDLE);
    if (!h->options.validation)
        return GR_OK;
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(h);
    VkResult result =
        h->vk.vkCreateDebugUtilsMessengerEXT(h->handles.instance, &info, NULL, &h->messenger);
    if (result == VK_SUCCESS)
        return GR_OK;
    h->messenger = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateDebugUtilsMessengerEXT",
                   "Messages of the validation layer could not be enabled.");
}

/* ---- Device ---------------------------------------------------------------------------------- */

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

static gr_status choose_families(struct gr_vk_headless *h)
{
    /* The queue families of video engines also support transfers, but not all kinds of them. */
    const VkQueueFlags copying_only =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    VkPhysicalDevice device = h->handles.physical_device;
    uint32_t count = 0;
    h->vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count ? count : 1, sizeof(*families));
    if (!families)
        return gr_fail_memory();
    h->vk.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    h->handles.graphics_family = find_family(families, count, VK_QUEUE_GRAPHICS_BIT, 0);
    h->handles.compute_family =
        find_family(families, count, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT);
    h->handles.transfer_family = find_family(families, count, VK_QUEUE_TRANSFER_BIT, ~copying_only);
    free(families);
    return GR_OK;
}

static void get_queue(const struct gr_vk_headless *h, uint32_t family, VkQueue *queue)
{
    if (family != VK_QUEUE_FAMILY_IGNORED)
        h->vk.vkGetDeviceQueue(h->handles.device, family, 0, queue);
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
static void choose_features(const struct gr_vk_headless *h, bool knows_timeline,
                            bool knows_synchronization2, struct features *f)
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
    h->vk.vkGetPhysicalDeviceFeatures2(h->handles.physical_device, &f->all);
    f->all.features = (VkPhysicalDeviceFeatures){
        .shaderStorageImageReadWithoutFormat = f->all.features.shaderStorageImageReadWithoutFormat,
        .shaderStorageImageWriteWithoutFormat =
            f->all.features.shaderStorageImageWriteWithoutFormat,
    };
}

/* Creates the device with the extensions that grinterop uses, and synchronization2. */
static gr_status make_device(struct gr_vk_headless *h, const struct vk_extensions *has)
{
    const char *names[VK_EXTENSIONS_MOST];
    struct features features;
    static const float priority = 1;
    const uint32_t families[] = {h->handles.graphics_family, h->handles.compute_family,
                                 h->handles.transfer_family};
    VkDeviceQueueCreateInfo queues[3];
    uint32_t queue_count = 0;
    for (size_t i = 0; i < 3; i++)
        if (families[i] != VK_QUEUE_FAMILY_IGNORED)
            queues[queue_count++] =
                (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = families[i],
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    const uint32_t version =
        h->version < h->identity.api_version ? h->version : h->identity.api_version;
    const bool has_synchronization2 =
        vk_extensions_have(has, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
    uint32_t name_count = vk_extensions_used(has, names);
    if (has_synchronization2)
        names[name_count++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    choose_features(h,
                    version >= VK_API_VERSION_1_2 ||
                        vk_extensions_have(has, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME),
                    version >= VK_API_VERSION_1_3 || has_synchronization2, &features);
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features.all,
                               .queueCreateInfoCount = queue_count,
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = name_count,
                               .ppEnabledExtensionNames = names};
    VkResult result =
        h->vk.vkCreateDevice(h->handles.physical_device, &info, NULL, &h->handles.device);
    if (result == VK_SUCCESS) {
        h->handles.synchronization2 = features.synchronization2.synchronization2;
        return GR_OK;
    }
    h->handles.device = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateDevice", "A device of %s could not be created.",
                   h->identity.name);
}

static gr_status open_device(struct gr_vk_headless *h)
{
    struct vk_extensions has;
    GR_TRY(vk_physical_device_find(&h->vk, h->handles.instance, h->options.cuda_device,
                                   &h->handles.physical_device, &h->identity));
    GR_TRY(choose_families(h));
    GR_TRY(vk_extensions_get(&h->vk, h->handles.physical_device, &has));
    gr_status status = make_device(h, &has);
    vk_extensions_end(&has);
    GR_TRY(status);
    get_queue(h, h->handles.graphics_family, &h->handles.graphics);
    get_queue(h, h->handles.compute_family, &h->handles.compute);
    get_queue(h, h->handles.transfer_family, &h->handles.transfer);
    return GR_OK;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

/*
 * All existing objects, so that a wrap can find the owner of its device. The lock also protects
 * their reference counts.
 */
static struct gr_lock lock = GR_LOCK(HEADLESS);
static struct gr_vk_headless *all;

/* Frees the struct, which may be incomplete, and destroys its objects. */
static void free_all(struct gr_vk_headless *h)
{
    if (h->handles.device)
        h->vk.vkDestroyDevice(h->handles.device, NULL);
    if (h->messenger)
        h->vk.vkDestroyDebugUtilsMessengerEXT(h->handles.instance, h->messenger, NULL);
    if (h->handles.instance)
        h->vk.vkDestroyInstance(h->handles.instance, NULL);
    gr_live_free_memory(GR_LIVE_VK_HEADLESS, h);
}

static void list(struct gr_vk_headless *h)
{
    GR_LOCKED(&lock);
    h->holds = 1;
    h->next = all;
    all = h;
}

gr_vk_headless *vk_headless_hold(VkDevice device)
{
    GR_LOCKED(&lock);
    struct gr_vk_headless *h = all;
    while (h && h->handles.device != device)
        h = h->next;
    if (h)
        h->holds++;
    return h;
}

void vk_headless_drop(gr_vk_headless *headless)
{
    if (!headless)
        return;
    gr_lock(&lock);
    bool last = --headless->holds == 0;
    for (struct gr_vk_headless **link = &all; last && *link; link = &(*link)->next)
        if (*link == headless) {
            *link = headless->next;
            break;
        }
    gr_unlock(&lock);
    if (last)
        free_all(headless);
}

/* ---- Creation -------------------------------------------------------------------------------- */

gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options)
{
    GR_CALL();
    if (!gr_driver_load())
        return NULL;
    gr_vk_headless *h = gr_check_memory(calloc(1, sizeof(*h)));
    if (!h)
        return NULL;
    CUdevice cuda;
    if (GR_TAKE(gr_vk_headless_options, &h->options, options) != GR_OK ||
        gr_device_get(h->options.cuda_device, &cuda) != GR_OK || open_instance(h) != GR_OK ||
        open_device(h) != GR_OK) {
        free_all(h);
        return NULL;
    }
    list(h);
    gr_live_add(GR_LIVE_VK_HEADLESS, h);
    gr_log(GR_LOG_INFO, "Vulkan without a window on %s, for CUDA device %d%s", h->identity.name,
           h->options.cuda_device, h->options.validation ? ", validated" : "");
    return h;
}

static gr_status check(const gr_vk_headless *headless)
{
    GR_REFUSE_IF(!headless, "The device is NULL: did gr_vk_headless_create() fail?");
    return gr_live_check(GR_LIVE_VK_HEADLESS, headless);
}

const gr_vk_headless_info *gr_vk_headless_get_info(const gr_vk_headless *headless)
{
    GR_CALL();
    return check(headless) == GR_OK ? &headless->handles : NULL;
}

gr_vk_device *gr_vk_device_from_headless(const gr_vk_headless *headless, unsigned transports)
{
    GR_CALL();
    if (check(headless) != GR_OK)
        return NULL;
    const gr_vk_headless_info *h = &headless->handles;
    gr_vk_device *device = gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance, h->physical_device,
                 h->device, h->graphics, h->graphics_family, h->synchronization2, transports));
    return device ? device : gr_null(gr_error_set_call());
}

void gr_vk_headless_free(gr_vk_headless *headless)
{
    GR_CALL();
    if (headless && gr_live_end(GR_LIVE_VK_HEADLESS, headless))
        vk_headless_drop(headless);
}
