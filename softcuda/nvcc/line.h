/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds kernels that use x only in the index blockIdx.x * blockDim.x + threadIdx.x. */
#ifndef GR_SOFTCUDA_NVCC_LINE_H
#define GR_SOFTCUDA_NVCC_LINE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/* Integer types of at least 32 bits, which can contain the index exactly. */
extern const char *const line_types[];

/*
 * The token after the index that begins at i, in any of its spellings; NO_TOKEN if no index begins
 * there.
 */
size_t line_index_end(const source *s, size_t i);

/*
 * The token after gridDim.x * blockDim.x at i, the stride of the indices of a thread; NO_TOKEN if
 * it is not at i.
 */
size_t line_stride_end(const source *s, size_t i);

/* Whether the token at i is threadIdx or blockIdx, and not followed by .y or .z. */
bool line_uses_x(const source *s, size_t i);

/* Whether the body uses threadIdx.x and blockIdx.x only in the index. */
bool line_uses_index_only(const source *s, const declaration *kernel);

/*
 * The token after `(int)`, `static_cast<int>` or `int` that is followed by a bracket; i if there is
 * no such cast.
 */
size_t line_cast_end(const source *s, size_t i);

#endif
