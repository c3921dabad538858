/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row at each rate. Frames begin on schedule, CUDA and the renderer record when they
 * are done, and the clocks are read before and after.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "bench/latency/latency.h"

/* The first 1 / LEFT_OUT of the frames find empty queues and are left out. */
enum { LEFT_OUT = 16, WARM_UP = 32, LEAD_NS = 2000000 };

/* The minimum number of frames for each quantile. */
enum { FOR_P99 = 100, FOR_P999 = 1000 };

/* ---- The frames ------------------------------------------------------------------------------ */

static bool one_frame(struct latency *l, struct frames_run *run)
{
    const bool good = run->kind->frame(&l->frames, run);
    glFlush(); /* A program that presents each frame also flushes after each frame. */
    return good;
}

static bool all_frames(struct latency *l, const struct latency_row *row, struct frames_run *run,
                       unsigned frames, double rate)
{
    const int64_t period = rate > 0 ? (int64_t)(1e9 / rate) : 0, start = latency_now() + LEAD_NS;
    l->frames.frames_left = frames;
    if (row->threads)
        return latency_threads(l, run, frames, start, period);
    for (unsigned i = 0; i < frames; i++) {
        l->due[i] = start + i * period;
        l->begun[i] = latency_wait_until(period ? l->due[i] : start);
        if (!one_frame(l, run))
            return false;
    }
    return true;
}

/* Runs frames without timers and reports their microseconds per frame. */
static bool warm_up(struct latency *l, const struct latency_row *row, struct frames_run *run,
                    double *frame_us)
{
    const double start = bench_now_us();
    if (!all_frames(l, row, run, WARM_UP, 0) || !frames_drain(&l->frames))
        return false;
    *frame_us = (bench_now_us() - start - LEAD_NS * 1e-3) / WARM_UP;
    return true;
}

static bool begin_timers(struct latency *l, const struct latency_row *row, unsigned frames)
{
    struct frames *f = &l->frames;
    f->launched = f->drawn = 0;
    f->stamps = l->stamps;
    if (row->draws == LATENCY_VULKAN)
        return latency_vulkan_prepare(l, frames);
    f->queries = l->queries;
    return true;
}

