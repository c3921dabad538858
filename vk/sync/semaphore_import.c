/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports Vulkan semaphores into CUDA; see semaphore_import.h. */
#include "vk/sync/semaphore_import.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/sync/semaphore.h"
#include "lib/sync/semaphore_points.h"
#include "vk/device/error.h"
#include "vk/device/export.h"
#include "vk/sync/host_semaphore.h"

struct imported {
    gr_semaphore base;
    gr_vk_device *device; /* held according to `owner` */
    VkSemaphore semaphore;
    enum vk_semaphore_owner owner;
    bool owned; /* the VkSemaphore is destroyed with this object */
};

static void describe(const gr_semaphore *semaphore, char *text, size_t size)
{
    const struct imported *s = (const struct imported *)semaphore;
    snprintf(text, size, "Vulkan %s semaphore 0x%llx by " GR_VK_HANDLE_NAME,
             semaphore->timeline ? "timeline" : "binary", GR_VK_NUMBER(s->semaphore));
}

static void destroy(gr_semaphore *semaphore)
{
    struct imported *s = (struct imported *)semaphore;
    if (s->owned)
        s->device->vk.vkDestroySemaphore(s->device->device, s->semaphore, NULL);
    vk_device_drop_by(s->device, s->owner);
    free(s);
}

static void signal_in_place(gr_semaphore *semaphore, uint64_t value)
{
    const struct imported *s = (const struct imported *)semaphore;
    uint64_t now;
    vk_semaphore_raise(&s->device->vk, s->device->device, s->semaphore, value, &now);
}

static bool value(const gr_semaphore *semaphore, uint64_t *now)
{
    const struct imported *s = (const struct imported *)semaphore;
    return semaphore->timeline && s->device->vk.vkGetSemaphoreCounterValue(
                                      s->device->device, s->semaphore, now) == VK_SUCCESS;
}

static const struct gr_semaphore_ops imported_ops = {
    .wait = gr_semaphore_wait_imported,
    .signal = gr_semaphore_signal_imported,
    .signal_in_place = signal_in_place,
    .describe = describe,
    .value = value,
    .destroy = destroy,
};

VkSemaphore vk_semaphore_imported(const gr_semaphore *semaphore)
{
    if (!semaphore || semaphore->ops != &imported_ops)
        return VK_NULL_HANDLE;
    return ((const struct imported *)semaphore)->semaphore;
}

/* ---- The handle ------------------------------------------------------------------------------ */

static gr_status export_handle(const gr_semaphore *semaphore, gr_semaphore_desc *info)
{
    const struct imported *s = (const struct imported *)semaphore;
    info->type = semaphore->timeline ? GR_VK_CUDA_TIMELINE : GR_VK_CUDA_BINARY;
    return vk_export_semaphore(s->device, s->semaphore, &info->GR_VK_HANDLE_FIELD);
}

gr_status vk_semaphore_export(const gr_semaphore *semaphore, gr_semaphore_desc *info,
                              const char *call)
{
    if (semaphore->ops == &imported_ops)
        return export_handle(semaphore, info);
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The semaphore was not made from an exported Vulkan handle, so it cannot be "
                   "exported again: create it by gr_vk_semaphore_create(), or from a VkSemaphore "
                   "without through_host.");
}

/* ---- The import ------------------------------------------------------------------------------ */

gr_semaphore *vk_semaphore_import(gr_vk_device *device, const gr_vk_semaphore_desc *given,
                                  enum vk_semaphore_owner owner, const struct gr_context *context,
                                  const char *call)
{
    gr_semaphore_desc info = GR_INIT(gr_semaphore_desc, .fd = -1, .value = given->value);
    struct imported *s = gr_check_memory(calloc(1, sizeof(*s)), call);
    if (!s)
        return NULL;
    s->device = device;
    s->owner = owner;
    s->semaphore = given->semaphore;
    s->base.timeline = given->type == VK_SEMAPHORE_TYPE_TIMELINE;
    gr_status status = export_handle(&s->base, &info);
    if (status == GR_OK) {
        status = gr_semaphore_make(&s->base, context, &info, &imported_ops, call);
        vk_handle_close(info.GR_VK_HANDLE_FIELD, status == GR_OK);
    }
    if (status != GR_OK) {
        free(s);
        return NULL;
    }
    s->owned = owner != VK_OF_APPLICATION;
    return &s->base;
}
