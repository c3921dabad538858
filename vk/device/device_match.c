/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Matches Vulkan devices with CUDA devices by the properties that they report, never by index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/context.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "vk/device/device.h"

/*
 * Whether `identity` is the Vulkan device that shares memory with the first device of the software
 * CUDA driver.
 */
static bool is_software_device(const struct vk_identity *identity)
{
    return gr_driver_traits()->mesa_draws && identity->type == VK_PHYSICAL_DEVICE_TYPE_CPU &&
           (identity->driver == VK_DRIVER_ID_MESA_LLVMPIPE || identity->driver == 0);
}

/*
 * Whether both are on the same Windows adapter. A second Vulkan driver of the adapter may have a
 * UUID of its own, so this decides only if no device has the same UUID.
 */
static bool has_same_luid(const struct vk_identity *identity, CUdevice device)
{
    char luid[VK_LUID_SIZE];
    unsigned nodes;
    return identity->has_luid && gr_driver()->DeviceGetLuid(luid, &nodes, device) == CUDA_SUCCESS &&
           memcmp(luid, identity->luid, sizeof(luid)) == 0;
}

/* Sets *same to whether a Vulkan device and a CUDA device have the same UUID. */
static gr_status compare(const struct vk_identity *identity, CUdevice device, bool *same)
{
    CUuuid uuid;
    GR_TRY(gr_device_uuid(device, &uuid));
    const struct gr_driver_traits *driver = gr_driver_traits();
    *same = gr_uuid_is(&uuid, identity->uuid);
    if (driver->mesa_draws)
        *same = is_software_device(identity) && (*same || gr_uuid_is(&uuid, driver->own_uuid));
    return GR_OK;
}

/* ---- The CUDA device of a Vulkan device ------------------------------------------------------ */

static gr_status fail_no_match(const struct vk_identity *identity, int count)
{
    char vulkan[160], cuda[360];
    vk_identity_text(identity, vulkan, sizeof(vulkan));
    gr_device_texts(count, cuda, sizeof(cuda));
    const char *advice =
        is_software_device(identity)
            ? "The Vulkan device shares memory with the first device of the software CUDA driver, "
              "which CUDA_VISIBLE_DEVICES hides: add that one to the variable."
        : gr_driver_traits()->mesa_draws
            ? "The software CUDA driver shares memory with Mesa's lavapipe only: choose that "
              "device, of the type VK_PHYSICAL_DEVICE_TYPE_CPU."
            : "Choose the VkPhysicalDevice of the same UUID (VkPhysicalDeviceIDProperties); "
              "CUDA_VISIBLE_DEVICES may hide CUDA devices.";
    return gr_fail(GR_ERR_UNSUPPORTED, "The Vulkan device %s is not among the CUDA devices: %s. %s",
                   vulkan, cuda, advice);
}

gr_status vk_find_cuda_device(const struct vk_identity *identity, bool required, CUdevice *device,
                              int *ordinal)
{
    int count = 0, same_adapter = -1;
    *ordinal = -1;
    GR_TRY(gr_device_count(&count));
    for (int i = 0; i < count; i++) {
        GR_TRY(gr_device_at(i, device));
        bool same;
        GR_TRY(compare(identity, *device, &same));
        if (same) {
            *ordinal = i;
            return GR_OK;
        }
        if (same_adapter < 0 && has_same_luid(identity, *device))
            same_adapter = i;
    }
    *ordinal = same_adapter;
    if (same_adapter >= 0)
        return gr_device_at(same_adapter, device);
    return required ? fail_no_match(identity, count) : GR_OK;
}

/* ---- The Vulkan device of a CUDA device ------------------------------------------------------ */

const char *vk_driver_hint(void)
{
    return gr_driver_traits()->mesa_draws
               ? "Install Mesa's lavapipe (on Debian mesa-vulkan-drivers); VK_DRIVER_FILES, or "
                 "VK_ICD_FILENAMES, may hide it."
               : GR_VK_DRIVER_ADVICE " VK_DRIVER_FILES, or VK_ICD_FILENAMES, may hide it.";
}