static bool take_timers(struct latency *l, const struct latency_row *row, unsigned frames)
{
    struct frames *f = &l->frames;
    f->queries = NULL;
    f->stamps = 0;
    if (!frames_drain(f) ||
        !frames_cuda_ok(
            f, f->cuda->MemcpyDtoH(l->computed, l->stamps, 2 * frames * sizeof(l->computed[0])),
            "cuMemcpyDtoH"))
        return false;
    if (row->draws == LATENCY_VULKAN)
        return latency_vulkan_take(l, frames);
    for (unsigned i = 0; i < frames; i++) {
        GLuint64 value = 0;
        glGetQueryObjectui64v(l->queries[i], GL_QUERY_RESULT, &value);
        l->drawn[i] = value;
    }
    return frames_gl_ok("read timers");
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. Quantiles are not interpolated: each one is the time of a measured frame. */
static struct latency_times times_of(double *values, size_t count)
{
    struct latency_times t = {NAN, NAN, NAN, NAN};
    if (count == 0)
        return t;
    qsort(values, count, sizeof(*values), compare);
    t.p50 = values[count / 2];
    t.worst = values[count - 1];
    if (count >= FOR_P99)
        t.p99 = values[count * 99 / 100];
    if (count >= FOR_P999)
        t.p999 = values[count * 999 / 1000];
    return t;
}

/*
 * The time from the end of the kernel to the end of the draw. If both APIs use one clock, compares
 * their times directly.
 */
static double hand_over_ns(const struct latency *l, enum latency_side draws, unsigned i)
{
    const int64_t computed = (int64_t)l->computed[2 * i + 1], drawn = (int64_t)l->drawn[i];
    if (draws == LATENCY_OPENGL && l->one_clock)
        return (double)(drawn - computed);
    return (double)(latency_to_monotonic(&l->clocks[draws], drawn) -
                    latency_to_monotonic(&l->clocks[LATENCY_CUDA], computed));
}

static bool evaluate(const struct latency *l, const struct latency_row *row, unsigned frames,
                     double rate, struct latency_cell *cell)
{
    const unsigned first = frames / LEFT_OUT;
    const double quarter_us = rate > 0 ? 0.25e6 / rate : INFINITY;
    double *values = calloc(3 * (size_t)frames, sizeof(*values));
    double *wait = values + frames, *whole = wait + frames;
    if (!values) {
        frames_set_error("out of memory");
        return false;
    }
    for (unsigned i = first; i < frames; i++) {
        const unsigned n = cell->frames++;
        values[n] = hand_over_ns(l, row->draws, i) * 1e-3;
        wait[n] =
            (double)(latency_to_monotonic(&l->clocks[LATENCY_CUDA], (int64_t)l->computed[2 * i]) -
                     l->begun[i]) *
            1e-3;
        whole[n] = (double)(latency_to_monotonic(&l->clocks[row->draws], (int64_t)l->drawn[i]) -
                            l->begun[i]) *
                   1e-3;
        cell->impossible += values[n] < 0;
        cell->late += (double)(l->begun[i] - l->due[i]) * 1e-3 > quarter_us;
        cell->held += wait[n] > quarter_us;
    }
    cell->wait = times_of(wait, cell->frames);
    cell->whole = times_of(whole, cell->frames);
    const bool hands_over = strcmp(row->frames_key, "bound") != 0;
    if (!hands_over)
        cell->impossible = 0;
    cell->hand_over = times_of(values, hands_over ? cell->frames : 0);
    free(values);
    return true;
}

static bool check_picture(struct latency *l, const struct frames_kind *kind,
                          enum latency_side draws, struct latency_cell *cell)
{
    const bool vulkan = draws == LATENCY_VULKAN;
    cell->wrong = -1;
    if (kind->unchecked)
        return true;
    if (!vulkan)
        frames_read(&l->frames);
    else if (!frames_vulkan_read(&l->frames))
        return false;
    cell->wrong = frames_count_wrong(&l->frames, vulkan ? 2 : 0);
    return true;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static unsigned frames_of(const struct latency *l, double rate, double frame_us)
{
    const double wanted = rate > 0 ? rate * l->seconds : l->seconds * 1e6 / frame_us;
    return (unsigned)fmin(fmax(wanted, 2 * LEFT_OUT), LATENCY_MOST_FRAMES);
}

static bool measure_rate(struct latency *l, const struct latency_row *row, struct frames_run *run,
                         double rate, struct latency_cell *cell)
{
    double frame_us;
    if (!warm_up(l, row, run, &frame_us) || !latency_clocks_read(l, false))
        return false;
    const unsigned frames = frames_of(l, rate, frame_us);
    const bool good = begin_timers(l, row, frames) && all_frames(l, row, run, frames, rate);
    if (!take_timers(l, row, good ? frames : 0) || !good)
        return false;
    if (!latency_clocks_read(l, true) || !check_picture(l, run->kind, row->draws, cell))
        return false;
    latency_clocks_compare(l);
    cell->measured = evaluate(l, row, frames, rate, cell);
    return cell->measured;
}

static const struct frames_kind *kind_of(const struct latency_row *row)
{
    for (size_t i = 0; i < frames_kind_count; i++)
        if (strcmp(frames_kinds[i].key, row->frames_key) == 0)
            return &frames_kinds[i];
    return NULL;
}

void latency_measure(struct latency *l, struct latency_table *table, size_t r)
{
    const struct latency_row *row = table->row[r];
    struct frames *f = &l->frames;
    struct frames_kind kind = *kind_of(row);
    struct frames_run *run = calloc(1, sizeof(*run));
    if (row->slots)
        kind.slots = row->slots;
    if (run)
        run->kind = &kind;
    else
        frames_set_error("out of memory");
    bool good = run && (!kind.open || kind.open(f, run));
    for (size_t i = 0; i < table->rates; i++) {
        struct latency_cell *cell = &table->cells[r][i];
        good = good && measure_rate(l, row, run, table->rate[i], cell);
        if (!good)
            snprintf(cell->reason, sizeof(cell->reason), "%s", frames_last_error());
    }
    frames_drain(f);
    if (run && kind.close)
        kind.close(f, run);
    free(run);
}
