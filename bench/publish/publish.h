/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that all files of bench_publish share. */
#ifndef BENCH_PUBLISH_H
#define BENCH_PUBLISH_H

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include "bench/bench.h"

#define MOST_PAIRS  64
#define MOST_BLOCKS 1000

#define PUBLISH_STAGED     1 /* the index of the pair whose texture has in_flight */
#define PUBLISH_NO_STAGING 1 /* as publish_kind.in_flight: no `staging` is passed */

struct publish_size {
    unsigned width, height;
};

/* A row: tensors that are published to RGBA8 textures or to rings of them, or a framebuffer. */
struct publish_kind {
    struct bench_row row;
    gr_dtype dtype;
    gr_layout layout;
    unsigned channels;      /* 0: the tensor has two dimensions, and YUV420 has further tensors */
    unsigned bytes, pixels; /* `bytes` bytes of the tensor hold `pixels` pixels */
    unsigned slots, group;  /* rings: their slots, and the frames per call */
    unsigned in_flight;     /* textures and `staging` of framebuffers; 0: no staging buffers */
    unsigned framebuffer;   /* framebuffers: the index of the kind */
    bool fetch;             /* the textures are fetched to the tensors */
};

/* Pairs of tensors and textures. The caches are too small to hold all of them. */
struct publish_bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    int gl_ordinal; /* the CUDA device that draws; -1: the same */
    int transport;  /* the index of a word of --transport; -1: the default for one GPU */
    bool plain;     /* whether the textures are without surface access */
    bool quick, fetch;
    unsigned blocks, frames, ring_frames; /* the last is a multiple of 16 */
    unsigned pairs, mebibytes;
    gr_tensor *tensors[MOST_PAIRS], *chroma[MOST_PAIRS][2];
    unsigned names[MOST_PAIRS];
    gr_resource *resources[MOST_PAIRS];
    gr_buffer *buffers[MOST_PAIRS];
    void *host; /* an RGBA8 picture in host memory */
    size_t source_bytes, target_bytes;
};

extern struct publish_bench publish_bench;

/* objects.c: errors are printed. publish_end() accepts partly created data. */
bool publish_make(struct publish_bench *bench, const struct publish_kind *kind,
                  struct publish_size size);
void publish_end(struct publish_bench *bench);
/* The options of the pair: its further tensors. */
gr_publish_options publish_options(const struct publish_bench *bench, unsigned i);
extern const struct publish_size publish_sizes[2];
struct bench_result *publish_add(const struct bench_row *row, struct publish_size size);

/* measure.c, rings.c, framebuffers.c: the functions of the rows */
bool publish_tensor(const struct bench_row *row, size_t size);
bool publish_ring(const struct bench_row *row, size_t size);
bool publish_texture(const struct bench_row *row, size_t size);
bool publish_framebuffer(const struct bench_row *row, size_t size);
bool publish_draws(const struct bench_row *row, size_t size);

#endif
