/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Conditions that pass neighbours: `x < 1 || x >= width - 1` excludes the threads of a row before
 * one index and after another. Everything else in it is the same for the whole row.
 */
#ifndef GR_SOFTCUDA_NVCC_SPAN_H
#define GR_SOFTCUDA_NVCC_SPAN_H

#include "softcuda/nvcc/names.h"

/* Whether the expression from first to end is the same for threads that differ only in x. */
bool span_is_uniform(const source *s, size_t first, size_t end, const names *own);

/* Whether it is the index blockIdx.x * blockDim.x + threadIdx.x. */
bool span_is_index(const source *s, size_t first, size_t end, const names *own);

/*
 * Whether it is such a condition. Joined by "|" it excludes threads, joined by "&" it passes them.
 */
bool span_is_condition(const source *s, size_t first, size_t end, const char *join,
                       const names *own);

/* Whether it compares the index, and holds up to one value and for none after it. */
bool span_is_limit(const source *s, size_t first, size_t end, const names *own);

#endif
