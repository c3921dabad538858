/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's Vulkan device: checked, matched with its CUDA device, and kept while it is
 * used.
 */
#include "vk/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/retire.h"
#include "vk/cuda_context.h"

/* ---- What the device can do ------------------------------------------------------------------ */

static bool exports_semaphores(const gr_vk_device *device, VkSemaphoreType type)
{
    VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = type == VK_SEMAPHORE_TYPE_TIMELINE ? &timeline : NULL,
        .handleType = GR_VK_SEMAPHORE_HANDLE};
    VkExternalSemaphoreProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    device->vk.vkGetPhysicalDeviceExternalSemaphoreProperties(device->physical_device, &info,
                                                              &properties);
    return properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

static bool has_export_function(const struct vk_functions *vk)
{
#if defined(_WIN32)
    return vk->vkGetSemaphoreWin32HandleKHR;
#else
    return vk->vkGetSemaphoreFdKHR;
#endif
}

static void ask_capabilities(gr_vk_device *device)
{
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    device->vk.vkGetPhysicalDeviceMemoryProperties(device->physical_device, &device->memory);
    /* Their functions are there only if the device knows of them, and may be asked. */
    if (device->vk.vkWaitSemaphores && device->vk.vkSignalSemaphore &&
        device->vk.vkGetSemaphoreCounterValue)
        device->vk.vkGetPhysicalDeviceFeatures2(device->physical_device, &features);
    device->has_timeline = timeline.timelineSemaphore;
    if (!has_export_function(&device->vk))
        return;
    device->exports_binary = exports_semaphores(device, VK_SEMAPHORE_TYPE_BINARY);
    device->exports_timeline =
        device->has_timeline && exports_semaphores(device, VK_SEMAPHORE_TYPE_TIMELINE);
}

/* ---- Wrapping -------------------------------------------------------------------------------- */

static gr_status check_info(const gr_vk_device_desc *info, const char *call)
{
    const char *missing = !info                           ? "info"
                          : !info->get_instance_proc_addr ? "info->get_instance_proc_addr"
                          : !info->instance               ? "info->instance"
                          : !info->physical_device        ? "info->physical_device"
                          : !info->device                 ? "info->device"
                                                          : NULL;
    if (missing)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "`%s` is NULL.", missing);
    return GR_OK;
}

static gr_status check_family(const gr_vk_device *device, const char *call)
{
    uint32_t count = 0;
    device->vk.vkGetPhysicalDeviceQueueFamilyProperties(device->physical_device, &count, NULL);
    if (device->queue_family < count)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "There is no queue family %u: %s has %u. `queue_family` is the one of the queue "
                   "that uses the resources.",
                   device->queue_family, device->identity.name, count);
}

/*
 * Matched with its CUDA device first, because a device of another GPU may lack the extensions too.
 */
static gr_status match(gr_vk_device *device, const char *call)
{
    if (!device->vk.vkGetPhysicalDeviceProperties2)
        return GR_OK;
    vk_identify(device->vk.vkGetPhysicalDeviceProperties2, device->physical_device,
                &device->identity);
    return vk_find_cuda_device(&device->identity, &device->cuda, &device->cuda_ordinal, call);
}

static gr_status wrap(gr_vk_device *device, const gr_vk_device_desc *info, const char *call)
{
    vk_load_instance(&device->vk, info->get_instance_proc_addr, info->instance);
    vk_load_device(&device->vk, info->device);
    gr_status status = match(device, call);
    if (status != GR_OK)
        return status;
    status = vk_check_functions(&device->vk, info->physical_device, call);
    if (status != GR_OK)
        return status;
    status = check_family(device, call);
    if (status != GR_OK)
        return status;
    ask_capabilities(device);
    return vk_context_choose(&device->context, &device->identity, device->cuda, call);
}

static void log_device(const gr_vk_device *device)
{
    char text[320];
    if (!gr_log_wanted(GR_LOG_INFO))
        return;
    gr_vk_device_describe(device, text, sizeof(text));
    gr_log(GR_LOG_INFO, "%s", text);
}

gr_vk_device *gr_vk_device_wrap(const gr_vk_device_desc *info)
{
    if (check_info(info, __func__) != GR_OK || !gr_cuda())
        return NULL;
    gr_vk_device *device = malloc(sizeof(*device));
    if (!device) {
        gr_fail_memory(__func__);
        return NULL;
    }
    *device = (gr_vk_device){.holds = 1,
                             .instance = info->instance,
                             .physical_device = info->physical_device,
                             .device = info->device,
                             .queue = info->queue,
                             .queue_family = info->queue_family,
                             .cuda_ordinal = -1,
                             .context.primary_of = -1};
    if (wrap(device, info, __func__) != GR_OK) {
        vk_device_drop(device);
        return NULL;
    }
    log_device(device);
    return device;
}

void vk_device_hold(gr_vk_device *device)
{
    __atomic_fetch_add(&device->holds, 1, __ATOMIC_RELAXED);
}

void vk_device_drop(gr_vk_device *device)
{
    if (!device || __atomic_sub_fetch(&device->holds, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    gr_context_drop(&device->context);
    free(device);
}

/*
 * What was closed may still wait for a semaphore of the device, which the application is about to
 * destroy.
 */
void gr_vk_device_free(gr_vk_device *device)
{
    if (!device)
        return;
    gr_retired_finish(&device->context);
    vk_device_drop(device);
}

/* ---- Checks of every call -------------------------------------------------------------------- */

gr_status vk_check_device(const gr_vk_device *device, const char *call)
{
    if (device)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The device is NULL: did gr_vk_device_wrap() fail? See gr_last_error() there.");
}

gr_status vk_check_arguments(const gr_vk_device *device, const void *info, const char *call)
{
    gr_status status = vk_check_device(device, call);
    if (status != GR_OK || info)
        return status;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`info` is NULL: describe what is shared.");
}

/* ---- Questions ------------------------------------------------------------------------------- */

int gr_vk_device_cuda(const gr_vk_device *device)
{
    return device ? device->cuda_ordinal : -1;
}

bool gr_vk_device_has_semaphores(const gr_vk_device *device)
{
    return device && (device->exports_timeline || device->exports_binary);
}

static const char *semaphores_text(const gr_vk_device *device)
{
    if (device->exports_timeline)
        return "semaphores by " GR_VK_HANDLE_NAME;
    if (device->has_timeline)
        return device->exports_binary ? "binary semaphores by " GR_VK_HANDLE_NAME
                                        ", timeline ones through the host"
                                      : "timeline semaphores through the host";
    return device->exports_binary ? "binary semaphores by " GR_VK_HANDLE_NAME ", no timeline ones"
                                  : "no semaphores";
}

int gr_vk_device_describe(const gr_vk_device *device, char *text, size_t size)
{
    if (!device)
        return snprintf(text, text ? size : 0, "no device (NULL)");
    char vulkan[160], cuda[200];
    vk_identity_text(&device->identity, vulkan, sizeof(vulkan));
    gr_device_text(device->cuda, cuda, sizeof(cuda));
    return snprintf(text, text ? size : 0,
                    "Vulkan device %s is %s; memory by " GR_VK_HANDLE_NAME ", %s", vulkan, cuda,
                    semaphores_text(device));
}

void gr_vk_device_at_scope_end(gr_vk_device **device)
{
    gr_vk_device_free(*device);
    *device = NULL;
}
