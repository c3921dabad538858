/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan without a window: an instance, and a device on the GPU that a CUDA device is. */
#include "vk/headless.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/loader.h"
#include "lib/log.h"
#include "vk/device.h"

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

/* ---- The loader ------------------------------------------------------------------------------ */

#if defined(_WIN32)
#define LOADER  "vulkan-1.dll"
#define INSTALL "It comes with the graphics driver."
#else
#define LOADER  "libvulkan.so.1"
#define INSTALL "Install it (on Debian libvulkan1)."
#endif

/*
 * Opened once and never closed: drivers leave threads behind, and functions that are called when a
 * thread ends.
 */
static void *open_once(char *why, size_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *file;
    pthread_mutex_lock(&lock);
    if (!file)
        file = gr_loader_open(LOADER, why, size);
    void *opened = file;
    pthread_mutex_unlock(&lock);
    return opened;
}

static gr_status open_loader(struct gr_vk_headless *h, const char *call)
{
    char why[256] = "it is not Vulkan's";
    void *file = open_once(why, sizeof(why));
    void *symbol = file ? gr_loader_symbol(file, "vkGetInstanceProcAddr") : NULL;
    memcpy(&h->handles.get_instance_proc_addr, &symbol, sizeof(symbol));
    if (symbol)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "Vulkan's loader " LOADER " could not be loaded: %s. " INSTALL, why);
}

/* ---- The instance ---------------------------------------------------------------------------- */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    (void)severity, (void)types;
    const struct gr_vk_headless *h = user;
    if (h->options.message)
        h->options.message(h->options.user, data->pMessage);
    else
        gr_log(GR_LOG_WARNING, "%s", data->pMessage);
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(struct gr_vk_headless *h)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = h};
}

static gr_status check_layer(const struct gr_vk_headless *h, const char *call)
{
    uint32_t count = 0;
    VkResult result = h->vk.vkEnumerateInstanceLayerProperties(&count, NULL);
    VkLayerProperties *layers = calloc(count ? count : 1, sizeof(*layers));
    if (!layers)
        return gr_fail_memory(call);
    if (result == VK_SUCCESS)
        result = h->vk.vkEnumerateInstanceLayerProperties(&count, layers);
    bool found = false;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        found = found || strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    free(layers);
    if (found)
        return GR_OK;
    return gr_fail(
        GR_ERR_UNSUPPORTED, call,
        "Vulkan has no layer " VALIDATION_LAYER
        ". Install it (on Debian vulkan-validationlayers), or let VK_LAYER_PATH name its "
        "folder; or do without validation.");
}

static const char *driver_hint(void)
{
    return gr_cuda_is_software()
               ? "Install Mesa's lavapipe (on Debian mesa-vulkan-drivers); VK_DRIVER_FILES, or "
                 "VK_ICD_FILENAMES, may hide it."
               : "Is NVIDIA's Vulkan there (nvidia_icd.json and its libGLX_nvidia.so.0; in a "
                 "container NVIDIA_DRIVER_CAPABILITIES must contain graphics)? VK_DRIVER_FILES, or "
                 "VK_ICD_FILENAMES, may hide it.";
}

/* What every instance has; NULL as the instance for what is there before one. */
static void load_functions(struct gr_vk_headless *h, bool before)
{
    PFN_vkGetInstanceProcAddr get = h->handles.get_instance_proc_addr;
    VkInstance instance = before ? NULL : h->handles.instance;
#define LOAD(name) h->vk.name = (PFN_##name)get(instance, #name);
    if (before) {
        GR_VK_HEADLESS_GLOBAL(LOAD)
    } else {
        GR_VK_HEADLESS_INSTANCE(LOAD)
    }
#undef LOAD
}

static gr_status create_instance(struct gr_vk_headless *h, const char *call)
{
    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t validation = h->options.validation;
    uint32_t version = VK_API_VERSION_1_0;
    load_functions(h, true);
    if (h->vk.vkEnumerateInstanceVersion) /* Vulkan 1.0 has none */
        h->vk.vkEnumerateInstanceVersion(&version);
    if (version < VK_API_VERSION_1_1)
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "Vulkan's loader is of version 1.0; 1.1 is needed. Install a newer one.");
    if (validation) {
        gr_status status = check_layer(h, call);
        if (status != GR_OK)
            return status;
    }
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "grinterop",
        .apiVersion = version < VK_API_VERSION_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_2};
    /* For messages about the creation and the end of the instance itself. */
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(h);
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validation ? &messenger : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validation,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validation,
                                 .ppEnabledExtensionNames = extensions};
    VkResult result = h->vk.vkCreateInstance(&info, NULL, &h->handles.instance);
    if (result != VK_SUCCESS) {
        h->handles.instance = VK_NULL_HANDLE;
        return vk_fail(
            result, "vkCreateInstance", "An instance could not be made%s. %s",
            result == VK_ERROR_INCOMPATIBLE_DRIVER ? ": the loader found no driver that works" : "",
            driver_hint());
    }
    load_functions(h, false);
    return GR_OK;
}

