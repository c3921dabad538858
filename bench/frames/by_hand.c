/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in flight on shared storage by hand: each wait, signal and flush can be left out or made
 * rarer, so that a run tells what it costs. Two timeline semaphores: CUDA signals `release` to the
 * number of the frame that it has written, OpenGL `acquire` to that of the frame that it has drawn;
 * frames count from 1.
 *
 * A wait that is made every k frames is for all k; a signal that is made every k frames stands for
 * all k. A wait may thus be for a signal that is enqueued only later, which timelines allow.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* ---- Making it ------------------------------------------------------------------------------- */

static bool open_buffers(struct frames *f, struct frames_hand *h, const struct frames_kind *kind)
{
    for (; h->slots < kind->slots; h->slots++) {
        struct hand_buffer *buffer = &h->buffers[h->slots];
        if (!hand_buffer_make(f, buffer) ||
            (!kind->reads && !frames_launch(f, buffer->pointer))) /* for rows that only draw */
            return false;
    }
    return true;
}

/* Frames count from 64: what is satisfied long ago, and what no signal of a frame stands for. */
bool frames_hand_open(struct frames *f, struct frames_run *run)
{
    struct frames_hand *h = run->hand = calloc(1, sizeof(*h));
    if (!h) {
        frames_say("out of memory");
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

/* The signal that stands for a frame, where one is made every `every` frames: the next multiple. */
static uint64_t signal_for(uint64_t frame, unsigned every)
{
    return every == 0 ? 0 : (frame + every - 1) / every * every;
}

static bool is_turn(uint64_t frame, unsigned every)
{
    return every != 0 && frame % every == 0;
}

/* The frames whose slots this one and the next few use again have been drawn. */
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

/* The other way round: OpenGL writes the slot, CUDA reads it; all four in each frame. */
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
