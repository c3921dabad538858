/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_map share: the objects being mapped, the rows of the table,
 * and the two subjects that every row compares.
 */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/gr.h>

#include "bench/bench_pairs.h"

enum { BENCH_RESOURCES = 32 };

/*
 * One OpenGL context, one stream and 32 buffers that are registered once. Both subjects map the
 * same CUgraphicsResource objects, so that only the calls differ.
 */
struct bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    size_t bytes;
    unsigned names[BENCH_RESOURCES], sink, spare, pipeline;
    gr_resource *resources[BENCH_RESOURCES];
    CUgraphicsResource handles[BENCH_RESOURCES];
    CUdeviceptr pointers[BENCH_RESOURCES];
    gr_buffer *buffers[BENCH_RESOURCES];
};

/* How long and how often to measure. The Python script gets the same numbers. */
struct bench_effort {
    unsigned blocks;      /* the number of timed drained blocks of each subject */
    double room_seconds;  /* the time limit of a row of drained blocks */
    unsigned full_blocks; /* the number of timed blocks of each subject with full queues */
    unsigned frames;      /* the maximum number of frames in a block with full queues */
    unsigned fill_frames; /* the maximum number of frames that fill the queues */
    double fill_seconds;  /* the time limit for filling the queues */
};

/* Enqueues one frame. False after an error, which has been printed. */
typedef bool (*bench_frame_fn)(struct bench *bench, unsigned resources, bool work);

enum bench_part { BENCH_ROOM, BENCH_MAP, BENCH_FRAME, BENCH_REGISTER, BENCH_PARTS };

/* The description of one row of the table. */
struct bench_kind {
    const char *key; /* the name of the row for scripts */
    const char *label;
    enum bench_part part;
    unsigned resources;
    unsigned calls;       /* the number of maps per frame, and of releases */
    unsigned room_frames; /* the frames in a drained block, few enough to fit into the queues */
    /* the frames in a block with full queues, limited by bench_effort.frames */
    unsigned full_frames;
    bench_frame_fn frame[BENCH_SUBJECTS];
};

/* The result of one row. A number is NaN if it was not measured. */
struct bench_row {
    const struct bench_kind *kind;
    struct bench_comparison of; /* `halves` is from drained blocks only */
    /* with full queues: the frames left in the queues after the last block */
    double queued;
    /* for rows with full queues: 1 if the queues were full, 0 if enqueueing was the bottleneck */
    double full;
};

/* The rows that one program measured, with the names of the subjects. */
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
bool bench_check_work(struct bench *bench); /* whether OpenGL copied the values that CUDA wrote */

/* measure.c */
bool bench_measure(struct bench *bench, const struct bench_kind *kind,
                   const struct bench_effort *effort, struct bench_row *row);

/* report.c */
double bench_added_ns(const struct bench_row *row); /* the time that the second subject adds */
void bench_print(const struct bench_table *table, bool acceptance);
void bench_print_beside(const struct bench_table *native, const struct bench_table *python);

/* map_json.c */
void bench_write_json(struct json *json, const struct bench_effort *effort,
                      const struct bench_table *tables, size_t count);

/* map_python.c: runs the script and reads the rows that it prints. */
bool bench_run_python(const char *python, const char *script, const struct bench *bench,
                      const struct bench_effort *effort, struct bench_table *table);

#endif
