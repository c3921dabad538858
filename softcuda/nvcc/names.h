/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names that are private to a thread at the beginning of a kernel: parameters and variables of
 * plain types. Any other name may be memory that other threads change, or a class with overloaded
 * operators.
 */
#ifndef GR_SOFTCUDA_NVCC_NAMES_H
#define GR_SOFTCUDA_NVCC_NAMES_H

#include "softcuda/nvcc/source.h"

#define MOST_NAMES 64

enum name_kind {
    NAME_UNKNOWN,
    NAME_UNIFORM, /* the same value in all threads that differ only in x */
    NAME_STRIDE,  /* the stride gridDim.x * blockDim.x, which is also uniform */
    NAME_INDEX,   /* exactly blockIdx.x * blockDim.x + threadIdx.x */
    NAME_OTHER,
};

typedef struct {
    size_t tokens[MOST_NAMES];
    enum name_kind kinds[MOST_NAMES];
    size_t count;
    bool others; /* some parameters have types that are not plain */
} names;

void names_add(names *own, size_t token, enum name_kind kind);

bool names_are_same(const source *s, size_t a, size_t b);

/* Returns the kind of the name at i. */
enum name_kind names_find(const source *s, size_t i, const names *own);

#endif
