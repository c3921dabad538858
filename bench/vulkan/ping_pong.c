/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A round trip: CUDA waits for Vulkan, fills the first half of a buffer and signals. A Vulkan queue
 * waits for this signal, copies the first half to the second and signals. With one resource each
 * round trip waits for the previous one; with k resources the GPU may work on k round trips at
 * once. The command buffers are recorded in advance. They transfer the buffer from and to the queue
 * family EXTERNAL: the raw side by hand-written barriers, the grinterop side by the barriers of
 * grinterop.
 *
 * The cost for the thread is per call, so there are two kinds of rows with fewer calls: one
 * vkQueueSubmit takes the submits of several round trips, each with its own semaphore values, or
 * one submit copies a batch of resources, with one wait and one signal for all.
 */
#define _GNU_SOURCE
#include <string.h>

#include "bench/vulkan/vulkan.h"

enum vkb_queue vkb_queue_of(const struct vkb_kind *kind)
{
    return kind->part >= VKB_PING_PONG ? (enum vkb_queue)(kind->part - VKB_PING_PONG)
                                       : VKB_GRAPHICS;
}

/* ---- Command buffers ------------------------------------------------------------------------- */

static const VkAccessFlags COPY_ACCESS = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

static void barrier_raw(struct vkb *bench, VkCommandBuffer commands, VkBuffer buffer,
                        uint32_t family, bool to_cuda)
{
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = to_cuda ? COPY_ACCESS : 0,
        .dstAccessMask = to_cuda ? 0 : COPY_ACCESS,
        .srcQueueFamilyIndex = to_cuda ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = to_cuda ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE};
    bench->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   to_cuda ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                           : VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   0, 0, NULL, 1, &barrier, 0, NULL);
}

static bool barrier_grinterop(VkCommandBuffer commands, gr_resource *resource, uint32_t family,
                              bool to_cuda)
{
    const gr_vk_use copy = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   .access = COPY_ACCESS, .queue_family = &family);
    if ((to_cuda ? gr_vk_cmd_to_cuda : gr_vk_cmd_from_cuda)(commands, &resource, 1, &copy) == GR_OK)
        return true;
    return bench_grinterop_failed(to_cuda ? "gr_vk_cmd_to_cuda" : "gr_vk_cmd_from_cuda");
}

static bool barrier(struct vkb *bench, struct vkb_side *side, VkCommandBuffer commands,
                    unsigned resource, uint32_t family, bool to_cuda)
{
    if (side->resources[resource])
        return barrier_grinterop(commands, side->resources[resource], family, to_cuda);
    barrier_raw(bench, commands, side->buffers[resource].buffer, family, to_cuda);
    return true;
}

static bool record_copy(struct vkb *bench, struct vkb_side *side, VkCommandBuffer commands,
                        unsigned resource, uint32_t family)
{
    const VkBuffer buffer = side->buffers[resource].buffer;
    const VkBufferCopy region = {.dstOffset = VKB_BYTES / 2, .size = VKB_BYTES / 2};
    if (!barrier(bench, side, commands, resource, family, false))
        return false;
    bench->vk.vkCmdCopyBuffer(commands, buffer, buffer, 1, &region);
    return barrier(bench, side, commands, resource, family, true);
}

static bool record_one(struct vkb *bench, struct vkb_side *side, unsigned i,
                       const struct vkb_kind *kind)
{
    uint32_t family = bench->families[vkb_queue_of(kind)];
    VkCommandBuffer commands = side->commands[i];
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!vkb_ok(bench->vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"))
        return false;
    unsigned first = i * kind->copies % kind->resources;
    for (unsigned resource = first; resource < first + kind->copies; resource++)
        if (!(kind->part == VKB_STAGED ? vkb_record_staged(bench, side, commands)
                                       : record_copy(bench, side, commands, resource, family)))
            return false;
    return vkb_ok(bench->vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static bool record_side(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = bench->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = VKB_FRAMES};
    if (!vkb_ok(bench->vk.vkAllocateCommandBuffers(bench->handles->device, &info, side->commands),
                "vkAllocateCommandBuffers"))
        return false;
    for (unsigned i = 0; i < VKB_FRAMES; i++)
        if (!record_one(bench, side, i, kind))
            return false;
    return true;
}

/* Creates the command buffers of the row in a new pool, and destroys the previous pool. */
bool vkb_record(struct vkb *bench, const struct vkb_kind *kind)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = bench->families[vkb_queue_of(kind)]};
    bench->vk.vkDestroyCommandPool(bench->handles->device, bench->pool, NULL);
    bench->pool = VK_NULL_HANDLE;
    if (!vkb_ok(bench->vk.vkCreateCommandPool(bench->handles->device, &info, NULL, &bench->pool),
                "vkCreateCommandPool"))
        return false;
    return record_side(bench, &bench->sides[VKB_RAW], kind) &&
           record_side(bench, &bench->sides[VKB_GRINTEROP], kind);
}

