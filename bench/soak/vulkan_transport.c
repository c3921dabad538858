/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames between CUDA and Vulkan in both directions: CUDA writes a buffer, Vulkan copies it into
 * another buffer, and CUDA reads that buffer.
 */
#include <vulkan/vulkan.h>

#include <grinterop/submit.h>
#include <grinterop/vk.h>

#include "bench/soak/soak.h"

struct side {
    struct soak_transport *way;
    const gr_cuda_api *cuda;
    CUstream stream;
    const gr_vk_headless_info *vk;
    gr_resource *both[2]; /* the buffer that CUDA writes, and the one that CUDA reads */
    VkCommandPool pool;
    VkCommandBuffer commands;
    CUdeviceptr collected;
};

static bool record(struct side *s)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = s->vk->graphics_family};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    const VkBufferCopy all = {.size = SOAK_BYTES};
    if (vkCreateCommandPool(s->vk->device, &pool, NULL, &s->pool) != VK_SUCCESS)
        return false;
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = s->pool,
                                             .commandBufferCount = 1};
    if (vkAllocateCommandBuffers(s->vk->device, &one, &s->commands) != VK_SUCCESS ||
        vkBeginCommandBuffer(s->commands, &begin) != VK_SUCCESS)
        return false;
    vkCmdCopyBuffer(s->commands, gr_vk_buffer(s->both[0]), gr_vk_buffer(s->both[1]), 1, &all);
    return vkEndCommandBuffer(s->commands) == VK_SUCCESS;
}

static bool submit(const struct side *s)
{
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = s->commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &commands};
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT);
    GR_AUTO(gr_submit) *begun = gr_submit_begin(s->both, 2);
    return begun && gr_vk_submit(begun, &GR_INIT(gr_vk_submit_desc, .info = &info, .first = &use,
                                                 .last = &use)) == GR_OK;
}

/* Maps one of the two buffers, writes or reads it, and releases it. */
static const char *cuda_part(const struct side *s, bool reads, uint64_t frame, size_t at)
{
    gr_buffer *buffer = gr_map(s->both[reads], s->stream);
    if (!buffer)
        return "gr_map";
    const CUdeviceptr memory = gr_buffer_ptr(buffer);
    if (reads ? s->cuda->MemcpyDtoDAsync(s->collected + at * SOAK_BYTES, memory, SOAK_BYTES,
                                         s->stream)
              : s->cuda->MemsetD32Async(memory, soak_word(frame), SOAK_WORDS, s->stream))
        return "the work on the stream";
    return gr_buffer_release(buffer) == GR_OK ? NULL : "gr_buffer_release";
}

static const char *run_group(const struct side *s, uint64_t first)
{
    soak_group words;
    const char *failed = NULL;
    for (size_t i = 0; i < SOAK_GROUP && !failed; i++) {
        failed = cuda_part(s, false, first + i, 0);
        if (!failed && !submit(s))
            failed = "gr_vk_submit";
        if (!failed)
            failed = cuda_part(s, true, 0, i);
    }
    if (failed)
        return failed;
    if (s->cuda->MemcpyDtoHAsync(words, s->collected, sizeof(words), s->stream) ||
        s->cuda->StreamSynchronize(s->stream))
        return "the copy to the host";
    return soak_check(s->way, words, first, SOAK_GROUP) ? NULL : "the bytes";
}

static const char *run_groups(struct side *s)
{
    const char *failed = NULL;
    for (uint64_t next = 1; !failed && !atomic_load(&soak_over); next += SOAK_GROUP) {
        failed = run_group(s, next);
        if (!failed)
            atomic_fetch_add(&s->way->frames, SOAK_GROUP);
    }
    vkQueueWaitIdle(s->vk->graphics);
    return failed;
}

static const char *run_on(struct side *s, gr_vk_device *device)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SOAK_BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const char *failed = NULL;
    for (int reads = 0; reads < 2 && !failed; reads++) {
        s->both[reads] =
            gr_vk_buffer_create(device, &info, reads ? GR_READ_ONLY : GR_WRITE_DISCARD);
        failed = s->both[reads] ? NULL : "gr_vk_buffer_create";
    }
    if (!failed && s->cuda->MemAlloc(&s->collected, sizeof(soak_group)) != CUDA_SUCCESS)
        failed = "cuMemAlloc";
    if (!failed)
        failed = record(s) ? run_groups(s) : "the commands";
    if (s->pool)
        vkDestroyCommandPool(s->vk->device, s->pool, NULL);
    for (int reads = 0; reads < 2; reads++)
        gr_resource_free(s->both[reads]);
    if (s->collected)
        s->cuda->MemFree(s->collected);
    return failed;
}

const char *soak_vulkan(struct soak_transport *way)
{
    struct side s = {.way = way, .cuda = gr_cuda()};
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(way->ordinal);
    if (!context)
        return "gr_cuda_context_create";
    s.stream = context->stream;
    GR_AUTO(gr_vk_headless) *headless =
        gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = way->ordinal));
    if (!headless) {
        snprintf(way->skipped, sizeof(way->skipped), "%s", gr_last_error()->message);
        return NULL;
    }
    s.vk = gr_vk_headless_get(headless);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_wrap(&GR_INIT(
        gr_vk_device_desc, .get_instance_proc_addr = s.vk->get_instance_proc_addr,
        .instance = s.vk->instance, .physical_device = s.vk->physical_device,
        .device = s.vk->device, .queue = s.vk->graphics, .queue_family = s.vk->graphics_family));
    return device ? run_on(&s, device) : "gr_vk_device_wrap";
}
