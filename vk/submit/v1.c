/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The VkSubmitInfo of vkQueueSubmit, which the application passes or which a submit becomes. */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "vk/memory/memory.h"

/* ---- The application's VkSubmitInfo ---------------------------------------------------------- */

/*
 * Finds the values of timelines, which are first in the chain, so that others can replace them.
 * Refuses structs whose counts must be those of the submit, because the submit gets further waits,
 * commands and signals.
 */
static gr_status take_v1_values(struct vk_submit *m)
{
    const VkBaseInStructure *next = m->v1->pNext;
    if (next && next->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
        m->v1_values = (const VkTimelineSemaphoreSubmitInfo *)next;
        next = next->pNext;
    }
    m->counts.pNext = next;
    if (vk_chain_find(next, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO))
        return gr_fail(GR_ERR_UNSUPPORTED, m->call,
                       "The VkTimelineSemaphoreSubmitInfo must be the first struct in the pNext "
                       "chain of VkSubmitInfo.");
    const bool of_group = vk_chain_find(next, VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO);
    if (of_group || vk_chain_find(next, VK_STRUCTURE_TYPE_D3D12_FENCE_SUBMIT_INFO_KHR))
        return gr_fail(GR_ERR_UNSUPPORTED, m->call,
                       "A %s has an entry for each semaphore of the submit, and grinterop adds "
                       "semaphores: pass a VkSubmitInfo2, or submit without this struct.",
                       of_group ? "VkDeviceGroupSubmitInfo" : "VkD3D12FenceSubmitInfoKHR");
    return GR_OK;
}

gr_status vk_submit_take_v1(struct vk_submit *m, const VkSubmitInfo *v1)
{
    static const VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    m->v1 = v1 ? v1 : &nothing;
    m->counts = (VkSubmitInfo2){
        .waitSemaphoreInfoCount = m->v1->waitSemaphoreCount,
        .signalSemaphoreInfoCount = m->v1->signalSemaphoreCount,
        .commandBufferInfoCount = m->v1->commandBufferCount,
    };
    m->info = &m->counts;
    GR_REFUSE_IF(m->v1->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO, m->call,
                 "The sType of VkSubmitInfo is %d: set it to VK_STRUCTURE_TYPE_SUBMIT_INFO.",
                 m->v1->sType);
    const char *missing =
        m->v1->waitSemaphoreCount && (!m->v1->pWaitSemaphores || !m->v1->pWaitDstStageMask)
            ? "pWaitSemaphores or pWaitDstStageMask"
        : m->v1->signalSemaphoreCount && !m->v1->pSignalSemaphores ? "pSignalSemaphores"
        : m->v1->commandBufferCount && !m->v1->pCommandBuffers     ? "pCommandBuffers"
                                                                   : NULL;
    GR_REFUSE_IF(missing, m->call, "%s of VkSubmitInfo is NULL, but its count is not 0.", missing);
    return take_v1_values(m);
}

/* ---- vkQueueSubmit --------------------------------------------------------------------------- */

static gr_status refuse_old(const char *what, const char *call)
{
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "Without synchronization2 the submit uses vkQueueSubmit, which cannot express "
                   "%s: enable the feature, and set synchronization2 in gr_vk_device_desc.",
                   what);
}

static gr_status check_old_points(const VkSemaphoreSubmitInfo points[], uint32_t n, bool wait,
                                  const char *call)
{
    for (uint32_t i = 0; i < n; i++) {
        if (wait && points[i].stageMask >> 32)
            return refuse_old("wait stages over 32 bits", call);
        if (points[i].pNext || points[i].deviceIndex)
            return refuse_old("the pNext or deviceIndex of a VkSemaphoreSubmitInfo", call);
    }
    return GR_OK;
}

gr_status vk_submit_check_old(const VkSubmitInfo2 *info, const char *call)
{
    if (info->flags)
        return refuse_old("the flags of VkSubmitInfo2", call);
    GR_TRY(check_old_points(info->pWaitSemaphoreInfos, info->waitSemaphoreInfoCount, true, call));
    GR_TRY(
        check_old_points(info->pSignalSemaphoreInfos, info->signalSemaphoreInfoCount, false, call));
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        if (info->pCommandBufferInfos[i].pNext || info->pCommandBufferInfos[i].deviceMask > 1)
            return refuse_old("the pNext or deviceMask of a VkCommandBufferSubmitInfo", call);
    return GR_OK;
}

/*
 * Converts to the struct of vkQueueSubmit, which signals after all commands, and so possibly later
 * than requested.
 */
void vk_submit_translate(struct vk_submit *m)
{
    const VkSubmitInfo2 *info = &m->made;
    const uint32_t waits = info->waitSemaphoreInfoCount, signals = info->signalSemaphoreInfoCount;
    for (uint32_t i = 0; i < waits + signals; i++) {
        m->semaphores[i] = m->points[i].semaphore;
        m->values[i] = m->points[i].value;
        m->wait_stages[i] = m->points[i].stageMask >> 32 ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
                            : m->points[i].stageMask ? (VkPipelineStageFlags)m->points[i].stageMask
                                                     : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
    }
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        m->handles[i] = m->buffers[i].commandBuffer;
    *m->old_values = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .pNext = info->pNext,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = m->values,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = m->values + waits,
    };
    m->old = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = !m->device || m->device->has_timeline ? m->old_values : info->pNext,
        .waitSemaphoreCount = waits,
        .pWaitSemaphores = m->semaphores,
        .pWaitDstStageMask = m->wait_stages,
        .commandBufferCount = info->commandBufferInfoCount,
        .pCommandBuffers = m->handles,
        .signalSemaphoreCount = signals,
        .pSignalSemaphores = m->semaphores + waits,
    };
}
