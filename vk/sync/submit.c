/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Submits the application's commands with the waits and signals for CUDA, and with barriers in
 * command buffers of grinterop.
 */
#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "lib/sync/submit.h"
#include "vk/sync/barrier.h"
#include "vk/device/error.h"
#include "vk/sync/recording.h"
#include "vk/sync/submit_waits.h"

/* A submit in progress. */
struct making {
    gr_submit *submit;
    gr_vk_submit_desc desc;
    gr_vk_device *device;
    struct vk_handover first, last; /* valid if `desc` has them */
    struct vk_recording *recording; /* NULL if there are no barriers */
    const char *call;
};

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Returns the next Vulkan resource of the submit. */
static const struct vk_resource *next_resource(gr_submit *submit, size_t *place)
{
    const gr_resource *resource;
    while ((resource = gr_submit_next(submit, place)))
        if (vk_resource_of(resource))
            return vk_resource_of(resource);
    return NULL;
}

static gr_status find_device(struct making *m)
{
    size_t place = 0;
    const struct vk_resource *r = next_resource(m->submit, &place);
    if (!r)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "The submit has no Vulkan resources: there is nothing to submit to Vulkan.");
    m->device = r->binding.device;
    while ((r = next_resource(m->submit, &place)))
        if (r->binding.device->device != m->device->device)
            return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                           "The submit's resources belong to different VkDevices: begin a submit "
                           "for each device.");
    if (!m->desc.queue)
        m->desc.queue = m->device->queue;
    return m->desc.queue ? GR_OK
                         : gr_fail(GR_ERR_INVALID_VALUE, m->call,
                                   "There is no queue: set `queue`, here or in gr_vk_device_desc.");
}

static gr_status take_handover(struct making *m, struct vk_handover *way, const gr_vk_use *use,
                               const char *name)
{
    size_t place = 0;
    const struct vk_resource *r;
    GR_TRY(vk_handover_init(way, m->device, use, name, m->call));
    for (size_t i = 0; (r = next_resource(m->submit, &place)); i++)
        GR_TRY(vk_handover_check(way, r, i, m->call));
    return GR_OK;
}

static gr_status take_handovers(struct making *m)
{
    m->last.to_cuda = true;
    if (m->desc.first)
        GR_TRY(take_handover(m, &m->first, m->desc.first, "first"));
    if (m->desc.last)
        GR_TRY(take_handover(m, &m->last, m->desc.last, "last"));
    if (m->desc.first && m->desc.last && m->first.family != m->last.family)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "`first` names the queue family %u, but `last` names %u: a submit uses one "
                       "queue, so name the same family in both.",
                       m->first.family, m->last.family);
    return GR_OK;
}

static gr_status check(struct making *m, const gr_vk_submit_desc *given)
{
    GR_TRY(gr_submit_check_begun(m->submit, m->call));
    if (!given)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "`desc` is NULL: describe the submit, by GR_INIT(gr_vk_submit_desc).");
    GR_TRY(GR_TAKE(gr_vk_submit_desc, &m->desc, given, m->call));
    GR_TRY(find_device(m));
    return take_handovers(m);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static void record_all(struct making *m, const struct vk_handover *way, VkCommandBuffer commands)
{
    const struct vk_resource *list[VK_BARRIERS_AT_ONCE], *r;
    size_t count = 0, place = 0;
    while ((r = next_resource(m->submit, &place))) {
        list[count++] = r;
        if (count < VK_BARRIERS_AT_ONCE)
            continue;
        vk_handover_record(way, commands, list, count);
        count = 0;
    }
    if (count)
        vk_handover_record(way, commands, list, count);
}

static gr_status record(struct making *m, const struct vk_handover *way, VkCommandBuffer commands)
{
    const struct vk_functions *vk = &m->device->vk;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = vk->vkBeginCommandBuffer(commands, &info);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkBeginCommandBuffer", "The barriers could not be recorded.");
    record_all(m, way, commands);
    result = vk->vkEndCommandBuffer(commands);
    return result == VK_SUCCESS
               ? GR_OK
               : vk_fail(result, "vkEndCommandBuffer", "The barriers could not be recorded.");
}

static gr_status record_barriers(struct making *m)
{
    if (!m->desc.first && !m->desc.last)
        return GR_OK;
    uint32_t family = m->desc.first ? m->first.family : m->last.family;
    GR_TRY(vk_recording_acquire(m->device, family, &m->recording, m->call));
    if (m->desc.first)
        GR_TRY(record(m, &m->first, m->recording->first));
    return m->desc.last ? record(m, &m->last, m->recording->last) : GR_OK;
}

/* ---- Submit ---------------------------------------------------------------------------------- */

static gr_status submit_to_queue(struct making *m)
{
    const struct vk_functions *vk = &m->device->vk;
    const struct vk_recording *r = m->recording;
    const bool is_new = m->device->synchronization2;
    const struct vk_submit_extra extra = {
        .device = m->device,
        .stages = m->desc.first ? m->first.use.stages : 0,
        .first = m->desc.first ? r->first : NULL,
        .last = m->desc.last ? r->last : NULL,
        .done = r ? r->done : VK_NULL_HANDLE,
        .value = r ? r->value + 1 : 0,
    };
    struct vk_submit_info made;
    GR_TRY(vk_submit_info_make(&made, m->submit, m->desc.info, &extra, m->call));
    VkResult result = is_new ? vk->vkQueueSubmit2(m->desc.queue, 1, &made.info, m->desc.fence)
                             : vk->vkQueueSubmit(m->desc.queue, 1, &made.old, m->desc.fence);
    return result == VK_SUCCESS ? GR_OK
                                : vk_fail(result, is_new ? "vkQueueSubmit2" : "vkQueueSubmit",
                                          "Vulkan refused the submit, and nothing was submitted: "
                                          "free the submit, or try again.");
}

gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc)
{
    struct making m = {.submit = submit, .call = __func__};
    gr_status status = check(&m, desc);
    if (status == GR_OK)
        status = record_barriers(&m);
    if (status == GR_OK)
        status = submit_to_queue(&m);
    if (m.recording)
        vk_recording_release(m.device, m.recording, status == GR_OK);
    return status == GR_OK ? gr_submit_commit(submit) : status;
}
