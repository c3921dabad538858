/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds conditions for which the passing threads of a row are neighbours: `x < 1 || x >= width - 1`
 * excludes the threads before one index and after another one. In such a condition, all values
 * other than the index are the same for the whole row.
 */
#ifndef GR_SOFTCUDA_NVCC_SPAN_H
#define GR_SOFTCUDA_NVCC_SPAN_H

#include "softcuda/nvcc/names.h"

/* Whether the expression from first to end is the same for threads that differ only in x. */
bool span_is_uniform(const source *s, size_t first, size_t end, const names *own);

/* Whether the expression is the index blockIdx.x * blockDim.x + threadIdx.x. */
bool span_is_index(const source *s, size_t first, size_t end, const names *own);

/*
 * Whether the expression is a condition for which the passing threads of a row are neighbours. With
 * the `join` "|", threads pass if it is false, and || joins its parts. With "&", threads pass if it
 * is true, and && joins its parts.
 */
bool span_is_condition(const source *s, size_t first, size_t end, const char *join,
                       const names *own);

/*
 * Whether the expression compares the index with a value, and is true up to one index and false for
 * all higher ones.
 */
bool span_is_limit(const source *s, size_t first, size_t end, const names *own);

#endif
