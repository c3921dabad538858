/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds the waits and signals for CUDA to the application's VkSubmitInfo2, and submits it with
 * barriers in command buffers of grinterop.
 */
#include "vk/sync/sync.h"

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/copy/copy.h"

/* A submit in progress. The application itself submits what gr_vk_submit_fill() returns. */
struct making {
    gr_submit *submit;
    const char *call;
    const VkSubmitInfo2 *info;    /* of the application, or an empty one */
    VkPipelineStageFlags2 stages; /* the stages that wait for CUDA; 0: all */

    /* Arrays in scratch memory of the submit. */
    gr_resource **resources; /* of Vulkan */
    size_t resource_count;
    VkSemaphoreSubmitInfo *points; /* waits, then signals */
    VkCommandBufferSubmitInfo *buffers;
    uint64_t *values; /* this and the following ones are for vkQueueSubmit */
    VkSemaphore *semaphores;
    VkCommandBuffer *handles;
    VkPipelineStageFlags *wait_stages;

    /* For gr_vk_submit() only. */
    gr_vk_submit_desc desc;
    gr_vk_device *device;
    struct vk_handover first, last; /* valid if `desc` has them */
    struct vk_recording *recording; /* NULL if there are no barriers */

    /* The results. */
    VkSubmitInfo2 made;
    VkSubmitInfo old; /* set for vkQueueSubmit */
    VkTimelineSemaphoreSubmitInfo old_values;
};

/* ---- The application's VkSubmitInfo2 --------------------------------------------------------- */

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

static gr_status take_info(struct making *m, const VkSubmitInfo2 *info)
{
    static const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    m->info = info ? info : &nothing;
    if (m->info->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO_2)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "The sType of VkSubmitInfo2 is %d: set it to "
                       "VK_STRUCTURE_TYPE_SUBMIT_INFO_2.",
                       info->sType);
    return check_lists(m->info, m->call);
}

/* Checks the semaphores of the submit itself. */
static gr_status check_own_points(const struct making *m)
{
    GR_TRY(check_semaphores(m->submit->waits, m->submit->wait_count, m->call));
    return check_semaphores(m->submit->signals, m->submit->signal_count, m->call);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define POINT_BYTES                                                                                \
    (sizeof(VkSemaphoreSubmitInfo) + sizeof(uint64_t) + sizeof(VkSemaphore) +                      \
     sizeof(VkPipelineStageFlags))
#define BUFFER_BYTES (sizeof(VkCommandBufferSubmitInfo) + sizeof(VkCommandBuffer))

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
static gr_status make_arrays(struct making *m)
{
    const size_t buffers = m->info->commandBufferInfoCount + 2;
    const size_t points = m->info->waitSemaphoreInfoCount + m->submit->wait_count +
                          m->info->signalSemaphoreInfoCount + m->submit->signal_count + 1;
    const size_t count = gr_submit_size(m->submit);
    m->points = gr_submit_scratch(
        m->submit, points * POINT_BYTES + buffers * BUFFER_BYTES + count * sizeof(*m->resources),
        m->call);
    if (!m->points)
        return GR_ERR_NO_MEMORY;
    m->buffers = (VkCommandBufferSubmitInfo *)(m->points + points);
    m->values = (uint64_t *)(m->buffers + buffers);
    m->semaphores = (VkSemaphore *)(m->values + points);
    m->handles = (VkCommandBuffer *)(m->semaphores + points);
    m->resources = (gr_resource **)(m->handles + buffers);
    m->wait_stages = (VkPipelineStageFlags *)(m->resources + count);
    size_t place = 0;
    for (gr_resource *resource; (resource = next_resource(m->submit, &place));)
        m->resources[m->resource_count++] = resource;
    return GR_OK;
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

/* The stages that wait for CUDA, including those of copies. */
static VkPipelineStageFlags2 waiting_stages(const struct making *m)
{
    for (size_t i = 0; m->stages && i < m->resource_count; i++)
        if (vk_copy_of(gr_external_of(m->resources[i])))
            return m->stages | VK_PIPELINE_STAGE_2_TRANSFER_BIT;
    return m->stages;
}

static void add_points(struct making *m)
{
    const VkPipelineStageFlags2 stages = waiting_stages(m);
    const VkSubmitInfo2 *info = m->info;
    const gr_submit *submit = m->submit;
    VkSemaphoreSubmitInfo *p = m->points;
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++)
        *p++ = info->pWaitSemaphoreInfos[i];
    for (size_t i = 0; i < submit->wait_count; i++)
        *p++ = point(gr_vk_semaphore(submit->waits[i]), submit->wait_values[i], stages);
    m->made.pWaitSemaphoreInfos = m->points;
    m->made.pSignalSemaphoreInfos = p;
    m->made.waitSemaphoreInfoCount = (uint32_t)(p - m->points);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        *p++ = info->pSignalSemaphoreInfos[i];
    for (size_t i = 0; i < submit->signal_count; i++)
        *p++ = point(gr_vk_semaphore(submit->signals[i]), submit->signal_values[i], 0);
    if (m->recording)
        *p++ = point(m->recording->done, m->recording->value + 1, 0);
    m->made.signalSemaphoreInfoCount = (uint32_t)(p - m->made.pSignalSemaphoreInfos);
}

static void add_buffer(struct making *m, VkCommandBuffer buffer)
{
    m->buffers[m->made.commandBufferInfoCount++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
}

static void add_buffers(struct making *m)
{
    m->made.commandBufferInfoCount = 0;
    m->made.pCommandBufferInfos = m->buffers;
    if (m->desc.first)
        add_buffer(m, m->recording->first);
    for (uint32_t i = 0; i < m->info->commandBufferInfoCount; i++)
        m->buffers[m->made.commandBufferInfoCount++] = m->info->pCommandBufferInfos[i];
    if (m->desc.last)
        add_buffer(m, m->recording->last);
}

/* Copies the application's struct to m->made, with further waits, commands and signals. */
static void fill(struct making *m)
{
    m->made = *m->info;
    add_buffers(m);
    add_points(m);
}

gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                            VkPipelineStageFlags2 stages, VkSubmitInfo2 *out)
{
    struct making m = {.submit = submit, .call = __func__, .stages = stages};
    GR_TRY(gr_submit_check_begun(submit, m.call));
    if (!out)
        return gr_fail(GR_ERR_INVALID_VALUE, m.call,
                       "`out` is NULL: pass a pointer for the VkSubmitInfo2.");
    GR_TRY(take_info(&m, info));
    GR_TRY(check_own_points(&m));
    GR_TRY(make_arrays(&m));
    fill(&m);
    gr_submit_filled(submit);
    *out = m.made;
    return GR_OK;
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

/*
 * Converts to the struct of vkQueueSubmit, which signals after all commands, and so possibly later
 * than requested.
 */
static void translate(struct making *m)
{
    const VkSubmitInfo2 *info = &m->made;
    const uint32_t waits = info->waitSemaphoreInfoCount, signals = info->signalSemaphoreInfoCount;
    for (uint32_t i = 0; i < waits + signals; i++) {
        m->semaphores[i] = m->points[i].semaphore;
        m->values[i] = m->points[i].value;
        m->wait_stages[i] = m->points[i].stageMask ? (VkPipelineStageFlags)m->points[i].stageMask
                                                   : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
    }
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        m->handles[i] = m->buffers[i].commandBuffer;
    m->old_values = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .pNext = info->pNext,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = m->values,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = m->values + waits,
    };
    m->old = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = m->device->has_timeline ? &m->old_values : info->pNext,
        .waitSemaphoreCount = waits,
        .pWaitSemaphores = m->semaphores,
        .pWaitDstStageMask = m->wait_stages,
        .commandBufferCount = info->commandBufferInfoCount,
        .pCommandBuffers = m->handles,
        .signalSemaphoreCount = signals,
        .pSignalSemaphores = m->semaphores + waits,
    };
}

