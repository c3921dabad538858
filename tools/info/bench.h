/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame that --bench measures: CUDA writes a mesh of 65536 vertices, 1 MiB, and OpenGL draws it
 * as points into 512 by 512 pixels. It is small, so that what is measured is the sharing.
 */
#ifndef INFO_BENCH_H
#define INFO_BENCH_H

#include <grinterop/cuda.h>

enum {
    BENCH_SIDE = 256,
    BENCH_VERTICES = BENCH_SIDE * BENCH_SIDE,
    BENCH_BYTES = 16 * BENCH_VERTICES,
    BENCH_PIXELS = 512
};

struct bench {
    const gr_cuda_api *cu;
    gr_cuda_context *context;
    CUstream stream;
    CUfunction kernel;  /* NULL: a fill in its place, as kernels of this form need a GPU */
    const char *failed; /* the call that failed first, if it was none of grinterop's; else NULL */
};

/* CUDA on the device, with the kernel (bench_cuda.c). */
bool bench_cuda_open(struct bench *bench, int device);
void bench_cuda_close(struct bench *bench);
/* Writes a frame's vertices, in the stream. */
bool bench_cuda_write(struct bench *bench, CUdeviceptr vertices, float phase);
/* Waits for the stream. */
bool bench_cuda_wait(struct bench *bench);

/* What OpenGL draws with, in the context that is current (bench_opengl.c). */
bool bench_opengl_open(struct bench *bench);
void bench_opengl_draw(unsigned vertices);
/* Waits until all is drawn. */
bool bench_opengl_wait(struct bench *bench);

#endif
