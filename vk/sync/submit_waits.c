/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Adds waits, signals and commands to the application's VkSubmitInfo2; see submit_waits.h. */
#include "vk/sync/submit_waits.h"

#include "lib/base/error.h"
#include "lib/sync/submit.h"
#include "vk/copy/record.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Refuses NULL lists, which Vulkan would dereference. */
static gr_status check_lists(const VkSubmitInfo2 *info, const char *call)
{
    const char *missing = info->waitSemaphoreInfoCount && !info->pWaitSemaphoreInfos ? "Wait"
                          : info->signalSemaphoreInfoCount && !info->pSignalSemaphoreInfos
                              ? "Signal"
                              : NULL;
    if (missing)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "p%sSemaphoreInfos of VkSubmitInfo2 is NULL, but its count is not 0.",
                       missing);
    if (info->commandBufferInfoCount && !info->pCommandBufferInfos)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "pCommandBufferInfos of VkSubmitInfo2 is NULL, but its count is not 0.");
    return GR_OK;
}

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

static gr_status check_old(const VkSubmitInfo2 *info, const char *call)
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

static gr_status check(gr_submit *submit, const VkSubmitInfo2 *info, bool old, const char *call)
{
    if (info->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO_2)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The sType of VkSubmitInfo2 is %d: set it to "
                       "VK_STRUCTURE_TYPE_SUBMIT_INFO_2.",
                       info->sType);
    GR_TRY(check_lists(info, call));
    GR_TRY(check_semaphores(submit->waits, submit->wait_count, call));
    GR_TRY(check_semaphores(submit->signals, submit->signal_count, call));
    return old ? check_old(info, call) : GR_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define POINT_BYTES  (sizeof(VkSemaphoreSubmitInfo) + sizeof(uint64_t) + sizeof(VkSemaphore))
#define WAIT_BYTES   (POINT_BYTES + sizeof(VkPipelineStageFlags))
#define BUFFER_BYTES (sizeof(VkCommandBufferSubmitInfo) + sizeof(VkCommandBuffer))

/*
 * Reserves memory for the given number of each struct, in both versions of the structs. The structs
 * with larger alignment come first.
 */
static bool make_arrays(struct vk_submit_arrays *a, gr_submit *submit, size_t waits, size_t signals,
                        size_t buffers, const char *call)
{
    size_t size = waits * WAIT_BYTES + signals * POINT_BYTES + buffers * BUFFER_BYTES;
    a->waits = gr_submit_scratch(submit, size ? size : 1, call);
    if (!a->waits)
        return false;
    a->signals = a->waits + waits;
    a->buffers = (VkCommandBufferSubmitInfo *)(a->signals + signals);
    a->values = (uint64_t *)(a->buffers + buffers);
    a->semaphores = (VkSemaphore *)(a->values + waits + signals);
    a->handles = (VkCommandBuffer *)(a->semaphores + waits + signals);
    a->stages = (VkPipelineStageFlags *)(a->handles + buffers);
    return true;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

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

static void add_buffer(struct vk_submit_info *made, VkCommandBuffer buffer)
{
    if (buffer)
        made->arrays.buffers[made->info.commandBufferInfoCount++] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
}

static void add_buffers(struct vk_submit_info *made, const VkSubmitInfo2 *info,
                        const struct vk_submit_extra *extra)
{
    made->info.commandBufferInfoCount = 0;
    made->info.pCommandBufferInfos = made->arrays.buffers;
    add_buffer(made, extra->first);
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        made->arrays.buffers[made->info.commandBufferInfoCount++] = info->pCommandBufferInfos[i];
    add_buffer(made, extra->last);
}

/* The stages that wait for CUDA, including those of copies. */
static VkPipelineStageFlags2 waiting_stages(gr_submit *submit, VkPipelineStageFlags2 stages)
{
    size_t place = 0;
    const gr_resource *resource;
    while (stages && (resource = gr_submit_next(submit, &place))) {
        const struct vk_resource *r = vk_resource_of(resource);
        if (r && vk_is_copied(r))
            return stages | VK_PIPELINE_STAGE_2_TRANSFER_BIT;
    }
    return stages;
}

static void add_points(struct vk_submit_info *made, gr_submit *submit, const VkSubmitInfo2 *info,
                       const struct vk_submit_extra *extra)
{
    const VkPipelineStageFlags2 stages = waiting_stages(submit, extra->stages);
    struct vk_submit_arrays *a = &made->arrays;
    VkSubmitInfo2 *out = &made->info;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++)
        a->waits[i] = info->pWaitSemaphoreInfos[i];
    for (size_t i = 0; i < submit->wait_count; i++)
        a->waits[out->waitSemaphoreInfoCount++] =
            point(gr_vk_semaphore(submit->waits[i]), submit->wait_values[i], stages);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        a->signals[i] = info->pSignalSemaphoreInfos[i];
    for (size_t i = 0; i < submit->signal_count; i++)
        a->signals[out->signalSemaphoreInfoCount++] =
            point(gr_vk_semaphore(submit->signals[i]), submit->signal_values[i], 0);
    if (extra->done)
        a->signals[out->signalSemaphoreInfoCount++] = point(extra->done, extra->value, 0);
    out->pWaitSemaphoreInfos = a->waits;
    out->pSignalSemaphoreInfos = a->signals;
}