/* ---- gr_vk_submit() -------------------------------------------------------------------------- */

static gr_status find_device(struct making *m)
{
    if (!m->resource_count)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "The submit has no Vulkan resources: there is nothing to submit to Vulkan.");
    m->device = vk_resource_of(m->resources[0])->binding.device;
    for (size_t i = 1; i < m->resource_count; i++)
        if (vk_resource_of(m->resources[i])->binding.device->device != m->device->device)
            return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                           "The submit's resources belong to different VkDevices: begin a submit "
                           "for each device.");
    if (!m->desc.queue)
        m->desc.queue = m->device->queue;
    return m->desc.queue ? GR_OK
                         : gr_fail(GR_ERR_INVALID_VALUE, m->call,
                                   "There is no queue: set `queue`, here or in gr_vk_device_desc.");
}

static gr_status take_handovers(struct making *m)
{
    m->last.to_cuda = true;
    if (m->desc.first)
        GR_TRY(vk_handover_init(&m->first, m->device, m->resources, m->resource_count,
                                m->desc.first, "first", m->call));
    if (m->desc.last)
        GR_TRY(vk_handover_init(&m->last, m->device, m->resources, m->resource_count, m->desc.last,
                                "last", m->call));
    if (m->desc.first && m->desc.last && m->first.family != m->last.family)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "`first` names the queue family %u, but `last` names %u: a submit uses one "
                       "queue, so name the same family in both.",
                       m->first.family, m->last.family);
    m->stages = m->desc.first ? m->first.use.stages : 0;
    return GR_OK;
}

static gr_status check(struct making *m, const gr_vk_submit_desc *given)
{
    GR_TRY(gr_submit_check_begun(m->submit, m->call));
    if (!given)
        return gr_fail(GR_ERR_INVALID_VALUE, m->call,
                       "`desc` is NULL: describe the submit, by GR_INIT(gr_vk_submit_desc).");
    GR_TRY(GR_TAKE(gr_vk_submit_desc, &m->desc, given, m->call));
    GR_TRY(take_info(m, m->desc.info));
    GR_TRY(make_arrays(m));
    GR_TRY(find_device(m));
    GR_TRY(check_own_points(m));
    GR_TRY(take_handovers(m));
    return m->device->synchronization2 ? GR_OK : check_old(m->info, m->call);
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
    vk_handover_record(way, commands, m->resources, m->resource_count);
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

static gr_status submit_to_queue(struct making *m)
{
    const struct vk_functions *vk = &m->device->vk;
    const bool is_new = m->device->synchronization2;
    fill(m);
    if (!is_new)
        translate(m);
    VkResult result = is_new ? vk->vkQueueSubmit2(m->desc.queue, 1, &m->made, m->desc.fence)
                             : vk->vkQueueSubmit(m->desc.queue, 1, &m->old, m->desc.fence);
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
