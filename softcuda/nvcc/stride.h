/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Grid-stride loops, in which a thread does the work of several threads of a larger grid. */
#ifndef GR_SOFTCUDA_NVCC_STRIDE_H
#define GR_SOFTCUDA_NVCC_STRIDE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/names.h"

/*
 * If a grid-stride loop begins at i and is the rest of the kernel, rewrites it so that
 * gr_cuhost_guard decides which rounds a thread runs:
 *     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
 * Each round can then run separately. Returns false, without a change, if there is no such loop, or
 * if a round may affect another round.
 */
bool stride_rewrite(source *s, const declaration *kernel, size_t i, const names *own);

/* Whether the statement at i is the whole rest of the kernel, which ends at last. */
bool stride_is_rest(const source *s, size_t i, size_t last);

#endif