static bool hand_over(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    VkResult result = bench->vk.vkQueueSubmit(bench->queues[vkb_queue_of(kind)], side->submit_count,
                                              side->infos, VK_NULL_HANDLE);
    side->submit_count = 0;
    return vkb_ok(result, "vkQueueSubmit");
}

/*
 * Submits the command buffer of the frame, now or together with those of the next frames. `wait`
 * may be VK_NULL_HANDLE.
 */
static bool submit(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind,
                   VkSemaphore wait, uint64_t wait_value, VkSemaphore signal, uint64_t signal_value)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const uint32_t waits = wait != VK_NULL_HANDLE;
    struct vkb_submit *s = &side->submits[side->submit_count];
    *s = (struct vkb_submit){
        .wait = wait, .signal = signal, .wait_value = wait_value, .signal_value = signal_value};
    s->values =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = waits,
                                        .pWaitSemaphoreValues = &s->wait_value,
                                        .signalSemaphoreValueCount = 1,
                                        .pSignalSemaphoreValues = &s->signal_value};
    side->infos[side->submit_count] =
        (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .pNext = &s->values,
                       .waitSemaphoreCount = waits,
                       .pWaitSemaphores = &s->wait,
                       .pWaitDstStageMask = &stage,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &side->commands[side->frames / kind->copies % VKB_FRAMES],
                       .signalSemaphoreCount = 1,
                       .pSignalSemaphores = &s->signal};
    return ++side->submit_count < kind->submits || hand_over(bench, side, kind);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

bool vkb_ping_pong_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned i = (unsigned)(side->frames % kind->resources);
    if (side->waits_for[i] != 0 && !vkb_raw_wait(bench, side, side->waits_for[i]))
        return false;
    if (!vkb_fill(bench, side, i) || !vkb_raw_signal(bench, side, ++side->computed) ||
        !submit(bench, side, kind, side->release, side->computed, side->acquire, ++side->drawn))
        return false;
    side->waits_for[i] = side->drawn;
    side->done[side->frames % VKB_FRAMES] = side->drawn;
    return true;
}

/*
 * Submits through a grinterop submit. The resources share one pair of semaphores, and CUDA has
 * released each resource.
 */
static bool submit_begun(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind,
                         gr_resource *const resources[], size_t n)
{
    gr_submit *points = gr_submit_begin(resources, n);
    if (!points)
        return bench_grinterop_failed("gr_submit_begin");
    side->drawn = points->signal_values[0];
    bool made = submit(bench, side, kind, gr_vk_semaphore(points->waits[0]), points->wait_values[0],
                       gr_vk_semaphore(points->signals[0]), points->signal_values[0]) &&
                gr_submit_commit(points) == GR_OK;
    gr_submit_free(points);
    return made;
}

/* Records the semaphore value at which the last n frames are complete. */
static bool set_done_value(struct vkb_side *side, unsigned n, uint64_t value)
{
    for (unsigned i = 0; i < n; i++)
        side->done[(side->frames - i) % VKB_FRAMES] = value;
    return true;
}

bool vkb_ping_pong_grinterop(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned i = (unsigned)(side->frames % kind->resources);
    gr_buffer *buffer = gr_map(side->resources[i], bench->on.stream);
    if (!buffer)
        return bench_grinterop_failed("gr_map");
    side->pointers[i] = gr_buffer_ptr(buffer);
    bool filled = vkb_fill(bench, side, i);
    if (gr_buffer_release(buffer) != GR_OK)
        return bench_grinterop_failed("gr_buffer_release");
    return filled && submit_begun(bench, side, kind, &side->resources[i], 1) &&
           set_done_value(side, 1, side->drawn);
}

