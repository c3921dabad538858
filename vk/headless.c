/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan without a window: an instance, and a device on the GPU that a CUDA device is. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"
#include "vk/device_match.h"
#include "vk/error.h"
#include "vk/headless_device.h"
#include "vk/headless_instance.h"
#include "vk/loader.h"

struct gr_vk_headless {
    gr_vk_headless_options options;
    struct vk_headless_functions vk;
    VkDebugUtilsMessengerEXT messenger;
    struct vk_identity identity;
    gr_vk_headless_info handles;
};

/* ---- The physical device --------------------------------------------------------------------- */

static gr_status fail_no_device(const struct gr_vk_headless *h, const char *found, const char *call)
{
    CUdevice device;
    char wanted[200] = "?";
    if (gr_driver()->DeviceGet(&device, h->options.cuda_device) == CUDA_SUCCESS)
        gr_device_text(device, wanted, sizeof(wanted));
    return gr_fail(GR_ERR_UNSUPPORTED, call, "No Vulkan device is %.160s. Vulkan has: %.270s. %s",
                   wanted, found, vk_driver_hint());
}

static gr_status pick(struct gr_vk_headless *h, const VkPhysicalDevice devices[], uint32_t count,
                      const char *call)
{
    char found[400] = "no device", one[160];
    size_t used = 0;
    CUdevice wanted;
    CUresult result = gr_driver()->DeviceGet(&wanted, h->options.cuda_device);
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
    gr_status status = result == VK_SUCCESS ? pick(h, devices, count, call)
                                            : vk_fail(result, "vkEnumeratePhysicalDevices",
                                                      "The Vulkan devices could not be listed. %s",
                                                      vk_driver_hint());
    free(devices);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static gr_status check_options(const gr_vk_headless_options *options, const char *call)
{
    int count = 0;
    CUresult result = gr_driver()->DeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGetCount", "%s could not count the CUDA devices.",
                            call);
    if (options->cuda_device >= 0 && options->cuda_device < count)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "There is no CUDA device %d: CUDA sees %d (CUDA_VISIBLE_DEVICES may hide some).",
                   options->cuda_device, count);
}

static gr_status open_instance(struct gr_vk_headless *h, const char *call)
{
    gr_status status = vk_loader_open(&h->handles.get_instance_proc_addr, call);
    if (status != GR_OK)
        return status;
    status = vk_headless_create_instance(&h->options, &h->vk, &h->handles, call);
    if (status != GR_OK)
        return status;
    return vk_headless_create_messenger(&h->options, &h->vk, h->handles.instance, &h->messenger);
}

gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options)
{
    const char *call = __func__;
    if (!gr_cuda())
        return NULL;
    gr_vk_headless *h = calloc(1, sizeof(*h));
    if (!h) {
        gr_fail_memory(call);
        return NULL;
    }
    if (options)
        h->options = *options;
    if (check_options(&h->options, call) != GR_OK || open_instance(h, call) != GR_OK ||
        choose_device(h, call) != GR_OK ||
        vk_headless_create_device(&h->vk, &h->identity, &h->handles, call) != GR_OK) {
        gr_vk_headless_free(h);
        return NULL;
    }
    gr_log(GR_LOG_INFO, "Vulkan without a window on %s, for CUDA device %d%s", h->identity.name,
           h->options.cuda_device, h->options.validation ? ", validated" : "");
    return h;
}

const gr_vk_headless_info *gr_vk_headless_get(const gr_vk_headless *headless)
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
