/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The waits, signals and command buffers that a submit gets besides those of the application. */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "vk/sync/sync.h"

static gr_status check_semaphores(gr_semaphore *const list[], size_t n)
{
    char text[160];
    for (size_t i = 0; i < n; i++) {
        if (vk_semaphore_of(list[i]))
            continue;
        gr_semaphore_describe(list[i], text, sizeof(text));
        return gr_fail(
            GR_ERR_INVALID_VALUE,
            "The submit has a semaphore that does not come from Vulkan: %s. Begin a submit of "
            "Vulkan resources, or make the semaphore by gr_semaphore_from_vk().",
            text);
    }
    return GR_OK;
}

gr_status vk_submit_check_points(const struct vk_submit *m)
{
    GR_TRY(check_semaphores(m->submit->waits, m->submit->wait_count));
    return check_semaphores(m->submit->signals, m->submit->signal_count);
}

static VkSemaphoreSubmitInfo point(VkSemaphore semaphore, uint64_t value,
                                   VkPipelineStageFlags2 stages)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = stages ? stages : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

/* The same for a semaphore that vk_submit_check_points() has accepted. */
static VkSemaphoreSubmitInfo point_of(const gr_semaphore *semaphore, uint64_t value,
                                      VkPipelineStageFlags2 stages)
{
    return point(((const struct vk_semaphore *)semaphore)->semaphore, value, stages);
}

static void add_buffer(struct vk_submit *m, VkCommandBuffer buffer)
{
    m->buffers[m->made.commandBufferInfoCount++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
}

void vk_submit_add(struct vk_submit *m)
{
    const VkSubmitInfo2 *info = m->info;
    const gr_submit *submit = m->submit;
    VkSemaphoreSubmitInfo *p = m->points;
    VkPipelineStageFlags2 stages = m->stages, own_stages = 0;
    for (size_t i = 0; i < m->resource_count; i++) {
        if (!vk_is_copied(&m->resources[i]->binding))
            continue;
        if (stages)
            stages |= VK_PIPELINE_STAGE_2_TRANSFER_BIT;
        /* the copy would run before a wait at a later stage, such as that for a swapchain image */
        if (m->has_first && m->first_of[i])
            own_stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT;
    }
    m->made = *info;
    m->made.commandBufferInfoCount = 0;
    m->made.pCommandBufferInfos = m->buffers;
    if (m->has_first)
        add_buffer(m, m->recording->first);
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        m->buffers[m->made.commandBufferInfoCount++] = info->pCommandBufferInfos[i];
    if (m->has_last)
        add_buffer(m, m->recording->last);
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++) {
        *p = info->pWaitSemaphoreInfos[i];
        p++->stageMask |= own_stages;
    }
    for (size_t i = 0; i < submit->wait_count; i++)
        *p++ = point_of(submit->waits[i], submit->wait_values[i], stages);
    m->made.pWaitSemaphoreInfos = m->points;
    m->made.pSignalSemaphoreInfos = p;
    m->made.waitSemaphoreInfoCount = (uint32_t)(p - m->points);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        *p++ = info->pSignalSemaphoreInfos[i];
    for (size_t i = 0; i < submit->signal_count; i++)
        *p++ = point_of(submit->signals[i], submit->signal_values[i], 0);
    if (m->recording)
        *p++ = point(m->recording->done, m->recording->value + 1, 0);
    m->made.signalSemaphoreInfoCount = (uint32_t)(p - m->made.pSignalSemaphoreInfos);
}
