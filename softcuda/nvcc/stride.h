/* SPDX-License-Identifier: Apache-2.0 */
/* Loops by which a thread does what further threads would do, were the grid as large as the work.
 */
#ifndef GR_SOFTCUDA_NVCC_STRIDE_H
#define GR_SOFTCUDA_NVCC_STRIDE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/names.h"

/*
 * Where all that is left of the kernel is such a loop at i, has the object gr_cuhost_guard decide
 * about its rounds:
 *     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
 * so that a round can be run by itself. False where a round may leave something to the next one.
 */
bool stride_rewrite(source *s, const declaration *kernel, size_t i, const names *own);

/* Whether one statement is all that is left of the kernel that ends at last. */
bool stride_is_rest(const source *s, size_t i, size_t last);

#endif
