/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row in blocks of alternating sides, A B B A, so that a drift of clocks or
 * temperature affects both alike. With drained queues a block times enqueueing alone.
 *
 * With full queues the thread is ahead of the GPU by a limited number of frames: every few frames
 * it waits for the frame that it enqueued that many frames earlier. A block begins and ends right
 * after such a wait, so it measures the GPU time of that many frames. When the side changes, twice
 * the frames in flight pass untimed. If frames are still waiting at the end of a block, the GPU was
 * the bottleneck, not the thread.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/vulkan/vulkan.h"

enum { WARM_UP_BLOCKS = 3, LEAST_BLOCKS = 10, MOST_FRAMES = 4000 };

/* A frame that takes longer counts as lost. */
static const uint64_t TIMEOUT_NS = 20000000000;

struct sample {
    double wall, cpu, halves, waiting;
};

/* The samples of one row, by block. */
struct samples {
    double *wall[VKB_SIDES], *cpu[VKB_SIDES], *waiting[VKB_SIDES], *ratio, *halves;
};

/* The state of a row during its measurement. */
struct run {
    struct vkb *bench;
    const struct vkb_kind *kind;
    const struct vkb_effort *effort;
    unsigned sides;
    unsigned ahead, step; /* full: frames in flight, and frames between waits */
};

/* ---- Frames in flight ------------------------------------------------------------------------ */

static VkSemaphore pace_semaphore(const struct run *run, unsigned s)
{
    const struct vkb_side *side = &run->bench->sides[s];
    return run->kind->paced_by_release ? side->release : side->acquire;
}

/* Waits until no more than `ahead` frames are in flight. */
static bool throttle(const struct run *run, unsigned s)
{
    struct vkb *bench = run->bench;
    const struct vkb_side *side = &bench->sides[s];
    if (side->frames <= run->ahead)
        return true;
    VkSemaphore semaphore = pace_semaphore(run, s);
    uint64_t value = side->done[(side->frames - run->ahead - 1) % VKB_FRAMES];
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    VkResult result = bench->vk.vkWaitSemaphores(bench->handles->device, &info, TIMEOUT_NS);
    return result == VK_SUCCESS || vkb_vulkan_failed(result, "vkWaitSemaphores");
}

/* The value that completes the newest frame may be unknown (0). */
static bool is_waiting(uint64_t done, uint64_t value)
{
    return done == 0 || done > value;
}

static bool count_waiting(const struct run *run, unsigned s, double *waiting)
{
    struct vkb *bench = run->bench;
    const struct vkb_side *side = &bench->sides[s];
    uint64_t value;
    VkResult result = bench->vk.vkGetSemaphoreCounterValue(bench->handles->device,
                                                           pace_semaphore(run, s), &value);
    if (result != VK_SUCCESS)
        return vkb_vulkan_failed(result, "vkGetSemaphoreCounterValue");
    *waiting = 0;
    for (uint64_t i = 1; i <= run->ahead && i <= side->frames; i++)
        *waiting += is_waiting(side->done[(side->frames - i) % VKB_FRAMES], value);
    return true;
}

/* If no submit signals the values that maps wait for, the host signals those of the next frames. */
static bool signal_beforehand(const struct run *run, unsigned s, unsigned frames)
{
    struct vkb *bench = run->bench;
    const struct vkb_side *side = &bench->sides[s];
    if (run->kind->part != VKB_ROOM_BOTH && !vkb_has_fills(run->kind))
        return true;
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = side->acquire,
                                        .value =
                                            side->drawn + (uint64_t)frames * run->kind->points};
    VkResult result = bench->vk.vkSignalSemaphore(bench->handles->device, &info);
    return result == VK_SUCCESS || vkb_vulkan_failed(result, "vkSignalSemaphore");
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool enqueue(const struct run *run, unsigned s, unsigned frames)
{
    struct vkb_side *side = &run->bench->sides[s];
    for (unsigned i = 0; i < frames; i++) {
        side->done[side->frames % VKB_FRAMES] = 0;
        if (!run->kind->frame[s](run->bench, side, run->kind))
            return false;
        side->frames++;
        if (run->step != 0 && side->frames % run->step == 0 && !throttle(run, s))
            return false;
    }
    return true;
}

