/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How a submit uses its resources: the barriers, and the API that has each one afterwards. */
#include "vk/submit/submit.h"

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/staging/staging.h"

/* Initialises `way` from `use`, if there is one, for a queue of the same family as all others. */
static gr_status take_way(struct vk_submit *m, struct vk_handover *way, bool to_cuda,
                          const gr_vk_use *use, const char *name)
{
    way->to_cuda = to_cuda;
    way->whole = false;
    if (!use)
        return GR_OK;
    GR_TRY(vk_handover_init(way, m->device, use, name));
    if (m->family == VK_QUEUE_FAMILY_IGNORED)
        m->family = way->family;
    return m->family == way->family
               ? GR_OK
               : gr_fail(GR_ERR_INVALID_VALUE,
                         "`%s` names the queue family %u, but another use names %u: a submit uses "
                         "one queue, so name the same family in all.",
                         name, way->family, m->family);
}

/* Replaces the uses of one resource. */
static gr_status take_use(struct vk_submit *m, size_t number)
{
    gr_vk_resource_use use;
    char name[48];
    struct vk_handover *first = &m->ways[2 + 2 * number], *last = first + 1;
    GR_TRY(GR_TAKE_AT(gr_vk_resource_use, &use, m->desc.uses, number));
    size_t i = 0;
    while (i < m->resource_count && &m->resources[i]->external.base != use.resource)
        i++;
    GR_REFUSE_IF(i == m->resource_count,
                 "The resource of uses[%zu] is not a Vulkan resource of the submit.", number);
    if ((m->first_of[i] && m->first_of[i] != &m->ways[0]) ||
        (m->last_of[i] && m->last_of[i] != &m->ways[1]))
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The resource of uses[%zu] has a use before in the list: describe its first "
                       "and last use together.",
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

static gr_status refuse_with_cuda(const struct vk_submit *m, size_t i)
{
    if (m->hands_over)
        return gr_fail(GR_ERR_STATE,
                       "CUDA already has resource %zu: leave it out of `resources`, and map it. "
                       "After commands that use it, gr_vk_submit() hands it over.",
                       i);
    return gr_fail(GR_ERR_STATE,
                   "CUDA has resource %zu, and the submit does not take it back: describe its "
                   "first use in `first`. If your commands contain the barrier, set "
                   "`own_barriers`.",
                   i);
}

/* With frames in flight gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda() are refused. */
static bool has_own_barriers(const struct vk_submit *m, size_t i)
{
    return m->desc.own_barriers && !m->resources[i]->external.base.sync.turns;
}

gr_status vk_submit_take_uses(struct vk_submit *m)
{
    const gr_vk_submit_desc *desc = &m->desc;
    bool waits_everywhere = false;
    m->family = VK_QUEUE_FAMILY_IGNORED;
    GR_REFUSE_IF(desc->use_count && !desc->uses, "`uses` is NULL, but `use_count` is not 0.");
    GR_TRY(take_way(m, &m->ways[0], false, desc->first, "first"));
    GR_TRY(take_way(m, &m->ways[1], true, desc->last, "last"));
    for (size_t i = 0; i < m->resource_count; i++) {
        m->first_of[i] = desc->first ? &m->ways[0] : NULL;
        m->last_of[i] = desc->last ? &m->ways[1] : NULL;
    }
    for (size_t i = 0; i < desc->use_count; i++)
        GR_TRY(take_use(m, i));
    for (size_t i = 0; i < m->resource_count; i++) {
        const gr_resource *resource = &m->resources[i]->external.base;
        const bool is_with_cuda = resource->sync.held_by == GR_HELD_BY_CUDA;
        if (!is_with_cuda)
            m->first_of[i] = NULL;
        else if (m->first_of[i])
            GR_TRY(vk_handover_check(m->first_of[i], m->resources[i], i));
        else if (!has_own_barriers(m, i))
            return refuse_with_cuda(m, i);
        if (resource->in_a_ring && !m->last_of[i] && !has_own_barriers(m, i))
            return gr_fail(GR_ERR_STATE,
                           "Resource %zu is a slot of a ring, and the submit does not hand it to "
                           "CUDA: describe its last use in `last`. If your commands contain the "
                           "barrier, set `own_barriers`.",
                           i);
        waits_everywhere |= is_with_cuda && !m->first_of[i];
        m->stages |= m->first_of[i] ? m->first_of[i]->use.stages : 0;
        m->has_first |= m->first_of[i] != NULL;
        m->has_last |= m->last_of[i] != NULL;
    }
    if (waits_everywhere)
        m->stages = 0;
    return GR_OK;
}

/* Records `ways`, those of each resource, with one call for consecutive equal ones. */
static gr_status record(const struct vk_submit *m, const struct vk_handover *const ways[],
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
    for (size_t i = 0, n; i < m->resource_count; i += n) {
        for (n = 1; i + n < m->resource_count && ways[i + n] == ways[i];)
            n++;
        if (ways[i])
            vk_handover_record(ways[i], commands, m->resources + i, n);
    }
    result = vk->vkEndCommandBuffer(commands);
    return result == VK_SUCCESS
               ? GR_OK
               : vk_fail(result, "vkEndCommandBuffer", "The barriers could not be recorded.");
}

gr_status vk_submit_record(struct vk_submit *m)
{
    if (!m->has_first && !m->has_last)
        return GR_OK;
    GR_TRY(vk_recording_acquire(m->device, m->family, &m->recording));
    if (m->has_first)
        GR_TRY(record(m, m->first_of, m->recording->first));
    return m->has_last ? record(m, m->last_of, m->recording->last) : GR_OK;
}

void vk_submit_note_uses(const struct vk_submit *m)
{
    for (size_t i = 0; i < m->resource_count; i++) {
        struct gr_external *r = &m->resources[i]->external;
        r->base.sync.held_by =
            m->last_of[i] || has_own_barriers(m, i) ? GR_HELD_BY_CUDA : GR_HELD_BY_GRAPHICS;
        if (r->base.sync.turns)
            vk_staging_note_submit(r, m->first_of[i], m->last_of[i]);
    }
}
