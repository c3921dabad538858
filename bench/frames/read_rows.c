/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows in which OpenGL draws a picture and CUDA filters it. */
#define _GNU_SOURCE
#include "bench/frames/frames.h"

/* ---- Unsynchronised -------------------------------------------------------------------------- */

bool frames_read_alone(struct frames *f, struct frames_run *run)
{
    (void)run;
    frames_picture_draw(f, f->picture.alone);
    return frames_picture_filter(f, f->scratch[f->frames_left % FRAMES_ALONE]);
}

/* ---- In order: one buffer -------------------------------------------------------------------- */

bool frames_read_open_raw(struct frames *f, struct frames_run *run)
{
    return frames_open_raw(f, run, GR_READ_ONLY);
}

bool frames_read_raw(struct frames *f, struct frames_run *run)
{
    CUdeviceptr pixels;
    frames_picture_draw(f, run->name);
    return frames_map_raw(f, run, &pixels) && frames_picture_filter(f, pixels) &&
           frames_unmap_raw(f, run);
}

bool frames_read_open(struct frames *f, struct frames_run *run)
{
    if (!frames_make_buffer(f, run))
        return false;
    run->resource = gr_from_gl_buffer(run->name, GR_READ_ONLY);
    return run->resource || frames_grinterop_failed("gr_from_gl_buffer");
}

bool frames_read_open_peer(struct frames *f, struct frames_run *run)
{
    return frames_open_peer(f, run, GR_READ_ONLY);
}

bool frames_read_frame(struct frames *f, struct frames_run *run)
{
    frames_picture_draw(f, gr_gl_name(run->resource));
    gr_buffer *buffer = gr_map(run->resource, f->on.stream);
    if (!buffer)
        return frames_grinterop_failed("gr_map");
    const bool launched = frames_picture_filter(f, gr_buffer_ptr(buffer));
    if (gr_buffer_release(buffer) != GR_OK)
        return frames_grinterop_failed("gr_buffer_release");
    return launched;
}

/* ---- In flight ------------------------------------------------------------------------------- */

bool frames_read_open_ring(struct frames *f, struct frames_run *run)
{
    return frames_open_ring(f, run, GR_SIDE_GRAPHICS);
}

bool frames_read_slots(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    if (gr_ring_acquire_read(run->ring, f->on.stream, run->slots, n, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_read");
    for (unsigned i = 0; i < n; i++)
        if (!frames_picture_filter(f, gr_buffer_ptr(run->slots[i]->buffer))) {
            gr_ring_cancel_read(run->ring, run->slots, n);
            return false;
        }
    return frames_ring_give_back(run);
}

bool frames_read_draw_slots(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    if (gr_ring_acquire_write(run->ring, GR_STREAM_NONE, run->slots, n, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_write");
    for (unsigned i = 0; i < n; i++)
        frames_picture_draw(f, gr_gl_name(run->slots[i]->resource));
    return gr_ring_hand_over(run->ring, run->slots, n) == GR_OK ||
           frames_grinterop_failed("gr_ring_hand_over");
}

bool frames_read_ring(struct frames *f, struct frames_run *run)
{
    return frames_read_draw_slots(f, run) && frames_read_slots(f, run);
}
