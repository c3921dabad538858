/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan semaphores of grinterop or of the application. CUDA imports them through an exported
 * handle, or else the host waits and signals.
 */
#include "vk/sync/sync.h"

#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "lib/base/lock.h"
#include "lib/sync/sync.h"

/* ---- Operations ------------------------------------------------------------------------------ */

static void signal_in_place(gr_semaphore *semaphore, uint64_t value)
{
    const struct vk_semaphore *s = (const struct vk_semaphore *)semaphore;
    uint64_t now;
    vk_semaphore_raise(&s->device->vk, s->device->device, s->semaphore, value, &now);
}

static void destroy(gr_semaphore *semaphore)
{
    struct vk_semaphore *s = (struct vk_semaphore *)semaphore;
    if (s->owner != VK_OF_APPLICATION)
        s->device->vk.vkDestroySemaphore(s->device->device, s->semaphore, NULL);
    vk_device_drop_by(s->device, s->owner);
    gr_live_free_memory(GR_LIVE_SEMAPHORE, s);
}

static const struct gr_semaphore_ops imported_ops = {
    .wait = gr_semaphore_wait_imported,
    .signal = gr_semaphore_signal_imported,
    .signal_in_place = signal_in_place,
    .describe = vk_semaphore_describe,
    .value = vk_semaphore_value,
    .free = vk_semaphore_free,
    .destroy = destroy,
};

VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore)
{
    GR_CALL();
    if (!semaphore)
        gr_fail(GR_ERR_INVALID_VALUE, "The semaphore is NULL: did its creation fail?");
    if (!semaphore || semaphore == GR_SEMAPHORE_NONE ||
        gr_semaphore_check_given(semaphore) != GR_OK || !vk_semaphore_of(semaphore))
        return VK_NULL_HANDLE;
    return vk_semaphore_of(semaphore)->semaphore;
}

/* ---- The import into CUDA -------------------------------------------------------------------- */

static gr_status export_handle(const struct vk_semaphore *s, gr_semaphore_desc *info)
{
    info->type = s->base.timeline ? GR_VK_CUDA_TIMELINE : GR_VK_CUDA_BINARY;
    return vk_export_semaphore(s->device, s->semaphore, &info->GR_VK_HANDLE_FIELD);
}

gr_status vk_semaphore_export(const gr_resource *resource, const gr_semaphore *semaphore,
                              gr_semaphore_desc *info)
{
    (void)resource;
    if (semaphore->ops == &imported_ops)
        return export_handle((const struct vk_semaphore *)semaphore, info);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The semaphore was not made from an exported Vulkan handle, so it cannot be "
                   "exported again: create it by gr_semaphore_create_vk(), or from a VkSemaphore "
                   "without through_host.");
}

/* Like vk_semaphore_by_host(), by an exported handle. */
static gr_semaphore *import_semaphore(const struct vk_semaphore *draft, uint64_t value,
                                      const struct gr_context *context)
{
    gr_semaphore_desc info = GR_INIT(gr_semaphore_desc, .fd = -1, .value = value);
    struct vk_semaphore *s = gr_check_memory(malloc(sizeof(*s)));
    if (!s)
        return NULL;
    *s = *draft;
    gr_status status = export_handle(s, &info);
    if (status == GR_OK) {
        status = gr_semaphore_make(&s->base, context, &info, &imported_ops);
        vk_handle_close(info.GR_VK_HANDLE_FIELD, status == GR_OK);
    }
    if (status == GR_OK)
        return &s->base;
    free(s);
    return NULL;
}

/*
 * Makes a gr_semaphore of the VkSemaphore, which stays unchanged after an error. The gr_semaphore
 * takes a reference to the device according to `owner`.
 */
