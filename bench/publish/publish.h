/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What all files of bench_publish share. */
#ifndef BENCH_PUBLISH_H
#define BENCH_PUBLISH_H

#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include "bench/bench.h"

enum {
    PUBLISH_PAIRS = 64,
    PUBLISH_STAGED = 1 /* the index of the pair whose texture has in_flight */
};

struct publish_size {
    unsigned width, height;
};

/* A row: tensors that are published to RGBA8 textures or to rings of them, or a framebuffer. */
struct publish_kind {
    struct bench_row row;
    gr_dtype dtype;
    gr_layout layout;
    unsigned channels;      /* 0: the tensor has two dimensions, and some have further tensors */
    unsigned bytes, pixels; /* `bytes` bytes of the tensor hold `pixels` pixels */
    bool fetch;             /* the textures are fetched to the tensors */
    bool linear;            /* OpenGL buffers of RGBA8 pixels instead of textures */
    unsigned columns;       /* and rows of tiles in 1024 x 1024, or one picture; 0: other sizes */
    unsigned bits;          /* of YUV, in the high bits; 0: all */
    unsigned slots, group;  /* rings: their slots, and the frames per call */
    bool texture;           /* one texture instead of a ring */
    unsigned in_flight;     /* textures and `staging` of framebuffers; 0: no staging buffers */
    unsigned format, form;  /* framebuffers */
    const char *kernel;     /* framebuffers: that of the conversion by hand; NULL for a copy */
    bool library_staging;   /* framebuffers: no `staging` is passed */
    bool one_size;          /* whether the row is measured at the first size only */
};

/* Pairs of tensors and textures. The caches are too small to hold all of them. */
extern struct publish {
    struct bench_device on;
    int gl_ordinal; /* the CUDA device that draws; -1: the same */
    int transport;  /* the index of a word of --transport; -1: the default for one GPU */
    bool plain;     /* whether the textures are without surface access */
    bool quick;
    const struct publish_kind *kind;      /* the row that is measured */
    struct publish_size size;             /* of its pictures */
    unsigned blocks, frames, ring_frames; /* the last is a multiple of 16 */
    unsigned pairs, mebibytes;
    unsigned block_frames; /* of the block that publish_measure() measures */
    gr_tensor *tensors[PUBLISH_PAIRS], *chroma[PUBLISH_PAIRS][2];
    unsigned names[PUBLISH_PAIRS];
    gr_resource *resources[PUBLISH_PAIRS];
    gr_tensor_desc pixels; /* of kind->linear */
    int64_t pixels_shape[3];
    gr_buffer *buffers[PUBLISH_PAIRS];
    void *host; /* an RGBA8 picture in host memory */
    size_t source_bytes, target_bytes;
} publish;

extern const struct publish_kind publish_tensor_rows[], publish_ring_rows[],
    publish_framebuffer_rows[];
extern const struct publish_size publish_sizes[];
extern const size_t publish_size_count;

/* tensors.c: makes the pairs, which end with the row */
void publish_make(const struct publish_kind *kind);
gr_tensor *publish_tensor(const struct publish_kind *kind);
void publish_collect(void); /* collects the tensors that were freed */
/* Measures blocks of `frames` after one of `warm_up` frames, and adds their values. */
struct bench_result *publish_measure(const struct bench_row *row, void (*block)(double *values),
                                     const char *const names[], size_t count, unsigned warm_up,
                                     unsigned frames);
struct bench_result *publish_add(const struct bench_row *row);

#endif
