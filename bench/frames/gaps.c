/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures with GPU timers when OpenGL drew each frame of a row. This shows how many frames OpenGL
 * draws without a pause, and the pauses in which the GPU does something else, such as switching to
 * CUDA and back.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/frames/frames.h"

/* A pause is an interval that is longer than the usual interval by at least this time. */
static const double PAUSE_US = 60;
enum { FRAMES = 768, SKIPPED = 128 };

static bool draw_all(struct frames *f, struct frames_run *run, unsigned *queries)
{
    bool good = true;
    glGenQueries(FRAMES, queries);
    f->queries = queries;
    f->drawn = 0;
    f->frames_left = FRAMES;
    while (good && f->drawn < FRAMES)
        good = run->kind->frame(f, run);
    f->queries = NULL;
    return frames_drain(f) && good;
}

/*
 * Reads the intervals between the ends of successive frames. The first frames are skipped, since
 * the queues fill meanwhile.
 */
static void read_intervals(const unsigned *queries, double intervals[])
{
    GLuint64 before = 0;
    for (unsigned i = SKIPPED; i < FRAMES; i++) {
        GLuint64 now = 0;
        glGetQueryObjectui64v(queries[i], GL_QUERY_RESULT, &now);
        if (i > SKIPPED)
            intervals[i - SKIPPED - 1] = (double)(now - before) * 1e-3;
        before = now;
    }
}

static void describe(const double intervals[], size_t count, double usual, char text[160])
{
    double *runs = calloc(2 * count, sizeof(*runs)), *pauses = runs + count;
    size_t n = 0, length = 1;
    for (size_t i = 0; runs && i < count; i++, length++) {
        if (intervals[i] <= usual + PAUSE_US)
            continue;
        runs[n] = (double)length;
        pauses[n++] = intervals[i] - usual;
        length = 0;
    }
    if (n == 0)
        snprintf(text, 160, "a frame each %.1f us, no pauses", usual);
    else
        snprintf(text, 160, "%.0f frames in one go, %.1f us each, then a pause of %.0f us",
                 bench_spread_of(runs, n).median, usual, bench_spread_of(pauses, n).median);
    free(runs);
}

bool frames_gaps(struct frames *f, struct frames_run *run, char text[160])
{
    enum { COUNT = FRAMES - SKIPPED - 1 };
    unsigned *queries = calloc(FRAMES, sizeof(*queries));
    double *intervals = calloc(2 * COUNT, sizeof(*intervals)), *sorted = intervals + COUNT;
    bool good = queries && intervals && draw_all(f, run, queries);
    if (good) {
        read_intervals(queries, intervals);
        for (size_t i = 0; i < COUNT; i++)
            sorted[i] = intervals[i];
        describe(intervals, COUNT, bench_spread_of(sorted, COUNT).median, text);
        glDeleteQueries(FRAMES, queries);
        good = frames_gl_ok("glQueryCounter");
    }
    free(queries);
    free(intervals);
    return good;
}
