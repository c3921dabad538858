/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Grid-stride loops, in which a thread does the work of further threads of a larger grid. */
#ifndef GR_SOFTCUDA_NVCC_STRIDE_H
#define GR_SOFTCUDA_NVCC_STRIDE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/names.h"

/*
 * If the rest of the kernel is such a loop at i, makes gr_cuhost_guard decide its rounds:
 *     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
 * so that a round can run on its own. Returns false if a round may affect the next one.
 */
bool stride_rewrite(source *s, const declaration *kernel, size_t i, const names *own);

/* Whether one statement is the rest of the kernel, which ends at last. */
bool stride_is_rest(const source *s, size_t i, size_t last);

#endif
