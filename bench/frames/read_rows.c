/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows in which OpenGL draws a picture and CUDA filters it. */
#define _GNU_SOURCE
#include "bench/frames/frames.h"

static void alone(struct frames_run *run)
{
    (void)run;
    frames_picture_draw(scene.picture.alone);
    frames_picture_filter(scene.scratch[scene.frames_left % FRAMES_ALONE]);
}

static void raw(struct frames_run *run)
{
    frames_picture_draw(run->name);
    frames_picture_filter(frames_map_raw(run));
    frames_unmap_raw(run);
}

static void grinterop(struct frames_run *run)
{
    gr_buffer *buffer;
    frames_picture_draw(gr_gl_name(run->resource));
    GR_NEW(buffer, map, run->resource, scene.on.stream);
    frames_picture_filter(gr_buffer_ptr(buffer));
    GR(buffer_release, buffer);
}

/* ---- In flight ------------------------------------------------------------------------------- */

void frames_read_slots(struct frames_run *run)
{
    const unsigned n = run->kind->group;
    GR(ring_acquire_read, run->ring, scene.on.stream, run->slots, n, 0);
    for (unsigned i = 0; i < n; i++)
        frames_picture_filter(gr_buffer_ptr(run->slots[i]->buffer));
    frames_ring_give_back(run);
}

static void draw_slots(struct frames_run *run)
{
    const unsigned n = run->kind->group;
    GR(ring_acquire_write, run->ring, GR_STREAM_NONE, run->slots, n, 0);
    for (unsigned i = 0; i < n; i++)
        frames_picture_draw(gr_gl_name(run->slots[i]->resource));
    GR(ring_hand_over, run->ring, run->slots, n);
}

static void ring(struct frames_run *run)
{
    draw_slots(run);
    frames_read_slots(run);
}

static void copy_ring(struct frames_run *run)
{
    frames_get_ahead(run, draw_slots);
    frames_read_slots(run);
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define READ(key, label, slots, group, open, frame, by, ...)                                       \
    {                                                                                              \
        FRAMES_ROW(FRAMES_READS, key, label), slots, group, open, frame,                           \
            .transport = by, .reads = true, __VA_ARGS__                                            \
    }
#define STAGED(n)                                                                                  \
    READ("read/staged/" #n, "in_flight " #n, n, 1, frames_open_one, grinterop, GR_TRANSPORT_PEER, )
#define RING(key, label, slots, group)                                                             \
    READ(key, label, slots, group, frames_open_ring, ring, GR_TRANSPORT_SHARED, .created = true)

enum { BASE = 1 };

const struct frames_kind frames_read_rows[] = {
    {FRAMES_ROW(FRAMES_READS, "read/bound", "both, unsynchronised"), 1, 1, NULL, alone,
     .unchecked = true, .reads = true},
    [BASE] = READ("read/raw", "interop, raw calls", 1, 1, frames_open_raw, raw, 0, ),
    READ("read/grinterop", "interop, grinterop", 1, 1, frames_open_one, grinterop, 0, ),
    READ("read/peer", "peer, grinterop", 1, 1, frames_open_one, grinterop, GR_TRANSPORT_PEER,
         .across = true),
    STAGED(2),
    STAGED(4),
    STAGED(8),
    STAGED(16),
    READ("read/copy", "copy, grinterop", 1, 1, frames_open_one, grinterop, GR_TRANSPORT_COPY, ),
    READ("read/copy/1", "copy, 1 in flight", 3, 1, frames_open_ring, copy_ring,
         GR_TRANSPORT_COPY, ),
    READ("read/copy/4", "copy, 4 in flight", 6, 1, frames_open_ring, copy_ring,
         GR_TRANSPORT_COPY, ),
    RING("read/ring/1", "ring, 1 in flight", 3, 1),
    RING("read/ring/16", "ring, 16 in flight", 18, 1),
    RING("read/ring/64", "ring, groups of 64", 128, 64),
    {.slots = 0},
};
const struct frames_kind *const frames_read_base = &frames_read_rows[BASE];
