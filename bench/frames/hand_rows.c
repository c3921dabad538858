/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight on shared storage, by raw calls. There are two timeline semaphores: CUDA signals
 * one with the number of the frame it has written, OpenGL signals the other with the number of the
 * frame it has drawn. Every frame waits and signals.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* Both semaphores begin at this value. So a wait for it or less never blocks. */
enum { FIRST = 64 };

static void open_hand(struct frames_run *run)
{
    struct frames_hand *h = run->hand = bench_alloc(sizeof(*h));
    h->frame = FIRST;
    hand_make(h, run->kind->slots);
    bench_at_end(frames_drain);
    for (unsigned i = 0; i < run->kind->slots; i++)
        frames_launch(h->buffers[i].pointer);
    hand_cuda_signal(h, h->frame);
    hand_gl_signal(h, h->frame, NULL);
    frames_drain();
    bench_check_gl("glSignalSemaphoreEXT");
}

/*
 * The half that writes a slot begins the next frame, and waits for the frame that last used the
 * slot. The other half waits for the frame itself.
 */
static uint64_t wait_value(struct frames_run *run, bool writes, const struct hand_buffer **buffer)
{
    struct frames_hand *h = run->hand;
    const uint64_t slots = run->kind->slots;
    h->frame += writes;
    *buffer = &h->buffers[h->frame % slots];
    return !writes ? h->frame : h->frame < FIRST + slots ? FIRST : h->frame - slots;
}

static void cuda_hand(struct frames_run *run)
{
    const struct hand_buffer *buffer;
    hand_cuda_wait(run->hand, wait_value(run, true, &buffer));
    frames_launch(buffer->pointer);
    hand_cuda_signal(run->hand, run->hand->frame);
}

static void gl_hand(struct frames_run *run)
{
    const struct hand_buffer *buffer;
    const uint64_t value = wait_value(run, false, &buffer);
    hand_gl_wait(run->hand, value, &buffer->name);
    frames_draw(buffer->name);
    hand_gl_signal(run->hand, run->hand->frame, &buffer->name);
    glFlush();
}

static const struct frames_way hand = {.open = open_hand, .cuda = cuda_hand, .graphics = gl_hand};

const struct frames_kind frames_hand_rows[] = {
    FRAMES_ROW("OpenGL, raw calls", "hand/1", "shared, 1 in flight", 3, 1, &hand),
    FRAMES_ROW("OpenGL, raw calls", "hand/16", "shared, 16 in flight", 18, 1, &hand),
    {.slots = 0},
};
