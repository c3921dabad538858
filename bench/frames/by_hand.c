/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight on shared storage, by raw calls. There are two timeline semaphores: CUDA signals
 * one with the number of the frame it has written, OpenGL signals the other with the number of the
 * frame it has drawn. Every frame waits and signals.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* ---- Setup ----------------------------------------------------------------------------------- */

static bool open_buffers(struct frames *f, struct frames_hand *h, const struct frames_kind *kind)
{
    for (; h->slots < kind->slots; h->slots++) {
        struct hand_buffer *buffer = &h->buffers[h->slots];
        if (!hand_buffer_make(f, buffer) ||
            /* rows in which CUDA reads need no mesh */
            (!kind->reads && !frames_launch(f, buffer->pointer)))
            return false;
    }
    return true;
}

/* Both semaphores begin at 64, and the first frame is 65. So a wait for 64 or less never blocks. */
bool frames_hand_open(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand = calloc(1, sizeof(*h));
    if (!h) {
        frames_set_error("out of memory");
        return false;
    }
    h->frame = 64;
    if (!open_buffers(f, h, run->kind) || !hand_timelines_make(f, h) ||
        !hand_cuda_signal(f, h, h->frame))
        return false;
    hand_gl_signal(h, h->frame, NULL);
    return frames_drain(f) && frames_gl_ok("glSignalSemaphoreEXT");
}

bool frames_hand_close(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    bool good = frames_drain(f);
    for (unsigned i = 0; h && i < FRAMES_MOST_SLOTS; i++)
        hand_buffer_end(f, &h->buffers[i]);
    if (h)
        hand_timelines_end(f, h);
    free(h);
    return good;
}

/* ---- A frame --------------------------------------------------------------------------------- */

/* Begins the next frame. Returns the value of the frame that last used its slot. */
static uint64_t next_frame(struct frames_hand *h, const struct frames_run *run,
                           const struct hand_buffer **buffer)
{
    h->frame++;
    *buffer = &h->buffers[h->frame % run->kind->slots];
    const uint64_t before = h->frame > run->kind->slots ? h->frame - run->kind->slots : 0;
    return before < 64 ? 64 : before;
}

bool frames_hand_frame(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    const struct hand_buffer *buffer;
    const uint64_t before = next_frame(h, run, &buffer);
    if (!hand_cuda_wait(f, h, before) || !frames_launch(f, buffer->pointer) ||
        !hand_cuda_signal(f, h, h->frame))
        return false;
    hand_gl_wait(h, h->frame, &buffer->name);
    frames_draw(f, buffer->name);
    hand_gl_signal(h, h->frame, &buffer->name);
    glFlush();
    return true;
}

/* A frame in the reverse direction: OpenGL writes the slot and CUDA reads it. */
bool frames_hand_read_frame(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    const struct hand_buffer *buffer;
    const uint64_t before = next_frame(h, run, &buffer);
    hand_gl_wait(h, before, &buffer->name);
    frames_picture_draw(f, buffer->name);
    hand_gl_signal(h, h->frame, &buffer->name);
    glFlush();
    return hand_cuda_wait(f, h, h->frame) && frames_picture_filter(f, buffer->pointer) &&
           hand_cuda_signal(f, h, h->frame);
}