static bool untimed_block(const struct run *run, unsigned s, unsigned frames)
{
    return signal_beforehand(run, s, frames) && enqueue(run, s, frames);
}

static bool timed_block(const struct run *run, unsigned s, unsigned frames, struct sample *sample)
{
    unsigned half = frames / 2;
    if (!signal_beforehand(run, s, frames))
        return false;
    double cpu = bench_thread_cpu_us();
    double start = bench_now_us();
    if (!enqueue(run, s, half))
        return false;
    double middle = bench_now_us();
    if (!enqueue(run, s, frames - half))
        return false;
    double end = bench_now_us();
    sample->cpu = (bench_thread_cpu_us() - cpu) / frames;
    sample->wall = (end - start) / frames;
    sample->halves = half ? ((end - middle) / (frames - half)) / ((middle - start) / half) : NAN;
    sample->waiting = NAN;
    return run->step == 0 || count_waiting(run, s, &sample->waiting);
}

static bool drained_block(const struct run *run, unsigned s, struct sample *sample)
{
    return vkb_drain(run->bench) && timed_block(run, s, run->kind->room_frames, sample);
}

static void show_progress(const struct run *run, unsigned block, unsigned blocks)
{
    bench_progress("row %zu of %zu, %s: block %u of %u", (size_t)(run->kind - vkb_kinds) + 1,
                   vkb_kind_count, run->kind->key, block + 1, blocks);
}

static void keep(struct samples *samples, unsigned block, const struct sample pair[])
{
    for (unsigned s = 0; s < VKB_SIDES; s++) {
        samples->wall[s][block] = pair[s].wall;
        samples->cpu[s][block] = pair[s].cpu;
        samples->waiting[s][block] = pair[s].waiting;
    }
    samples->ratio[block] = pair[VKB_GRINTEROP].wall / pair[VKB_RAW].wall;
    samples->halves[block] = (pair[VKB_RAW].halves + pair[VKB_GRINTEROP].halves) / 2;
}

static bool measure_drained(const struct run *run, struct samples *samples, struct vkb_row *row)
{
    struct sample pair[VKB_SIDES];
    for (unsigned i = 0; i < WARM_UP_BLOCKS * VKB_SIDES; i++)
        if (!drained_block(run, i % VKB_SIDES, &pair[0]))
            return false;
    row->frames = run->kind->room_frames;
    double end = bench_now_us() + run->effort->room_seconds * 1e6;
    for (unsigned block = 0; block < run->effort->blocks; row->blocks = ++block) {
        if (block >= LEAST_BLOCKS && block % 2 == 0 && bench_now_us() > end)
            break;
        show_progress(run, block, run->effort->blocks);
        for (unsigned turn = 0; turn < VKB_SIDES; turn++) {
            unsigned s = (block + turn) % VKB_SIDES;
            if (!drained_block(run, s, &pair[s]))
                return false;
        }
        keep(samples, block, pair);
    }
    return vkb_drain(run->bench);
}

/* The number of frames that fill a block, a multiple of the step. */
static bool choose_frames(const struct run *run, unsigned *frames)
{
    struct sample probe;
    if (!untimed_block(run, 0, 2 * run->ahead) || !timed_block(run, 0, 2 * run->ahead, &probe))
        return false;
    double wanted = run->effort->block_ms * 1e3 / probe.wall;
    wanted = fmin(fmax(wanted, run->ahead), MOST_FRAMES);
    *frames = (unsigned)ceil(wanted / run->step) * run->step;
    return true;
}

