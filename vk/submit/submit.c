/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds the waits and signals for CUDA to the application's VkSubmitInfo2 or VkSubmitInfo, and
 * submits it with barriers in command buffers of grinterop.
 */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/resource/resource.h"

/* ---- The application's VkSubmitInfo2 --------------------------------------------------------- */

static gr_status take_info(struct vk_submit *m, const VkSubmitInfo2 *info)
{
    static const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info = info ? info : &nothing;
    m->info = info;
    GR_REFUSE_IF(info->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                 "The sType of VkSubmitInfo2 is %d: set it to VK_STRUCTURE_TYPE_SUBMIT_INFO_2.",
                 info->sType);
    const char *missing =
        info->waitSemaphoreInfoCount && !info->pWaitSemaphoreInfos       ? "pWaitSemaphoreInfos"
        : info->signalSemaphoreInfoCount && !info->pSignalSemaphoreInfos ? "pSignalSemaphoreInfos"
        : info->commandBufferInfoCount && !info->pCommandBufferInfos     ? "pCommandBufferInfos"
                                                                         : NULL;
    GR_REFUSE_IF(missing, "%s of VkSubmitInfo2 is NULL, but its count is not 0.", missing);
    return GR_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define POINT_BYTES                                                                                \
    (sizeof(VkSemaphoreSubmitInfo) + sizeof(uint64_t) + sizeof(VkSemaphore) +                      \
     sizeof(VkPipelineStageFlags))
#define BUFFER_BYTES   (sizeof(VkCommandBufferSubmitInfo) + sizeof(VkCommandBuffer))
#define RESOURCE_BYTES (sizeof(gr_resource *) + 2 * sizeof(struct vk_handover *))

/*
 * Reserves memory for all arrays. The structs with larger alignment come first. Besides the
 * application's, there are two command buffers and one signal. The lists of a converted `v1` follow
 * those of the submit.
 */
static gr_status make_arrays(struct vk_submit *m, const VkSubmitInfo *v1)
{
    const size_t own_points =
        (size_t)m->info->waitSemaphoreInfoCount + m->info->signalSemaphoreInfoCount;
    const size_t own_buffers = m->info->commandBufferInfoCount, buffers = own_buffers + 2;
    const size_t points = own_points + m->submit->wait_count + m->submit->signal_count + 1;
    const size_t count = m->list.count, ways = 2 + 2 * m->desc.use_count;
    GR_REFUSE_IF(m->desc.use_count > count,
                 "`use_count` is %zu, but the submit has only %zu resource%s.", m->desc.use_count,
                 count, gr_s(count));
    m->points = gr_submit_scratch(
        m->submit, sizeof(*m->v1_values) + points * POINT_BYTES + buffers * BUFFER_BYTES +
                       own_points * sizeof(*m->points) + own_buffers * sizeof(*m->buffers) +
                       count * RESOURCE_BYTES + ways * sizeof(*m->ways));
    if (!m->points)
        return GR_ERR_NO_MEMORY;
    m->buffers = (VkCommandBufferSubmitInfo *)(m->points + points + own_points);
    m->v1_values = (VkTimelineSemaphoreSubmitInfo *)(m->buffers + buffers + own_buffers);
    m->ways = (struct vk_handover *)(m->v1_values + 1);
    m->values = (uint64_t *)(m->ways + ways);
    m->semaphores = (VkSemaphore *)(m->values + points);
    m->handles = (VkCommandBuffer *)(m->semaphores + points);
    m->resources = (struct vk_resource **)(m->handles + buffers);
    m->first_of = (const struct vk_handover **)(m->resources + count);
    m->last_of = m->first_of + count;
    m->wait_stages = (VkPipelineStageFlags *)(m->last_of + count);
    if (v1)
        vk_submit_convert_v1(m, v1, m->points + points, m->buffers + buffers);
    return GR_OK;
}

/*
 * Begins with the struct of the application, which is `info` unless there is `v1`, and with the
 * Vulkan resources of the submit.
 */
static gr_status begin(struct vk_submit *m, const VkSubmitInfo2 *info, const VkSubmitInfo *v1)
{
    GR_TRY(v1 ? vk_submit_check_v1(m, v1) : take_info(m, info));
    GR_TRY(make_arrays(m, v1));
    for (size_t i = 0; i < m->list.count; i++) {
        m->resources[m->resource_count] = vk_resource_of(m->list.at[i]);
        m->resource_count += m->resources[m->resource_count] != NULL;
    }
    m->device = m->resource_count ? m->resources[0]->binding.device : NULL;
    return GR_OK;
}

/* ---- A submit by the application ------------------------------------------------------------- */

/* Checks and adds what the application submits itself: `info` unless there is `v1`. */
static gr_status fill(struct vk_submit *m, const void *out, const VkSubmitInfo2 *info,
                      const VkSubmitInfo *v1)
{
    GR_TRY(gr_submit_check_begun(m->submit, &m->list));
    GR_REFUSE_IF(!out, "`out` is NULL: pass a pointer for the %s.",
                 v1 ? "VkSubmitInfo" : "VkSubmitInfo2");
    GR_TRY(begin(m, info, v1));
    GR_TRY(vk_submit_check_points(m));
    for (size_t i = 0; i < m->resource_count; i++)
        GR_TRY(gr_submit_refuse_in_flight(&m->resources[i]->external.base));
    vk_submit_add(m);
    gr_submit_filled(m->submit);
    return GR_OK;
}

gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                            VkPipelineStageFlags2 stages, VkSubmitInfo2 *out)
{
    GR_CALL();
    struct vk_submit m = {.submit = submit, .stages = stages};
    GR_TRY(fill(&m, out, info, NULL));
    *out = m.made;
    return GR_OK;
}

