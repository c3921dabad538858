/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Barriers between Vulkan and CUDA: they transfer the ownership between the queue family and
 * VK_QUEUE_FAMILY_EXTERNAL, and change image layouts. Semaphores, not barriers, make the other API
 * wait.
 */
#include "vk/sync/barrier.h"

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "vk/copy/record.h"

/* ---- Checks before recording ----------------------------------------------------------------- */

/* Whether the use has synchronization2 flags that vkCmdPipelineBarrier cannot represent. */
static bool is_wide(const gr_vk_use *use)
{
    return use->stages >> 32 || use->access >> 32;
}

static gr_status check_flags(const gr_vk_device *device, const gr_vk_use *use, const char *name,
                             const char *call)
{
    if (use->stages == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s->stages` is 0: name the stages that use the resources. "
                       "VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT is always right.",
                       name);
    if (is_wide(use) && !device->synchronization2)
        return gr_fail(
            GR_ERR_UNSUPPORTED, call,
            "`%s` has stages 0x%llx and accesses 0x%llx, but values over 32 bits need the feature "
            "synchronization2. Enable the feature in vkCreateDevice "
            "(VkPhysicalDeviceSynchronization2Features; before Vulkan 1.3 with the extension "
            "VK_KHR_synchronization2), and set synchronization2 in gr_vk_device_desc.",
            name, (unsigned long long)use->stages, (unsigned long long)use->access);
    return GR_OK;
}

static gr_status check_family(const gr_vk_device *device, uint32_t family, const char *name,
                              const char *call)
{
    if (family < device->family_count)
        return GR_OK;
    if (family == VK_QUEUE_FAMILY_EXTERNAL)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`*%s->queue_family` is VK_QUEUE_FAMILY_EXTERNAL, which stands for CUDA: "
                       "pass the family of the queue that the commands are submitted to, or NULL.",
                       name);
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "`*%s->queue_family` is %u, but %s has %u families: pass that of the queue "
                   "that the commands are submitted to, or NULL for that of the wrapped device.",
                   name, family, device->identity.name, device->family_count);
}

gr_status vk_handover_init(struct vk_handover *way, const gr_vk_device *device,
                           const gr_vk_use *given, const char *name, const char *call)
{
    if (!given)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`%s` is NULL: describe how Vulkan uses the resources.", name);
    GR_TRY(GR_TAKE(gr_vk_use, &way->use, given, call));
    GR_TRY(check_flags(device, &way->use, name, call));
    way->family = way->use.queue_family ? *way->use.queue_family : device->queue_family;
    return check_family(device, way->family, name, call);
}

gr_status vk_handover_check(const struct vk_handover *way, const struct vk_resource *r, size_t i,
                            const char *call)
{
    VkImageLayout layout = way->use.layout;
    if (!r->binding.image || way->to_cuda ||
        (layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != VK_IMAGE_LAYOUT_PREINITIALIZED))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "Resource %zu is an image, and an image cannot be transitioned to "
                   "VK_IMAGE_LAYOUT_%s: pass the layout in which Vulkan uses the image next.",
                   i, layout == VK_IMAGE_LAYOUT_UNDEFINED ? "UNDEFINED" : "PREINITIALIZED");
}

static gr_status check_resource(const gr_resource *resource, size_t i, const gr_vk_device *device,
                                const char *call)
{
    const struct vk_resource *r = vk_resource_of(resource);
    if (!r)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "Resource %zu is %s: barriers are for resources made from Vulkan buffers and images.",
            i, resource ? "not a Vulkan resource" : "NULL");
    if (device && r->binding.device->device != device->device)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "Resource %zu belongs to another VkDevice than the first: record a barrier "
                       "for each device.",
                       i);
    return GR_OK;
}

static gr_status check(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                       const char *call)
{
    if (!commands || !resources || n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       !commands ? "`commands` is NULL: pass a command buffer that is recording"
                       : !resources
                           ? "`resources` is NULL"
                           : "There are no resources: n is 0. Pass the length of `resources`");
    gr_status status = check_resource(resources[0], 0, NULL, call);
    for (size_t i = 1; i < n && status == GR_OK; i++)
        status =
            check_resource(resources[i], i, vk_resource_of(resources[0])->binding.device, call);
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/*
 * One barrier for all resources, in the fields that the structs of both Vulkan versions have. When
 * the ownership is released, an earlier, separate step changes the image layout: the validation
 * layer expects the acquiring side to repeat a layout change within the ownership transfer.
 */
struct step {
    VkPipelineStageFlags2 src_stages, dst_stages;
    VkAccessFlags2 src_access, dst_access;
    VkImageLayout old_layout, new_layout; /* for images only */
    bool only_images;
    uint32_t src_family, dst_family;
};

#define ALL VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT

static struct step change_layout(const gr_vk_use *use)
{
    return (struct step){
        .src_stages = use->stages,
        .dst_stages = ALL,
        .src_access = use->access,
        .old_layout = use->layout,
        .new_layout = VK_IMAGE_LAYOUT_GENERAL,
        .only_images = true,
        .src_family = VK_QUEUE_FAMILY_IGNORED,
        .dst_family = VK_QUEUE_FAMILY_IGNORED,
    };
}

/*
 * Returns the step that releases the ownership. The step needs no destination stage: only the
 * signal of the submit depends on the release, and no later command of this queue.
 */
static struct step release_step(const struct vk_handover *way, bool after_change)
{
    return (struct step){
        .src_stages = after_change ? ALL : way->use.stages,
        .dst_stages = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT,
        .src_access = way->use.access,
        .old_layout = VK_IMAGE_LAYOUT_GENERAL,
        .new_layout = VK_IMAGE_LAYOUT_GENERAL,
        .src_family = way->family,
        .dst_family = VK_QUEUE_FAMILY_EXTERNAL,
    };
}

/*
 * Returns the step that acquires the ownership. It is ordered after the wait of the submit because
 * both use the same stages. If its source stage were TOP_OF_PIPE, the layout could change before
 * CUDA is done.
 */
static struct step acquire_step(const struct vk_handover *way)
{
    return (struct step){
        .src_stages = way->use.stages,
        .dst_stages = way->use.stages,
        .dst_access = way->use.access,
        .old_layout = VK_IMAGE_LAYOUT_GENERAL,
        .new_layout = way->use.layout,
        .src_family = VK_QUEUE_FAMILY_EXTERNAL,
        .dst_family = way->family,
    };
}

/* CUDA does not access a copied object, so the object keeps its owner. */
static struct step before_fetch(const struct vk_handover *way)
{
    return (struct step){
        .src_stages = way->use.stages,
        .dst_stages = ALL,
        .src_access = way->use.access,
        .dst_access = VK_ACCESS_2_TRANSFER_READ_BIT,
        .old_layout = way->use.layout,
        .new_layout = VK_IMAGE_LAYOUT_GENERAL,
        .src_family = VK_QUEUE_FAMILY_IGNORED,
        .dst_family = VK_QUEUE_FAMILY_IGNORED,
    };
}

static struct step after_store(const struct vk_handover *way)
{
    return (struct step){
        .src_stages = way->use.stages | VK_PIPELINE_STAGE_2_TRANSFER_BIT,
        .dst_stages = way->use.stages,
        .src_access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dst_access = way->use.access,
        .old_layout = VK_IMAGE_LAYOUT_GENERAL,
        .new_layout = way->use.layout,
        .src_family = VK_QUEUE_FAMILY_IGNORED,
        .dst_family = VK_QUEUE_FAMILY_IGNORED,
    };
}

/*
 * Returns the queue family for a barrier of the resource. No queue family owns a concurrent
 * resource, but its barriers still name VK_QUEUE_FAMILY_EXTERNAL.
 */
static uint32_t family_of(const struct vk_resource *r, uint32_t family)
{
    return r->concurrent && family != VK_QUEUE_FAMILY_EXTERNAL ? VK_QUEUE_FAMILY_IGNORED : family;
}

static VkImageSubresourceRange all_of(const struct vk_resource *r)
{
    return (VkImageSubresourceRange){r->aspect, 0, VK_REMAINING_MIP_LEVELS, 0,
                                     VK_REMAINING_ARRAY_LAYERS};
}

static VkBufferMemoryBarrier buffer_barrier(const struct vk_resource *r, const struct step *s)
{
    return (VkBufferMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = (VkAccessFlags)s->src_access,
        .dstAccessMask = (VkAccessFlags)s->dst_access,
        .srcQueueFamilyIndex = family_of(r, s->src_family),
        .dstQueueFamilyIndex = family_of(r, s->dst_family),
        .buffer = r->binding.buffer,
        .size = VK_WHOLE_SIZE,
    };
}

static VkImageMemoryBarrier image_barrier(const struct vk_resource *r, const struct step *s)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = (VkAccessFlags)s->src_access,
        .dstAccessMask = (VkAccessFlags)s->dst_access,
        .oldLayout = s->old_layout,
        .newLayout = s->new_layout,
        .srcQueueFamilyIndex = family_of(r, s->src_family),
        .dstQueueFamilyIndex = family_of(r, s->dst_family),
        .image = r->binding.image,
        .subresourceRange = all_of(r),
    };
}

static void record_step(const struct step *step, VkCommandBuffer commands,
                        const struct vk_resource *const list[], size_t n)
{
    VkBufferMemoryBarrier buffers[VK_BARRIERS_AT_ONCE];
    VkImageMemoryBarrier images[VK_BARRIERS_AT_ONCE];
    uint32_t buffer_count = 0, image_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i]->binding.image)
            images[image_count++] = image_barrier(list[i], step);
        else if (!step->only_images)
            buffers[buffer_count++] = buffer_barrier(list[i], step);
    }
    if (buffer_count + image_count)
        list[0]->binding.device->vk.vkCmdPipelineBarrier(
            commands, (VkPipelineStageFlags)step->src_stages,
            (VkPipelineStageFlags)step->dst_stages, 0, 0, NULL, buffer_count, buffers, image_count,
            images);
}

/* ---- Recording with synchronization2 --------------------------------------------------------- */

static VkBufferMemoryBarrier2 buffer_barrier2(const struct vk_resource *r, const struct step *s)
{
    return (VkBufferMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = s->src_stages,
        .srcAccessMask = s->src_access,
        .dstStageMask = s->dst_stages,
        .dstAccessMask = s->dst_access,
        .srcQueueFamilyIndex = family_of(r, s->src_family),
        .dstQueueFamilyIndex = family_of(r, s->dst_family),
        .buffer = r->binding.buffer,
        .size = VK_WHOLE_SIZE,
    };
}

static VkImageMemoryBarrier2 image_barrier2(const struct vk_resource *r, const struct step *s)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = s->src_stages,
        .srcAccessMask = s->src_access,
        .dstStageMask = s->dst_stages,
        .dstAccessMask = s->dst_access,
        .oldLayout = s->old_layout,
        .newLayout = s->new_layout,
        .srcQueueFamilyIndex = family_of(r, s->src_family),
        .dstQueueFamilyIndex = family_of(r, s->dst_family),
        .image = r->binding.image,
        .subresourceRange = all_of(r),
    };
}

static void record_step2(const struct step *step, VkCommandBuffer commands,
                         const struct vk_resource *const list[], size_t n)
{
    VkBufferMemoryBarrier2 buffers[VK_BARRIERS_AT_ONCE];
    VkImageMemoryBarrier2 images[VK_BARRIERS_AT_ONCE];
    VkDependencyInfo all = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .pBufferMemoryBarriers = buffers,
        .pImageMemoryBarriers = images,
    };
    for (size_t i = 0; i < n; i++) {
        if (list[i]->binding.image)
            images[all.imageMemoryBarrierCount++] = image_barrier2(list[i], step);
        else if (!step->only_images)
            buffers[all.bufferMemoryBarrierCount++] = buffer_barrier2(list[i], step);
    }
    if (all.imageMemoryBarrierCount + all.bufferMemoryBarrierCount)
        list[0]->binding.device->vk.vkCmdPipelineBarrier2(commands, &all);
}

static bool has_images(const struct vk_resource *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->binding.image)
            return true;
    return false;
}

typedef void record_function(const struct step *, VkCommandBuffer,
                             const struct vk_resource *const[], size_t);

static void record_shared(const struct vk_handover *way, VkCommandBuffer commands,
                          const struct vk_resource *const list[], size_t n, record_function *record)
{
    bool changes =
        way->to_cuda && way->use.layout != VK_IMAGE_LAYOUT_GENERAL && has_images(list, n);
    const struct step change = change_layout(&way->use);
    const struct step step = way->to_cuda ? release_step(way, changes) : acquire_step(way);
    if (changes)
        record(&change, commands, list, n);
    record(&step, commands, list, n);
}

static void record_copied(const struct vk_handover *way, VkCommandBuffer commands,
                          const struct vk_resource *const list[], size_t n, record_function *record)
{
    const struct step step = way->to_cuda ? before_fetch(way) : after_store(way);
    if (!way->to_cuda)
        vk_copy_record_store(commands, list, n, way->whole);
    record(&step, commands, list, n);
    if (way->to_cuda)
        vk_copy_record_fetch(commands, list, n);
}

void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        const struct vk_resource *const list[], size_t n)
{
    const struct vk_resource *shared[VK_BARRIERS_AT_ONCE], *copied[VK_BARRIERS_AT_ONCE];
    size_t shared_count = 0, copied_count = 0;
    record_function *record = is_wide(&way->use) ? record_step2 : record_step;
    for (size_t i = 0; i < n; i++) {
        if (vk_is_copied(list[i]))
            copied[copied_count++] = list[i];
        else
            shared[shared_count++] = list[i];
    }
    if (shared_count)
        record_shared(way, commands, shared, shared_count, record);
    if (copied_count)
        record_copied(way, commands, copied, copied_count, record);
}

/* ---- Public calls ---------------------------------------------------------------------------- */

static void record(const struct vk_handover *way, VkCommandBuffer commands,
                   gr_resource *const resources[], size_t n)
{
    const struct vk_resource *list[VK_BARRIERS_AT_ONCE];
    for (size_t done = 0, count; done < n; done += count) {
        for (count = 0; count < VK_BARRIERS_AT_ONCE && done + count < n; count++)
            list[count] = vk_resource_of(resources[done + count]);
        vk_handover_record(way, commands, list, count);
    }
}

static gr_status hand_over(bool to_cuda, VkCommandBuffer commands, gr_resource *const resources[],
                           size_t n, const gr_vk_use *use, const char *call)
{
    struct vk_handover way = {.to_cuda = to_cuda, .whole = true};
    gr_status status = check(commands, resources, n, call);
    if (status == GR_OK)
        status = vk_handover_init(&way, vk_resource_of(resources[0])->binding.device, use,
                                  to_cuda ? "before" : "after", call);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = vk_handover_check(&way, vk_resource_of(resources[i]), i, call);
    if (status == GR_OK)
        record(&way, commands, resources, n);
    return status;
}

gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                            const gr_vk_use *before)
{
    gr_status status = hand_over(true, commands, resources, n, before, __func__);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        gr_sync_of(resources[i])->is_new = false;
    return status;
}

gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                              const gr_vk_use *after)
{
    return hand_over(false, commands, resources, n, after, __func__);
}
