/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures the latency of frames at a constant rate: from the call that begins a frame, and from
 * the end of its kernel, to the end of its draw. The clocks of OpenGL and CUDA are read once.
 * Frames in flight are begun while earlier ones wait to be drawn, so their latency has the time in
 * the ring.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include "bench/frames/frames.h"

enum { FRAMES = 256, SKIPPED = 32, CLOCK_READS = 8 };

/* ---- The ends of the kernels ----------------------------------------------------------------- */

/* Events of one stream, and when the first of them happened on the clock of the CPU. */
struct ends {
    CUevent first, events[FRAMES];
    double at;
};

/* The stream is idle, so the event happens between both readings of the clock of the CPU. */
static void read_clock(struct ends *ends)
{
    const double before = bench_now_us();
    CU(EventRecord, ends->first, scene.on.stream);
    CU(EventSynchronize, ends->first);
    ends->at = (before + bench_now_us()) / 2;
}

static void open_ends(struct ends *ends)
{
    ends->first = bench_cuda_event();
    for (unsigned i = 0; i < FRAMES; i++)
        ends->events[i] = bench_cuda_event();
    for (unsigned i = 0; i < CLOCK_READS; i++) /* the first ones are slow */
        read_clock(ends);
    scene.launched = 0;
    scene.ended = ends->events;
}

static double end_of(const struct ends *ends, unsigned i)
{
    float ms = NAN;
    bench_cuda->EventElapsedTime(&ms, ends->first, ends->events[i]);
    return ends->at + (double)ms * 1e3;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void draw_all(struct frames_run *run, double hz, double *began)
{
    const double start = bench_now_us();
    for (unsigned i = 0; i < FRAMES; i++) {
        while (bench_now_us() - start < i * 1e6 / hz)
            continue;
        began[i] = bench_now_us();
        frames_step(run);
        glFlush();
    }
    frames_drain();
}

void frames_latency(struct frames_run *run, double hz, struct bench_result *result)
{
    unsigned queries[FRAMES];
    double began[FRAMES], latencies[FRAMES], from_kernel[FRAMES];
    GLint64 origin = 0;
    struct ends ends;
    open_ends(&ends);
    for (unsigned i = 0; i < FRAMES; i++)
        queries[i] = bench_gl_query();
    scene.queries = queries;
    scene.drawn = 0;
    scene.frames_left = FRAMES;
    glGetInteger64v(GL_TIMESTAMP, &origin);
    const double here = bench_now_us();
    draw_all(run, hz, began);
    scene.queries = NULL;
    scene.ended = NULL;
    for (unsigned i = SKIPPED; i < scene.drawn; i++) {
        GLuint64 end = 0;
        glGetQueryObjectui64v(queries[i], GL_QUERY_RESULT, &end);
        const double drawn = (double)((GLint64)end - origin) / 1e3 + here;
        latencies[i - SKIPPED] = drawn - began[i];
        from_kernel[i - SKIPPED] = drawn - end_of(&ends, i);
    }
    bench_check_gl("glQueryCounter");
    if (scene.drawn <= SKIPPED)
        return;
    const size_t count = scene.drawn - SKIPPED;
    bench_set(result, "latency_us", bench_spread_of(latencies, count));
    bench_set_number(result, "worst_latency_us", latencies[count - 1]); /* they are sorted */
    bench_set(result, "kernel_to_draw_us", bench_spread_of(from_kernel, count));
}
