/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the VkPhysicalDevice of a CUDA device; see physical_device.h. */
#include "vk/device/physical_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/cuda/context.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "vk/device/error.h"
#include "vk/device/loader.h"

static gr_status fail_no_device(CUdevice cuda, const char *found, bool has_lavapipe,
                                const char *call)
{
    char wanted[200];
    gr_device_text(cuda, wanted, sizeof(wanted));
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "No Vulkan device matches %.160s. Vulkan devices found: %.270s. %s", wanted,
                   found,
                   has_lavapipe ? "lavapipe draws for the software driver's first device, which "
                                  "CUDA_VISIBLE_DEVICES may hide."
                                : vk_driver_hint());
}

static gr_status pick(const struct vk_functions *vk, const VkPhysicalDevice devices[],
                      uint32_t count, CUdevice cuda, VkPhysicalDevice *device,
                      struct vk_identity *identity, const char *call)
{
    char found[400] = "no device", one[160];
    size_t used = 0;
    bool has_lavapipe = false;
    for (uint32_t i = 0; i < count; i++) {
        vk_identify(vk->vkGetPhysicalDeviceProperties2, devices[i], identity);
        bool same;
        GR_TRY(vk_compare_cuda_device(identity, cuda, &same, call));
        if (same) {
            *device = devices[i];
            return GR_OK;
        }
        has_lavapipe = has_lavapipe || vk_is_software_device(identity);
        vk_identity_text(identity, one, sizeof(one));
        if (used < sizeof(found))
            used +=
                (size_t)snprintf(found + used, sizeof(found) - used, "%s%s", used ? ", " : "", one);
    }
    return fail_no_device(cuda, found, has_lavapipe, call);
}

gr_status vk_physical_device_find(const struct vk_functions *vk, VkInstance instance,
                                  int cuda_device, VkPhysicalDevice *device,
                                  struct vk_identity *identity, const char *call)
{
    CUdevice cuda;
    GR_TRY(gr_device_get(cuda_device, &cuda, call));
    uint32_t count = 0;
    VkResult result = vk->vkEnumeratePhysicalDevices(instance, &count, NULL);
    VkPhysicalDevice *devices = calloc(count ? count : 1, sizeof(*devices));
    if (!devices)
        return gr_fail_memory(call);
    if (result == VK_SUCCESS && count)
        result = vk->vkEnumeratePhysicalDevices(instance, &count, devices);
    gr_status status = result == VK_SUCCESS ? pick(vk, devices, count, cuda, device, identity, call)
                                            : vk_fail(result, "vkEnumeratePhysicalDevices",
                                                      "The Vulkan devices could not be listed. %s",
                                                      vk_driver_hint());
    free(devices);
    return status;
}

/* ---- For the application --------------------------------------------------------------------- */

static gr_status check_functions(const struct vk_functions *vk, const char *call)
{
    if (!vk->vkEnumeratePhysicalDevices)
        return gr_fail(GR_ERR_VULKAN, "vkGetInstanceProcAddr",
                       "%s found no vkEnumeratePhysicalDevices, which every Vulkan has: do "
                       "get_instance_proc_addr and the instance belong to the same Vulkan?",
                       call);
    if (!vk->vkGetPhysicalDeviceProperties2)
        return gr_fail(
            GR_ERR_UNSUPPORTED, call,
            "The instance has no vkGetPhysicalDeviceProperties2, which identifies devices: create "
            "it for Vulkan 1.1 or newer, or with VK_KHR_get_physical_device_properties2.");
    return GR_OK;
}

gr_status gr_vk_physical_device(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                VkInstance instance, int cuda_device,
                                VkPhysicalDevice *physical_device)
{
    const char *missing = !get_instance_proc_addr ? "get_instance_proc_addr"
                          : !instance             ? "instance"
                          : !physical_device      ? "physical_device"
                                                  : NULL;
    if (missing)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "`%s` is NULL.", missing);
    struct vk_functions vk = {0};
    struct vk_identity identity;
    if (!gr_driver_load())
        return gr_last_error()->status;
    vk_load(&vk, get_instance_proc_addr, instance, VK_NULL_HANDLE);
    GR_TRY(check_functions(&vk, __func__));
    return vk_physical_device_find(&vk, instance, cuda_device, physical_device, &identity,
                                   __func__);
}
