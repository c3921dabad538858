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
    frames_drain_later();
    /* rows in which CUDA reads need no mesh */
    for (unsigned i = 0; i < run->kind->slots && !run->kind->reads; i++)
        frames_launch(h->buffers[i].pointer);
    hand_cuda_signal(h, h->frame);
    hand_gl_signal(h, h->frame, NULL);
    frames_drain();
    bench_check_gl("glSignalSemaphoreEXT");
}

/* Begins the next frame. Returns the value of the frame that last used its slot. */
static uint64_t next_frame(struct frames_hand *h, const struct frames_run *run,
                           const struct hand_buffer **buffer)
{
    h->frame++;
    *buffer = &h->buffers[h->frame % run->kind->slots];
    const uint64_t before = h->frame > run->kind->slots ? h->frame - run->kind->slots : 0;
    return before < FIRST ? FIRST : before;
}

static void draw(struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    const struct hand_buffer *buffer;
    hand_cuda_wait(h, next_frame(h, run, &buffer));
    frames_launch(buffer->pointer);
    hand_cuda_signal(h, h->frame);
    hand_gl_wait(h, h->frame, &buffer->name);
    frames_draw(buffer->name);
    hand_gl_signal(h, h->frame, &buffer->name);
    glFlush();
}

/* A frame in the reverse direction: OpenGL writes the slot and CUDA reads it. */
static void read(struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    const struct hand_buffer *buffer;
    const uint64_t before = next_frame(h, run, &buffer);
    hand_gl_wait(h, before, &buffer->name);
    frames_picture_draw(buffer->name);
    hand_gl_signal(h, h->frame, &buffer->name);
    glFlush();
    hand_cuda_wait(h, h->frame);
    frames_picture_filter(buffer->pointer);
    hand_cuda_signal(h, h->frame);
}

#define ROW(part, key, label, slots, frame, is_read)                                               \
    {                                                                                              \
        FRAMES_ROW(part, key, label), slots, 1, open_hand, frame, .reads = is_read                 \
    }

const struct frames_kind frames_hand_rows[] = {
    ROW("OpenGL, raw calls", "hand/1", "shared, 1 in flight", 3, draw, false),
    ROW("OpenGL, raw calls", "hand/16", "shared, 16 in flight", 18, draw, false),
    {.slots = 0},
};

const struct frames_kind frames_hand_read_rows[] = {
    ROW(FRAMES_READS, "read/hand/1", "raw shared, 1 in flight", 3, read, true),
    ROW(FRAMES_READS, "read/hand/16", "raw shared, 16 in flight", 18, read, true),
    {.slots = 0},
};
