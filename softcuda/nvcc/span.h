/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which conditions leave neighbours: `x < 1 || x >= width - 1` keeps out those of a row that lie
 * before one thread and behind another one, whatever it asks that is the same for all of them.
 */
#ifndef GR_SOFTCUDA_NVCC_SPAN_H
#define GR_SOFTCUDA_NVCC_SPAN_H

#include "softcuda/nvcc/names.h"

/* Whether the expression from first to end is the same for threads that differ in x alone. */
bool span_is_alike(const source *s, size_t first, size_t end, const names *own);

/* Whether it is the number blockIdx.x * blockDim.x + threadIdx.x. */
bool span_is_number(const source *s, size_t first, size_t end, const names *own);

/* Whether the condition is so; joined by "|" it says who is kept out, by "&" who may pass. */
bool span_is_condition(const source *s, size_t first, size_t end, const char *join,
                       const names *own);

/* Whether it is a comparison of that number that holds up to one of them and for none behind it. */
bool span_ends(const source *s, size_t first, size_t end, const names *own);

#endif