static bool measure_full(const struct run *run, struct samples *samples, struct vkb_row *row)
{
    struct sample pair[VKB_SIDES] = {{0}, {NAN, NAN, NAN, NAN}};
    unsigned last = 0; /* the side whose frames are queued */
    row->in_flight = run->ahead;
    if (!choose_frames(run, &row->frames))
        return false;
    for (unsigned block = 0; block < run->effort->full_blocks; row->blocks = ++block) {
        show_progress(run, block, run->effort->full_blocks);
        for (unsigned turn = 0; turn < run->sides; turn++) {
            unsigned s = (block + turn) % run->sides;
            if ((s != last && !untimed_block(run, s, 2 * run->ahead)) ||
                !timed_block(run, s, row->frames, &pair[s]))
                return false;
            last = s;
        }
        keep(samples, block, pair);
    }
    return vkb_drain(run->bench) && (run->kind->part < VKB_PING_PONG || run->sides < VKB_SIDES ||
                                     vkb_check_work(run->bench, run->kind));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/*
 * Frames of 32 resources are long: fewer are enough, and more would not fit into the CUDA queue.
 * Frames submitted in one call stay together.
 */
static void choose_ahead(struct run *run)
{
    enum { FRAMES_OF_MANY = 8 };
    if (run->kind->room_frames != 0)
        return;
    bool many = vkb_has_fills(run->kind) && run->kind->resources > 1;
    unsigned ahead = many ? FRAMES_OF_MANY : run->effort->in_flight;
    unsigned whole = run->kind->submits * run->kind->copies;
    run->step = (ahead / 4 + whole - 1) / whole * whole;
    run->ahead = ahead < 2 * run->step ? 2 * run->step : ahead / run->step * run->step;
}

/* Creates the semaphores of the row, with nothing pending, and its command buffers. */
static bool begin_row(struct run *run)
{
    struct vkb *bench = run->bench;
    if (!vkb_drain(bench))
        return false;
    for (unsigned s = 0; s < VKB_SIDES; s++) {
        struct vkb_side *side = &bench->sides[s];
        side->frames = 0;
        side->submit_count = 0;
        memset(side->done, 0, sizeof(side->done));
        memset(side->waits_for, 0, sizeof(side->waits_for));
    }
    struct vkb_side *side = &bench->sides[VKB_GRINTEROP];
    gr_semaphore *acquire =
        run->kind->part == VKB_ROOM_RELEASE ? GR_SEMAPHORE_NONE : side->gr_acquire;
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        if (gr_resource_set_sync(side->resources[i], acquire, side->gr_release) != GR_OK)
            return bench_grinterop_failed("gr_resource_set_sync");
    choose_ahead(run);
    return run->kind->part < VKB_PING_PONG || vkb_record(bench, run->kind);
}

static void summarise(const struct run *run, struct samples *samples, struct vkb_row *row)
{
    for (unsigned s = 0; s < run->sides; s++) {
        row->wall[s] = bench_spread_of(samples->wall[s], row->blocks);
        row->thread_cpu[s] = bench_spread_of(samples->cpu[s], row->blocks).median;
        row->waiting[s] = bench_spread_of(samples->waiting[s], row->blocks).median;
    }
    if (run->sides == VKB_SIDES)
        row->ratio = bench_spread_of(samples->ratio, row->blocks);
    if (row->frames > 1 && run->kind->room_frames != 0)
        row->halves = bench_spread_of(samples->halves, row->blocks).median;
}

static struct vkb_row empty_row(const struct vkb_kind *kind)
{
    const struct bench_spread none = {NAN, NAN, NAN};
    return (struct vkb_row){.kind = kind,
                            .wall = {none, none},
                            .thread_cpu = {NAN, NAN},
                            .ratio = none,
                            .halves = NAN,
                            .waiting = {NAN, NAN}};
}

bool vkb_measure(struct vkb *bench, const struct vkb_kind *kind, const struct vkb_effort *effort,
                 struct vkb_row *row)
{
    struct run run = {.bench = bench,
                      .kind = kind,
                      .effort = effort,
                      .sides = kind->frame[VKB_GRINTEROP] ? VKB_SIDES : 1};
    bool full = kind->room_frames == 0;
    size_t n = full ? effort->full_blocks : effort->blocks;
    double *memory = calloc(n * 8, sizeof(double));
    if (!memory) {
        fputs("bench_vulkan: out of memory\n", stderr);
        return false;
    }
    struct samples samples = {.wall = {memory, memory + n},
                              .cpu = {memory + 2 * n, memory + 3 * n},
                              .waiting = {memory + 4 * n, memory + 5 * n},
                              .ratio = memory + 6 * n,
                              .halves = memory + 7 * n};
    *row = empty_row(kind);
    row->fill = bench->fill;
    bool good = begin_row(&run) &&
                (full ? measure_full(&run, &samples, row) : measure_drained(&run, &samples, row));
    if (good)
        summarise(&run, &samples, row);
    free(memory);
    bench_progress_end();
    return good;
}
