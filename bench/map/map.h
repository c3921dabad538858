/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all files of bench_map share: the objects that are mapped, and the rows of the table, which
 * compare two subjects.
 */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include <grinterop/gl.h>
#include <grinterop/gr.h>

#include "bench/bench.h"

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
extern struct map_bench {
    struct bench_device on;
    struct map_effort effort;
    unsigned names[MAP_RESOURCES], spare, pipeline;
    gr_resource *resources[MAP_RESOURCES];
    CUgraphicsResource handles[MAP_RESOURCES];
    CUdeviceptr pointers[MAP_RESOURCES];
    gr_buffer *buffers[MAP_RESOURCES];
} map;

/* One row of the table. */
struct map_kind {
    struct bench_row row;
    bool work; /* whether CUDA also fills the buffers and OpenGL copies them */
    unsigned resources;
    unsigned room_frames; /* the frames in a drained block, few enough to fit into the queues */
    /* the frames in a block with full queues, limited by map_effort.frames; 0: drained blocks */
    unsigned full_frames;
    void (*frame[BENCH_SUBJECTS])(unsigned resources, bool work); /* enqueues one frame */
    unsigned transport; /* many.c: of OpenGL buffers; 0: Vulkan */
    bool packed;        /* many.c */
};

extern const struct map_kind map_kinds[];
void map_drain(void);
void map_check_work(void); /* checks that OpenGL copied the values that CUDA wrote */

/* measure.c, many.c: the functions of the rows; the latter handles thousands of resources */
void map_measure(const void *row);
void map_many(const void *row);

#endif
