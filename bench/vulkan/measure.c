/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row. A block that begins with drained queues measures only enqueueing.
 *
 * With full queues the number of frames in flight is limited: every few frames the thread waits for
 * an earlier frame. A block begins and ends right after such a wait, so it measures the GPU time of
 * its frames. When the subject changes, untimed frames of the new subject run first, twice as many
 * as may be in flight. If frames are still waiting at the end of a block, the GPU was the
 * bottleneck, not the thread.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/vulkan/vulkan.h"

enum { WARM_UP_BLOCKS = 3, MOST_FRAMES = 4000 };

/* A frame that takes longer counts as lost. */
static const uint64_t TIMEOUT_NS = 20000000000;

/* The state of a row during its measurement. */
struct run {
    const struct vkb_kind *kind;
    struct bench_pairs pairs;
    /* with full queues: the frames in flight, and the frames between waits */
    unsigned ahead, step;
};

/* ---- Frames in flight ------------------------------------------------------------------------ */

static VkSemaphore pace_semaphore(const struct run *run, unsigned s)
{
    const bool shares = run->kind->part == VKB_STAGED;
    const struct vkb_side *side = &vkb.sides[shares ? VKB_GRINTEROP : s];
    return run->kind->paced_by_release ? side->release : side->acquire;
}

/* Waits until no more than `ahead` frames are in flight. */
static void throttle(const struct run *run, unsigned s)
{
    const struct vkb_side *side = &vkb.sides[s];
    if (side->frames <= run->ahead)
        return;
    VkSemaphore semaphore = pace_semaphore(run, s);
    uint64_t value = side->done[(side->frames - run->ahead - 1) % VKB_FRAMES];
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    VK(WaitSemaphores, bench_vk.on.device, &info, TIMEOUT_NS);
}

/*
 * A frame is unfinished if its `done` is greater than the value of the semaphore, or 0: it is not
 * known yet, as for the newest frame.
 */
static void count_waiting(void *of, unsigned s, struct bench_block *block)
{
    const struct run *run = of;
    const struct vkb_side *side = &vkb.sides[s];
    uint64_t value;
    block->waiting = 0;
    VK(GetSemaphoreCounterValue, bench_vk.on.device, pace_semaphore(run, s), &value);
    for (uint64_t i = 1; i <= run->ahead && i <= side->frames; i++) {
        const uint64_t done = side->done[(side->frames - i) % VKB_FRAMES];
        block->waiting += done == 0 || done > value;
    }
}

/*
 * Signals from the host the values that the maps of the next frames wait for, if no submit signals
 * them.
 */
static void signal_beforehand(void *of, unsigned s, unsigned frames)
{
    const struct run *run = of;
    const struct vkb_side *side = &vkb.sides[s];
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = side->acquire,
                                        .value =
                                            side->drawn + (uint64_t)frames * run->kind->points};
    if (run->kind->part == VKB_BOTH)
        VK(SignalSemaphore, bench_vk.on.device, &info);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void enqueue(void *of, unsigned s, unsigned frames)
{
    const struct run *run = of;
    struct vkb_side *side = &vkb.sides[s];
    for (unsigned i = 0; i < frames; i++) {
        side->done[side->frames % VKB_FRAMES] = 0;
        run->kind->frame[s](side, run->kind);
        side->frames++;
        if (run->step != 0 && side->frames % run->step == 0)
            throttle(run, s);
    }
}

/* Chooses the number of frames in a block: a multiple of run->step. */
static unsigned choose_frames(const struct run *run)
{
    bench_enqueue(&run->pairs, 0, 2 * run->ahead);
    const struct bench_block probe = bench_time_block(&run->pairs, 0, 2 * run->ahead);
    double wanted = vkb.effort.block_ms * 1e3 / probe.wall;
    wanted = fmin(fmax(wanted, run->ahead), MOST_FRAMES);
    return (unsigned)ceil(wanted / run->step) * run->step;
}