static gr_status pick(const struct vk_functions *vk, const VkPhysicalDevice devices[],
                      uint32_t count, CUdevice cuda, VkPhysicalDevice *device,
                      struct vk_identity *identity)
{
    char found[400] = "no device", one[160], wanted[200];
    size_t used = 0;
    bool has_lavapipe = false;
    VkPhysicalDevice same_adapter = NULL;
    for (uint32_t i = 0; i < count; i++) {
        vk_identify(vk->vkGetPhysicalDeviceProperties2, devices[i], identity);
        bool same;
        GR_TRY(compare(identity, cuda, &same));
        if (same) {
            *device = devices[i];
            return GR_OK;
        }
        if (!same_adapter && has_same_luid(identity, cuda))
            same_adapter = devices[i];
        has_lavapipe = has_lavapipe || is_software_device(identity);
        vk_identity_text(identity, one, sizeof(one));
        if (used < sizeof(found))
            used +=
                (size_t)snprintf(found + used, sizeof(found) - used, "%s%s", used ? ", " : "", one);
    }
    if (!same_adapter) {
        gr_device_text(cuda, wanted, sizeof(wanted));
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "No Vulkan device matches %.160s. Vulkan devices found: %.270s. %s", wanted,
                       found,
                       has_lavapipe ? "lavapipe draws for the software driver's first device, "
                                      "which CUDA_VISIBLE_DEVICES may hide."
                                    : vk_driver_hint());
    }
    *device = same_adapter;
    vk_identify(vk->vkGetPhysicalDeviceProperties2, same_adapter, identity);
    return GR_OK;
}

gr_status vk_physical_device_find(const struct vk_functions *vk, VkInstance instance,
                                  int cuda_device, VkPhysicalDevice *device,
                                  struct vk_identity *identity)
{
    CUdevice cuda;
    GR_TRY(gr_device_get(cuda_device, &cuda));
    uint32_t count = 0;
    VkResult result = vk->vkEnumeratePhysicalDevices(instance, &count, NULL);
    VkPhysicalDevice *devices = calloc(count ? count : 1, sizeof(*devices));
    if (!devices)
        return gr_fail_memory();
    if (result == VK_SUCCESS && count)
        result = vk->vkEnumeratePhysicalDevices(instance, &count, devices);
    gr_status status = result == VK_SUCCESS ? pick(vk, devices, count, cuda, device, identity)
                                            : vk_fail(result, "vkEnumeratePhysicalDevices",
                                                      "The Vulkan devices could not be listed. %s",
                                                      vk_driver_hint());
    free(devices);
    return status;
}

/* ---- For the application --------------------------------------------------------------------- */

gr_status gr_vk_physical_device(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                VkInstance instance, int cuda_device,
                                VkPhysicalDevice *physical_device)
{
    GR_CALL();
    const char *missing = !get_instance_proc_addr ? "get_instance_proc_addr"
                          : !instance             ? "instance"
                          : !physical_device      ? "physical_device"
                                                  : NULL;
    GR_REFUSE_IF(missing, "`%s` is NULL.", missing);
    struct vk_functions vk = {0};
    struct vk_identity identity;
    if (!gr_driver_load())
        return gr_last_error()->status;
    vk_load(&vk, get_instance_proc_addr, instance, VK_NULL_HANDLE);
    if (!vk.vkEnumeratePhysicalDevices)
        return gr_fail_code(GR_ERR_VULKAN, GR_DOMAIN_NONE, 0, NULL, "vkGetInstanceProcAddr",
                            "%s found no vkEnumeratePhysicalDevices, which every Vulkan has: do "
                            "get_instance_proc_addr and the instance belong to the same Vulkan?",
                            __func__);
    if (!vk.vkGetPhysicalDeviceProperties2)
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "The instance has no vkGetPhysicalDeviceProperties2, which identifies devices: create "
            "it for Vulkan 1.1 or newer, or with VK_KHR_get_physical_device_properties2.");
    return vk_physical_device_find(&vk, instance, cuda_device, physical_device, &identity);
}
