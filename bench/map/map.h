/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_map share: the objects being mapped, the rows of the table,
 * and the two subjects that every row compares.
 */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include <grinterop/gl.h>
#include <grinterop/gr.h>

#include "bench/bench_pairs.h"

enum { MAP_RESOURCES = 32, MAP_BYTES = 65536 };

/* How long and how often to measure. */
struct map_effort {
    unsigned blocks;      /* the number of timed drained blocks of each subject */
    double room_seconds;  /* the time limit of a row of drained blocks */
    unsigned full_blocks; /* the number of timed blocks of each subject with full queues */
    unsigned frames;      /* the maximum number of frames in a block with full queues */
    unsigned fill_frames; /* the maximum number of frames that fill the queues */
    double fill_seconds;  /* the time limit for filling the queues, and for each kind of many.c */
    unsigned many;        /* the number of resources of many.c */
};

/*
 * One OpenGL context, one stream and 32 buffers that are registered once. Both subjects map the
 * same CUgraphicsResource objects, so that only the calls differ.
 */
struct map_bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    struct map_effort effort;
    unsigned names[MAP_RESOURCES], sink, spare, pipeline;
    gr_resource *resources[MAP_RESOURCES];
    CUgraphicsResource handles[MAP_RESOURCES];
    CUdeviceptr pointers[MAP_RESOURCES];
    gr_buffer *buffers[MAP_RESOURCES];
};

extern struct map_bench map_bench;

/* Enqueues one frame. False after an error, which has been printed. */
typedef bool (*map_frame_fn)(struct map_bench *bench, unsigned resources, bool work);

enum map_part { MAP_ROOM, MAP_ONLY, MAP_FRAME, MAP_REGISTER, MAP_MANY };

/* One row of the table. */
struct map_kind {
    struct bench_row row;
    enum map_part part;
    unsigned resources;
    unsigned calls;       /* the number of maps per frame, and of releases */
    unsigned room_frames; /* the frames in a drained block, few enough to fit into the queues */
    /* the frames in a block with full queues, limited by map_effort.frames; 0: drained blocks */
    unsigned full_frames;
    map_frame_fn frame[BENCH_SUBJECTS];
};

/* rows.c */
extern const struct map_kind map_kinds[];
bool map_drain(struct map_bench *bench);

/* objects.c */
bool map_open(struct map_bench *bench);
void map_close(struct map_bench *bench);
bool map_check_work(struct map_bench *bench); /* whether OpenGL copied the values that CUDA wrote */

/* measure.c */
bool map_measure(const struct bench_row *row, size_t size);

/* many.c: creates, maps and frees thousands of resources */
bool map_many(const struct bench_row *row, size_t size);

#endif
