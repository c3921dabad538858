/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores of Vulkan's, made here or by the application, and their export to CUDA. */
#include "vk/semaphore.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/log.h"

/* ---- Exported -------------------------------------------------------------------------------- */

static void describe_exported(const gr_semaphore *semaphore, char *text, size_t size)
{
    const struct vk_semaphore *s = (const struct vk_semaphore *)semaphore;
    snprintf(text, size, "Vulkan %s semaphore 0x%llx by " GR_VK_HANDLE_NAME,
             semaphore->timeline ? "timeline" : "binary", GR_VK_NUMBER(s->semaphore));
}

static void destroy_vulkan_part(struct vk_semaphore *s)
{
    if (s->owned)
        s->device->vk.vkDestroySemaphore(s->device->device, s->semaphore, NULL);
    vk_device_drop(s->device);
}

static void destroy_exported(gr_semaphore *semaphore)
{
    struct vk_semaphore *s = (struct vk_semaphore *)semaphore;
    destroy_vulkan_part(s);
    free(s);
}

static const struct gr_semaphore_ops exported_ops = {
    .wait = gr_semaphore_wait_imported,
    .signal = gr_semaphore_signal_imported,
    .describe = describe_exported,
    .destroy = destroy_exported,
};

VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore)
{
    if (!semaphore || (semaphore->ops != &exported_ops && semaphore->ops != &vk_host_semaphore_ops))
        return VK_NULL_HANDLE;
    return ((const struct vk_semaphore *)semaphore)->semaphore;
}

/* ---- The exported handle --------------------------------------------------------------------- */

#define CREATE_LIKE_THIS                                                                           \
    "Was it created with VkExportSemaphoreCreateInfo in its pNext, whose handleTypes are "         \
    "VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_" GR_VK_HANDLE_NAME "_BIT? gr_vk_semaphore_create() makes " \
    "such semaphores; a timeline also works with through_host."

#if defined(_WIN32)

static gr_status export_semaphore(const struct vk_semaphore *s, bool timeline,
                                  gr_semaphore_info *info)
{
    const VkSemaphoreGetWin32HandleInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR,
        .semaphore = s->semaphore,
        .handleType = GR_VK_SEMAPHORE_HANDLE,
    };
    HANDLE handle = NULL;
    VkResult result = s->device->vk.vkGetSemaphoreWin32HandleKHR(s->device->device, &get, &handle);
    info->type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
                          : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32;
    info->win32_handle = handle;
    if (result == VK_SUCCESS && handle)
        return GR_OK;
    return vk_fail(result == VK_SUCCESS ? VK_ERROR_UNKNOWN : result, "vkGetSemaphoreWin32HandleKHR",
                   "The semaphore 0x%llx cannot be exported. " CREATE_LIKE_THIS,
                   GR_VK_NUMBER(s->semaphore));
}

/* The driver duplicates a Win32 handle, whatever the import's outcome. */
static void close_handle(const gr_semaphore_info *info, bool imported)
{
    (void)imported;
    CloseHandle(info->win32_handle);
}

#else

static gr_status export_semaphore(const struct vk_semaphore *s, bool timeline,
                                  gr_semaphore_info *info)
{
    const VkSemaphoreGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = s->semaphore,
        .handleType = GR_VK_SEMAPHORE_HANDLE,
    };
    int fd = -1;
    VkResult result = s->device->vk.vkGetSemaphoreFdKHR(s->device->device, &get, &fd);
    info->type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                          : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    info->fd = fd;
    if (result == VK_SUCCESS && fd >= 0)
        return GR_OK;
    if (result == VK_SUCCESS)
        return gr_fail(GR_ERR_VULKAN, "vkGetSemaphoreFdKHR",
                       "Vulkan succeeded but gave no file descriptor (%d) for the semaphore "
                       "0x%llx. " CREATE_LIKE_THIS,
                       fd, GR_VK_NUMBER(s->semaphore));
    return vk_fail(result, "vkGetSemaphoreFdKHR",
                   "The semaphore 0x%llx cannot be exported. " CREATE_LIKE_THIS,
                   GR_VK_NUMBER(s->semaphore));
}