gr_status gr_vk_submit_fill_v1(gr_submit *submit, const VkSubmitInfo *info,
                               VkPipelineStageFlags stages, VkSubmitInfo *out)
{
    GR_CALL();
    static const VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    struct vk_submit m = {.submit = submit, .stages = stages};
    GR_TRY(fill(&m, out, NULL, info ? info : &nothing));
    vk_submit_make_v1(&m);
    *out = m.v1;
    return GR_OK;
}

/* ---- gr_vk_submit() -------------------------------------------------------------------------- */

static gr_status check(struct vk_submit *m, const gr_vk_submit_desc *given)
{
    GR_TRY(gr_submit_check_begun(m->submit, &m->list));
    GR_REFUSE_IF(!given, "`desc` is NULL: describe the submit, by GR_INIT(gr_vk_submit_desc).");
    GR_TRY(GR_TAKE(gr_vk_submit_desc, &m->desc, given));
    GR_REFUSE_IF(m->desc.info && m->desc.info_v1,
                 "`info` and `info_v1` are both set: the submit is one of the two.");
    GR_TRY(begin(m, m->desc.info, m->desc.info_v1));
    GR_REFUSE_IF(!m->device,
                 "The submit has no Vulkan resources: there is nothing to submit to Vulkan.");
    for (size_t i = 1; i < m->resource_count; i++)
        GR_REFUSE_IF(m->resources[i]->binding.device->device != m->device->device,
                     "The submit's resources belong to different VkDevices: begin a submit for "
                     "each device.");
    if (!m->desc.queue)
        m->desc.queue = m->device->queue;
    GR_REFUSE_IF(!m->desc.queue,
                 "There is no queue: set `queue` in gr_vk_device_desc or in the submit.");
    GR_TRY(vk_submit_check_points(m));
    GR_TRY(vk_submit_take_uses(m));
    m->is_v1 |= !m->device->synchronization2;
    return m->is_v1 ? vk_submit_check_old(m->info) : GR_OK;
}

static gr_status submit_to_queue(struct vk_submit *m)
{
    const struct vk_functions *vk = &m->device->vk;
    vk_submit_add(m);
    if (m->is_v1)
        vk_submit_make_v1(m);
    VkResult result = m->is_v1 ? vk->vkQueueSubmit(m->desc.queue, 1, &m->v1, m->desc.fence)
                               : vk->vkQueueSubmit2(m->desc.queue, 1, &m->made, m->desc.fence);
    return result == VK_SUCCESS ? GR_OK
                                : vk_fail(result, m->is_v1 ? "vkQueueSubmit" : "vkQueueSubmit2",
                                          "Vulkan refused the submit, and nothing was submitted: "
                                          "free the submit, or try again.");
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
    if (status != GR_OK)
        return status;
    GR_TRY(gr_submit_settle_all(m->submit));
    vk_submit_note_uses(m);
    return GR_OK;
}

gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc)
{
    GR_CALL();
    struct vk_submit m = {.submit = submit};
    return submit_all(&m, desc);
}

static gr_status submit_once(gr_resource *const resources[], size_t n,
                             const gr_vk_submit_desc *desc, bool hands_over)
{
    GR_AUTO(gr_submit) *submit = gr_submit_start(resources, n);
    struct vk_submit m = {.submit = submit, .hands_over = hands_over};
    return submit ? submit_all(&m, desc) : gr_error_set_call();
}

gr_status gr_vk_submit_commands(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                                VkPipelineStageFlags2 stages, VkAccessFlags2 access,
                                VkImageLayout layout)
{
    GR_CALL();
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = stages, .access = access, .layout = layout);
    const VkCommandBufferSubmitInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = commands != VK_NULL_HANDLE,
                                .pCommandBufferInfos = &one};
    return submit_once(resources, n,
                       &GR_INIT(gr_vk_submit_desc, .info = &info, .first = &use, .last = &use),
                       false);
}

gr_status gr_vk_hand_over(gr_resource *const resources[], size_t n, VkImageLayout layout)
{
    GR_CALL();
    const gr_vk_use last = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .access = VK_ACCESS_2_MEMORY_WRITE_BIT, .layout = layout);
    return submit_once(resources, n, &GR_INIT(gr_vk_submit_desc, .last = &last), true);
}
