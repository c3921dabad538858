/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Barriers between Vulkan and CUDA: they transfer the ownership between the queue family and
 * VK_QUEUE_FAMILY_EXTERNAL, and change image layouts. Semaphores, not barriers, make the other API
 * wait.
 */
#include "lib/base/error.h"
#include "lib/resource/resource.h"
#include "lib/base/struct_size.h"
#include "vk/staging/staging.h"
#include "vk/resource/resource.h"
#include "vk/submit/submit.h"

/* The maximum number of resources per barrier command: the barrier structs are on the stack. */
#define BARRIERS_AT_ONCE 32

/* ---- Checks before recording ----------------------------------------------------------------- */

/* Whether the use has synchronization2 flags that vkCmdPipelineBarrier cannot represent. */
static bool is_wide(const gr_vk_use *use)
{
    return use->stages >> 32 || use->access >> 32;
}

gr_status vk_handover_init(struct vk_handover *way, const gr_vk_device *device,
                           const gr_vk_use *given, const char *name)
{
    GR_REFUSE_IF(!given, "`%s` is NULL: describe how Vulkan uses the resources.", name);
    GR_TRY(GR_TAKE(gr_vk_use, &way->use, given));
    const gr_vk_use *use = &way->use;
    GR_REFUSE_IF(use->stages == 0,
                 "`%s->stages` is 0: name the stages that use the resources. "
                 "VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT is always right.",
                 name);
    if (is_wide(use) && !device->synchronization2)
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "`%s` has stages 0x%llx and accesses 0x%llx, but values over 32 bits need the feature "
            "synchronization2. Enable the feature in vkCreateDevice "
            "(VkPhysicalDeviceSynchronization2Features; before Vulkan 1.3 with the extension "
            "VK_KHR_synchronization2), and set synchronization2 in gr_vk_device_desc.",
            name, (unsigned long long)use->stages, (unsigned long long)use->access);
    way->family = use->queue_family ? *use->queue_family : device->queue_family;
    if (way->family < device->family_count)
        return GR_OK;
    GR_REFUSE_IF(way->family == VK_QUEUE_FAMILY_EXTERNAL,
                 "`*%s->queue_family` is VK_QUEUE_FAMILY_EXTERNAL, which stands for CUDA: pass the "
                 "family of the queue that the commands are submitted to, or NULL.",
                 name);
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`*%s->queue_family` is %u, but %s has %u families: pass that of the queue "
                   "that the commands are submitted to, or NULL for that of the wrapped device.",
                   name, way->family, device->identity.name, device->family_count);
}

gr_status vk_handover_check(const struct vk_handover *way, const struct vk_resource *resource,
                            size_t i)
{
    const VkImageLayout layout = way->use.layout;
    if (way->to_cuda || !resource->binding.image ||
        (layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != VK_IMAGE_LAYOUT_PREINITIALIZED))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "Resource %zu is an image, and an image cannot be transitioned to "
                   "VK_IMAGE_LAYOUT_%s: pass the layout in which Vulkan uses the image next.",
                   i, layout == VK_IMAGE_LAYOUT_UNDEFINED ? "UNDEFINED" : "PREINITIALIZED");
}

/* ---- Recording ------------------------------------------------------------------------------- */

/*
 * A barrier for all resources is written as a VkImageMemoryBarrier2, which has the fields of all
 * barriers. A family of VK_QUEUE_FAMILY_IGNORED leaves the owner as it is: that of a copied object,
 * which CUDA does not access.
 */
typedef VkImageMemoryBarrier2 step;

#define ALL VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT

/*
 * Returns the step that changes the layout before the ownership is released, or before the texels
 * are copied. It is separate from the release: the validation layer expects the acquiring side to
 * repeat a layout change within the ownership transfer.
 */
static step layout_step(const struct vk_handover *way, VkAccessFlags2 next)
{
    return (step){
        .srcStageMask = way->use.stages,
        .srcAccessMask = way->use.access,
        .dstStageMask = ALL,
        .dstAccessMask = next,
        .oldLayout = way->use.layout,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
    };
}

/*
 * Returns the step that releases the ownership. The step needs no destination stage: only the
 * signal of the submit depends on the release, and no later command of this queue.
 */
static step release_step(const struct vk_handover *way, bool after_change)
{
    return (step){
        .srcStageMask = after_change ? ALL : way->use.stages,
        .srcAccessMask = way->use.access,
        .dstStageMask = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = way->family,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL,
    };
}

