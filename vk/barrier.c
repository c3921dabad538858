/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers between Vulkan and CUDA: who owns the memory (the queue's family or what is outside of
 * Vulkan), and the layout of images. That the other side waits is the semaphores' part.
 */
#include "lib/error.h"
#include "vk/resource.h"

/* Resources in one command: their barriers lie on the stack. */
#define BARRIERS_AT_ONCE 32

struct direction {
    bool to_cuda;
    const gr_vk_use *use;
};

/* ---- What is checked before anything is recorded --------------------------------------------- */

static gr_status check_use(const gr_vk_use *use, const char *name, const char *call)
{
    if (!use)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s` is NULL: say how Vulkan uses the resources.", name);
    if (use->stages == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s->stages` is 0: name the stages that use the resources. "
                       "VK_PIPELINE_STAGE_ALL_COMMANDS_BIT is always right.",
                       name);
    if (use->queue_family == VK_QUEUE_FAMILY_EXTERNAL)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s->queue_family` is VK_QUEUE_FAMILY_EXTERNAL, which is CUDA's side: pass "
                       "the family of the queue that the commands are submitted to.",
                       name);
    return GR_OK;
}

static gr_status check_resource(const gr_resource *resource, size_t i, const gr_vk_device *device,
                                const char *call)
{
    const struct vk_resource *r = vk_resource_of(resource);
    if (!r)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "Resource %zu is %s: barriers are for those made from Vulkan's buffers and "
                       "images.",
                       i, resource ? "none of Vulkan's" : "NULL");
    if (device && r->binding.device->device != device->device)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "Resource %zu belongs to another VkDevice than the first: record a barrier "
                       "for each device.",
                       i);
    return GR_OK;
}

static gr_status check_layout(const struct vk_resource *r, size_t i, const struct direction *way,
                              const char *call)
{
    VkImageLayout layout = way->use->layout;
    if (!r->binding.image || way->to_cuda ||
        (layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != VK_IMAGE_LAYOUT_PREINITIALIZED))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "Resource %zu is an image, and no image can be brought into "
                   "VK_IMAGE_LAYOUT_%s: pass the layout that it is used in next.",
                   i, layout == VK_IMAGE_LAYOUT_UNDEFINED ? "UNDEFINED" : "PREINITIALIZED");
}

static gr_status check(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                       const struct direction *way, const char *call)
{
    if (!commands || !resources || n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       !commands    ? "`commands` is NULL: pass a command buffer that is recording"
                       : !resources ? "`resources` is NULL"
                                    : "There are no resources: n is 0");
    gr_status status = check_use(way->use, way->to_cuda ? "before" : "after", call);
    const gr_vk_device *device = NULL;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        status = check_resource(resources[i], i, device, call);
        if (status != GR_OK)
            break;
        const struct vk_resource *r = vk_resource_of(resources[i]);
        device = r->binding.device;
        status = check_layout(r, i, way, call);
    }
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static VkBufferMemoryBarrier buffer_barrier(const struct vk_resource *r,
                                            const struct direction *way)
{
    const gr_vk_use *use = way->use;
    return (VkBufferMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = way->to_cuda ? use->access : 0,
        .dstAccessMask = way->to_cuda ? 0 : use->access,
        .srcQueueFamilyIndex = way->to_cuda ? use->queue_family : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = way->to_cuda ? VK_QUEUE_FAMILY_EXTERNAL : use->queue_family,
        .buffer = r->binding.buffer,
        .size = VK_WHOLE_SIZE,
    };
}

static VkImageMemoryBarrier image_barrier(const struct vk_resource *r, const struct direction *way)
{
    const gr_vk_use *use = way->use;
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = way->to_cuda ? use->access : 0,
        .dstAccessMask = way->to_cuda ? 0 : use->access,
        .oldLayout = way->to_cuda ? use->layout : VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = way->to_cuda ? VK_IMAGE_LAYOUT_GENERAL : use->layout,
        .srcQueueFamilyIndex = way->to_cuda ? use->queue_family : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = way->to_cuda ? VK_QUEUE_FAMILY_EXTERNAL : use->queue_family,
        .image = r->binding.image,
        .subresourceRange = {r->aspect, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS},
    };
}

static void record_some(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                        const struct direction *way)
{
    VkBufferMemoryBarrier buffers[BARRIERS_AT_ONCE];
    VkImageMemoryBarrier images[BARRIERS_AT_ONCE];
    uint32_t buffer_count = 0, image_count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct vk_resource *r = vk_resource_of(resources[i]);
        if (r->binding.image)
            images[image_count++] = image_barrier(r, way);
        else
            buffers[buffer_count++] = buffer_barrier(r, way);
    }
    /*
     * Nothing in this queue waits for what goes out; the submit's signal does. What comes in is
     * ordered after the submit's wait because both name the same stages: with TOP_OF_PIPE here the
     * change of the layout could come before CUDA is done.
     */
    VkPipelineStageFlags stages = way->use->stages;
    const struct vk_functions *vk = &vk_resource_of(resources[0])->binding.device->vk;
    vk->vkCmdPipelineBarrier(commands, stages,
                             way->to_cuda ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : stages, 0, 0,
                             NULL, buffer_count, buffers, image_count, images);
}

static void record(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                   const struct direction *way)
{
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < BARRIERS_AT_ONCE ? n - done : BARRIERS_AT_ONCE;
        record_some(commands, resources + done, count, way);
    }
}

gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                            const gr_vk_use *before)
{
    const struct direction way = {.to_cuda = true, .use = before};
    gr_status status = check(commands, resources, n, &way, __func__);
    if (status == GR_OK)
        record(commands, resources, n, &way);
    return status;
}

gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                              const gr_vk_use *after)
{
    const struct direction way = {.to_cuda = false, .use = after};
    gr_status status = check(commands, resources, n, &way, __func__);
    if (status == GR_OK)
        record(commands, resources, n, &way);
    return status;
}
