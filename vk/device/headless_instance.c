/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates the headless VkInstance; see headless_instance.h. */
#include "vk/device/headless_instance.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "vk/device/error.h"
#include "vk/device/loader.h"

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

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

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(gr_vk_headless_options *options)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = options};
}

static gr_status check_layer(const struct vk_headless_functions *vk, const char *call)
{
    uint32_t count = 0;
    VkResult result = vk->vkEnumerateInstanceLayerProperties(&count, NULL);
    VkLayerProperties *layers = calloc(count ? count : 1, sizeof(*layers));
    if (!layers)
        return gr_fail_memory(call);
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
                       "%s: the Vulkan loader did not list its layers.", call);
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "Vulkan has no layer " VALIDATION_LAYER
                   ". Install it (on Debian vulkan-validationlayers), or set VK_LAYER_PATH to its "
                   "folder, or do without validation.");
}

static gr_status check_version(uint32_t version, const char *call)
{
    if (version >= VK_API_VERSION_1_1)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The Vulkan loader has version 1.0; 1.1 is required. Install a newer one.");
}

static gr_status make_instance(gr_vk_headless_options *options,
                               const struct vk_headless_functions *vk, uint32_t version,
                               VkInstance *instance)
{
    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t validation = options->validation;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pEngineName = "grinterop",
                                     .apiVersion = version};
    /* This messenger receives messages about creating and destroying the instance itself. */
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(options);
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validation ? &messenger : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validation,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validation,
                                 .ppEnabledExtensionNames = extensions};
    VkResult result = vk->vkCreateInstance(&info, NULL, instance);
    if (result == VK_SUCCESS)
        return GR_OK;
    *instance = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateInstance", "An instance could not be created%s. %s",
                   result == VK_ERROR_INCOMPATIBLE_DRIVER ? ": the loader found no working driver"
                                                          : "",
                   vk_driver_hint());
}

#define LOAD(name) vk->name = (PFN_##name)handles->get_instance_proc_addr(handles->instance, #name);

gr_status vk_headless_create_instance(gr_vk_headless_options *options,
                                      struct vk_headless_functions *vk,
                                      gr_vk_headless_info *handles, uint32_t *version,
                                      const char *call)
{
    uint32_t of_loader = VK_API_VERSION_1_0;
    GR_VK_HEADLESS_GLOBAL(LOAD) /* the instance is still NULL */
    VkResult result = VK_SUCCESS;
    if (vk->vkEnumerateInstanceVersion) /* Vulkan 1.0 does not have this function */
        result = vk->vkEnumerateInstanceVersion(&of_loader);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkEnumerateInstanceVersion",
                       "%s: the Vulkan loader did not report its version.", call);
    gr_status status = check_version(of_loader, call);
    /*
     * Version 1.3 is requested at most: it has the functions that the Vulkan 1.3 headers name
     * without KHR.
     */
    *version = of_loader < VK_API_VERSION_1_3 ? of_loader : VK_API_VERSION_1_3;
    if (status == GR_OK && options->validation)
        status = check_layer(vk, call);
    if (status == GR_OK)
        status = make_instance(options, vk, *version, &handles->instance);
    if (status != GR_OK)
        return status;
    GR_VK_HEADLESS_INSTANCE(LOAD)
    return GR_OK;
}

gr_status vk_headless_create_messenger(gr_vk_headless_options *options,
                                       const struct vk_headless_functions *vk, VkInstance instance,
                                       VkDebugUtilsMessengerEXT *messenger)
{
    if (!options->validation)
        return GR_OK;
    VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(options);
    VkResult result = vk->vkCreateDebugUtilsMessengerEXT(instance, &info, NULL, messenger);
    if (result == VK_SUCCESS)
        return GR_OK;
    *messenger = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateDebugUtilsMessengerEXT",
                   "Messages of the validation layer could not be enabled.");
}
