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
#include "bench/vulkan/vulkan.h"

/* ---- Command buffers ------------------------------------------------------------------------- */

static const VkAccessFlags COPY_ACCESS = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

static void barrier_raw(VkCommandBuffer commands, VkBuffer buffer, uint32_t family, bool to_cuda)
{
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = to_cuda ? COPY_ACCESS : 0,
        .dstAccessMask = to_cuda ? 0 : COPY_ACCESS,
        .srcQueueFamilyIndex = to_cuda ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = to_cuda ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE};
    bench_vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                to_cuda ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                        : VK_PIPELINE_STAGE_TRANSFER_BIT,
                                0, 0, NULL, 1, &barrier, 0, NULL);
}

static void barrier(const struct vkb_side *side, VkCommandBuffer commands, unsigned i,
                    uint32_t family, bool to_cuda)
{
    const gr_vk_use copy = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   .access = COPY_ACCESS, .queue_family = &family);
    if (!side->resources[i])
        barrier_raw(commands, side->buffers[i].buffer, family, to_cuda);
    else if (to_cuda)
        GR(vk_cmd_to_cuda, commands, &side->resources[i], 1, &copy);
    else
        GR(vk_cmd_from_cuda, commands, &side->resources[i], 1, &copy);
}

static void record_one(struct vkb_side *side, unsigned i, const struct vkb_kind *kind)
{
    const VkBufferCopy region = {.dstOffset = VKB_BYTES / 2, .size = VKB_BYTES / 2};
    struct bench_vk_queue *queue = &bench_vk.queues[kind->queue];
    const unsigned first = i * kind->copies % kind->resources;
    VkCommandBuffer commands = side->commands[i] = bench_vk_record(queue, 0);
    for (unsigned r = first; r < first + kind->copies; r++) {
        const VkBuffer buffer = side->buffers[r].buffer;
        if (kind->part == VKB_STAGED) {
            vkb_record_staged(side, commands);
            continue;
        }
        barrier(side, commands, r, queue->family, false);
        bench_vk.CmdCopyBuffer(commands, buffer, buffer, 1, &region);
        barrier(side, commands, r, queue->family, true);
    }
    VK(EndCommandBuffer, commands);
}

void vkb_record(const struct vkb_kind *kind)
{
    for (unsigned s = 0; s < VKB_SIDES; s++)
        for (unsigned i = 0; i < VKB_FRAMES; i++)
            record_one(&vkb.sides[s], i, kind);
}

/* ---- Submits --------------------------------------------------------------------------------- */

/* Submits the command buffer of the frame, now or together with those of the next frames. */
static void submit(struct vkb_side *side, const struct vkb_kind *kind, VkSemaphore wait,
                   uint64_t wait_value, VkSemaphore signal, uint64_t signal_value)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    struct vkb_submit *s = &side->submits[side->submit_count];
    *s = (struct vkb_submit){
        .wait = wait, .signal = signal, .wait_value = wait_value, .signal_value = signal_value};
    s->values =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = 1,
                                        .pWaitSemaphoreValues = &s->wait_value,
                                        .signalSemaphoreValueCount = 1,
                                        .pSignalSemaphoreValues = &s->signal_value};
    side->infos[side->submit_count] =
        (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .pNext = &s->values,
                       .waitSemaphoreCount = 1,
                       .pWaitSemaphores = &s->wait,
                       .pWaitDstStageMask = &stage,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &side->commands[side->frames / kind->copies % VKB_FRAMES],
                       .signalSemaphoreCount = 1,
                       .pSignalSemaphores = &s->signal};
    if (++side->submit_count < kind->submits)
        return;
    VK(QueueSubmit, bench_vk.queues[kind->queue].queue, side->submit_count, side->infos,
       VK_NULL_HANDLE);
    side->submit_count = 0;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Records the semaphore value at which the last n frames are complete. */
