/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames of a ring with two threads. The CUDA thread begins each frame on schedule, and the OpenGL
 * thread draws each frame as it arrives.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include <epoxy/gl.h>

#include "bench/latency/latency.h"

enum { PATIENCE_MS = 5000 };

struct producer {
    struct latency *latency;
    gr_ring *ring;
    unsigned frames;
    int64_t start, period;
    bool good;
};

static bool produce_one(struct frames *f, gr_ring *ring)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(ring, f->on.stream, &slot, 1, PATIENCE_MS) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_write");
    if (!frames_launch(f, gr_buffer_ptr(slot->buffer))) {
        gr_ring_cancel_write(ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(ring, &slot, 1) == GR_OK ||
           frames_grinterop_failed("gr_ring_hand_over");
}

static void *produce(void *argument)
{
    struct producer *p = argument;
    struct frames *f = &p->latency->frames;
    p->good = frames_cuda_ok(f, f->cuda->CtxSetCurrent(f->on.context), "cuCtxSetCurrent");
    for (unsigned i = 0; p->good && i < p->frames; i++) {
        p->latency->due[i] = p->start + i * p->period;
        p->latency->begun[i] = latency_wait_until(p->period ? p->latency->due[i] : p->start);
        p->good = produce_one(f, p->ring);
    }
    if (!p->good)
        gr_ring_stop(p->ring);
    return NULL;
}

static bool draw_one(struct frames *f, gr_ring *ring)
{
    const gr_slot *slot;
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, PATIENCE_MS) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_read");
    frames_draw(f, gr_gl_name(slot->resource));
    const bool good = gr_ring_give_back(ring, &slot, 1) == GR_OK;
    glFlush();
    return good || frames_grinterop_failed("gr_ring_give_back");
}

bool latency_threads(struct latency *l, struct frames_run *run, unsigned frames, int64_t start,
                     int64_t period)
{
    struct producer producer = {
        .latency = l, .ring = run->ring, .frames = frames, .start = start, .period = period};
    pthread_t thread;
    if (pthread_create(&thread, NULL, produce, &producer) != 0) {
        frames_set_error("no thread could be started");
        return false;
    }
    bool good = true;
    for (unsigned i = 0; good && i < frames; i++)
        good = draw_one(&l->frames, run->ring);
    if (!good)
        gr_ring_stop(run->ring);
    pthread_join(thread, NULL);
    return good && producer.good;
}
