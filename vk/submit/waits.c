/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The waits, signals and command buffers that a submit gets besides those of the application. */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "vk/copy/copy.h"

static gr_status check_semaphores(gr_semaphore *const list[], size_t n, const char *call)
{
    char text[160];
    for (size_t i = 0; i < n; i++) {
        if (gr_vk_semaphore(list[i]))
            continue;
        gr_semaphore_describe(list[i], text, sizeof(text));
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The submit has a semaphore that does not come from Vulkan: %s. Begin a submit of "
            "Vulkan resources, or make the semaphore by gr_semaphore_from_vk().",
            text);
    }
    return GR_OK;
}

/* Checks the semaphores of the submit itself. */
gr_status vk_submit_check_points(const struct vk_submit *m)
{
    GR_TRY(check_semaphores(m->submit->waits, m->submit->wait_count, m->call));
    return check_semaphores(m->submit->signals, m->submit->signal_count, m->call);
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

/* The stages that wait for CUDA, including those of copies. */
static VkPipelineStageFlags2 waiting_stages(const struct vk_submit *m)
{
    for (size_t i = 0; m->stages && i < m->resource_count; i++)
        if (vk_copy_of(gr_external_of(m->resources[i])))
            return m->stages | VK_PIPELINE_STAGE_2_TRANSFER_BIT;
    return m->stages;
}

/* Whether copies to resources come before the commands of the application. */
static bool copies_first(const struct vk_submit *m)
{
    for (size_t i = 0; m->has_first && i < m->resource_count; i++)
        if (m->first_of[i] && vk_copy_of(gr_external_of(m->resources[i])))
            return true;
    return false;
}

/* Returns the value of a semaphore in lists that may be shorter or NULL: those of binary ones. */
static uint64_t value_at(const uint64_t values[], uint32_t count, uint32_t i)
{
    return values && i < count ? values[i] : 0;
}

/* Returns wait or signal i of the application. */
static VkSemaphoreSubmitInfo own_wait(const struct vk_submit *m, uint32_t i)
{
    const VkTimelineSemaphoreSubmitInfo *v = m->v1_values;
    if (!m->v1)
        return m->info->pWaitSemaphoreInfos[i];
    return point(m->v1->pWaitSemaphores[i],
                 v ? value_at(v->pWaitSemaphoreValues, v->waitSemaphoreValueCount, i) : 0,
                 m->v1->pWaitDstStageMask[i]);
}

static VkSemaphoreSubmitInfo own_signal(const struct vk_submit *m, uint32_t i)
{
    const VkTimelineSemaphoreSubmitInfo *v = m->v1_values;
    if (!m->v1)
        return m->info->pSignalSemaphoreInfos[i];
    return point(m->v1->pSignalSemaphores[i],
                 v ? value_at(v->pSignalSemaphoreValues, v->signalSemaphoreValueCount, i) : 0, 0);
}

static void add_points(struct vk_submit *m)
{
    const VkPipelineStageFlags2 stages = waiting_stages(m);
    /* copies would otherwise run before a wait at a later stage, such as that for a swapchain image
     */
    const VkPipelineStageFlags2 also = copies_first(m) ? VK_PIPELINE_STAGE_2_TRANSFER_BIT : 0;
    const VkSubmitInfo2 *info = m->info;
    const gr_submit *submit = m->submit;
    VkSemaphoreSubmitInfo *p = m->points;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++) {
        *p = own_wait(m, i);
        p++->stageMask |= also;
    }
    for (size_t i = 0; i < submit->wait_count; i++)
        *p++ = point(gr_vk_semaphore(submit->waits[i]), submit->wait_values[i], stages);
    m->made.pWaitSemaphoreInfos = m->points;
    m->made.pSignalSemaphoreInfos = p;
    m->made.waitSemaphoreInfoCount = (uint32_t)(p - m->points);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        *p++ = own_signal(m, i);
    for (size_t i = 0; i < submit->signal_count; i++)
        *p++ = point(gr_vk_semaphore(submit->signals[i]), submit->signal_values[i], 0);
    if (m->recording)
        *p++ = point(m->recording->done, m->recording->value + 1, 0);
    m->made.signalSemaphoreInfoCount = (uint32_t)(p - m->made.pSignalSemaphoreInfos);
}

static void add_buffer(struct vk_submit *m, VkCommandBuffer buffer)
{
    m->buffers[m->made.commandBufferInfoCount++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
}

static void add_buffers(struct vk_submit *m)
{
    m->made.commandBufferInfoCount = 0;
    m->made.pCommandBufferInfos = m->buffers;
    if (m->has_first)
        add_buffer(m, m->recording->first);
    for (uint32_t i = 0; i < m->info->commandBufferInfoCount; i++)
        if (m->v1)
            add_buffer(m, m->v1->pCommandBuffers[i]);
        else
            m->buffers[m->made.commandBufferInfoCount++] = m->info->pCommandBufferInfos[i];
    if (m->has_last)
        add_buffer(m, m->recording->last);
}

/* Copies the application's struct to m->made, with further waits, commands and signals. */
void vk_submit_add(struct vk_submit *m)
{
    m->made = *m->info;
    add_buffers(m);
    add_points(m);
}
