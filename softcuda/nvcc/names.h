/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is each thread's own at the beginning of a kernel: parameters and variables of plain types.
 * All other names may be of memory that other threads change, or of a class whose operators do more
 * than one sees.
 */
#ifndef GR_SOFTCUDA_NVCC_NAMES_H
#define GR_SOFTCUDA_NVCC_NAMES_H

#include "softcuda/nvcc/source.h"

#define MOST_NAMES 64

enum name_kind {
    NAME_UNKNOWN,
    NAME_ALIKE,  /* threads that differ in x alone have the same value */
    NAME_STRIDE, /* likewise: gridDim.x * blockDim.x */
    NAME_NUMBER, /* blockIdx.x * blockDim.x + threadIdx.x, whole */
    NAME_OTHER,
};

typedef struct {
    size_t tokens[MOST_NAMES];
    enum name_kind kinds[MOST_NAMES];
    size_t count;
    bool others; /* there are parameters of other types */
} names;

void names_add(names *own, size_t token, enum name_kind kind);

bool names_are_same(const source *s, size_t a, size_t b);

/* What the name at i is. */
enum name_kind names_find(const source *s, size_t i, const names *own);

#endif
