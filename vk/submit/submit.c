/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds the waits and signals for CUDA to the application's VkSubmitInfo2 or VkSubmitInfo, and
 * submits it with barriers in command buffers of grinterop.
 */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/copy/copy.h"
#include "vk/resource/resource.h"

/* ---- The application's VkSubmitInfo2 --------------------------------------------------------- */

/* Refuses NULL lists, which Vulkan would dereference. */
static gr_status check_lists(const VkSubmitInfo2 *info, const char *call)
{
    const char *missing = info->waitSemaphoreInfoCount && !info->pWaitSemaphoreInfos ? "Wait"
                          : info->signalSemaphoreInfoCount && !info->pSignalSemaphoreInfos
                              ? "Signal"
                              : NULL;
    GR_REFUSE_IF(missing, call,
                 "p%sSemaphoreInfos of VkSubmitInfo2 is NULL, but its count is not 0.", missing);
    GR_REFUSE_IF(info->commandBufferInfoCount && !info->pCommandBufferInfos, call,
                 "pCommandBufferInfos of VkSubmitInfo2 is NULL, but its count is not 0.");
    return GR_OK;
}

static gr_status take_info(struct vk_submit *m, const VkSubmitInfo2 *info)
{
    static const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    m->info = info ? info : &nothing;
    GR_REFUSE_IF(m->info->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO_2, m->call,
                 "The sType of VkSubmitInfo2 is %d: set it to VK_STRUCTURE_TYPE_SUBMIT_INFO_2.",
                 info->sType);
    return check_lists(m->info, m->call);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define POINT_BYTES                                                                                \
    (sizeof(VkSemaphoreSubmitInfo) + sizeof(uint64_t) + sizeof(VkSemaphore) +                      \
     sizeof(VkPipelineStageFlags))
#define BUFFER_BYTES   (sizeof(VkCommandBufferSubmitInfo) + sizeof(VkCommandBuffer))
#define RESOURCE_BYTES (sizeof(gr_resource *) + 2 * sizeof(struct vk_handover *))

/* Returns the next Vulkan resource of the submit. */
static gr_resource *next_resource(gr_submit *submit, size_t *place)
{
    const gr_resource *resource;
    while ((resource = gr_submit_next(submit, place)))
        if (vk_resource_of(resource))
            return &vk_resource_of(resource)->external.base;
    return NULL;
}

/*
 * Reserves memory for all arrays, and fills `resources`. The structs with larger alignment come
 * first. Besides the application's, there are two command buffers and one signal.
 */
static gr_status make_arrays(struct vk_submit *m)
{
    const size_t buffers = m->info->commandBufferInfoCount + 2;
    const size_t points = m->info->waitSemaphoreInfoCount + m->submit->wait_count +
                          m->info->signalSemaphoreInfoCount + m->submit->signal_count + 1;
    const size_t count = gr_submit_size(m->submit), ways = 2 + 2 * m->desc.use_count;
    GR_REFUSE_IF(m->desc.use_count > count, m->call,
                 "`use_count` is %zu, but the submit has only %zu resource%s.", m->desc.use_count,
                 count, gr_s(count));
    m->points =
        gr_submit_scratch(m->submit,
                          sizeof(*m->old_values) + points * POINT_BYTES + buffers * BUFFER_BYTES +
                              count * RESOURCE_BYTES + ways * sizeof(*m->ways),
                          m->call);
    if (!m->points)
        return GR_ERR_NO_MEMORY;
    m->buffers = (VkCommandBufferSubmitInfo *)(m->points + points);
    m->old_values = (VkTimelineSemaphoreSubmitInfo *)(m->buffers + buffers);
    m->ways = (struct vk_handover *)(m->old_values + 1);
    m->values = (uint64_t *)(m->ways + ways);
    m->semaphores = (VkSemaphore *)(m->values + points);
    m->handles = (VkCommandBuffer *)(m->semaphores + points);
    m->resources = (gr_resource **)(m->handles + buffers);
    m->first_of = (const struct vk_handover **)(m->resources + count);
    m->last_of = m->first_of + count;
    m->wait_stages = (VkPipelineStageFlags *)(m->last_of + count);
    size_t place = 0;
    for (gr_resource *resource; (resource = next_resource(m->submit, &place));)
        m->resources[m->resource_count++] = resource;
    return GR_OK;
}

/* ---- A submit by the application ------------------------------------------------------------- */

/* Checks the resources of a submit by the application. */
static gr_status check_filled(const struct vk_submit *m)
{
    for (size_t i = 0; i < m->resource_count; i++)
        GR_TRY(gr_submit_refuse_in_flight(m->resources[i], m->call));
    return GR_OK;
}

gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                            VkPipelineStageFlags2 stages, VkSubmitInfo2 *out)
{
    struct vk_submit m = {.submit = submit, .call = __func__, .stages = stages};
    GR_TRY(gr_submit_check_begun(submit, m.call));
    GR_REFUSE_IF(!out, m.call, "`out` is NULL: pass a pointer for the VkSubmitInfo2.");
    GR_TRY(take_info(&m, info));
    GR_TRY(vk_submit_check_points(&m));
    GR_TRY(make_arrays(&m));
    GR_TRY(check_filled(&m));
    vk_submit_add(&m);
    gr_submit_filled(submit);
    *out = m.made;
    return GR_OK;
}

