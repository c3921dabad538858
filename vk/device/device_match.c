/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Matches Vulkan and CUDA devices; see device_match.h. */
#include "vk/device/device_match.h"

#include <stdio.h>
#include <string.h>

#include "lib/cuda/context.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

bool vk_is_software_device(const struct vk_identity *identity)
{
    return gr_driver_traits()->mesa_draws && identity->type == VK_PHYSICAL_DEVICE_TYPE_CPU &&
           (identity->driver == VK_DRIVER_ID_MESA_LLVMPIPE || identity->driver == 0);
}

gr_status vk_compare_cuda_device(const struct vk_identity *identity, CUdevice device, bool *same,
                                 const char *call)
{
    CUuuid uuid;
    GR_TRY_CUDA(gr_driver()->DeviceGetUuid(&uuid, device), "cuDeviceGetUuid",
                "%s: CUDA device %d does not report its UUID.", call, (int)device);
    const struct gr_driver_traits *driver = gr_driver_traits();
    *same = memcmp(uuid.bytes, identity->uuid, sizeof(uuid.bytes)) == 0;
    if (driver->mesa_draws)
        *same = vk_is_software_device(identity) &&
                (*same || memcmp(uuid.bytes, driver->own_uuid, sizeof(uuid.bytes)) == 0);
    return GR_OK;
}

/* Lists all CUDA devices for a message. */
static void list_cuda_devices(int count, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", count ? "" : "none");
    for (int i = 0; i < count && used < size; i++) {
        CUdevice device;
        char one[160] = "?";
        if (gr_driver()->DeviceGet(&device, i) == CUDA_SUCCESS)
            gr_device_text(device, one, sizeof(one));
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", one);
    }
}

static gr_status fail_no_match(const struct vk_identity *identity, int count, const char *call)
{
    char vulkan[160], cuda[360];
    vk_identity_text(identity, vulkan, sizeof(vulkan));
    list_cuda_devices(count, cuda, sizeof(cuda));
    const char *advice =
        vk_is_software_device(identity)
            ? "The Vulkan device shares memory with the first device of the software CUDA driver, "
              "which CUDA_VISIBLE_DEVICES hides: add that one to the variable."
        : gr_driver_traits()->mesa_draws
            ? "The software CUDA driver shares memory with Mesa's lavapipe only: choose that "
              "device, of the type VK_PHYSICAL_DEVICE_TYPE_CPU."
            : "Choose the VkPhysicalDevice of the same UUID (VkPhysicalDeviceIDProperties); "
              "CUDA_VISIBLE_DEVICES may hide CUDA devices.";
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The Vulkan device %s is not among the CUDA devices: %s. %s", vulkan, cuda,
                   advice);
}

gr_status vk_find_cuda_device(const struct vk_identity *identity, bool required, CUdevice *device,
                              int *ordinal, const char *call)
{
    int count = 0;
    *ordinal = -1;
    GR_TRY(gr_device_count(&count, call));
    for (int i = 0; i < count; i++) {
        GR_TRY(gr_device_at(i, device, call));
        bool same;
        GR_TRY(vk_compare_cuda_device(identity, *device, &same, call));
        if (same) {
            *ordinal = i;
            return GR_OK;
        }
    }
    return required ? fail_no_match(identity, count, call) : GR_OK;
}
