/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The command buffers of grinterop. Each recording has its own timeline semaphore: the semaphores
 * of the resources may belong to the application, which may destroy them.
 */
#include <stdlib.h>

#include "vk/submit/submit.h"
#include "lib/base/lock.h"
#include "vk/sync/sync.h"

/* ---- Creation -------------------------------------------------------------------------------- */

static gr_status make_buffers(gr_vk_device *device, struct vk_recording *r)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = r->family,
    };
    VkCommandBuffer buffers[2];
    VkResult result = device->vk.vkCreateCommandPool(device->device, &pool, NULL, &r->pool);
    if (result != VK_SUCCESS) {
        r->pool = VK_NULL_HANDLE;
        return vk_fail(result, "vkCreateCommandPool", "A command pool of family %u was refused.",
                       r->family);
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 2,
    };
    result = device->vk.vkAllocateCommandBuffers(device->device, &info, buffers);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkAllocateCommandBuffers", "Two command buffers were refused.");
    r->first = buffers[0];
    r->last = buffers[1];
    return GR_OK;
}

static void end_recording(gr_vk_device *device, struct vk_recording *r)
{
    device->vk.vkDestroySemaphore(device->device, r->done, NULL);
    device->vk.vkDestroyCommandPool(device->device, r->pool, NULL);
    free(r);
}

static struct vk_recording *new_recording(gr_vk_device *device, uint32_t family)
{
    struct vk_recording *r = gr_check_memory(calloc(1, sizeof(*r)));
    if (!r)
        return NULL;
    r->family = family;
    if (vk_semaphore_new(device, VK_SEMAPHORE_TYPE_TIMELINE, false, &r->done) == GR_OK &&
        make_buffers(device, r) == GR_OK)
        return r;
    end_recording(device, r);
    return NULL;
}

/* ---- Use ------------------------------------------------------------------------------------- */

/*
 * Waits for the last submit of each recording, then frees the recording. Even if the application
 * has waited for its own fence, the timeline may not be signalled yet (Mesa 22.3). No submit waits
 * for CUDA any more: resources and semaphores hold the device until their work has ended, or have
 * signalled in place of CUDA.
 */
static void end_recordings(gr_vk_device *device)
{
    while (device->recordings) {
        struct vk_recording *r = device->recordings;
        const VkSemaphoreWaitInfo info = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
            .semaphoreCount = 1,
            .pSemaphores = &r->done,
            .pValues = &r->value,
        };
        device->vk.vkWaitSemaphores(device->device, &info, UINT64_MAX);
        device->recordings = r->next;
        end_recording(device, r);
    }
}

static struct vk_recording *find_done(gr_vk_device *device, uint32_t family)
{
    GR_LOCKED(&device->lock);
    for (struct vk_recording **link = &device->recordings; *link; link = &(*link)->next) {
        struct vk_recording *r = *link;
        uint64_t now = 0;
        if (r->family != family ||
            device->vk.vkGetSemaphoreCounterValue(device->device, r->done, &now) != VK_SUCCESS ||
            now < r->value)
            continue;
        *link = r->next;
        return r;
    }
    return NULL;
}

gr_status vk_recording_acquire(gr_vk_device *device, uint32_t family,
                               struct vk_recording **recording)
{
    if (!device->has_timeline)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s has no timeline semaphores, which report when command buffers are done: "
                       "record the barriers by gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda(), and "
                       "leave `first` and `last` NULL.",
                       device->identity.name);
    struct vk_recording *r = find_done(device, family);
    if (!r)
        r = new_recording(device, family);
    if (!r)
        return gr_last_error()->status;
    VkResult result = device->vk.vkResetCommandPool(device->device, r->pool, 0);
    if (result != VK_SUCCESS) {
        vk_recording_release(device, r, false);
        return vk_fail(result, "vkResetCommandPool", "Command buffers could not be reset.");
    }
    *recording = r;
    return GR_OK;
}

void vk_recording_release(gr_vk_device *device, struct vk_recording *r, bool submitted)
{
    r->value += submitted;
    r->next = NULL;
    GR_LOCKED(&device->lock);
    device->end_recordings = end_recordings;
    struct vk_recording **end = &device->recordings;
    while (*end)
        end = &(*end)->next;
    *end = r;
}
