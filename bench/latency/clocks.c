/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The clocks that time a frame: %globaltimer, which a kernel reads, GL_TIMESTAMP, and the Vulkan
 * clock. Each clock is read many times, each time between two readings of CLOCK_MONOTONIC.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include "bench/latency/latency.h"

enum { READINGS = LATENCY_READINGS, PATIENCE_MS = 2000, ATTEMPTS = 8, GOOD_NS = 2000 };

/* ---- CUDA ------------------------------------------------------------------------------------ */

static bool start_answering(struct latency *l)
{
    struct frames *f = &l->frames;
    int questions = READINGS;
    void *arguments[] = {&l->words_at, &questions};
    for (size_t i = 0; i <= READINGS; i++)
        __atomic_store_n(&l->words[i], 0, __ATOMIC_RELEASE);
    return frames_cuda_ok(
        f, f->cuda->LaunchKernel(f->answer, 1, 1, 1, 1, 1, 1, 0, f->on.stream, arguments, NULL),
        "cuLaunchKernel");
}

static bool read_answer(struct latency *l, size_t question, struct latency_reading *r)
{
    r->low = latency_now();
    __atomic_store_n(&l->words[0], question, __ATOMIC_RELEASE);
    uint64_t value;
    do {
        value = __atomic_load_n(&l->words[question], __ATOMIC_ACQUIRE);
        r->high = latency_now();
    } while (value == 0 && (r->high - r->low) / 1000000 < PATIENCE_MS);
    r->value = (int64_t)value;
    if (value == 0)
        frames_set_error("the kernel that reads the clock does not answer");
    return value != 0;
}

/* Asks a running kernel for its time. The answer takes one round trip over the bus. */
static bool question(struct latency *l, struct latency_offset *offset)
{
    struct latency_reading readings[READINGS];
    if (!start_answering(l))
        return false;
    for (size_t i = 0; i < READINGS; i++)
        if (!read_answer(l, i + 1, &readings[i]))
            return false;
    *offset = latency_offset_of(readings, READINGS);
    l->step[LATENCY_CUDA] = latency_step_of(readings, READINGS);
    return frames_drain(&l->frames);
}

/*
 * Reads the CUDA clock several times and keeps the best reading. A reading is imprecise if the
 * thread was preempted, and fails if the kernel has ended.
 */
static bool read_cuda(struct latency *l, struct latency_offset *best)
{
    bool found = false;
    for (int i = 0; i < ATTEMPTS && !(found && best->uncertain <= GOOD_NS); i++) {
        struct latency_offset offset;
        if (question(l, &offset)) {
            if (!found || offset.uncertain < best->uncertain)
                *best = offset;
            found = true;
        } else if (!frames_drain(&l->frames))
            return false;
    }
    return found;
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static bool read_opengl(struct latency *l, struct latency_offset *offset)
{
    struct latency_reading readings[READINGS];
    for (size_t i = 0; i < READINGS; i++) {
        GLint64 value = 0;
        readings[i].low = latency_now();
        glGetInteger64v(GL_TIMESTAMP, &value);
        readings[i].high = latency_now();
        readings[i].value = value;
    }
    *offset = latency_offset_of(readings, READINGS);
    l->step[LATENCY_OPENGL] = latency_step_of(readings, READINGS);
    return frames_gl_ok("read GL_TIMESTAMP");
}

/* ---- All ------------------------------------------------------------------------------------- */

bool latency_clocks_open(struct latency *l)
{
    struct frames *f = &l->frames;
    void *words = NULL;
    if (!frames_cuda_ok(f,
                        f->cuda->MemHostAlloc(&words, (READINGS + 1) * sizeof(*l->words),
                                              CU_MEMHOSTALLOC_DEVICEMAP),
                        "cuMemHostAlloc"))
        return false;
    l->words = words;
    return frames_cuda_ok(f, f->cuda->MemHostGetDevicePointer(&l->words_at, words, 0),
                          "cuMemHostGetDevicePointer") &&
           frames_cuda_ok(f, f->cuda->MemAlloc(&l->stamps, sizeof(l->computed)), "cuMemAlloc");
}

void latency_clocks_close(struct latency *l)
{
    if (l->stamps != 0)
        l->frames.cuda->MemFree(l->stamps);
    if (l->words)
        l->frames.cuda->MemFreeHost(l->words);
}

static void keep(struct latency *l, enum latency_side side, struct latency_offset offset,
                 bool after)
{
    struct latency_clock *clock = &l->clocks[side], *run = &l->whole_run[side];
    *(after ? &clock->after : &clock->before) = offset;
    if (!run->there)
        run->before = offset;
    run->after = offset;
    clock->there = run->there = true;
}

bool latency_clocks_read(struct latency *l, bool after)
{
    struct latency_offset offset;
    if (!read_cuda(l, &offset))
        return false;
    keep(l, LATENCY_CUDA, offset, after);
    if (!read_opengl(l, &offset))
        return false;
    keep(l, LATENCY_OPENGL, offset, after);
    if (!l->vulkan)
        return true;
    if (!latency_vulkan_clock(l, &offset))
        return false;
    keep(l, LATENCY_VULKAN, offset, after);
    return true;
}

/*
 * Compares the clocks. The clocks of two GPUs never count as one clock, since they may be close by
 * chance.
 */
void latency_clocks_compare(struct latency *l)
{
    const struct latency_offset *cuda = &l->whole_run[LATENCY_CUDA].after;
    const struct latency_offset *opengl = &l->whole_run[LATENCY_OPENGL].after;
    const int64_t apart = opengl->ahead - cuda->ahead;
    l->one_clock = l->frames.on.ordinal == l->frames.gl_ordinal &&
                   (apart < 0 ? -apart : apart) <= opengl->uncertain + cuda->uncertain;
}
