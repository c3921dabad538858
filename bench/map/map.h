/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of bench_map share: the objects being mapped, the rows of the table, and the two
 * subjects that every row compares.
 */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/gr.h>

#include "bench/bench.h"

enum { BENCH_RESOURCES = 32, BENCH_SUBJECTS = 2 };

/* One OpenGL context, one stream and 32 buffers that are registered once: both subjects map the
 * same CUgraphicsResource objects, so that nothing differs but the calls. */
struct bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    size_t bytes;
    bool changeable; /* storage by glBufferData, not glBufferStorage */
    unsigned names[BENCH_RESOURCES], sink, spare;
    gr_resource *resources[BENCH_RESOURCES];
    CUgraphicsResource handles[BENCH_RESOURCES];
    CUdeviceptr pointers[BENCH_RESOURCES];
    gr_buffer *buffers[BENCH_RESOURCES];
};

/* How long and how often; the script for Python is given the same numbers. */
struct bench_effort {
    unsigned blocks;      /* timed, drained blocks of each subject */
    double room_seconds;  /* after which a row of drained blocks ends early */
    unsigned full_blocks; /* timed blocks of each subject with the queues full */
    unsigned frames;      /* in one of those, at most */
    unsigned fill_frames; /* frames that fill the queues, at most */
    double fill_seconds;  /* time that filling them may take */
};

/* Puts one frame into the queues; false after an error, which it has printed. */
typedef bool (*bench_frame_fn)(struct bench *bench, unsigned resources, bool work);

enum bench_part { BENCH_ROOM, BENCH_MAP, BENCH_FRAME, BENCH_REGISTER, BENCH_PARTS };

/* One row of the table, as it is to be measured. */
struct bench_kind {
    const char *key; /* the row's name for machines */
    const char *label;
    enum bench_part part;
    unsigned resources;
    unsigned calls;       /* to map in a frame, with as many to release */
    unsigned room_frames; /* in a drained block: what surely fits into the queues */
    unsigned full_frames; /* in a block with the queues full; the effort may want fewer */
    bench_frame_fn frame[BENCH_SUBJECTS];
};

/* One row as measured; times are microseconds a frame, NaN where there is no such number. */
struct bench_row {
    const struct bench_kind *kind;
    double blocks; /* timed, of each subject */
    struct bench_spread wall[BENCH_SUBJECTS];
    double thread_cpu[BENCH_SUBJECTS];
    struct bench_spread ratio; /* of the two neighbouring blocks: second subject / first */
    double halves; /* drained: cost of a block's second half / first half, if it has halves */
    double queued; /* full: frames waiting in the queues after the last block */
    double full;   /* full: 1 if they were, 0 if enqueueing set the pace */
};

/* A table of rows that one program measured, with the subjects' names. */
struct bench_table {
    const char *subjects[BENCH_SUBJECTS];
    struct bench_row rows[16];
    size_t count;
};

/* rows.c */
extern const struct bench_kind bench_kinds[];
extern const size_t bench_kind_count;
extern const char *const bench_part_titles[BENCH_PARTS];
bool bench_is_full(const struct bench_kind *kind);
bool bench_drain(struct bench *bench);

/* objects.c */
bool bench_open(struct bench *bench);
void bench_close(struct bench *bench);
bool bench_check_work(
    struct bench *bench); /* whether what CUDA wrote came through OpenGL's copies */

/* measure.c */
bool bench_measure(struct bench *bench, const struct bench_kind *kind,
                   const struct bench_effort *effort, struct bench_row *row);

/* report.c */
double bench_added_ns(const struct bench_row *row); /* a map and release, second subject - first */
void bench_print(const struct bench_table *table, bool acceptance);
void bench_print_beside(const struct bench_table *native, const struct bench_table *python);

/* map_json.c */
void bench_write_json(struct json *json, const struct bench_effort *effort,
                      const struct bench_table *tables, size_t count);

/* map_python.c: runs the script and takes over the rows that it prints. */
bool bench_run_python(const char *python, const char *script, const struct bench *bench,
                      const struct bench_effort *effort, struct bench_table *table);

#endif