/* ---- vkQueueSubmit --------------------------------------------------------------------------- */

static void translate_points(const VkSemaphoreSubmitInfo points[], uint32_t n,
                             VkSemaphore semaphores[], uint64_t values[])
{
    for (uint32_t i = 0; i < n; i++) {
        semaphores[i] = points[i].semaphore;
        values[i] = points[i].value;
    }
}

/*
 * Converts to the struct of vkQueueSubmit, which signals after all commands, and so possibly later
 * than requested.
 */
static void translate(struct vk_submit_info *made, bool has_timeline)
{
    const VkSubmitInfo2 *info = &made->info;
    const struct vk_submit_arrays *a = &made->arrays;
    uint32_t waits = info->waitSemaphoreInfoCount, signals = info->signalSemaphoreInfoCount;
    translate_points(a->waits, waits, a->semaphores, a->values);
    translate_points(a->signals, signals, a->semaphores + waits, a->values + waits);
    for (uint32_t i = 0; i < waits; i++)
        a->stages[i] = a->waits[i].stageMask ? (VkPipelineStageFlags)a->waits[i].stageMask
                                             : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        a->handles[i] = a->buffers[i].commandBuffer;
    made->values = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .pNext = info->pNext,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = a->values,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = a->values + waits,
    };
    made->old = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = has_timeline ? &made->values : info->pNext,
        .waitSemaphoreCount = waits,
        .pWaitSemaphores = a->semaphores,
        .pWaitDstStageMask = a->stages,
        .commandBufferCount = info->commandBufferInfoCount,
        .pCommandBuffers = a->handles,
        .signalSemaphoreCount = signals,
        .pSignalSemaphores = a->semaphores + waits,
    };
}

/* ---- All of it ------------------------------------------------------------------------------- */

gr_status vk_submit_info_make(struct vk_submit_info *made, gr_submit *submit,
                              const VkSubmitInfo2 *info, const struct vk_submit_extra *extra,
                              const char *call)
{
    static const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info = info ? info : &nothing;
    const bool old = extra->device && !extra->device->synchronization2;
    GR_TRY(check(submit, info, old, call));
    if (!make_arrays(&made->arrays, submit, info->waitSemaphoreInfoCount + submit->wait_count,
                     info->signalSemaphoreInfoCount + submit->signal_count + 1,
                     info->commandBufferInfoCount + 2, call))
        return GR_ERR_NO_MEMORY;
    made->info = *info;
    add_buffers(made, info, extra);
    add_points(made, submit, info, extra);
    if (old)
        translate(made, extra->device->has_timeline);
    return GR_OK;
}

/* ---- Public call ----------------------------------------------------------------------------- */

gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                            VkPipelineStageFlags2 stages, VkSubmitInfo2 *out)
{
    const struct vk_submit_extra extra = {.stages = stages};
    struct vk_submit_info made;
    GR_TRY(gr_submit_check_begun(submit, __func__));
    if (!out)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__,
                       "`out` is NULL: pass a pointer for the VkSubmitInfo2.");
    GR_TRY(vk_submit_info_make(&made, submit, info, &extra, __func__));
    gr_submit_filled(submit);
    *out = made.info;
    return GR_OK;
}
