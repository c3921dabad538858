/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which Vulkan draws a picture and copies it into a buffer, and CUDA filters it. The
 * commands are recorded in advance, for each slot and each picture.
 */
#define _GNU_SOURCE
#include "bench/frames/vulkan.h"

static struct frames_vulkan_draw picture;

static void record(struct frames_run *run, gr_resource *pixels, unsigned slot)
{
    const gr_vk_use written = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                      .access = VK_ACCESS_TRANSFER_WRITE_BIT);
    for (unsigned i = 0; i < FRAMES_PHASES; i++) {
        VkCommandBuffer commands = frames_vulkan_begin(pixels, &written);
        run->commands[slot * FRAMES_PHASES + i] = commands;
        frames_vulkan_draw_picture(&picture, commands, (float)i / FRAMES_PHASES,
                                   gr_vk_buffer(pixels));
        frames_vulkan_end(commands, pixels, &written);
    }
}

static void open(struct frames_run *run)
{
    frames_vulkan_need();
    frames_vulkan_draw_init(&picture, false, scene.mesh);
    frames_vulkan_make_ring(run, FRAMES_PHASES, VK_BUFFER_USAGE_TRANSFER_DST_BIT, record);
}

/* ---- A frame --------------------------------------------------------------------------------- */

static VkCommandBuffer next_picture(const struct frames_run *run, size_t slot)
{
    const unsigned phase = (unsigned)lroundf(frames_next_phase() * FRAMES_PHASES);
    return run->commands[slot * FRAMES_PHASES + phase];
}

/* CUDA filters a picture that is not shared. */
static void alone(struct frames_run *run)
{
    const VkCommandBuffer commands = next_picture(run, 0);
    frames_vulkan_submit(&commands, 1, NULL, VK_PIPELINE_STAGE_TRANSFER_BIT);
    frames_picture_filter(scene.scratch[scene.frames_left % FRAMES_ALONE]);
}

static void in_flight(struct frames_run *run)
{
    const unsigned n = run->kind->group;
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    GR(ring_acquire_write, run->ring, GR_STREAM_NONE, run->slots, n, 0);
    for (unsigned i = 0; i < n; i++)
        commands[i] = next_picture(run, run->slots[i]->index);
    gr_submit *points = run->slots[0]->submit;
    frames_vulkan_submit(commands, n, points, VK_PIPELINE_STAGE_TRANSFER_BIT);
    GR(submit_commit, points);
    GR(ring_hand_over, run->ring, run->slots, n);
    frames_read_slots(run);
}

#define ROW(key, label, slots, group, frame, loose)                                                \
    {                                                                                              \
        FRAMES_ROW("Vulkan draws, CUDA reads", "vulkan/read/" key, label), slots, group, open,     \
            frame, .unchecked = loose, .reads = true                                               \
    }

const struct frames_kind frames_vulkan_read_rows[] = {
    ROW("bound", "both, unsynchronised", 1, 1, alone, true),
    ROW("1", "1 in flight", 3, 1, in_flight, false),
    ROW("16", "16 in flight", 18, 1, in_flight, false),
    ROW("64", "groups of 64", 128, 64, in_flight, false),
    {.slots = 0},
};
