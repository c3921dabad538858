/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_latency share: clocks, rows, and results. The devices, the
 * mesh and most rows are from bench_frames.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>

#include "bench/frames/frames.h"

enum {
    LATENCY_MOST_FRAMES = 4096,
    LATENCY_MOST_RATES = 6,
    LATENCY_MOST_ROWS = 16,
    LATENCY_READINGS = 128
};

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* The lead of a clock over CLOCK_MONOTONIC, in nanoseconds, plus or minus `uncertain`. */
struct latency_offset {
    int64_t at, ahead, uncertain; /* at: the time that this clock shows */
};

enum latency_side { LATENCY_CUDA, LATENCY_OPENGL, LATENCY_VULKAN, LATENCY_SIDES };

/* The offsets of a clock before and after the frames that it timed. */
struct latency_clock {
    bool there;
    struct latency_offset before, after;
};

/* A reading of a clock, and CLOCK_MONOTONIC before and after it, in nanoseconds. */
struct latency_reading {
    int64_t value, low, high;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

struct latency;

struct latency_row {
    const char *key, *label;
    const char *frames_key; /* the row of bench_frames that has the same frames */
    unsigned slots;         /* 0 means as many slots as in the row `frames_key` */
    bool threads;           /* whether CUDA and OpenGL each have a thread */
    enum latency_side draws;
    bool across; /* whether the row needs CUDA and OpenGL on different devices */
};

extern const struct latency_row latency_rows[];
extern const size_t latency_row_count;

/* ---- Results --------------------------------------------------------------------------------- */

/* Times in microseconds. NaN if there are too few frames. */
struct latency_times {
    double p50, p99, p999, worst;
};

struct latency_cell {
    bool measured;
    char reason[500];
    unsigned frames; /* the frames that were evaluated */
    /* evaluated frames that began a quarter of a period or more after their scheduled time */
    unsigned late;
    /* evaluated frames whose kernel began a quarter of a period or more after the frame */
    unsigned held;
    struct latency_times hand_over, wait, whole;
    unsigned impossible; /* frames drawn before the end of their kernel, according to the clocks */
    int wrong;           /* the pixels that differ in the last picture */
};

struct latency_table {
    size_t rows, rates;
    double rate[LATENCY_MOST_RATES]; /* frames per second; 0: unlimited */
    const struct latency_row *row[LATENCY_MOST_ROWS];
    struct latency_cell cells[LATENCY_MOST_ROWS][LATENCY_MOST_RATES];
};

struct latency_vulkan;

/* The state of the run. */
struct latency {
    struct frames frames;
    double seconds; /* the time for a cell, in seconds */
    /* pinned, for the kernel `answer`: the number of the last request, then the times */
    uint64_t *words;
    CUdeviceptr words_at, stamps;
    unsigned queries[LATENCY_MOST_FRAMES];
    struct latency_vulkan *vulkan;              /* NULL if Vulkan is not available */
    bool one_clock;                             /* whether OpenGL and CUDA use the same clock */
    int64_t step[LATENCY_SIDES];                /* the step of each clock; 0 if unknown */
    struct latency_clock clocks[LATENCY_SIDES]; /* the offsets around the frames of this cell */
    /* the first and the newest offsets of the run */
    struct latency_clock whole_run[LATENCY_SIDES];
    int64_t begun[LATENCY_MOST_FRAMES], due[LATENCY_MOST_FRAMES];
    uint64_t computed[2 * LATENCY_MOST_FRAMES], drawn[LATENCY_MOST_FRAMES];
};

/* clock.c */
int64_t latency_now(void); /* CLOCK_MONOTONIC, in nanoseconds */
struct latency_offset latency_offset_of(const struct latency_reading *readings, size_t count);
int64_t latency_step_of(const struct latency_reading *readings, size_t count);
int64_t latency_to_monotonic(const struct latency_clock *clock, int64_t value);
int64_t latency_uncertain(const struct latency_clock *clock);

/* clocks.c: all three clocks. Errors go to frames_set_error(). */
bool latency_clocks_open(struct latency *latency);
void latency_clocks_close(struct latency *latency);
bool latency_clocks_read(struct latency *latency, bool after);
void latency_clocks_compare(struct latency *latency);

/* vulkan_stamps.c: timers after Vulkan frames, and the Vulkan clock */
bool latency_vulkan_open(struct latency *latency);
void latency_vulkan_close(struct latency *latency);
bool latency_vulkan_prepare(struct latency *latency, unsigned frames);
bool latency_vulkan_take(struct latency *latency, unsigned frames);
bool latency_vulkan_clock(struct latency *latency, struct latency_offset *offset);
const char *latency_vulkan_clock_name(const struct latency *latency);

/* pace.c: waits until `when` and returns the time after the wait */
int64_t latency_wait_until(int64_t when);

/* threads.c: runs the frames of a row with CUDA on a separate thread */
bool latency_threads(struct latency *latency, struct frames_run *run, unsigned frames,
                     int64_t start, int64_t period);

/* measure.c */
void latency_measure(struct latency *latency, struct latency_table *table, size_t row);

/* report.c, latency_json.c, latency_chart.c */
const char *latency_rate_text(char text[48], double rate);
void latency_print_clocks(const struct latency *latency);
void latency_print(const struct latency_table *table);
void latency_write_json(struct json *json, const struct latency *latency,
                        const struct latency_table *table);
bool latency_write_svg(const char *path, const struct bench_machine *machine,
                       const struct frames *frames, int mesh, const struct latency_table *table);

#endif
