/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which Vulkan draws a picture and copies it into a buffer, and CUDA filters it. The
 * commands are recorded in advance, for each slot and each picture.
 */
#define _GNU_SOURCE
#include "bench/frames/vulkan.h"

#include <math.h>
#include <stdlib.h>

/* ---- Opening --------------------------------------------------------------------------------- */

static VkCommandBuffer *commands_of(const struct frames_run *run, size_t slot, unsigned picture)
{
    return &run->commands[slot * FRAMES_PHASES + picture];
}

static bool record(const struct frames *f, gr_resource *pixels, float phase,
                   VkCommandBuffer *commands)
{
    const gr_vk_use written = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                      .access = VK_ACCESS_TRANSFER_WRITE_BIT);
    *commands = frames_vulkan_begin(f, pixels, &written);
    if (!*commands)
        return false;
    frames_vulkan_draw_picture(&f->vulkan->vulkan, &f->vulkan->picture, *commands, phase,
                               gr_vk_buffer(pixels));
    return frames_vulkan_end(f, *commands, pixels, &written);
}

static bool record_all(struct frames *f, struct frames_run *run, gr_resource *pixels, unsigned slot)
{
    bool good = true;
    for (unsigned i = 0; good && i < FRAMES_PHASES; i++)
        good = record(f, pixels, (float)i / FRAMES_PHASES, commands_of(run, slot, i));
    return good;
}

static bool open_picture(struct frames *f)
{
    const struct frames_vulkan_plan plan = {.format = VK_FORMAT_R32G32B32A32_SFLOAT,
                                            .size = f->mesh,
                                            .vert = &picture_vert,
                                            .frag = &picture_frag};
    if (frames_vulkan_draw_init(&f->vulkan->vulkan, &plan, &f->vulkan->picture))
        return true;
    frames_set_error("Vulkan made no picture");
    return false;
}

bool frames_vulkan_read_open(struct frames *f, struct frames_run *run)
{
    static const struct frames_vulkan_slots slots = {.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                                     .flags = GR_READ_ONLY,
                                                     .producer = GR_SIDE_GRAPHICS,
                                                     .commands = FRAMES_PHASES,
                                                     .record = record_all};
    return frames_vulkan_available(f) && open_picture(f) && frames_vulkan_make_ring(f, run, &slots);
}

bool frames_vulkan_read_close(struct frames *f, struct frames_run *run)
{
    const bool good = frames_vulkan_close_ring(f, run);
    if (f->vulkan) {
        frames_vulkan_draw_free(&f->vulkan->vulkan, &f->vulkan->picture);
        f->vulkan->picture = (struct frames_vulkan_draw){0};
    }
    return good;
}

/* ---- A frame --------------------------------------------------------------------------------- */

static VkCommandBuffer next_picture(struct frames *f, const struct frames_run *run, size_t slot)
{
    return *commands_of(run, slot, (unsigned)lroundf(frames_next_phase(f) * FRAMES_PHASES));
}

/* A frame of the unsynchronised row: CUDA filters a picture that is not shared. */
bool frames_vulkan_read_alone(struct frames *f, struct frames_run *run)
{
    const VkCommandBuffer commands = next_picture(f, run, 0);
    return frames_vulkan_submit(f, &commands, 1, NULL, VK_PIPELINE_STAGE_TRANSFER_BIT) &&
           frames_picture_filter(f, f->scratch[f->frames_left % FRAMES_ALONE]);
}

static bool write_slots(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    if (gr_ring_acquire_write(run->ring, GR_STREAM_NONE, run->slots, n, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_write");
    for (unsigned i = 0; i < n; i++)
        commands[i] = next_picture(f, run, run->slots[i]->index);
    gr_submit *points = run->slots[0]->submit;
    if (!frames_vulkan_submit(f, commands, n, points, VK_PIPELINE_STAGE_TRANSFER_BIT) ||
        gr_submit_commit(points) != GR_OK) {
        gr_ring_cancel_write(run->ring, run->slots, n);
        return false;
    }
    return gr_ring_hand_over(run->ring, run->slots, n) == GR_OK ||
           frames_grinterop_failed("gr_ring_hand_over");
}

bool frames_vulkan_read_frame(struct frames *f, struct frames_run *run)
{
    return write_slots(f, run) && frames_read_slots(f, run);
}
