/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls of Vulkan whose arguments are structs. */
#include "record.h"

#include <string.h>

#include <vulkan/vulkan_core.h>

/* ---- Masks and queue families ---------------------------------------------------------------- */

struct bit {
    uint64_t bit;
    const char *name;
};

#define STAGE(name)                                                                                \
    {                                                                                              \
        VK_PIPELINE_STAGE_2_##name##_BIT, #name                                                    \
    }
#define ACCESS(name)                                                                               \
    {                                                                                              \
        VK_ACCESS_2_##name##_BIT, #name                                                            \
    }

static const struct bit stages[] = {
    STAGE(ALL_COMMANDS),   STAGE(BOTTOM_OF_PIPE),
    STAGE(CLEAR),          STAGE(COLOR_ATTACHMENT_OUTPUT),
    STAGE(COPY),           STAGE(FRAGMENT_SHADER),
    STAGE(HOST),           STAGE(TOP_OF_PIPE),
    STAGE(TRANSFER),       STAGE(VERTEX_INPUT),
    STAGE(COMPUTE_SHADER), {0, NULL},
};

static const struct bit accesses[] = {
    ACCESS(COLOR_ATTACHMENT_WRITE),
    ACCESS(HOST_READ),
    ACCESS(HOST_WRITE),
    ACCESS(MEMORY_READ),
    ACCESS(MEMORY_WRITE),
    ACCESS(SHADER_READ),
    ACCESS(SHADER_STORAGE_READ),
    ACCESS(SHADER_STORAGE_WRITE),
    ACCESS(SHADER_WRITE),
    ACCESS(TRANSFER_READ),
    ACCESS(TRANSFER_WRITE),
    {0, NULL},
};

/* A bit without a name is written in hexadecimal, together with all others. */
static void put_mask(uint64_t mask, const struct bit *bits)
{
    const char *between = "";
    put(mask ? "" : "0");
    for (; bits->name; bits++)
        if (mask & bits->bit) {
            put("%s%s", between, bits->name);
            between = "|";
            mask &= ~bits->bit;
        }
    if (mask)
        put("%s0x%llx", between, (unsigned long long)mask);
}

static void put_masks(const char *what, const struct bit *bits, uint64_t from, uint64_t to)
{
    put(" %s=", what);
    put_mask(from, bits);
    put("->");
    put_mask(to, bits);
}

static void put_family(uint32_t family)
{
    if (family == VK_QUEUE_FAMILY_EXTERNAL)
        put("external");
    else if (family == VK_QUEUE_FAMILY_IGNORED)
        put("ignored");
    else
        put("%u", family);
}