static gr_status create_messenger(struct gr_vk_headless *h)
{
    if (!h->options.validation)
        return GR_OK;
    VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(h);
    VkResult result =
        h->vk.vkCreateDebugUtilsMessengerEXT(h->handles.instance, &info, NULL, &h->messenger);
    if (result == VK_SUCCESS)
        return GR_OK;
    return vk_fail(result, "vkCreateDebugUtilsMessengerEXT",
                   "The validation layer's messages could not be asked for.");
}

/* ---- The physical device --------------------------------------------------------------------- */

static gr_status fail_no_device(const struct gr_vk_headless *h, const char *found, const char *call)
{
    CUdevice device;
    char wanted[200] = "?";
    if (gr_driver()->cuDeviceGet(&device, h->options.cuda_device) == CUDA_SUCCESS)
        gr_device_text(device, wanted, sizeof(wanted));
    return gr_fail(GR_ERR_UNSUPPORTED, call, "No Vulkan device is %.160s. Vulkan has: %.270s. %s",
                   wanted, found, driver_hint());
}

static gr_status pick(struct gr_vk_headless *h, const VkPhysicalDevice devices[], uint32_t count,
                      const char *call)
{
    char found[400] = "no device", one[160];
    size_t used = 0;
    CUdevice wanted;
    CUresult result = gr_driver()->cuDeviceGet(&wanted, h->options.cuda_device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGet", "%s could not get CUDA device %d.", call,
                            h->options.cuda_device);
    for (uint32_t i = 0; i < count; i++) {
        vk_identify(h->vk.vkGetPhysicalDeviceProperties2, devices[i], &h->identity);
        if (vk_is_cuda_device(&h->identity, wanted)) {
            h->handles.physical_device = devices[i];
            return GR_OK;
        }
        vk_identity_text(&h->identity, one, sizeof(one));
        if (used < sizeof(found))
            used +=
                (size_t)snprintf(found + used, sizeof(found) - used, "%s%s", used ? ", " : "", one);
    }
    return fail_no_device(h, found, call);
}

static gr_status choose_device(struct gr_vk_headless *h, const char *call)
{
    uint32_t count = 0;
    VkResult result = h->vk.vkEnumeratePhysicalDevices(h->handles.instance, &count, NULL);
    VkPhysicalDevice *devices = calloc(count ? count : 1, sizeof(*devices));
    if (!devices)
        return gr_fail_memory(call);
    if (result == VK_SUCCESS && count)
        result = h->vk.vkEnumeratePhysicalDevices(h->handles.instance, &count, devices);
    gr_status status = result == VK_SUCCESS
                           ? pick(h, devices, count, call)
                           : vk_fail(result, "vkEnumeratePhysicalDevices",
                                     "The Vulkan devices could not be listed. %s", driver_hint());
    free(devices);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static gr_status check_options(const gr_vk_headless_options *options, const char *call)
{
    int count = 0;
    CUresult result = gr_driver()->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGetCount", "%s could not count the CUDA devices.",
                            call);
    if (options->cuda_device >= 0 && options->cuda_device < count)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "There is no CUDA device %d: CUDA sees %d (CUDA_VISIBLE_DEVICES may hide some).",
                   options->cuda_device, count);
}

static gr_status open_all(struct gr_vk_headless *h, const char *call)
{
    gr_status status = check_options(&h->options, call);
    if (status == GR_OK)
        status = open_loader(h, call);
    if (status == GR_OK)
        status = create_instance(h, call);
    if (status == GR_OK)
        status = create_messenger(h);
    if (status == GR_OK)
        status = choose_device(h, call);
    if (status == GR_OK)
        status = vk_headless_create_device(h, call);
    return status;
}

gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options)
{
    if (!gr_cuda())
        return NULL;
    gr_vk_headless *h = calloc(1, sizeof(*h));
    if (!h) {
        gr_fail_memory(__func__);
        return NULL;
    }
    if (options)
        h->options = *options;
    if (open_all(h, __func__) != GR_OK) {
        gr_vk_headless_free(h);
        return NULL;
    }
    gr_log(GR_LOG_INFO, "Vulkan without a window on %s, for CUDA device %d%s", h->identity.name,
           h->options.cuda_device, h->options.validation ? ", validated" : "");
    return h;
}

const gr_vk_headless_handles *gr_vk_headless_get(const gr_vk_headless *headless)
{
    return headless ? &headless->handles : NULL;
}

void gr_vk_headless_free(gr_vk_headless *headless)
{
    if (!headless)
        return;
    if (headless->handles.device)
        headless->vk.vkDestroyDevice(headless->handles.device, NULL);
    if (headless->messenger)
        headless->vk.vkDestroyDebugUtilsMessengerEXT(headless->handles.instance,
                                                     headless->messenger, NULL);
    if (headless->handles.instance)
        headless->vk.vkDestroyInstance(headless->handles.instance, NULL);
    free(headless);
}

void gr_vk_headless_at_scope_end(gr_vk_headless **headless)
{
    gr_vk_headless_free(*headless);
    *headless = NULL;
}