/*
 * Whether the frame is the last one of a batch. As in other rows, a frame is one round trip of one
 * resource. The last frame of a batch does the work of the whole batch.
 */
static bool ends_batch(const struct vkb_side *side, const struct vkb_kind *kind, unsigned *first)
{
    *first = (unsigned)(side->frames / kind->copies * kind->copies % kind->resources);
    return (side->frames + 1) % kind->copies == 0;
}

static bool fill_batch(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind,
                       unsigned first)
{
    for (unsigned i = first; i < first + kind->copies; i++)
        if (!vkb_fill(bench, side, i))
            return false;
    return true;
}

bool vkb_batch_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned first;
    if (!ends_batch(side, kind, &first))
        return true;
    if (side->waits_for[first] != 0 && !vkb_raw_wait(bench, side, side->waits_for[first]))
        return false;
    if (!fill_batch(bench, side, kind, first) || !vkb_raw_signal(bench, side, ++side->computed) ||
        !submit(bench, side, kind, side->release, side->computed, side->acquire, ++side->drawn))
        return false;
    side->waits_for[first] = side->drawn;
    return set_done_value(side, kind->copies, side->drawn);
}

bool vkb_batch_grinterop(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned first, n = kind->copies;
    if (!ends_batch(side, kind, &first))
        return true;
    gr_buffer **mapped = side->mapped + first;
    if (gr_map_many(side->resources + first, n, bench->on.stream, NULL, mapped) != GR_OK)
        return bench_grinterop_failed("gr_map_many");
    for (unsigned i = 0; i < n; i++)
        side->pointers[first + i] = gr_buffer_ptr(mapped[i]);
    bool filled = fill_batch(bench, side, kind, first);
    gr_status released = gr_buffer_release_many(mapped, n, GR_STREAM_OF_MAP, NULL);
    memset(mapped, 0, n * sizeof(*mapped));
    if (released != GR_OK)
        return bench_grinterop_failed("gr_buffer_release_many");
    return filled && submit_begun(bench, side, kind, side->resources + first, n) &&
           set_done_value(side, kind->copies, side->drawn);
}

bool vkb_cuda_alone(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned i = (unsigned)(side->frames % kind->resources);
    side->done[side->frames % VKB_FRAMES] = side->computed + 1;
    return vkb_fill(bench, side, i) && vkb_raw_signal(bench, side, ++side->computed);
}

bool vkb_queue_alone(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    side->done[side->frames % VKB_FRAMES] = side->drawn + 1;
    return submit(bench, side, kind, VK_NULL_HANDLE, 0, side->acquire, ++side->drawn);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static bool check_one(struct vkb *bench, const struct vkb_side *side, unsigned i)
{
    unsigned words[2] = {0, 0}, wanted = side->written[i];
    size_t half = VKB_BYTES / 2;
    const CUdeviceptr copied = side->pointers[i] + half;
    if (!bench_cuda_ok(bench->cuda->MemcpyDtoH(&words[0], copied, 4), "cuMemcpyDtoH") ||
        !bench_cuda_ok(bench->cuda->MemcpyDtoH(&words[1], copied + half - 4, 4), "cuMemcpyDtoH"))
        return false;
    if (words[0] == wanted && words[1] == wanted)
        return true;
    fprintf(stderr,
            "bench_vulkan: the round trips failed: CUDA reads %u and %u where Vulkan should have "
            "copied %u\n",
            words[0], words[1], wanted);
    return false;
}

/*
 * Checks the copies. CUDA wrote the first half and reads the copy in the second half, which
 * verifies both directions.
 */
bool vkb_check_work(struct vkb *bench, const struct vkb_kind *kind)
{
    if (!vkb_drain(bench))
        return false;
    for (unsigned s = 0; s < VKB_SIDES; s++)
        for (unsigned i = 0; i < kind->resources; i++)
            if (!check_one(bench, &bench->sides[s], i))
                return false;
    return true;
}