static void put_families(uint32_t from, uint32_t to)
{
    put(" family=");
    put_family(from);
    put("->");
    put_family(to);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static void put_range(const VkImageSubresourceRange *range)
{
    put(" aspect=0x%x levels=%u+%d layers=%u+%d", range->aspectMask, range->baseMipLevel,
        (int)range->levelCount, range->baseArrayLayer, (int)range->layerCount);
}

/* The members have the same names in the structs of both versions. */
#define PUT_BUFFER(b)                                                                              \
    do {                                                                                           \
        put("\n    ");                                                                             \
        put_object("buffer", (uintptr_t)(b)->buffer);                                              \
        put(" offset=%lld size=%lld", (long long)(b)->offset, (long long)(b)->size);               \
        put_masks("access", accesses, (b)->srcAccessMask, (b)->dstAccessMask);                     \
        put_families((b)->srcQueueFamilyIndex, (b)->dstQueueFamilyIndex);                          \
    } while (0)
#define PUT_IMAGE(i)                                                                               \
    do {                                                                                           \
        put("\n    ");                                                                             \
        put_object("image", (uintptr_t)(i)->image);                                                \
        put(" layout=%d->%d", (int)(i)->oldLayout, (int)(i)->newLayout);                           \
        put_range(&(i)->subresourceRange);                                                         \
        put_masks("access", accesses, (i)->srcAccessMask, (i)->dstAccessMask);                     \
        put_families((i)->srcQueueFamilyIndex, (i)->dstQueueFamilyIndex);                          \
    } while (0)

static void write_barrier(const struct call_seen *call)
{
    const VkMemoryBarrier *m = ARG_TO(VkMemoryBarrier, 5);
    const VkBufferMemoryBarrier *b = ARG_TO(VkBufferMemoryBarrier, 7);
    const VkImageMemoryBarrier *i = ARG_TO(VkImageMemoryBarrier, 9);
    put_masks("stages", stages, (uint32_t)ARG(1), (uint32_t)ARG(2));
    put(" flags=0x%x", (unsigned)ARG(3));
    for (int n = ARG_INT(4); n--; m++) {
        put("\n     memory");
        put_masks("access", accesses, m->srcAccessMask, m->dstAccessMask);
    }
    for (int n = ARG_INT(6); n--; b++)
        PUT_BUFFER(b);
    for (int n = ARG_INT(8); n--; i++)
        PUT_IMAGE(i);
}

static void write_barrier2(const struct call_seen *call)
{
    const VkDependencyInfo *info = ARG_TO(VkDependencyInfo, 1);
    put(" flags=0x%x", info->dependencyFlags);
    for (uint32_t n = 0; n < info->memoryBarrierCount; n++) {
        const VkMemoryBarrier2 *m = &info->pMemoryBarriers[n];
        put("\n     memory");
        put_masks("stages", stages, m->srcStageMask, m->dstStageMask);
        put_masks("access", accesses, m->srcAccessMask, m->dstAccessMask);
    }
    for (uint32_t n = 0; n < info->bufferMemoryBarrierCount; n++) {
        const VkBufferMemoryBarrier2 *b = &info->pBufferMemoryBarriers[n];
        PUT_BUFFER(b);
        put_masks("stages", stages, b->srcStageMask, b->dstStageMask);
    }
    for (uint32_t n = 0; n < info->imageMemoryBarrierCount; n++) {
        const VkImageMemoryBarrier2 *i = &info->pImageMemoryBarriers[n];
        PUT_IMAGE(i);
        put_masks("stages", stages, i->srcStageMask, i->dstStageMask);
    }
}

/* ---- Submits and semaphores ------------------------------------------------------------------ */

static const void *find_in(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *one = chain;
    while (one && one->sType != type)
        one = one->pNext;
    return one;
}

static void put_point(const char *what, VkSemaphore semaphore, const uint64_t *values,
                      uint32_t count, uint32_t i)
{
    put("\n     %s", what);
    put_object("vk-semaphore", (uintptr_t)semaphore);
    if (values && i < count)
        put_value(values[i]);
}

static void put_submit(const VkSubmitInfo *info)
{
    static const VkTimelineSemaphoreSubmitInfo none;
    const VkTimelineSemaphoreSubmitInfo *values =
        find_in(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values = values ? values : &none;
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
        put_point("wait", info->pWaitSemaphores[i], values->pWaitSemaphoreValues,
                  values->waitSemaphoreValueCount, i);
        put(" stages=");
        put_mask(info->pWaitDstStageMask[i], stages);
    }
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        put_object("commands", (uintptr_t)info->pCommandBuffers[i]);
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++)
        put_point("signal", info->pSignalSemaphores[i], values->pSignalSemaphoreValues,
                  values->signalSemaphoreValueCount, i);
}

static void write_submit(const struct call_seen *call)
{
    const VkSubmitInfo *infos = ARG_TO(VkSubmitInfo, 2);
    put(" fence=%d", ARG(3) != 0);
    for (int i = 0; i < ARG_INT(1); i++)
        put_submit(&infos[i]);
}

static void put_points2(const char *what, const VkSemaphoreSubmitInfo *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_point(what, points[i].semaphore, &points[i].value, 1, 0);
        put(" stages=");
        put_mask(points[i].stageMask, stages);
    }
}

static void write_submit2(const struct call_seen *call)
{
    const VkSubmitInfo2 *info = ARG_TO(VkSubmitInfo2, 2);
    put(" fence=%d", ARG(3) != 0);
    for (int n = ARG_INT(1); n--; info++) {
        put(" flags=0x%x", info->flags);
        put_points2("wait", info->pWaitSemaphoreInfos, info->waitSemaphoreInfoCount);
        for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
            put_object("commands", (uintptr_t)info->pCommandBufferInfos[i].commandBuffer);
        put_points2("signal", info->pSignalSemaphoreInfos, info->signalSemaphoreInfoCount);
    }
}

