/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds the waits and signals for CUDA to the application's VkSubmitInfo2 or VkSubmitInfo, and
 * submits it with barriers in command buffers of grinterop.
 */
#include "vk/submit/submit.h"

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/copy/copy.h"
#include "vk/resource/resource.h"

/* A submit in progress. The application itself submits what gr_vk_submit_fill() returns. */
struct making {
    gr_submit *submit;
    const char *call;
    const VkSubmitInfo2 *info; /* of the application, or the counts of `v1`, or an empty one */
    const VkSubmitInfo *v1;    /* of the application, in place of a VkSubmitInfo2 */
    VkSubmitInfo2 counts;
    /* The values in the chain of `v1`, or NULL. */
    const VkTimelineSemaphoreSubmitInfo *v1_values;
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
    bool hands_over; /* for gr_vk_hand_over() */
    gr_vk_device *device;
    struct vk_handover *ways; /* `first` and `last` of `desc`, then of each of its `uses` */
    const struct vk_handover **first_of, **last_of; /* of each resource; NULL: no barrier */
    bool has_first, has_last;
    uint32_t family;                /* of all barriers */
    struct vk_recording *recording; /* NULL if there are no barriers */

    /* The results. */
    VkSubmitInfo2 made;
    VkSubmitInfo old;                          /* set for vkQueueSubmit */
    VkTimelineSemaphoreSubmitInfo *old_values; /* in scratch memory */
};

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
    GR_REFUSE_IF(m->info->sType != VK_STRUCTURE_TYPE_SUBMIT_INFO_2, m->call,
                 "The sType of VkSubmitInfo2 is %d: set it to VK_STRUCTURE_TYPE_SUBMIT_INFO_2.",
                 info->sType);
    return check_lists(m->info, m->call);
}

/* ---- The application's VkSubmitInfo ---------------------------------------------------------- */

/*
 * Finds the values of timelines, which are first in the chain, so that others can replace them.
 * Refuses structs whose counts must be those of the submit, because the submit gets further waits,
 * commands and signals.
 */
static gr_status take_v1_values(struct making *m)
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

static gr_status take_v1(struct making *m, const VkSubmitInfo *v1)
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
static gr_status make_arrays(struct making *m)
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

/* Whether copies to resources come before the commands of the application. */
static bool copies_first(const struct making *m)
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
static VkSemaphoreSubmitInfo own_wait(const struct making *m, uint32_t i)
{
    const VkTimelineSemaphoreSubmitInfo *v = m->v1_values;
    if (!m->v1)
        return m->info->pWaitSemaphoreInfos[i];
    return point(m->v1->pWaitSemaphores[i],
                 v ? value_at(v->pWaitSemaphoreValues, v->waitSemaphoreValueCount, i) : 0,
                 m->v1->pWaitDstStageMask[i]);
}

static VkSemaphoreSubmitInfo own_signal(const struct making *m, uint32_t i)
{
    const VkTimelineSemaphoreSubmitInfo *v = m->v1_values;
    if (!m->v1)
        return m->info->pSignalSemaphoreInfos[i];
    return point(m->v1->pSignalSemaphores[i],
                 v ? value_at(v->pSignalSemaphoreValues, v->signalSemaphoreValueCount, i) : 0, 0);
}

static void add_points(struct making *m)
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

