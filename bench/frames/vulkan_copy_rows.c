/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which Vulkan copies on its transfer queue and draws on its graphics queue, so that
 * the copy of a frame overlaps the drawing of the frame before.
 */
#include "bench/frames/vulkan.h"

#include <string.h>

static const gr_vk_use MOVING = {.struct_size = sizeof(gr_vk_use),
                                 .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                 .access = VK_ACCESS_TRANSFER_WRITE_BIT};
static const gr_vk_use DRAWING = {.struct_size = sizeof(gr_vk_use),
                                  .stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                                  .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT};

/* Opens the transfer queue of the device when a row first needs it. */
static bool open_queue(struct frames *f)
{
    struct frames_vulkan *k = f->vulkan;
    if (k->moved)
        return true;
    const gr_vk_headless_info *on =
        k->vulkan.headless ? gr_vk_headless_get_info(k->vulkan.headless) : NULL;
    if (!on || on->transfer == VK_NULL_HANDLE) {
        frames_set_error("the device has no transfer queue");
        return false;
    }
    const gr_vk_device_desc desc =
        frames_vulkan_copying(k, GR_TRANSPORT_COPY, on->transfer, on->transfer_family);
    if (!vulkan_open_own(&k->transfer, &desc))
        return frames_grinterop_failed("vulkan_open_own");
    k->moved = gr_semaphore_create_vk(k->copying, VK_SEMAPHORE_TYPE_TIMELINE);
    return k->moved || frames_grinterop_failed("gr_semaphore_create_vk");
}

/* For each slot: the copy from the staging memory, and the drawing. */
static bool record(struct frames *f, struct frames_run *run, gr_resource *vertices, unsigned slot)
{
    const struct frames_vulkan *k = f->vulkan;
    const VkCommandBufferUsageFlags reused = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    VkCommandBuffer copy = vulkan_record(&k->transfer, reused);
    VkCommandBuffer draw = vulkan_record(&k->vulkan, reused);
    run->commands[2 * slot] = copy;
    run->commands[2 * slot + 1] = draw;
    if (!copy || !draw || gr_vk_cmd_from_cuda(copy, &vertices, 1, &MOVING) != GR_OK ||
        k->transfer.EndCommandBuffer(copy) != VK_SUCCESS)
        return frames_grinterop_failed("gr_vk_cmd_from_cuda");
    frames_vulkan_draw_points(&k->vulkan, &k->draw, draw, gr_vk_buffer(vertices),
                              (uint32_t)(f->mesh * f->mesh));
    return frames_vulkan_end(f, draw, vertices, &DRAWING);
}

bool frames_transfer_queue_open_ring(struct frames *f, struct frames_run *run)
{
    static const struct frames_vulkan_slots slots = {.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
                                                     .flags = GR_WRITE_DISCARD,
                                                     .producer = GR_SIDE_CUDA,
                                                     .commands = 2,
                                                     .two_families = true,
                                                     .record = record};
    return frames_vulkan_available(f) && open_queue(f) && frames_vulkan_make_ring(f, run, &slots);
}

bool frames_transfer_queue_frame(struct frames *f, struct frames_run *run)
{
    struct frames_vulkan *k = f->vulkan;
    if (!frames_ring_write(f, run))
        return false;
    gr_submit *points = run->slots[0]->submit;
    const VkCommandBuffer *commands = &run->commands[2 * run->slots[0]->index];
    const struct frames_point released =
        frames_first_point(points->waits, points->wait_values, points->wait_count);
    const struct frames_point drawn =
        frames_first_point(points->signals, points->signal_values, points->signal_count);
    const struct frames_point moved = {gr_vk_semaphore(k->moved), ++k->moves};
    if (frames_vulkan_submit_to(&k->transfer, commands, 1, &released,
                                VK_PIPELINE_STAGE_TRANSFER_BIT, &moved) &&
        frames_vulkan_submit_to(&k->vulkan, commands + 1, 1, &moved,
                                VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, &drawn) &&
        gr_submit_commit(points) == GR_OK)
        return frames_ring_give_back(run);
    gr_ring_cancel_read(run->ring, run->slots, 1);
    return false;
}

void frames_transfer_queue_close(struct frames_vulkan *k)
{
    gr_semaphore_free(k->moved);
    if (k->transfer.device != VK_NULL_HANDLE)
        vulkan_close(&k->transfer);
}
