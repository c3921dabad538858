/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures the latency of frames at a constant rate: from the call that begins a frame to the end
 * of its draw, on the clock of OpenGL, which is read once. Frames in flight are begun while earlier
 * ones wait to be drawn, so their latency has the time in the ring.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include "bench/frames/frames.h"

enum { FRAMES = 256, SKIPPED = 32 };

static bool draw_all(struct frames *f, struct frames_run *run, double hz, double *began)
{
    const double start = bench_now_us();
    bool good = true;
    for (unsigned i = 0; good && i < FRAMES; i++) {
        while (bench_now_us() - start < i * 1e6 / hz)
            continue;
        began[i] = bench_now_us();
        good = run->kind->frame(f, run);
        glFlush();
    }
    return frames_drain(f) && good;
}

bool frames_latency(struct frames *f, struct frames_run *run, double hz,
                    struct bench_result *result)
{
    unsigned queries[FRAMES];
    double began[FRAMES], latencies[FRAMES];
    GLint64 origin = 0;
    glGenQueries(FRAMES, queries);
    f->queries = queries;
    f->drawn = 0;
    f->frames_left = FRAMES;
    glGetInteger64v(GL_TIMESTAMP, &origin);
    const double here = bench_now_us();
    bool good = draw_all(f, run, hz, began);
    f->queries = NULL;
    for (unsigned i = SKIPPED; good && i < f->drawn; i++) {
        GLuint64 end = 0;
        glGetQueryObjectui64v(queries[i], GL_QUERY_RESULT, &end);
        latencies[i - SKIPPED] = (double)((GLint64)end - origin) / 1e3 - (began[i] - here);
    }
    glDeleteQueries(FRAMES, queries);
    if (!good || f->drawn <= SKIPPED)
        return good && frames_gl_ok("glQueryCounter");
    const size_t count = f->drawn - SKIPPED;
    bench_set(result, "latency_us", bench_spread_of(latencies, count));
    bench_set_number(result, "worst_latency_us", latencies[count - 1]); /* they are sorted */
    return frames_gl_ok("glQueryCounter");
}
