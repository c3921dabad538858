/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels may meet a barrier, which may ask for their place in the grid elsewhere than in
 * their own body, and which let the order of their threads be seen. It is decided by names: what
 * names a function that does, does so itself.
 */
#ifndef GR_SOFTCUDA_NVCC_BARRIERS_H
#define GR_SOFTCUDA_NVCC_BARRIERS_H

#include "softcuda/nvcc/declarations.h"

typedef struct reach reach;

/* Of all that is declared. */
reach *reach_find(const source *s, const declarations *found);

bool reach_has_barrier(const reach *r, const declaration *kernel);

/* Whether something that the kernel calls asks for threadIdx and the like. */
bool reach_has_place(const reach *r, const declaration *kernel);

/*
 * Whether it may matter which thread comes first: by memory that a block shares, atomics, what is
 * read and written as often as it says, or lines that are printed.
 */
bool reach_has_order(const reach *r, const declaration *kernel);

#endif