/* An import that succeeds takes the file descriptor: it may be another file's by now. */
static void close_handle(const gr_semaphore_info *info, bool imported)
{
    if (!imported)
        close(info->fd);
}

gr_status vk_semaphore_export(const gr_semaphore *semaphore, gr_semaphore_info *info)
{
    if (semaphore->ops == &exported_ops)
        return export_semaphore((const struct vk_semaphore *)semaphore, semaphore->timeline, info);
    return gr_fail(GR_ERR_UNSUPPORTED, "gr_send_resource",
                   "The semaphore was not made from one of Vulkan's by its handle, so it cannot be "
                   "exported again.");
}

#endif

static gr_status make_exported(struct vk_semaphore *s, const struct gr_context *context,
                               bool timeline, uint64_t value, const char *call)
{
    gr_semaphore_info info = {.fd = -1, .value = value};
    gr_status status = export_semaphore(s, timeline, &info);
    if (status != GR_OK)
        return status;
    status = gr_semaphore_make(&s->base, context, &info, &exported_ops, call);
    close_handle(&info, status == GR_OK);
    return status;
}

/* ---- Both ways ------------------------------------------------------------------------------- */

static gr_status make_common_part(struct vk_semaphore *s, const gr_vk_semaphore_info *info,
                                  const char *call)
{
    struct gr_context context;
    gr_status status = vk_device_context(s->device, &context, call);
    if (status != GR_OK)
        return status;
    status = info->through_host
                 ? vk_host_semaphore_init(s, &context, info->value, call)
                 : make_exported(s, &context, info->type == VK_SEMAPHORE_TYPE_TIMELINE, info->value,
                                 call);
    if (status != GR_OK)
        gr_context_drop(&context);
    return status;
}

/* Makes a semaphore of the VkSemaphore, which it owns or not; after an error that is as it was. */
static gr_semaphore *make_semaphore(gr_vk_device *device, const gr_vk_semaphore_info *info,
                                    bool owned, const char *call)
{
    struct vk_semaphore *s = calloc(1, sizeof(*s));
    if (!s) {
        gr_fail_memory(call);
        return NULL;
    }
    s->device = device;
    s->semaphore = info->semaphore;
    s->owned = owned;
    vk_device_hold(device);
    if (make_common_part(s, info, call) != GR_OK) {
        s->owned = false;
        destroy_vulkan_part(s);
        free(s);
        return NULL;
    }
    if (gr_log_wanted(GR_LOG_DEBUG)) {
        char text[200];
        gr_semaphore_describe(&s->base, text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: %s", call, text);
    }
    return &s->base;
}

static gr_status check_type(const gr_vk_device *device, VkSemaphoreType type, const char *call)
{
    gr_status status = vk_check_device(device, call);
    if (status != GR_OK)
        return status;
    if (type != VK_SEMAPHORE_TYPE_BINARY && type != VK_SEMAPHORE_TYPE_TIMELINE)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "%d is no VkSemaphoreType: pass VK_SEMAPHORE_TYPE_TIMELINE or "
                       "VK_SEMAPHORE_TYPE_BINARY.",
                       type);
    if (type == VK_SEMAPHORE_TYPE_TIMELINE && !device->has_timeline)
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "%s has no timeline semaphores: use binary ones, or a driver of Vulkan 1.2.",
                       device->identity.name);
    return GR_OK;
}

/* ---- Made here ------------------------------------------------------------------------------- */

