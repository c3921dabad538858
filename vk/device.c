/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's Vulkan device: checked, matched with its CUDA device, and kept while it is
 * used.
 */
#include "vk/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/retire.h"
#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"

/* ---- The CUDA context ------------------------------------------------------------------------ */

static gr_status retain_primary(struct gr_context *context, CUdevice device, const char *call)
{
    CUresult result = gr_driver()->cuDevicePrimaryCtxRetain(&context->handle, device);
    if (result != CUDA_SUCCESS) {
        char text[200];
        gr_device_text(device, text, sizeof(text));
        return gr_fail_cuda(result, "cuDevicePrimaryCtxRetain",
                            "%s: the primary context of %s could not be had.", call, text);
    }
    context->primary_of = device;
    return GR_OK;
}

/*
 * The current context, which has to be the device's; the device's primary one where there is none.
 */
static gr_status choose_context(gr_vk_device *device, const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    CUdevice current = -1;
    device->context = (struct gr_context){.primary_of = -1};
    CUresult result = cu->cuCtxGetCurrent(&device->context.handle);
    if (result == CUDA_SUCCESS && !device->context.handle)
        return retain_primary(&device->context, device->cuda, call);
    if (result == CUDA_SUCCESS)
        result = cu->cuCtxGetDevice(&current);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuCtxGetDevice",
                            "%s could not ask for the current CUDA context.", call);
    if (current == device->cuda)
        return GR_OK;
    char vulkan[160], is[200], wrong[200];
    vk_identity_text(&device->identity, vulkan, sizeof(vulkan));
    gr_device_text(device->cuda, is, sizeof(is));
    gr_device_text(current, wrong, sizeof(wrong));
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The current CUDA context is of %s, but the Vulkan device %s is %s. Make a "
                   "context of that one current, or none.",
                   wrong, vulkan, is);
}

gr_status vk_device_context(const gr_vk_device *device, struct gr_context *context,
                            const char *call)
{
    *context = device->context;
    if (context->primary_of < 0)
        return GR_OK;
    return retain_primary(context, context->primary_of, call);
}

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

uint32_t vk_find_memory_type(const gr_vk_device *device, uint32_t type_bits,
                             VkMemoryPropertyFlags wanted)
{
    /* Those need more than an allocation, or are slow for everything else. */
    const VkMemoryPropertyFlags special =
        VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    const VkMemoryPropertyFlags all[] = {wanted | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, wanted};
    for (size_t pass = 0; pass < sizeof(all) / sizeof(all[0]); pass++)
        for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
            VkMemoryPropertyFlags has = device->memory.memoryTypes[i].propertyFlags;
            if ((type_bits >> i & 1) && (has & all[pass]) == all[pass] &&
                !(has & special & ~wanted))
                return i;
        }
    return UINT32_MAX;
}

/* ---- Wrapping -------------------------------------------------------------------------------- */

static gr_status check_info(const gr_vk_device_info *info, const char *call)
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

static gr_status wrap(gr_vk_device *device, const gr_vk_device_info *info, const char *call)
{
    gr_status status = GR_OK;
    vk_load_instance(&device->vk, info->get_instance_proc_addr, info->instance);
    vk_load_device(&device->vk, info->device);
    /* First, because a device of another GPU may lack the extensions too. */
    if (device->vk.vkGetPhysicalDeviceProperties2) {
        vk_identify(device->vk.vkGetPhysicalDeviceProperties2, info->physical_device,
                    &device->identity);
        status = vk_find_cuda_device(&device->identity, &device->cuda, &device->cuda_ordinal, call);
    }
    if (status == GR_OK)
        status = vk_check_functions(&device->vk, info->physical_device, call);
    if (status == GR_OK)
        status = check_family(device, call);
    if (status == GR_OK)
        ask_capabilities(device);
    if (status == GR_OK)
        status = choose_context(device, call);
    return status;
}

gr_vk_device *gr_vk_device_wrap(const gr_vk_device_info *info)
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
                             .cuda_ordinal = -1};
    if (wrap(device, info, __func__) != GR_OK) {
        free(device);
        return NULL;
    }
    if (gr_log_wanted(GR_LOG_INFO)) {
        char text[320];
        gr_vk_device_describe(device, text, sizeof(text));
        gr_log(GR_LOG_INFO, "%s", text);
    }
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
