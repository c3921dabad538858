/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The private Vulkan devices. They are never closed, because drivers leave threads behind, and
 * other resources may need the device.
 */
#include "gl/sync/sync.h"

#include <stdlib.h>

#include <grinterop/vk.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/lock.h"
#include "lib/cuda/import_handle.h"
#include "vk/resource/resource.h"

struct private_vulkan {
    struct private_vulkan *next;
    CUdevice cuda;
    gr_vk_headless *headless;
    const gr_vk_headless_info *handles;
    PFN_vkGetSemaphoreFdKHR semaphore_fd; /* NULL if semaphores cannot be exported */
};

static struct gr_lock lock = GR_LOCK(PRIVATE_VULKAN);
static struct private_vulkan *opened;

static struct private_vulkan *open_device(CUdevice cuda)
{
    struct private_vulkan *vulkan = gr_check_memory(calloc(1, sizeof(*vulkan)));
    if (!vulkan)
        return NULL;
    vulkan->headless = gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = cuda));
    if (!vulkan->headless) {
        free(vulkan);
        return NULL;
    }
    vulkan->cuda = cuda;
    const gr_vk_headless_info *h = vulkan->handles = gr_vk_headless_get_info(vulkan->headless);
    /* it is internal, and no live object of the application */
    gr_live_remove(GR_LIVE_VK_HEADLESS, vulkan->headless);
    PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)h->get_instance_proc_addr(h->instance, "vkGetDeviceProcAddr");
    vulkan->semaphore_fd = (PFN_vkGetSemaphoreFdKHR)get(h->device, "vkGetSemaphoreFdKHR");
    vulkan->next = opened;
    opened = vulkan;
    return vulkan;
}

/* Finds or opens the Vulkan device of a CUDA device. A CUdevice equals its ordinal. */
static const struct private_vulkan *find(CUdevice cuda, bool may_open)
{
    GR_LOCKED(&lock);
    struct private_vulkan *vulkan = opened;
    while (vulkan && vulkan->cuda != cuda)
        vulkan = vulkan->next;
    if (!vulkan && may_open)
        vulkan = open_device(cuda);
    return vulkan;
}

struct gr_vk_device *gl_vulkan_wrap(CUdevice cuda)
{
    const struct private_vulkan *vulkan = find(cuda, true);
    if (!vulkan)
        return NULL;
    const gr_vk_headless_info *h = vulkan->handles;
    return gr_vk_device_from_vk(&GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance,
                                         h->physical_device, h->device, h->graphics,
                                         h->graphics_family));
}

gr_semaphore *gl_vulkan_semaphore(CUdevice cuda, bool timeline)
{
    gr_vk_device *device = gl_vulkan_wrap(cuda);
    if (!device)
        return NULL;
    gr_semaphore *semaphore = gr_semaphore_create_vk(device, timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                      : VK_SEMAPHORE_TYPE_BINARY);
    gr_vk_device_free(device); /* the semaphore keeps the device alive */
    /* it is internal, and no live object of the application */
    if (semaphore)
        gr_live_remove(GR_LIVE_SEMAPHORE, semaphore);
    if (!semaphore || semaphore->handle)
        return semaphore;
    /* the host waits for this semaphore, so OpenGL cannot import it */
    gr_semaphore_drop(semaphore);
    gr_fail(GR_ERR_UNSUPPORTED, "The Vulkan driver exports no timeline semaphores.");
    return NULL;
}

gr_status gl_vulkan_memory_fd(const gr_resource *image, int *fd)
{
    const struct vk_binding *b = &vk_resource_of(image)->binding;
    return vk_export_memory(b->device, b->memory, fd);
}

gr_status gl_vulkan_semaphore_fd(CUdevice cuda, const gr_semaphore *semaphore, int *fd)
{
    const struct private_vulkan *vulkan = find(cuda, false);
    const VkSemaphoreGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = gr_vk_semaphore(semaphore),
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    *fd = -1;
    VkResult result = VK_ERROR_EXTENSION_NOT_PRESENT;
    if (vulkan && vulkan->semaphore_fd)
        result = vulkan->semaphore_fd(vulkan->handles->device, &get, fd);
    if (result == VK_SUCCESS && *fd >= 0)
        return GR_OK;
    GR_TRY(gr_fd_check_left());
    return vk_fail(result == VK_SUCCESS ? VK_ERROR_UNKNOWN : result, "vkGetSemaphoreFdKHR",
                   "The semaphore of grinterop's own Vulkan device could not be exported.");
}
