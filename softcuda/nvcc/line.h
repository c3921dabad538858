/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that ask for their place in x by one number: blockIdx.x * blockDim.x + threadIdx.x. */
#ifndef GR_SOFTCUDA_NVCC_LINE_H
#define GR_SOFTCUDA_NVCC_LINE_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/* Integers of 32 bits and more, which hold that number as it is. */
extern const char *const line_types[];

/* What follows that number, in one of the ways to write it, at i; NO_TOKEN: it is not there. */
size_t line_number_end(const source *s, size_t i);

/* Likewise of gridDim.x * blockDim.x, by which a thread's numbers go up. */
size_t line_stride_end(const source *s, size_t i);

/* Whether the name at i is of a place, and is not followed by .y or .z. */
bool line_asks_for_x(const source *s, size_t i);

/* Whether the body asks for threadIdx.x and blockIdx.x nowhere else than in that number. */
bool line_only(const source *s, const declaration *kernel);

/* What follows `(int)`, `static_cast<int>` or `int` before a bracket; i itself if there is none. */
size_t line_cast_end(const source *s, size_t i);

#endif