static void check_work(const struct vkb_kind *kind)
{
    if (kind->part == VKB_STAGED)
        vkb_check_staged();
    else if (kind->part == VKB_PING_PONG)
        vkb_check_work(kind);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Chooses the frames in flight. Frames submitted in one call stay together. */
static void choose_ahead(struct run *run)
{
    if (run->kind->room_frames != 0)
        return;
    unsigned ahead = vkb.effort.in_flight;
    unsigned whole = run->kind->submits * run->kind->copies;
    run->step = (ahead / 4 + whole - 1) / whole * whole;
    run->ahead = ahead < 2 * run->step ? 2 * run->step : ahead / run->step * run->step;
}

/*
 * Drains the queues and prepares the row: counters, the semaphores of the grinterop resources, the
 * frames in flight, and the command buffers.
 */
static void begin_row(struct run *run)
{
    vkb_drain();
    for (unsigned s = 0; s < VKB_SIDES; s++) {
        struct vkb_side *side = &vkb.sides[s];
        side->frames = 0;
        side->submit_count = 0;
        memset(side->done, 0, sizeof(side->done));
        memset(side->waits_for, 0, sizeof(side->waits_for));
    }
    struct vkb_side *side = &vkb.sides[VKB_GRINTEROP];
    gr_semaphore *acquire = run->kind->part == VKB_RELEASE ? GR_SEMAPHORE_NONE : side->gr_acquire;
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        GR(resource_set_sync, side->resources[i], acquire, side->gr_release);
    choose_ahead(run);
    if (run->kind->part == VKB_STAGED)
        vkb_open_staged(run->kind);
    if (run->kind->part >= VKB_STAGED)
        vkb_record(run->kind);
}

/*
 * Adds the values and the notes on the queues. The queues were full if half of the frames allowed
 * in flight were waiting: if the thread is the bottleneck, hardly any frame waits.
 */
static void report(const struct run *run, const struct bench_comparison *of)
{
    const struct vkb_kind *kind = run->kind;
    const char *const sides[] = {kind->part == VKB_STAGED ? "shared" : "raw", "grinterop"};
    struct bench_result *result = bench_add(&kind->row, "");
    bench_set_comparison(result, of, sides);
    if (kind->room_frames)
        return;
    const double waiting = fmin(of->waiting[VKB_RAW], of->waiting[VKB_GRINTEROP]);
    snprintf(result->note, sizeof(result->note), "fills of %zu KiB; %s (%.0f of %u frames waiting)",
             vkb.fill >> 10,
             waiting >= run->ahead / 2.0 ? "full" : "NOT full: the thread is the bottleneck",
             waiting, run->ahead);
}

static void measure(void *of)
{
    struct run *run = of;
    const struct vkb_kind *kind = run->kind;
    begin_row(run);
    const unsigned frames = kind->room_frames ? kind->room_frames : choose_frames(run);
    run->pairs.refill = 2 * run->ahead;
    run->pairs.frames[VKB_RAW] = run->pairs.frames[VKB_GRINTEROP] = frames;
    const struct bench_comparison result = bench_compare(&run->pairs);
    vkb_drain();
    check_work(kind);
    report(run, &result);
}

void vkb_measure(const void *row)
{
    const struct vkb_kind *kind = row;
    const bool full = kind->room_frames == 0;
    struct run run = {.kind = kind,
                      .pairs = {.key = kind->row.name,
                                .mode = full ? BENCH_SUSTAINED : BENCH_ENQUEUED,
                                .warm_ups = full ? 0 : WARM_UP_BLOCKS,
                                .blocks = full ? vkb.effort.full_blocks : vkb.effort.blocks,
                                .seconds = full ? INFINITY : vkb.effort.room_seconds,
                                .drain = vkb_drain,
                                .enqueue = enqueue,
                                .prepare = signal_beforehand,
                                .check = full ? count_waiting : NULL,
                                .of = &run}};
    vkb.fill = VKB_BYTES / 2;
    if (bench_try(measure, &run))
        return;
    bench_print_error(false);
    fprintf(stderr, "%s: row %s could not be measured\n", bench_program, kind->row.name);
    fflush(stdout);
    /* Pending work may never end, and closing the objects would wait for it. */
    _Exit(EXIT_FAILURE);
}
