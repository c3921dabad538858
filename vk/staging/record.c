/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records the Vulkan side of the transports copy and peer; see staging.h. */
#include "vk/staging/staging.h"

#define ALL VK_PIPELINE_STAGE_ALL_COMMANDS_BIT

/* The maximum number of parts per copy command: the VkBufferCopy structs are on the stack. */
#define PARTS_AT_ONCE 32

static const struct vk_staging *staging_of(const struct vk_resource *r)
{
    return (const struct vk_staging *)r->external.memory;
}

static void record_barrier(const struct vk_resource *r, VkCommandBuffer commands,
                           VkPipelineStageFlags from, VkAccessFlags written,
                           VkPipelineStageFlags to, VkAccessFlags access)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = written,
                                     .dstAccessMask = access};
    r->binding.device->vk.vkCmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0,
                                               NULL);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* The offset of a slot in the buffer of the staging memory. */
static VkDeviceSize offset_of(const struct vk_staging_memory *memory, unsigned slot)
{
    return memory->offset + slot * memory->stride;
}

/* Copies up to PARTS_AT_ONCE parts of a buffer. */
static void move_parts(VkCommandBuffer commands, const struct vk_resource *r, unsigned slot,
                       bool fetch, const VkBufferCopy parts[], uint32_t n)
{
    const struct vk_staging_memory *memory = &staging_of(r)->memory;
    const VkBuffer object = r->binding.buffer, other = memory->binding.buffer;
    const VkDeviceSize offset = offset_of(memory, slot);
    VkBufferCopy regions[PARTS_AT_ONCE];
    for (uint32_t i = 0; i < n; i++)
        regions[i] = (VkBufferCopy){.srcOffset = parts[i].srcOffset + (fetch ? 0 : offset),
                                    .dstOffset = parts[i].srcOffset + (fetch ? offset : 0),
                                    .size = parts[i].size};
    r->binding.device->vk.vkCmdCopyBuffer(commands, fetch ? object : other, fetch ? other : object,
                                          n, regions);
}

static void move_buffer(VkCommandBuffer commands, const struct vk_resource *r, bool fetch, bool all)
{
    const struct vk_staging *staging = staging_of(r);
    const VkBufferCopy whole = {.size = r->external.base.size};
    if (fetch || all) {
        move_parts(commands, r, fetch ? gr_turns_next(&staging->turns) : staging->turns.at, fetch,
                   &whole, 1);
        return;
    }
    for (unsigned i = 0; i < staging->turns.count; i++) {
        const struct vk_owed *owed = &staging->owed[i];
        for (uint32_t done = 0, n; done < owed->count; done += n) {
            n = owed->count - done < PARTS_AT_ONCE ? owed->count - done : PARTS_AT_ONCE;
            move_parts(commands, r, i, false, owed->parts + done, n);
        }
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void move_image(VkCommandBuffer commands, const struct vk_resource *r, bool fetch)
{
    const struct vk_staging *staging = staging_of(r);
    const struct vk_functions *vk = &r->binding.device->vk;
    const VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
    const gr_image_info *image = &r->external.base.image;
    const unsigned slot = fetch ? gr_turns_next(&staging->turns) : staging->turns.at;
    VkBufferImageCopy regions[GR_MOST_LEVELS];
    for (uint32_t i = 0; i < image->levels; i++)
        regions[i] = (VkBufferImageCopy){
            .bufferOffset = offset_of(&staging->memory, slot) + staging->offsets[i],
            .imageSubresource = {r->aspect, i, 0, image->layers},
            .imageExtent = {(uint32_t)gr_level_extent(image->width, i),
                            (uint32_t)gr_level_extent(image->height, i),
                            (uint32_t)gr_level_extent(image->depth, i)},
        };
    if (fetch)
        vk->vkCmdCopyImageToBuffer(commands, r->binding.image, layout,
                                   staging->memory.binding.buffer, image->levels, regions);
    else
        vk->vkCmdCopyBufferToImage(commands, staging->memory.binding.buffer, r->binding.image,
                                   layout, image->levels, regions);
}

/* ---- Both directions ------------------------------------------------------------------------- */

/*
 * Only host writes before vkQueueSubmit are visible without a barrier, but CUDA may write to the
 * staging memory later. So a barrier makes the bytes visible before they are copied to objects.
 */
void vk_staging_record(VkCommandBuffer commands, const struct vk_resource *const list[], size_t n,
                       bool fetch, bool all)
{
    bool some = false;
    for (size_t i = 0; i < n; i++) {
        const gr_resource *resource = &list[i]->external.base;
        /* the flags of the registration, because the commands may serve any mapping */
        if (resource->flags & (fetch ? GR_WRITE_DISCARD : GR_READ_ONLY) ||
            !(fetch || all || resource->sync.owes))
            continue;
        if (!some && fetch) /* copies from the staging memory in the same commands come first */
            record_barrier(list[0], commands, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                           VK_PIPELINE_STAGE_TRANSFER_BIT, 0);
        else if (!some)
            record_barrier(list[0], commands, ALL | VK_PIPELINE_STAGE_HOST_BIT,
                           VK_ACCESS_HOST_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                           VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        if (list[i]->binding.image)
            move_image(commands, list[i], fetch);
        else
            move_buffer(commands, list[i], fetch, all);
        some = true;
    }
    if (some && fetch)
        record_barrier(list[0], commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_ACCESS_HOST_READ_BIT);
}