static void write_new_semaphore(const struct call_seen *call)
{
    const VkSemaphoreCreateInfo *info = ARG_TO(VkSemaphoreCreateInfo, 1);
    const VkSemaphoreTypeCreateInfo *type =
        find_in(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    const VkExportSemaphoreCreateInfo *exported =
        find_in(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    put(" timeline=%d", type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE);
    put(" handles=0x%x", exported ? exported->handleTypes : 0);
}

static void write_host_signal(const struct call_seen *call)
{
    const VkSemaphoreSignalInfo *info = ARG_TO(VkSemaphoreSignalInfo, 1);
    put_object("vk-semaphore", (uintptr_t)info->semaphore);
    put_value(info->value);
}

static void write_host_wait(const struct call_seen *call)
{
    const VkSemaphoreWaitInfo *info = ARG_TO(VkSemaphoreWaitInfo, 1);
    put(" flags=0x%x", info->flags);
    for (uint32_t i = 0; i < info->semaphoreCount; i++)
        put_point("wait", info->pSemaphores[i], info->pValues, info->semaphoreCount, i);
}

static void write_export_semaphore(const struct call_seen *call)
{
    const VkSemaphoreGetFdInfoKHR *info = ARG_TO(VkSemaphoreGetFdInfoKHR, 1);
    put_object("vk-semaphore", (uintptr_t)info->semaphore);
    put(" type=0x%x", (unsigned)info->handleType);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void write_new_pool(const struct call_seen *call)
{
    const VkCommandPoolCreateInfo *info = ARG_TO(VkCommandPoolCreateInfo, 1);
    put(" flags=0x%x family=%u", info->flags, info->queueFamilyIndex);
}

/* Its command buffers end with it. */
static void write_end_of_pool(const struct call_seen *call)
{
    put_object("pool", ARG(1));
    forget_object("pool", ARG(1));
    forget_objects("commands");
}

static void write_new_commands(const struct call_seen *call)
{
    const VkCommandBufferAllocateInfo *info = ARG_TO(VkCommandBufferAllocateInfo, 1);
    put_object("pool", (uintptr_t)info->commandPool);
    put(" level=%d count=%u", (int)info->level, info->commandBufferCount);
}

static void write_begin(const struct call_seen *call)
{
    put_object("commands", ARG(0));
    put(" flags=0x%x", ARG_TO(VkCommandBufferBeginInfo, 1)->flags);
}

static void write_copy_buffer(const struct call_seen *call)
{
    const VkBufferCopy *region = ARG_TO(VkBufferCopy, 4);
    put_object("buffer", ARG(1));
    put_object("buffer", ARG(2));
    for (int n = ARG_INT(3); n--; region++)
        put(" %llu->%llu size=%llu", (unsigned long long)region->srcOffset,
            (unsigned long long)region->dstOffset, (unsigned long long)region->size);
}

static void put_regions(const VkBufferImageCopy *region, int count)
{
    for (; count--; region++)
        put(" offset=%llu row=%u height=%u aspect=0x%x level=%u layers=%u+%u at %d,%d,%d %ux%ux%u",
            (unsigned long long)region->bufferOffset, region->bufferRowLength,
            region->bufferImageHeight, region->imageSubresource.aspectMask,
            region->imageSubresource.mipLevel, region->imageSubresource.baseArrayLayer,
            region->imageSubresource.layerCount, region->imageOffset.x, region->imageOffset.y,
            region->imageOffset.z, region->imageExtent.width, region->imageExtent.height,
            region->imageExtent.depth);
}

static void write_copy_to_image(const struct call_seen *call)
{
    put_object("buffer", ARG(1));
    put_object("image", ARG(2));
    put(" layout=%d", ARG_INT(3));
    put_regions(ARG_TO(VkBufferImageCopy, 5), ARG_INT(4));
}

static void write_copy_of_image(const struct call_seen *call)
{
    put_object("image", ARG(1));
    put(" layout=%d", ARG_INT(2));
    put_object("buffer", ARG(3));
    put_regions(ARG_TO(VkBufferImageCopy, 5), ARG_INT(4));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void write_new_buffer(const struct call_seen *call)
{
    const VkBufferCreateInfo *info = ARG_TO(VkBufferCreateInfo, 1);
    const VkExternalMemoryBufferCreateInfo *external =
        find_in(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    put(" size=%llu usage=0x%x flags=0x%x sharing=%d handles=0x%x", (unsigned long long)info->size,
        info->usage, info->flags, (int)info->sharingMode, external ? external->handleTypes : 0);
}

static void write_new_image(const struct call_seen *call)
{
    const VkImageCreateInfo *info = ARG_TO(VkImageCreateInfo, 1);
    const VkExternalMemoryImageCreateInfo *external =
        find_in(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);
    put(" %dD %ux%ux%u format=%d levels=%u layers=%u samples=%d tiling=%d usage=0x%x flags=0x%x "
        "sharing=%d layout=%d handles=0x%x",
        (int)info->imageType + 1, info->extent.width, info->extent.height, info->extent.depth,
        (int)info->format, info->mipLevels, info->arrayLayers, (int)info->samples,
        (int)info->tiling, info->usage, info->flags, (int)info->sharingMode,
        (int)info->initialLayout, external ? external->handleTypes : 0);
}

static void write_new_memory(const struct call_seen *call)
{
    const VkMemoryAllocateInfo *info = ARG_TO(VkMemoryAllocateInfo, 1);
    const VkExportMemoryAllocateInfo *exported =
        find_in(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    const VkImportMemoryFdInfoKHR *fd =
        find_in(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
    const VkImportMemoryHostPointerInfoEXT *host =
        find_in(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    const VkMemoryDedicatedAllocateInfo *dedicated =
        find_in(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    const VkMemoryAllocateFlagsInfo *flags =
        find_in(info->pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    put(" size=%llu type=%u export=0x%x import=0x%x flags=0x%x",
        (unsigned long long)info->allocationSize, info->memoryTypeIndex,
        exported ? exported->handleTypes : 0,
        fd     ? (unsigned)fd->handleType
        : host ? (unsigned)host->handleType
               : 0,
        flags ? flags->flags : 0);
    if (dedicated) {
        put_object("buffer", (uintptr_t)dedicated->buffer);
        put_object("image", (uintptr_t)dedicated->image);
    }
}

static void write_export_memory(const struct call_seen *call)
{
    const VkMemoryGetFdInfoKHR *info = ARG_TO(VkMemoryGetFdInfoKHR, 1);
    put_object("memory", (uintptr_t)info->memory);
    put(" type=0x%x", (unsigned)info->handleType);
}

write_call *vulkan_writer(const char *name)
{
    static const struct {
        const char *name;
        write_call *write;
    } all[] = {
        {"vkAllocateCommandBuffers", write_new_commands},
        {"vkAllocateMemory", write_new_memory},
        {"vkBeginCommandBuffer", write_begin},
        {"vkCmdCopyBuffer", write_copy_buffer},
        {"vkCmdCopyBufferToImage", write_copy_to_image},
        {"vkCmdCopyImageToBuffer", write_copy_of_image},
        {"vkCmdPipelineBarrier", write_barrier},
        {"vkCmdPipelineBarrier2", write_barrier2},
        {"vkCreateBuffer", write_new_buffer},
        {"vkCreateCommandPool", write_new_pool},
        {"vkCreateImage", write_new_image},
        {"vkCreateSemaphore", write_new_semaphore},
        {"vkDestroyCommandPool", write_end_of_pool},
        {"vkGetMemoryFdKHR", write_export_memory},
        {"vkGetSemaphoreFdKHR", write_export_semaphore},
        {"vkQueueSubmit", write_submit},
        {"vkQueueSubmit2", write_submit2},
        {"vkSignalSemaphore", write_host_signal},
        {"vkWaitSemaphores", write_host_wait},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].write;
    return NULL;
}