static gr_semaphore *make_semaphore(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                    enum vk_semaphore_owner owner)
{
    const struct vk_semaphore draft = {
        .base.timeline = info->type == VK_SEMAPHORE_TYPE_TIMELINE,
        .device = device,
        .semaphore = info->semaphore,
        .owner = owner,
    };
    struct gr_context context;
    if (gr_context_hold(&device->context, &context) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = (info->through_host ? vk_semaphore_by_host : import_semaphore)(
        &draft, info->value, &context);
    if (!semaphore) {
        gr_context_drop(&context);
        return NULL;
    }
    semaphore->of_application = owner == VK_OF_APPLICATION;
    vk_device_hold_by(device, owner);
    if (gr_log_wanted(GR_LOG_DEBUG)) {
        char text[200];
        gr_semaphore_describe(semaphore, text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: %s", gr_call, text);
    }
    return semaphore;
}

/* Passes a new semaphore to the application. NULL is allowed. */
static gr_semaphore *give(gr_vk_device *device, gr_semaphore *semaphore)
{
    if (!semaphore)
        return NULL;
    vk_device_begin_use(device);
    gr_live_add(GR_LIVE_SEMAPHORE, semaphore);
    return semaphore;
}

static gr_status check_type(const gr_vk_device *device, VkSemaphoreType type)
{
    GR_TRY(vk_check_device(device));
    GR_REFUSE_IF(
        type != VK_SEMAPHORE_TYPE_BINARY && type != VK_SEMAPHORE_TYPE_TIMELINE,
        "%d is not a VkSemaphoreType: pass VK_SEMAPHORE_TYPE_TIMELINE or VK_SEMAPHORE_TYPE_BINARY.",
        type);
    if (type == VK_SEMAPHORE_TYPE_TIMELINE && !device->has_timeline)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s has no timeline semaphores: use binary ones, or a Vulkan 1.2 driver.",
                       device->identity.name);
    return GR_OK;
}

/* ---- Created by grinterop -------------------------------------------------------------------- */

gr_status vk_semaphore_new(const gr_vk_device *device, VkSemaphoreType kind, bool exportable,
                           VkSemaphore *semaphore)
{
    const bool timeline = kind == VK_SEMAPHORE_TYPE_TIMELINE;
    const void *rights = exportable ? vk_semaphore_rights : NULL;
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = rights,
        .semaphoreType = kind,
    };
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .pNext = timeline ? &type : rights,
        .handleTypes = GR_VK_SEMAPHORE_HANDLE,
    };
    const VkSemaphoreCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = exportable ? &export : export.pNext,
    };
    VkResult result = device->vk.vkCreateSemaphore(device->device, &create, NULL, semaphore);
    if (result == VK_SUCCESS)
        return GR_OK;
    *semaphore = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateSemaphore", "A %s semaphore was refused.%s",
                   timeline ? "timeline" : "binary",
                   timeline ? " Enable the feature timelineSemaphore in vkCreateDevice. Or do "
                              "without timelines: call gr_resource_set_sync() with other "
                              "semaphores or with GR_SEMAPHORE_NONE before the first map or "
                              "submit, and record the barriers by gr_vk_cmd_from_cuda() "
                              "and gr_vk_cmd_to_cuda()."
                            : "");
}

gr_semaphore *vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type,
                                  enum vk_semaphore_owner owner)
{
    bool timeline = type == VK_SEMAPHORE_TYPE_TIMELINE;
    gr_vk_semaphore_desc info = GR_INIT(gr_vk_semaphore_desc, .type = type,
                                        .through_host = timeline && !device->exports_timeline);
    if (vk_semaphore_new(device, type, !info.through_host, &info.semaphore) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = make_semaphore(device, &info, owner);
    if (!semaphore)
        device->vk.vkDestroySemaphore(device->device, info.semaphore, NULL);
    return semaphore;
}

gr_semaphore *gr_semaphore_create_vk(gr_vk_device *device, VkSemaphoreType type)
{
    GR_CALL();
    if (check_type(device, type) != GR_OK)
        return NULL;
    if (type == VK_SEMAPHORE_TYPE_BINARY && !device->exports_binary)
        return gr_null(
            gr_fail(GR_ERR_UNSUPPORTED,
                    "%s exports no binary semaphores, and the host cannot wait for one: use a "
                    "timeline semaphore.",
                    device->identity.name));
    return give(device, vk_semaphore_create(device, type, VK_OF_SEMAPHORE));
}

/* ---- From the application -------------------------------------------------------------------- */

static gr_status check_value(const gr_vk_device *device, const gr_vk_semaphore_desc *info)
{
    GR_REFUSE_IF(info->type == VK_SEMAPHORE_TYPE_BINARY && info->value != 0,
                 "`value` is %llu, but a binary semaphore has no value: set `value` to 0, or "
                 "`type` to VK_SEMAPHORE_TYPE_TIMELINE.",
                 (unsigned long long)info->value);
    if (info->type == VK_SEMAPHORE_TYPE_BINARY)
        return GR_OK;
    uint64_t now = 0;
    VkResult result = device->vk.vkGetSemaphoreCounterValue(device->device, info->semaphore, &now);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkGetSemaphoreCounterValue",
                       "The value of semaphore 0x%llx could not be queried.",
                       GR_VK_NUMBER(info->semaphore));
    GR_REFUSE_IF(info->value < now,
                 "`value` is %llu, but the timeline has reached %llu: pass the value that the "
                 "timeline has reached, since values only increase.",
                 (unsigned long long)info->value, (unsigned long long)now);
    return GR_OK;
}

