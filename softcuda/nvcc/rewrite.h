/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rewrites CUDA's language as C++ for the host; each function handles one part of it. */
#ifndef GR_SOFTCUDA_NVCC_REWRITE_H
#define GR_SOFTCUDA_NVCC_REWRITE_H

#include "softcuda/nvcc/barriers.h"
#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

typedef struct rewrite_options {
    bool all_barriers; /* every kernel may meet a barrier */
    bool separate;     /* -dc: other files see __device__ names */
} rewrite_options;

/* Rewrites a preprocessed file into another file. (rewrite.c) */
void rewrite_file(const char *from, const char *to, const rewrite_options *options);

/*
 * The body of a kernel becomes a function object, which the kernel's function launches:
 *     { body }  ->  { launch<...>([=](...) { body }); }
 * (rewrite_kernel.c)
 */
void rewrite_kernel(source *s, const declaration *kernel, unsigned flags);

/* f<<<grid, block>>>(x)  ->  (configure(grid, block), f(x)), everywhere. (rewrite_launch.c) */
void rewrite_launches(source *s);

/*
 * __shared__ variables become thread_local, since one host thread runs a block; `extern __shared__`
 * arrays become the memory that the launch requested. (rewrite_shared.c)
 */
void rewrite_shared(source *s, const declarations *found);

/*
 * Writes to `volatile` shared memory, which kept lanes in step before CUDA 9. Runs before the
 * search for barriers, since the calls are barriers. (rewrite_steps.c)
 */
void rewrite_steps(source *s, const declarations *found);

/* Registers device variables with the runtime. (rewrite_variable.c) */
void rewrite_variable(source *s, const declaration *variable, const rewrite_options *options);

#endif
