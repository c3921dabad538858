/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels that use x only in the index blockIdx.x * blockDim.x + threadIdx.x. */
#ifndef GR_SOFTCUDA_NVCC_LINE_H
#define GR_SOFTCUDA_NVCC_LINE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/* Integers of 32 bits and more, which hold the index exactly. */
extern const char *const line_types[];

/* The token after the index at i, in any of its spellings; NO_TOKEN if it is not there. */
size_t line_index_end(const source *s, size_t i);

/* Likewise for gridDim.x * blockDim.x, the stride of a thread's indices. */
size_t line_stride_end(const source *s, size_t i);

/* Whether the token at i is threadIdx or blockIdx, and not followed by .y or .z. */
bool line_uses_x(const source *s, size_t i);

/* Whether the body uses threadIdx.x and blockIdx.x only in that index. */
bool line_uses_index_only(const source *s, const declaration *kernel);

/* The token after `(int)`, `static_cast<int>` or `int` before a bracket; i if there is none. */
size_t line_cast_end(const source *s, size_t i);

#endif