static gr_status check_way(const gr_vk_device *device, const gr_vk_semaphore_desc *info)
{
    bool timeline = info->type == VK_SEMAPHORE_TYPE_TIMELINE;
    GR_REFUSE_IF(
        info->through_host && !timeline,
        "`through_host` is for timeline semaphores: the host cannot wait for a binary one.");
    if (info->through_host || (timeline ? device->exports_timeline : device->exports_binary))
        return GR_OK;
    return gr_fail(
        GR_ERR_VULKAN, "%s exports no %s semaphores%s.", device->identity.name,
        timeline ? "timeline" : "binary",
        timeline ? ": set through_host, so that the host waits and signals in place of the stream"
                 : ": use a timeline semaphore with through_host");
}

gr_semaphore *gr_semaphore_from_vk(gr_vk_device *device, const gr_vk_semaphore_desc *given)
{
    GR_CALL();
    gr_vk_semaphore_desc info;
    if (vk_check_arguments(device, given) != GR_OK ||
        GR_TAKE(gr_vk_semaphore_desc, &info, given) != GR_OK ||
        check_type(device, info.type) != GR_OK)
        return NULL;
    if (!info.semaphore)
        return gr_null(
            gr_fail(GR_ERR_INVALID_VALUE, "`semaphore` is VK_NULL_HANDLE: pass the VkSemaphore."));
    if (check_way(device, &info) != GR_OK || check_value(device, &info) != GR_OK)
        return NULL;
    return give(device, make_semaphore(device, &info, VK_OF_APPLICATION));
}

/* ---- The pair of a device -------------------------------------------------------------------- */

/*
 * Ends the pair. Resources that are about to end may still hold it, and drop the last reference
 * later.
 */
static void end_pair(gr_vk_device *device)
{
    gr_pair_drop(device->pair);
}

/* Gives the device this pair, which may be NULL, unless it has one. Returns the device's pair. */
static struct gr_semaphore_pair *set_pair(gr_vk_device *device, struct gr_semaphore_pair *made)
{
    GR_LOCKED(&device->lock);
    if (!device->pair && made) {
        device->pair = made;
        device->end_pair = end_pair;
    }
    return device->pair;
}

struct gr_semaphore_pair *vk_pair_now(gr_vk_device *device)
{
    return set_pair(device, NULL);
}

gr_status vk_pair_get(gr_vk_device *device, struct gr_semaphore_pair **pair)
{
    *pair = NULL;
    if (!device->has_timeline)
        return GR_OK;
    *pair = vk_pair_now(device);
    if (*pair)
        return GR_OK;
    /* without the lock, because creating a semaphore may end objects of the program */
    const VkSemaphoreType type = VK_SEMAPHORE_TYPE_TIMELINE;
    gr_semaphore *acquire = vk_semaphore_create(device, type, VK_OF_DEVICE);
    gr_semaphore *release = acquire ? vk_semaphore_create(device, type, VK_OF_DEVICE) : NULL;
    struct gr_semaphore_pair *made = gr_pair_of_new(acquire, release);
    if (!made)
        return gr_last_error()->status;
    made->of_device = true;
    *pair = set_pair(device, made);
    if (*pair != made) /* another thread was first */
        gr_pair_drop(made);
    return GR_OK;
}