static void set_done_value(struct vkb_side *side, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        side->done[(side->frames - i) % VKB_FRAMES] = side->drawn;
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

/* With one wait and one signal for all resources of a batch, or for one resource. */
static void trip_raw(struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned first;
    if (!ends_batch(side, kind, &first))
        return;
    if (side->waits_for[first] != 0)
        vkb_raw_wait(side, side->waits_for[first]);
    for (unsigned i = first; i < first + kind->copies; i++)
        vkb_fill(side, i);
    vkb_raw_signal(side, ++side->computed);
    submit(side, kind, side->release, side->computed, side->acquire, ++side->drawn);
    side->waits_for[first] = side->drawn;
    set_done_value(side, kind->copies);
}

/*
 * Submits through a grinterop submit. The resources share one pair of semaphores, and CUDA has
 * released each resource.
 */
static void submit_begun(struct vkb_side *side, const struct vkb_kind *kind, unsigned first,
                         unsigned n)
{
    gr_submit *points;
    GR_NEW(points, submit_begin, side->resources + first, n);
    side->drawn = points->signal_values[0];
    submit(side, kind, gr_vk_semaphore(points->waits[0]), points->wait_values[0],
           gr_vk_semaphore(points->signals[0]), points->signal_values[0]);
    GR(submit_commit, points);
    gr_submit_free(points);
    set_done_value(side, n);
}

static void ping_pong_grinterop(struct vkb_side *side, const struct vkb_kind *kind)
{
    unsigned i = (unsigned)(side->frames % kind->resources);
    gr_buffer *buffer;
    GR_NEW(buffer, map, side->resources[i], vkb.on.stream);
    side->pointers[i] = gr_buffer_ptr(buffer);
    vkb_fill(side, i);
    GR(buffer_release, buffer);
    submit_begun(side, kind, i, 1);
}

static void batch_grinterop(struct vkb_side *side, const struct vkb_kind *kind)
{
    gr_buffer *mapped[VKB_RESOURCES];
    unsigned first, n = kind->copies;
    if (!ends_batch(side, kind, &first))
        return;
    GR(map_many, side->resources + first, n, vkb.on.stream, NULL, mapped);
    for (unsigned i = 0; i < n; i++) {
        side->pointers[first + i] = gr_buffer_ptr(mapped[i]);
        vkb_fill(side, first + i);
    }
    GR(buffer_release_many, mapped, n, GR_STREAM_OF_MAP, NULL);
    submit_begun(side, kind, first, n);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static void check_one(const struct vkb_side *side, unsigned i)
{
    unsigned words[2] = {0, 0}, wanted = side->written[i];
    const size_t half = VKB_BYTES / 2;
    const CUdeviceptr copied = side->pointers[i] + half;
    CU(MemcpyDtoH, &words[0], copied, 4);
    CU(MemcpyDtoH, &words[1], copied + half - 4, 4);
    if (words[0] != wanted || words[1] != wanted)
        bench_fail("the round trips failed: CUDA reads %u and %u where Vulkan should have copied "
                   "%u",
                   words[0], words[1], wanted);
}

/*
 * Checks the copies. CUDA wrote the first half and reads the copy in the second half, which
 * verifies both directions.
 */
void vkb_check_work(const struct vkb_kind *kind)
{
    vkb_drain();
    for (unsigned s = 0; s < VKB_SIDES; s++)
        for (unsigned i = 0; i < kind->resources; i++)
            check_one(&vkb.sides[s], i);
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define TRIP(prefix, of, way, what, n, by_grinterop, in_call, in_submit)                           \
    {                                                                                              \
        .row = {prefix "/" way, what,                                                              \
                "Round trip by the " prefix " queue, queues full: sustained time", vkb_measure},   \
        .part = VKB_PING_PONG, .frame = {trip_raw, by_grinterop}, .resources = n, .points = 1,     \
        .queue = of, .submits = in_call, .copies = in_submit                                       \
    }
#define TRIPS(prefix, of)                                                                          \
    TRIP(prefix, of, "1", "one, in order", 1, ping_pong_grinterop, 1, 1),                          \
        TRIP(prefix, of, "8", "8 in turn", 8, ping_pong_grinterop, 1, 1),                          \
        TRIP(prefix, of, "16x", "16 in one call", 16, ping_pong_grinterop, 16, 1),                 \
        TRIP(prefix, of, "8b", "batches of 8", 16, batch_grinterop, 1, 8)

/*
 * "16 in one call" is one vkQueueSubmit call for 16 round trips, each with its own semaphore
 * values. "Batches of 8" are two batches in turn: the 8 resources of a batch share one submit with
 * one wait and one signal.
 */
const struct vkb_kind vkb_trip_rows[] = {
    TRIPS("graphics", BENCH_GRAPHICS),
    TRIPS("compute", BENCH_COMPUTE),
    TRIPS("transfer", BENCH_TRANSFER),
    {.part = 0},
};
