/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The operations of all Vulkan semaphores, imported into CUDA or through the host. */
#include "vk/sync/sync.h"

#include <stdio.h>

void vk_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size)
{
    const struct vk_semaphore *s = (const struct vk_semaphore *)semaphore;
    snprintf(text, size, "Vulkan %s semaphore 0x%llx %s",
             semaphore->timeline ? "timeline" : "binary", GR_VK_NUMBER(s->semaphore),
             semaphore->handle ? "by " GR_VK_HANDLE_NAME : "through the host");
}

bool vk_semaphore_value(const gr_semaphore *semaphore, uint64_t *now)
{
    const struct vk_semaphore *s = (const struct vk_semaphore *)semaphore;
    return semaphore->timeline && s->device->vk.vkGetSemaphoreCounterValue(
                                      s->device->device, s->semaphore, now) == VK_SUCCESS;
}

void vk_semaphore_free(gr_semaphore *semaphore)
{
    gr_vk_device *device = ((const struct vk_semaphore *)semaphore)->device;
    vk_device_hold(device);
    gr_semaphore_drop(semaphore);
    vk_device_end_use(device, false);
    vk_device_drop(device);
}

VkResult vk_semaphore_raise(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                            uint64_t value, uint64_t *now)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = value,
    };
    *now = UINT64_MAX;
    VkResult result = vk->vkGetSemaphoreCounterValue(device, semaphore, now);
    return result == VK_SUCCESS && *now < value ? vk->vkSignalSemaphore(device, &info) : result;
}
