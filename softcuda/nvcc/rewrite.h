/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's language as C++ for the host: each function changes one part of it. */
#ifndef GR_SOFTCUDA_NVCC_REWRITE_H
#define GR_SOFTCUDA_NVCC_REWRITE_H

#include "softcuda/nvcc/barriers.h"
#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

typedef struct rewrite_options {
    bool all_barriers; /* each kernel may meet one */
    bool separate;     /* -dc: other files see what is __device__ */
} rewrite_options;

/* All of it, from a preprocessed file into another one. (rewrite.c) */
void rewrite_file(const char *from, const char *to, const rewrite_options *options);

/*
 * The body of a kernel becomes a function object, which the kernel's function launches:
 *     { body }  ->  { launch<...>([=](...) { body }); }
 * (rewrite_kernel.c)
 */
void rewrite_kernel(source *s, const declaration *kernel, unsigned flags);

/* f<<<grid, block>>>(x)  ->  (configure(grid, block), f(x)); all of them. (rewrite_launch.c) */
void rewrite_launches(source *s);

/* __shared__ variables are the host thread's, which runs a block; `extern __shared__` arrays are
 * what the launch asked for. (rewrite_shared.c) */
void rewrite_shared(source *s, const declarations *found);

/* Writes to `volatile` shared memory, by which lanes were in step before CUDA 9. What meets a
 * barrier is found behind it. (rewrite_steps.c) */
void rewrite_steps(source *s, const declarations *found);

/* Variables of the device, which the runtime learns of. (rewrite_variable.c) */
void rewrite_variable(source *s, const declaration *variable, const rewrite_options *options);

#endif