static void add_buffer(struct making *m, VkCommandBuffer buffer)
{
    m->buffers[m->made.commandBufferInfoCount++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
}

static void add_buffers(struct making *m)
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

/* Checks the resources of a submit by the application. */
static gr_status check_filled(const struct making *m)
{
    for (size_t i = 0; i < m->resource_count; i++)
        GR_TRY(gr_submit_refuse_in_flight(m->resources[i], m->call));
    return GR_OK;
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
    GR_REFUSE_IF(!out, m.call, "`out` is NULL: pass a pointer for the VkSubmitInfo2.");
    GR_TRY(take_info(&m, info));
    GR_TRY(check_own_points(&m));
    GR_TRY(make_arrays(&m));
    GR_TRY(check_filled(&m));
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

gr_status gr_vk_submit_fill_v1(gr_submit *submit, const VkSubmitInfo *info,
                               VkPipelineStageFlags stages, VkSubmitInfo *out)
{
    struct making m = {.submit = submit, .call = __func__, .stages = stages};
    GR_TRY(gr_submit_check_begun(submit, m.call));
    GR_REFUSE_IF(!out, m.call, "`out` is NULL: pass a pointer for the VkSubmitInfo.");
    GR_TRY(take_v1(&m, info));
    GR_TRY(check_own_points(&m));
    GR_TRY(make_arrays(&m));
    GR_TRY(check_filled(&m));
    m.device = m.resource_count ? vk_resource_of(m.resources[0])->binding.device : NULL;
    fill(&m);
    translate(&m);
    gr_submit_filled(submit);
    *out = m.old;
    return GR_OK;
}

/* ---- gr_vk_submit() -------------------------------------------------------------------------- */

static gr_status find_device(struct making *m)
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

/* Initialises `way` from `use`, if there is one, for a queue of the same family as all others. */
static gr_status take_way(struct making *m, struct vk_handover *way, bool to_cuda,
                          const gr_vk_use *use, const char *name)
{
    way->to_cuda = to_cuda;
    way->whole = false;
    if (!use)
        return GR_OK;
    GR_TRY(vk_handover_init(way, m->device, use, name, m->call));
    if (m->family == VK_QUEUE_FAMILY_IGNORED)
        m->family = way->family;
    return m->family == way->family
               ? GR_OK
               : gr_fail(GR_ERR_INVALID_VALUE, m->call,
                         "`%s` names the queue family %u, but another use names %u: a submit uses "
                         "one queue, so name the same family in all.",
                         name, way->family, m->family);
}

/* Whether one of `uses` has replaced a use of resource i. */
static bool has_own_use(const struct making *m, size_t i)
{
    return (m->first_of[i] && m->first_of[i] != &m->ways[0]) ||
           (m->last_of[i] && m->last_of[i] != &m->ways[1]);
}

/* Replaces the uses of one resource. */
static gr_status take_use(struct making *m, size_t number)
{
    gr_vk_resource_use use;
    char name[48];
    struct vk_handover *first = &m->ways[2 + 2 * number], *last = first + 1;
    GR_TRY(GR_TAKE_AT(gr_vk_resource_use, &use, m->desc.uses, number, m->call));
    size_t i = 0;
    while (i < m->resource_count && m->resources[i] != use.resource)
        i++;
    GR_REFUSE_IF(i == m->resource_count, m->call,
                 "The resource of uses[%zu] is not a Vulkan resource of the submit.", number);
    GR_REFUSE_IF(has_own_use(m, i), m->call,
                 "The resource of uses[%zu] has a use before in the list: describe its first and "
                 "last use together.",
                 number);
    snprintf(name, sizeof(name), "uses[%zu].first", number);
    GR_TRY(take_way(m, first, false, use.first, name));
    snprintf(name, sizeof(name), "uses[%zu].last", number);
    GR_TRY(take_way(m, last, true, use.last, name));
    if (use.first)
        m->first_of[i] = first;
    if (use.last)
        m->last_of[i] = last;
    return GR_OK;
}

static gr_status refuse_with_cuda(const struct making *m, size_t i)
{
    if (m->hands_over)
        return gr_fail(GR_ERR_STATE, m->call,
                       "CUDA already has resource %zu: leave it out of `resources`, and map it. "
                       "After commands that use it, gr_vk_submit() hands it over.",
                       i);
    return gr_fail(GR_ERR_STATE, m->call,
                   "CUDA has resource %zu, and the submit does not take it back: describe its "
                   "first use in `first`. If your commands contain the barrier, set "
                   "`own_barriers`.",
                   i);
}

/* With frames in flight gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda() are refused. */
static bool has_own_barriers(const struct making *m, size_t i)
{
    return m->desc.own_barriers && !m->resources[i]->sync.turns;
}

/* CUDA uses a slot after it is handed on, and the slot has only one submit. */
static gr_status check_hands_on(const struct making *m, size_t i)
{
    if (m->last_of[i] || has_own_barriers(m, i) || !m->resources[i]->in_a_ring)
        return GR_OK;
    return gr_fail(GR_ERR_STATE, m->call,
                   "Resource %zu is a slot of a ring, and the submit does not hand it to CUDA: "
                   "describe its last use in `last`. If your commands contain the barrier, set "
                   "`own_barriers`.",
                   i);
}

/*
 * Finds the barriers of each resource. There is none before the commands while Vulkan has the
 * resource.
 */
static gr_status take_uses(struct making *m)
{
    const gr_vk_submit_desc *desc = &m->desc;
    bool waits_everywhere = false;
    m->family = VK_QUEUE_FAMILY_IGNORED;
    GR_REFUSE_IF(desc->use_count && !desc->uses, m->call,
                 "`uses` is NULL, but `use_count` is not 0.");
    GR_TRY(take_way(m, &m->ways[0], false, desc->first, "first"));
    GR_TRY(take_way(m, &m->ways[1], true, desc->last, "last"));
    for (size_t i = 0; i < m->resource_count; i++) {
        m->first_of[i] = desc->first ? &m->ways[0] : NULL;
        m->last_of[i] = desc->last ? &m->ways[1] : NULL;
    }
    for (size_t i = 0; i < desc->use_count; i++)
        GR_TRY(take_use(m, i));
    for (size_t i = 0; i < m->resource_count; i++) {
        const bool is_with_cuda = m->resources[i]->sync.held_by == GR_HELD_BY_CUDA;
        if (!is_with_cuda)
            m->first_of[i] = NULL;
        else if (m->first_of[i])
            GR_TRY(vk_handover_check(m->first_of[i], m->resources[i], i, m->call));
        else if (!has_own_barriers(m, i))
            return refuse_with_cuda(m, i);
        GR_TRY(check_hands_on(m, i));
        waits_everywhere |= is_with_cuda && !m->first_of[i];
        m->stages |= m->first_of[i] ? m->first_of[i]->use.stages : 0;
        m->has_first |= m->first_of[i] != NULL;
        m->has_last |= m->last_of[i] != NULL;
    }
    if (waits_everywhere)
        m->stages = 0;
    return GR_OK;
}

static gr_status check(struct making *m, const gr_vk_submit_desc *given)
{
    GR_TRY(gr_submit_check_begun(m->submit, m->call));
    GR_REFUSE_IF(!given, m->call,
                 "`desc` is NULL: describe the submit, by GR_INIT(gr_vk_submit_desc).");
    GR_TRY(GR_TAKE(gr_vk_submit_desc, &m->desc, given, m->call));
    GR_REFUSE_IF(m->desc.info && m->desc.info_v1, m->call,
                 "`info` and `info_v1` are both set: the submit is one of the two.");
    GR_TRY(m->desc.info_v1 ? take_v1(m, m->desc.info_v1) : take_info(m, m->desc.info));
    GR_TRY(make_arrays(m));
    GR_TRY(find_device(m));
    GR_TRY(check_own_points(m));
    GR_TRY(take_uses(m));
    return m->device->synchronization2 || m->v1 ? GR_OK : check_old(m->info, m->call);
}

/* Records `ways`, those of each resource, with one call for consecutive equal ones. */
static void record_ways(const struct making *m, const struct vk_handover *const ways[],
                        VkCommandBuffer commands)
{
    for (size_t i = 0, n; i < m->resource_count; i += n) {
        for (n = 1; i + n < m->resource_count && ways[i + n] == ways[i];)
            n++;
        if (ways[i])
            vk_handover_record(ways[i], commands, m->resources + i, n);
    }
}

static gr_status record(const struct making *m, const struct vk_handover *const ways[],
                        VkCommandBuffer commands)
{
    const struct vk_functions *vk = &m->device->vk;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = vk->vkBeginCommandBuffer(commands, &info);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkBeginCommandBuffer", "The barriers could not be recorded.");
    record_ways(m, ways, commands);
    result = vk->vkEndCommandBuffer(commands);
    return result == VK_SUCCESS
               ? GR_OK
               : vk_fail(result, "vkEndCommandBuffer", "The barriers could not be recorded.");
}

static gr_status record_barriers(struct making *m)
{
    if (!m->has_first && !m->has_last)
        return GR_OK;
    GR_TRY(vk_recording_acquire(m->device, m->family, &m->recording, m->call));
    if (m->has_first)
        GR_TRY(record(m, m->first_of, m->recording->first));
    return m->has_last ? record(m, m->last_of, m->recording->last) : GR_OK;
}

static gr_status submit_to_queue(struct making *m)
{
    const struct vk_functions *vk = &m->device->vk;
    const bool is_new = m->device->synchronization2 && !m->v1;
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

/* Commits the submit, and notes who has each resource now. */
static gr_status commit(const struct making *m)
{
    GR_TRY(gr_submit_settle_all(m->submit, m->call));
    for (size_t i = 0; i < m->resource_count; i++) {
        m->resources[i]->sync.held_by =
            m->last_of[i] || has_own_barriers(m, i) ? GR_HELD_BY_CUDA : GR_HELD_BY_GRAPHICS;
        if (m->resources[i]->sync.turns)
            vk_copy_note_submit(gr_external_of(m->resources[i]), m->first_of[i], m->last_of[i]);
    }
    return GR_OK;
}

static gr_status submit_all(struct making *m, const gr_vk_submit_desc *desc)
{
    gr_status status = check(m, desc);
    if (status == GR_OK)
        status = record_barriers(m);
    if (status == GR_OK)
        status = submit_to_queue(m);
    if (m->recording)
        vk_recording_release(m->device, m->recording, status == GR_OK);
    return status == GR_OK ? commit(m) : status;
}

gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc)
{
    struct making m = {.submit = submit, .call = __func__};
    return submit_all(&m, desc);
}

gr_status gr_vk_hand_over(gr_resource *const resources[], size_t n, VkImageLayout layout)
{
    const gr_vk_use last = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .access = VK_ACCESS_2_MEMORY_WRITE_BIT, .layout = layout);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(resources, n);
    struct making m = {.submit = submit, .call = __func__, .hands_over = true};
    return submit ? submit_all(&m, &GR_INIT(gr_vk_submit_desc, .last = &last))
                  : gr_error_set_call(m.call);
}