gr_status gr_vk_submit_fill_v1(gr_submit *submit, const VkSubmitInfo *info,
                               VkPipelineStageFlags stages, VkSubmitInfo *out)
{
    struct vk_submit m = {.submit = submit, .call = __func__, .stages = stages};
    GR_TRY(gr_submit_check_begun(submit, m.call));
    GR_REFUSE_IF(!out, m.call, "`out` is NULL: pass a pointer for the VkSubmitInfo.");
    GR_TRY(vk_submit_take_v1(&m, info));
    GR_TRY(vk_submit_check_points(&m));
    GR_TRY(make_arrays(&m));
    GR_TRY(check_filled(&m));
    m.device = m.resource_count ? vk_resource_of(m.resources[0])->binding.device : NULL;
    vk_submit_add(&m);
    vk_submit_translate(&m);
    gr_submit_filled(submit);
    *out = m.old;
    return GR_OK;
}

/* ---- gr_vk_submit() -------------------------------------------------------------------------- */

static gr_status find_device(struct vk_submit *m)
{
    GR_REFUSE_IF(!m->resource_count, m->call,
                 "The submit has no Vulkan resources: there is nothing to submit to Vulkan.");
    m->device = vk_resource_of(m->resources[0])->binding.device;
    for (size_t i = 1; i < m->resource_count; i++)
        GR_REFUSE_IF(vk_resource_of(m->resources[i])->binding.device->device != m->device->device,
                     m->call,
                     "The submit's resources belong to different VkDevices: begin a submit for "
                     "each device.");
    if (!m->desc.queue)
        m->desc.queue = m->device->queue;
    return m->desc.queue
               ? GR_OK
               : gr_fail(GR_ERR_INVALID_VALUE, m->call,
                         "There is no queue: set `queue` in gr_vk_device_desc or in the submit.");
}

static gr_status check(struct vk_submit *m, const gr_vk_submit_desc *given)
{
    GR_TRY(gr_submit_check_begun(m->submit, m->call));
    GR_REFUSE_IF(!given, m->call,
                 "`desc` is NULL: describe the submit, by GR_INIT(gr_vk_submit_desc).");
    GR_TRY(GR_TAKE(gr_vk_submit_desc, &m->desc, given, m->call));
    GR_REFUSE_IF(m->desc.info && m->desc.info_v1, m->call,
                 "`info` and `info_v1` are both set: the submit is one of the two.");
    GR_TRY(m->desc.info_v1 ? vk_submit_take_v1(m, m->desc.info_v1) : take_info(m, m->desc.info));
    GR_TRY(make_arrays(m));
    GR_TRY(find_device(m));
    GR_TRY(vk_submit_check_points(m));
    GR_TRY(vk_submit_take_uses(m));
    return m->device->synchronization2 || m->v1 ? GR_OK : vk_submit_check_old(m->info, m->call);
}

static gr_status submit_to_queue(struct vk_submit *m)
{
    const struct vk_functions *vk = &m->device->vk;
    const bool is_new = m->device->synchronization2 && !m->v1;
    vk_submit_add(m);
    if (!is_new)
        vk_submit_translate(m);
    VkResult result = is_new ? vk->vkQueueSubmit2(m->desc.queue, 1, &m->made, m->desc.fence)
                             : vk->vkQueueSubmit(m->desc.queue, 1, &m->old, m->desc.fence);
    return result == VK_SUCCESS ? GR_OK
                                : vk_fail(result, is_new ? "vkQueueSubmit2" : "vkQueueSubmit",
                                          "Vulkan refused the submit, and nothing was submitted: "
                                          "free the submit, or try again.");
}

/* Commits the submit, and notes who has each resource now. */
static gr_status commit(const struct vk_submit *m)
{
    GR_TRY(gr_submit_settle_all(m->submit, m->call));
    for (size_t i = 0; i < m->resource_count; i++) {
        m->resources[i]->sync.held_by = m->last_of[i] || vk_submit_has_own_barriers(m, i)
                                            ? GR_HELD_BY_CUDA
                                            : GR_HELD_BY_GRAPHICS;
        if (m->resources[i]->sync.turns)
            vk_copy_note_submit(gr_external_of(m->resources[i]), m->first_of[i], m->last_of[i]);
    }
    return GR_OK;
}

static gr_status submit_all(struct vk_submit *m, const gr_vk_submit_desc *desc)
{
    gr_status status = check(m, desc);
    if (status == GR_OK)
        status = vk_submit_record(m);
    if (status == GR_OK)
        status = submit_to_queue(m);
    if (m->recording)
        vk_recording_release(m->device, m->recording, status == GR_OK);
    return status == GR_OK ? commit(m) : status;
}

gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc)
{
    struct vk_submit m = {.submit = submit, .call = __func__};
    return submit_all(&m, desc);
}

gr_status gr_vk_hand_over(gr_resource *const resources[], size_t n, VkImageLayout layout)
{
    const gr_vk_use last = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .access = VK_ACCESS_2_MEMORY_WRITE_BIT, .layout = layout);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(resources, n);
    struct vk_submit m = {.submit = submit, .call = __func__, .hands_over = true};
    return submit ? submit_all(&m, &GR_INIT(gr_vk_submit_desc, .last = &last))
                  : gr_error_set_call(m.call);
}
