/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The VkSubmitInfo of vkQueueSubmit, which the application passes or which a submit becomes. */
#include "vk/submit/submit.h"

#include "lib/base/error.h"
#include "vk/memory/memory.h"

/* ---- The application's VkSubmitInfo ---------------------------------------------------------- */

/* The values of timelines, which are first in the chain, so that others can replace them. */
static const VkTimelineSemaphoreSubmitInfo *values_of(const VkSubmitInfo *v1)
{
    const VkBaseInStructure *first = v1->pNext;
    return first && first->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO
               ? (const VkTimelineSemaphoreSubmitInfo *)first
               : NULL;
}

gr_status vk_submit_check_v1(struct vk_submit *m, const VkSubmitInfo *v1)
{
    GR_REFUSE_IF(v1->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO,
                 "The sType of VkSubmitInfo is %d: set it to VK_STRUCTURE_TYPE_SUBMIT_INFO.",
                 v1->sType);
    const char *missing = v1->waitSemaphoreCount && (!v1->pWaitSemaphores || !v1->pWaitDstStageMask)
                              ? "pWaitSemaphores or pWaitDstStageMask"
                          : v1->signalSemaphoreCount && !v1->pSignalSemaphores ? "pSignalSemaphores"
                          : v1->commandBufferCount && !v1->pCommandBuffers     ? "pCommandBuffers"
                                                                               : NULL;
    GR_REFUSE_IF(missing, "%s of VkSubmitInfo is NULL, but its count is not 0.", missing);
    const VkTimelineSemaphoreSubmitInfo *values = values_of(v1);
    m->info = &m->converted;
    m->is_v1 = true;
    m->converted = (VkSubmitInfo2){
        .pNext = values ? values->pNext : v1->pNext,
        .waitSemaphoreInfoCount = v1->waitSemaphoreCount,
        .signalSemaphoreInfoCount = v1->signalSemaphoreCount,
        .commandBufferInfoCount = v1->commandBufferCount,
    };
    /*
     * Refuses structs whose counts must be those of the submit, because the submit gets further
     * waits, commands and signals.
     */
    const void *next = m->converted.pNext;
    if (vk_chain_find(next, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The VkTimelineSemaphoreSubmitInfo must be the first struct in the pNext "
                       "chain of VkSubmitInfo.");
    const bool of_group = vk_chain_find(next, VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO);
    if (of_group || vk_chain_find(next, VK_STRUCTURE_TYPE_D3D12_FENCE_SUBMIT_INFO_KHR))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "A %s has an entry for each semaphore of the submit, and grinterop adds "
                       "semaphores: pass a VkSubmitInfo2, or submit without this struct.",
                       of_group ? "VkDeviceGroupSubmitInfo" : "VkD3D12FenceSubmitInfoKHR");
    return GR_OK;
}

/* Lists of values may be NULL, or shorter than those of semaphores, of which the last are binary.
 */
static VkSemaphoreSubmitInfo point(VkSemaphore semaphore, VkPipelineStageFlags stages,
                                   const uint64_t values[], uint32_t count, uint32_t i)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = values && i < count ? values[i] : 0,
        .stageMask = stages ? stages : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

void vk_submit_convert_v1(struct vk_submit *m, const VkSubmitInfo *v1,
                          VkSemaphoreSubmitInfo points[], VkCommandBufferSubmitInfo buffers[])
{
    const VkTimelineSemaphoreSubmitInfo none = {.pNext = NULL}, *given = values_of(v1),
                                        *values = given ? given : &none;
    m->converted.pWaitSemaphoreInfos = points;
    for (uint32_t i = 0; i < v1->waitSemaphoreCount; i++)
        *points++ = point(v1->pWaitSemaphores[i], v1->pWaitDstStageMask[i],
                          values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, i);
    m->converted.pSignalSemaphoreInfos = points;
    for (uint32_t i = 0; i < v1->signalSemaphoreCount; i++)
        *points++ = point(v1->pSignalSemaphores[i], 0, values->pSignalSemaphoreValues,
                          values->signalSemaphoreValueCount, i);
    m->converted.pCommandBufferInfos = buffers;
    for (uint32_t i = 0; i < v1->commandBufferCount; i++)
        buffers[i] =
            (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                        .commandBuffer = v1->pCommandBuffers[i]};
}

/* ---- vkQueueSubmit --------------------------------------------------------------------------- */

static gr_status refuse_old(const char *what)
{
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "Without synchronization2 the submit uses vkQueueSubmit, which cannot express "
                   "%s: enable the feature, and set synchronization2 in gr_vk_device_desc.",
                   what);
}

static gr_status check_old_points(const VkSemaphoreSubmitInfo points[], uint32_t n, bool wait)
{
    for (uint32_t i = 0; i < n; i++) {
        if (wait && points[i].stageMask >> 32)
            return refuse_old("wait stages over 32 bits");
        if (points[i].pNext || points[i].deviceIndex)
            return refuse_old("the pNext or deviceIndex of a VkSemaphoreSubmitInfo");
    }
    return GR_OK;
}

gr_status vk_submit_check_old(const VkSubmitInfo2 *info)
{
    if (info->flags)
        return refuse_old("the flags of VkSubmitInfo2");
    GR_TRY(check_old_points(info->pWaitSemaphoreInfos, info->waitSemaphoreInfoCount, true));
    GR_TRY(check_old_points(info->pSignalSemaphoreInfos, info->signalSemaphoreInfoCount, false));
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        if (info->pCommandBufferInfos[i].pNext || info->pCommandBufferInfos[i].deviceMask > 1)
            return refuse_old("the pNext or deviceMask of a VkCommandBufferSubmitInfo");
    return GR_OK;
}

void vk_submit_make_v1(struct vk_submit *m)
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
    *m->v1_values = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .pNext = info->pNext,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = m->values,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = m->values + waits,
    };
    m->v1 = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = !m->device || m->device->has_timeline ? m->v1_values : info->pNext,
        .waitSemaphoreCount = waits,
        .pWaitSemaphores = m->semaphores,
        .pWaitDstStageMask = m->wait_stages,
        .commandBufferCount = info->commandBufferInfoCount,
        .pCommandBuffers = m->handles,
        .signalSemaphoreCount = signals,
        .pSignalSemaphores = m->semaphores + waits,
    };
}
