/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight on shared storage, by raw calls. Each wait, signal and flush can be omitted or
 * made less often, to measure what it costs. There are two timeline semaphores: CUDA signals
 * `release` with the number of the frame it has written, OpenGL signals `acquire` with the number
 * of the frame it has drawn.
 *
 * A wait that is made every k frames covers the next k frames, and such a signal covers the last k.
 * A wait may therefore be enqueued before the signal that it waits for. Timeline semaphores allow
 * this.
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
    hand_gl_signal(h, h->frame, 0, NULL);
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

/* The signal that covers `frame`: the next multiple of `every`. */
static uint64_t signal_for(uint64_t frame, unsigned every)
{
    return every == 0 ? 0 : (frame + every - 1) / every * every;
}

static bool is_turn(uint64_t frame, unsigned every)
{
    return every != 0 && frame % every == 0;
}

/* Makes CUDA wait until OpenGL has drawn from the slots of this frame and the next few frames. */
static bool cuda_waits(struct frames *f, const struct frames_hand *h,
                       const struct frames_kind *kind)
{
    const struct frames_hand_kind *how = &kind->hand;
    if (!is_turn(h->frame - 1, how->cuda_waits))
        return true;
    uint64_t last = h->frame + how->cuda_waits - 1;
    uint64_t value = last > kind->slots ? signal_for(last - kind->slots, how->gl_signals) : 0;
    return hand_cuda_wait(f, h, how->satisfied || value < 64 ? 64 : value);
}

static bool write_frame(struct frames *f, const struct frames_hand *h,
                        const struct frames_kind *kind, unsigned slot)
{
    return cuda_waits(f, h, kind) && frames_launch(f, h->buffers[slot].pointer) &&
           (!is_turn(h->frame, kind->hand.cuda_signals) || hand_cuda_signal(f, h, h->frame));
}

static void draw_frame(struct frames *f, const struct frames_hand *h,
                       const struct frames_hand_kind *how, unsigned slot)
{
    const unsigned count = how->barriers ? 1 : 0;
    if (is_turn(h->frame - 1, how->gl_waits)) {
        uint64_t value = signal_for(h->frame + how->gl_waits - 1, how->cuda_signals);
        if (how->satisfied)
            value = 64;
        hand_gl_wait(h, value, count, &h->buffers[slot].name);
    }
    frames_draw(f, h->buffers[slot].name);
    if (is_turn(h->frame, how->gl_signals))
        hand_gl_signal(h, h->frame, count, &h->buffers[slot].name);
    if (is_turn(h->frame, how->flushes))
        glFlush();
}

bool frames_hand_frame(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    h->frame++;
    unsigned slot = (unsigned)(h->frame % run->kind->slots);
    if (run->kind->hand.kernel && !write_frame(f, h, run->kind, slot))
        return false;
    if (run->kind->hand.draw)
        draw_frame(f, h, &run->kind->hand, slot);
    return true;
}

/*
 * A frame in the reverse direction: OpenGL writes the slot and CUDA reads it. Every frame waits and
 * signals.
 */
bool frames_hand_read_frame(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand;
    h->frame++;
    const uint64_t before = h->frame > run->kind->slots ? h->frame - run->kind->slots : 0;
    const struct hand_buffer *buffer = &h->buffers[h->frame % run->kind->slots];
    hand_gl_wait(h, before < 64 ? 64 : before, 1, &buffer->name);
    frames_picture_draw(f, buffer->name);
    hand_gl_signal(h, h->frame, 1, &buffer->name);
    glFlush();
    return hand_cuda_wait(f, h, h->frame) && frames_picture_filter(f, buffer->pointer) &&
           hand_cuda_signal(f, h, h->frame);
}
