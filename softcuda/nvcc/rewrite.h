/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rewrites the CUDA language as C++ for the host. Each function handles one part of the language.
 */
#ifndef GR_SOFTCUDA_NVCC_REWRITE_H
#define GR_SOFTCUDA_NVCC_REWRITE_H

#include "softcuda/nvcc/barriers.h"
#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

typedef struct rewrite_options {
    bool all_barriers; /* treat every kernel as if it may reach a barrier */
    bool separate;     /* -dc: other files may use __device__ names of this file */
} rewrite_options;

/* Rewrites a preprocessed file into another file. (rewrite.c) */
void rewrite_file(const char *from, const char *to, const rewrite_options *options);

/*
 * The body of a kernel becomes a function object, which the kernel's function launches:
 *     { body }  ->  { launch<...>([=](...) { body }); }
 * (rewrite_kernel.c)
 */
void rewrite_kernel(source *s, const declaration *kernel, unsigned flags);

/*
 * Rewrites all launches: f<<<grid, block>>>(x)  ->  (configure(grid, block), f(x)).
 * (rewrite_launch.c)
 */
void rewrite_launches(source *s);

/*
 * Makes __shared__ variables thread_local, since one host thread runs a block. An `extern
 * __shared__` array becomes a reference to the memory that the launch requested. (rewrite_shared.c)
 */
void rewrite_shared(source *s, const declarations *found);

/*
 * Makes each write to `volatile` shared memory a call. Before CUDA 9 such writes kept the lanes of
 * a warp synchronised. The calls are barriers, so this function must precede the search for
 * barriers. (rewrite_steps.c)
 */
void rewrite_steps(source *s, const declarations *found);

/* Registers device variables with the runtime. (rewrite_variable.c) */
void rewrite_variable(source *s, const declaration *variable, const rewrite_options *options);

#endif
