/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one cell: creates resources of one kind, maps them, puts them into a ring and frees
 * them.
 */
#include <math.h>
#include <stdio.h>

#include <grinterop/ring.h>

#include "bench/scale/scale.h"

enum { ROUNDS = 9, MOST_FRAMES = 3000 };

static gr_resource *resources[SCALE_MOST];
static gr_buffer *buffers[SCALE_MOST];

static void note_why(struct scale_cell *cell)
{
    snprintf(cell->why, sizeof(cell->why), "%s", gr_last_error()->message);
}

static double seconds_since(double start_us)
{
    return (bench_now_us() - start_us) * 1e-6;
}

static size_t free_memory(const struct scale *scale)
{
    size_t left = 0, total = 0;
    scale_drain(scale);
    bench_cuda_ok(scale->cuda->MemGetInfo(&left, &total), "cuMemGetInfo");
    return left;
}

/*
 * Creates all resources. The first one is timed separately, since it opens objects that the others
 * share. False on failure.
 */
static bool make_all(const struct scale *scale, unsigned kind, size_t size, struct scale_cell *cell)
{
    size_t before = free_memory(scale);
    double start = bench_now_us();
    for (cell->count = 0; cell->count < cell->wanted; cell->count++) {
        if (seconds_since(start) > scale->seconds)
            break;
        resources[cell->count] = scale_make(scale, kind, size);
        if (!resources[cell->count]) {
            note_why(cell);
            break;
        }
        if (cell->count == 0)
            cell->first_us = bench_now_us() - start;
    }
    if (cell->count < 2)
        return cell->count > 0;
    cell->create_us = (bench_now_us() - start - cell->first_us) / (cell->count - 1);
    size_t after = free_memory(scale);
    cell->memory = before > after ? (double)(before - after) / cell->count : 0;
    return true;
}

/* Measures map and release: the median of some rounds after an untimed round. */
static bool map_all(const struct scale *scale, struct scale_cell *cell)
{
    double maps[ROUNDS], releases[ROUNDS], start = bench_now_us();
    int round = -1;
    for (; round < ROUNDS && (round < 1 || seconds_since(start) < scale->seconds); round++) {
        double begin = bench_now_us();
        if (gr_map_many(resources, cell->count, scale->on.stream, NULL, buffers) != GR_OK)
            return bench_grinterop_failed("gr_map_many");
        double mapped = bench_now_us();
        if (gr_buffer_release_many(buffers, cell->count, scale->on.stream, NULL) != GR_OK)
            return bench_grinterop_failed("gr_buffer_release_many");
        double released = bench_now_us();
        if (!scale_drain(scale))
            return false;
        if (round < 0)
            continue;
        maps[round] = mapped - begin;
        releases[round] = released - mapped;
    }
    cell->map_us = bench_spread_of(maps, (size_t)round).median / cell->count;
    cell->release_us = bench_spread_of(releases, (size_t)round).median / cell->count;
    return true;
}

/*
 * Passes a frame: CUDA writes on its stream; graphics acquires the frame and gives it back without
 * drawing.
 */
static bool frame(const struct scale *scale, gr_ring *ring)
{
    const gr_vk_submit_desc nothing = GR_INIT(gr_vk_submit_desc, .info = NULL);
    const gr_slot *slot;
    if (gr_ring_acquire_write(ring, scale->on.stream, &slot, 1, GR_WAIT_FOREVER) != GR_OK ||
        gr_ring_hand_over(ring, &slot, 1) != GR_OK ||
        gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER) != GR_OK)
        return bench_grinterop_failed("a ring frame");
    if (slot->submit && gr_vk_submit(slot->submit, &nothing) != GR_OK)
        return bench_grinterop_failed("gr_vk_submit");
    return gr_ring_give_back(ring, &slot, 1) == GR_OK ||
           bench_grinterop_failed("gr_ring_give_back");
}

static bool run_ring(const struct scale *scale, struct scale_cell *cell)
{
    gr_ring *ring = gr_ring_create(resources, cell->count, NULL);
    if (!ring) {
        note_why(cell);
        return true;
    }
    bool good = scale_drain(scale);
    double start = bench_now_us();
    unsigned frames = 0;
    for (; good && frames < MOST_FRAMES && seconds_since(start) < scale->seconds; frames++)
        good = frame(scale, ring);
    good = scale_drain(scale) && good;
    cell->frame_us = (bench_now_us() - start) / frames;
    gr_ring_free(ring);
    return good;
}

static bool free_all(const struct scale *scale, struct scale_cell *cell)
{
    double start = bench_now_us();
    for (unsigned i = 0; i < cell->count; i++)
        gr_resource_free(resources[i]);
    bool good = scale_drain(scale);
    if (cell->count > 0)
        cell->free_us = (bench_now_us() - start) / cell->count;
    return good;
}

bool scale_measure(const struct scale *scale, unsigned kind, size_t size, unsigned number,
                   struct scale_cell *cell)
{
    *cell = (struct scale_cell){.wanted = number,
                                .first_us = NAN,
                                .create_us = NAN,
                                .map_us = NAN,
                                .release_us = NAN,
                                .free_us = NAN,
                                .memory = NAN,
                                .frame_us = NAN};
    bool made = make_all(scale, kind, size, cell);
    bool good = !made || map_all(scale, cell);
    if (made && good)
        good = run_ring(scale, cell);
    return free_all(scale, cell) && good;
}