static gr_status create_semaphore(const gr_vk_device *device, gr_vk_semaphore_info *info)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = info->type,
    };
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .pNext = info->type == VK_SEMAPHORE_TYPE_TIMELINE ? &type : NULL,
        .handleTypes = GR_VK_SEMAPHORE_HANDLE,
    };
    const VkSemaphoreCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = info->through_host ? export.pNext : &export,
    };
    VkResult result = device->vk.vkCreateSemaphore(device->device, &create, NULL, &info->semaphore);
    if (result == VK_SUCCESS)
        return GR_OK;
    return vk_fail(result, "vkCreateSemaphore", "A %s semaphore was refused.%s",
                   info->type == VK_SEMAPHORE_TYPE_TIMELINE ? "timeline" : "binary",
                   info->type == VK_SEMAPHORE_TYPE_TIMELINE
                       ? " Is the feature timelineSemaphore enabled?"
                       : "");
}

gr_semaphore *gr_vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type)
{
    if (check_type(device, type, __func__) != GR_OK)
        return NULL;
    bool timeline = type == VK_SEMAPHORE_TYPE_TIMELINE;
    if (!timeline && !device->exports_binary) {
        gr_fail(GR_ERR_UNSUPPORTED, __func__,
                "%s exports no binary semaphores, and the host cannot wait for one: use a "
                "timeline semaphore.",
                device->identity.name);
        return NULL;
    }
    gr_vk_semaphore_info info = {
        .type = type,
        .through_host = timeline && !device->exports_timeline,
    };
    if (create_semaphore(device, &info) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = make_semaphore(device, &info, true, __func__);
    if (!semaphore)
        device->vk.vkDestroySemaphore(device->device, info.semaphore, NULL);
    return semaphore;
}

/* ---- The application's ----------------------------------------------------------------------- */

static gr_status check_value(const gr_vk_device *device, const gr_vk_semaphore_info *info,
                             const char *call)
{
    if (info->type == VK_SEMAPHORE_TYPE_BINARY && info->value != 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`value` is %llu, but a binary semaphore has none: pass 0, or "
                       "VK_SEMAPHORE_TYPE_TIMELINE.",
                       (unsigned long long)info->value);
    if (info->type == VK_SEMAPHORE_TYPE_BINARY)
        return GR_OK;
    uint64_t now = 0;
    VkResult result = device->vk.vkGetSemaphoreCounterValue(device->device, info->semaphore, &now);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkGetSemaphoreCounterValue",
                       "The semaphore 0x%llx could not be asked for its value.",
                       GR_VK_NUMBER(info->semaphore));
    if (info->value < now)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`value` is %llu, but the timeline has come to %llu: pass that, since the "
                       "values that are signalled only grow.",
                       (unsigned long long)info->value, (unsigned long long)now);
    return GR_OK;
}

static gr_status check_way(const gr_vk_device *device, const gr_vk_semaphore_info *info,
                           const char *call)
{
    bool timeline = info->type == VK_SEMAPHORE_TYPE_TIMELINE;
    if (info->through_host && !timeline)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`through_host` is for timeline semaphores: the host cannot wait for a "
                       "binary one.");
    if (info->through_host || (timeline ? device->exports_timeline : device->exports_binary))
        return GR_OK;
    return gr_fail(GR_ERR_VULKAN, call, "%s exports no %s semaphores%s.", device->identity.name,
                   timeline ? "timeline" : "binary",
                   timeline ? ": set through_host, and the host waits and signals for the stream"
                            : ": use a timeline semaphore with through_host");
}

gr_semaphore *gr_from_vk_semaphore(gr_vk_device *device, const gr_vk_semaphore_info *info)
{
    if (vk_check_arguments(device, info, __func__) != GR_OK ||
        check_type(device, info->type, __func__) != GR_OK)
        return NULL;
    if (!info->semaphore) {
        gr_fail(GR_ERR_INVALID_VALUE, __func__,
                "`semaphore` is VK_NULL_HANDLE: pass the VkSemaphore.");
        return NULL;
    }
    if (check_way(device, info, __func__) != GR_OK || check_value(device, info, __func__) != GR_OK)
        return NULL;
    return make_semaphore(device, info, false, __func__);
}
