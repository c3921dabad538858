/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that all files of bench_publish share. */
#ifndef BENCH_PUBLISH_H
#define BENCH_PUBLISH_H

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include "bench/bench_pairs.h"

/* A kind of tensor that is published to RGBA8 textures. */
struct publish_kind {
    const char *name;
    gr_dtype dtype;
    gr_layout layout;
    unsigned channels;      /* 0: the tensor has two dimensions */
    unsigned bytes, pixels; /* `bytes` bytes of the tensor hold `pixels` pixels */
};

extern const struct publish_kind publish_kinds[];
extern const size_t publish_kind_count;

struct publish_size {
    unsigned width, height;
};

extern const struct publish_size publish_sizes[];
extern const size_t publish_size_count;

#define MOST_PAIRS 64

/* Pairs of tensors and textures. The caches are too small to hold all of them. */
struct publish_bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    int gl_ordinal; /* the CUDA device that draws; -1: the same */
    int transport;  /* the index of a word of --transport; -1: the default for one GPU */
    bool plain;     /* whether the textures are without surface access */
    unsigned pairs, mebibytes;
    gr_tensor *tensors[MOST_PAIRS];
    unsigned names[MOST_PAIRS];
    gr_resource *resources[MOST_PAIRS];
    gr_buffer *buffers[MOST_PAIRS];
    void *host; /* an RGBA8 picture in host memory */
    size_t source_bytes, target_bytes;
};

struct publish_effort {
    unsigned blocks, frames, ring_frames; /* the last is a multiple of 16 */
};

/* Times in microseconds per picture. */
struct publish_row {
    const struct publish_kind *kind;
    struct publish_size size;
    size_t bytes; /* the bytes read and written */
    struct bench_spread gpu, copy, call, whole, upload;
};

/* objects.c: errors are printed. publish_end() accepts partly created data. */
bool publish_make(struct publish_bench *bench, const struct publish_kind *kind,
                  struct publish_size size);
void publish_end(struct publish_bench *bench);

/* measure.c: false after an error, which has been printed. */
bool publish_measure(struct publish_bench *bench, const struct publish_effort *effort,
                     struct publish_row *row);

/* Times per picture: by hand, and by gr_fetch_framebuffer(). */
struct framebuffer_row {
    const char *name;
    struct bench_comparison times;
};

#define FRAMEBUFFER_ROWS 6

/* framebuffers.c: false after an error, which has been printed. */
bool framebuffer_measure(struct publish_bench *bench, const struct publish_effort *effort,
                         unsigned number, struct framebuffer_row *row);

/* Times per frame that is published to a ring, and from the call to the end of its draw. */
struct ring_row {
    const char *name;
    struct publish_size size;
    struct bench_spread us, latency;
};

#define RING_ROWS 4

/* rings.c: false after an error, which has been printed. Uses the tensors of publish_make(). */
bool ring_measure(struct publish_bench *bench, const struct publish_effort *effort, unsigned number,
                  struct ring_row *row);

#endif