/*
 * Returns the step that acquires the ownership, or that follows the copies to an object. It is
 * ordered after the wait of the submit because both use the same stages. If its source stage were
 * TOP_OF_PIPE, the layout could change before CUDA is done.
 */
static step acquire_step(const struct vk_handover *way, bool copied)
{
    return (step){
        .srcStageMask = way->use.stages | (copied ? VK_PIPELINE_STAGE_2_TRANSFER_BIT : 0),
        .srcAccessMask = copied ? VK_ACCESS_2_TRANSFER_WRITE_BIT : 0,
        .dstStageMask = way->use.stages,
        .dstAccessMask = way->use.access,
        .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = way->use.layout,
        .srcQueueFamilyIndex = copied ? VK_QUEUE_FAMILY_IGNORED : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = copied ? VK_QUEUE_FAMILY_IGNORED : way->family,
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

static void record_step(const step *s, VkCommandBuffer commands,
                        const struct vk_resource *const list[], size_t n)
{
    VkBufferMemoryBarrier buffers[BARRIERS_AT_ONCE];
    VkImageMemoryBarrier images[BARRIERS_AT_ONCE];
    uint32_t buffer_count = 0, image_count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct vk_resource *r = list[i];
        if (r->binding.image)
            images[image_count++] = (VkImageMemoryBarrier){
                .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                .srcAccessMask = (VkAccessFlags)s->srcAccessMask,
                .dstAccessMask = (VkAccessFlags)s->dstAccessMask,
                .oldLayout = s->oldLayout,
                .newLayout = s->newLayout,
                .srcQueueFamilyIndex = family_of(r, s->srcQueueFamilyIndex),
                .dstQueueFamilyIndex = family_of(r, s->dstQueueFamilyIndex),
                .image = r->binding.image,
                .subresourceRange = all_of(r),
            };
        else
            buffers[buffer_count++] = (VkBufferMemoryBarrier){
                .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                .srcAccessMask = (VkAccessFlags)s->srcAccessMask,
                .dstAccessMask = (VkAccessFlags)s->dstAccessMask,
                .srcQueueFamilyIndex = family_of(r, s->srcQueueFamilyIndex),
                .dstQueueFamilyIndex = family_of(r, s->dstQueueFamilyIndex),
                .buffer = r->binding.buffer,
                .size = VK_WHOLE_SIZE,
            };
    }
    list[0]->binding.device->vk.vkCmdPipelineBarrier(
        commands, (VkPipelineStageFlags)s->srcStageMask, (VkPipelineStageFlags)s->dstStageMask, 0,
        0, NULL, buffer_count, buffers, image_count, images);
}

/* ---- Recording with synchronization2 --------------------------------------------------------- */

static void record_step2(const step *s, VkCommandBuffer commands,
                         const struct vk_resource *const list[], size_t n)
{
    VkBufferMemoryBarrier2 buffers[BARRIERS_AT_ONCE];
    VkImageMemoryBarrier2 images[BARRIERS_AT_ONCE];
    VkDependencyInfo all = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .pBufferMemoryBarriers = buffers,
        .pImageMemoryBarriers = images,
    };
    for (size_t i = 0; i < n; i++) {
        const struct vk_resource *r = list[i];
        VkImageMemoryBarrier2 barrier = *s;
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
        barrier.srcQueueFamilyIndex = family_of(r, s->srcQueueFamilyIndex);
        barrier.dstQueueFamilyIndex = family_of(r, s->dstQueueFamilyIndex);
        barrier.image = r->binding.image;
        barrier.subresourceRange = all_of(r);
        if (r->binding.image)
            images[all.imageMemoryBarrierCount++] = barrier;
        else
            buffers[all.bufferMemoryBarrierCount++] = (VkBufferMemoryBarrier2){
                .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
                .srcStageMask = s->srcStageMask,
                .srcAccessMask = s->srcAccessMask,
                .dstStageMask = s->dstStageMask,
                .dstAccessMask = s->dstAccessMask,
                .srcQueueFamilyIndex = barrier.srcQueueFamilyIndex,
                .dstQueueFamilyIndex = barrier.dstQueueFamilyIndex,
                .buffer = r->binding.buffer,
                .size = VK_WHOLE_SIZE,
            };
    }
    list[0]->binding.device->vk.vkCmdPipelineBarrier2(commands, &all);
}

/* ---- Both ------------------------------------------------------------------------------------ */

typedef void record_function(const step *, VkCommandBuffer, const struct vk_resource *const[],
                             size_t);

