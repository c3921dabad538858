/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_vulkan: measures import, map and release, and round trips between CUDA and Vulkan, with
 * driver calls and with the library, side by side in one run; and copied resources beside shared.
 */
#include "bench/vulkan/vulkan.h"
#include "tools/options.h"

const char bench_program[] = "bench_vulkan";

struct vkb vkb = {.effort = {.blocks = 601,
                             .room_seconds = 2,
                             .full_blocks = 11,
                             .block_ms = 20,
                             .in_flight = 64,
                             .most_bytes = SIZE_MAX}};

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    vkb.effort = (struct vkb_effort){.blocks = 31,
                                     .room_seconds = 0.2,
                                     .full_blocks = 3,
                                     .block_ms = 2,
                                     .in_flight = 16,
                                     .most_bytes = 1 << 18};
    return true;
}

static const struct option_row options[] = {
    BENCH_OPTION_DEVICE(&vkb.on.ordinal),
    {"quick", 0, NULL,
     "31 drained blocks, 3 full ones of 2 ms, 16 frames in flight, resources of 256 KiB at most",
     .own = {be_quick, NULL}},
    {0},
};

/* ---- Facts ----------------------------------------------------------------------------------- */

static void add_facts(struct bench_machine *machine)
{
    const struct vkb_effort *effort = &vkb.effort;
    bench_add_fact(machine, "sharing", "sharing", "%s",
                   gr_vk_device_get_info(vkb.device)->description);
    bench_add_fact(machine, "points", "points", "timeline semaphores, %s on both sides%s",
                   vkb.through_host
                       ? "through the host (cuLaunchHostFunc, vkWaitSemaphores, vkSignalSemaphore)"
                       : "exported by Vulkan and imported into CUDA",
                   vkb.through_host || vkb.barriers
                       ? ""
                       : ", without a memory barrier before the signals of raw calls");
    bench_add_fact(machine, "buffers", "buffers",
                   "%d bytes each; CUDA fills the first half, Vulkan copies it to the second",
                   VKB_BYTES);
    bench_add_fact(machine, "blocks", "blocks",
                   "of each side, alternating (A B B A): drained, up to %u or %g s a row; with the "
                   "queues full, %u of about %g ms",
                   effort->blocks, effort->room_seconds, effort->full_blocks, effort->block_ms);
}

/* ---- The run --------------------------------------------------------------------------------- */

void vkb_drain(void)
{
    CU(StreamSynchronize, vkb.on.stream);
    VK(DeviceWaitIdle, bench_vk.on.device);
}

/*
 * The goals of maps and releases are looser, since their driver calls cost little compared with the
 * checks and bookkeeping of grinterop.
 */
static const struct bench_goal goals[] = {
    {"import/|graphics/|compute/|transfer/", NULL, "ratio", NULL, false, 1.02},
    {"release/one|release/singly|both/one|both/singly", NULL, "ratio", NULL, false, 1.05},
    {"release/batch|both/batch", NULL, "ratio", NULL, false, 1.1},
    {"staged/image/0", NULL, "ratio", NULL, false, 1.3},
    {"transfer/8|transfer/16x|transfer/8b", NULL, "grinterop_us", NULL, false, 20},
    {0}};

static void open(void)
{
    bench_goals = goals;
    bench_device_open(&vkb.on);
    bench_at_end(bench_vk_close);
    bench_vk_open(vkb.on.ordinal);
    vkb.device = bench_vk_wrap(&bench_vk.queues[BENCH_GRAPHICS], GR_TRANSPORT_ANY, false);
    vkb_make_spares();
    vkb_open_sides();
    bench_at_end(vkb_drain); /* pending work may still use these objects after an error */
}

static bool wants(const void *row)
{
    const unsigned queue = ((const struct vkb_kind *)row)->queue;
    return bench_vk.queues[queue].queue != VK_NULL_HANDLE;
}

const struct bench_setup bench_setup = {
    .title = "Vulkan memory by raw CUDA driver calls, side by side with grinterop",
    .about = "Measures, with raw CUDA driver calls and with grinterop, alternating: import and "
             "destruction of Vulkan memory; map and release with timeline semaphores; round trips "
             "between CUDA and each kind of queue, with one resource in order and with several in "
             "turn. Then frames of copied resources, in order and with in_flight, and of shared "
             "ones.",
    .options = options,
    .rows = {vkb_import_rows, vkb_map_rows, vkb_trip_rows, vkb_staged_rows},
    .row_size = sizeof(*vkb_import_rows),
    .open = open,
    .add_facts = add_facts,
    .wants = wants};