/* Changes the layout of the images, if it is not yet that of the release. */
static bool record_layouts(const struct vk_handover *way, VkCommandBuffer commands,
                           const struct vk_resource *const list[], size_t n,
                           record_function *record)
{
    const struct vk_resource *images[BARRIERS_AT_ONCE];
    const step layout = layout_step(way, 0);
    size_t count = 0;
    if (way->use.layout == VK_IMAGE_LAYOUT_GENERAL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (list[i]->binding.image)
            images[count++] = list[i];
    if (count)
        record(&layout, commands, images, count);
    return count;
}

void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        struct vk_resource *const resources[], size_t n)
{
    const struct vk_resource *shared[BARRIERS_AT_ONCE], *copied[BARRIERS_AT_ONCE];
    size_t shared_count = 0, copied_count = 0;
    record_function *record = is_wide(&way->use) ? record_step2 : record_step;
    for (; n > BARRIERS_AT_ONCE; resources += BARRIERS_AT_ONCE, n -= BARRIERS_AT_ONCE)
        vk_handover_record(way, commands, resources, BARRIERS_AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        if (vk_is_copied(&resources[i]->binding))
            copied[copied_count++] = resources[i];
        else
            shared[shared_count++] = resources[i];
    }
    if (shared_count) {
        const step s =
            way->to_cuda
                ? release_step(way, record_layouts(way, commands, shared, shared_count, record))
                : acquire_step(way, false);
        record(&s, commands, shared, shared_count);
    }
    if (copied_count) {
        const step s = way->to_cuda ? layout_step(way, VK_ACCESS_2_TRANSFER_READ_BIT)
                                    : acquire_step(way, true);
        if (!way->to_cuda)
            vk_staging_record(commands, copied, copied_count, false, way->whole);
        record(&s, commands, copied, copied_count);
        if (way->to_cuda)
            vk_staging_record(commands, copied, copied_count, true, way->whole);
    }
}

/* ---- Public calls ---------------------------------------------------------------------------- */

static gr_status check_resources(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        GR_TRY(gr_resource_check_slot(resources[i]));
        const struct vk_resource *r = vk_resource_of(resources[i]);
        GR_REFUSE_IF(!r,
                     "Resource %zu is not a Vulkan resource: barriers are for resources made from "
                     "Vulkan buffers and images.",
                     i);
        GR_REFUSE_IF(
            r->binding.device->device != vk_resource_of(resources[0])->binding.device->device,
            "Resource %zu belongs to another VkDevice than the first: record a barrier for each "
            "device.",
            i);
        GR_TRY(gr_submit_refuse_in_flight(resources[i]));
    }
    return GR_OK;
}

static gr_status hand_over(bool to_cuda, VkCommandBuffer commands, gr_resource *const resources[],
                           size_t n, const gr_vk_use *use)
{
    struct vk_handover way = {.to_cuda = to_cuda, .whole = true};
    struct vk_resource *some[BARRIERS_AT_ONCE];
    GR_REFUSE_IF(!commands || !resources || n == 0, "%s.",
                 !commands    ? "`commands` is NULL: pass a command buffer that is recording"
                 : !resources ? "`resources` is NULL"
                              : "There are no resources: n is 0. Pass the length of `resources`");
    GR_TRY(check_resources(resources, n));
    GR_TRY(vk_handover_init(&way, vk_resource_of(resources[0])->binding.device, use,
                            to_cuda ? "before" : "after"));
    for (size_t i = 0; i < n; i++)
        GR_TRY(vk_handover_check(&way, vk_resource_of(resources[i]), i));
    for (size_t i = 0, count = 0; i < n; i++) {
        some[count++] = vk_resource_of(resources[i]);
        if (count < BARRIERS_AT_ONCE && i + 1 < n)
            continue;
        vk_handover_record(&way, commands, some, count);
        count = 0;
    }
    return GR_OK;
}

gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                            const gr_vk_use *before)
{
    GR_CALL();
    GR_TRY(hand_over(true, commands, resources, n, before));
    /* Maps may follow. But until the commands are submitted, CUDA does not have the resources. */
    for (size_t i = 0; i < n; i++)
        if (resources[i]->sync.held_by == GR_HELD_BY_GRAPHICS)
            resources[i]->sync.held_by = GR_HELD_BY_NOBODY;
    return GR_OK;
}

gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[], size_t n,
                              const gr_vk_use *after)
{
    GR_CALL();
    return hand_over(false, commands, resources, n, after);
}
