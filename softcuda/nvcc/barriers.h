/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds three properties of kernels: whether a kernel may reach a barrier, whether it may use its
 * grid position outside its own body, and whether it may depend on the order of its threads.
 * Properties are found by names: a function that names a function with a property has the property
 * itself.
 */
#ifndef GR_SOFTCUDA_NVCC_BARRIERS_H
#define GR_SOFTCUDA_NVCC_BARRIERS_H

#include "softcuda/nvcc/declarations.h"

typedef struct reach reach;

/* Analyses all declarations of the program. */
reach *reach_find(const source *s, const declarations *found);

bool reach_has_barrier(const reach *r, const declaration *kernel);

/* Whether a function that the kernel calls uses threadIdx and the like. */
bool reach_uses_index(const reach *r, const declaration *kernel);

/*
 * Whether the order of the kernel's threads may matter, because of shared memory, atomics,
 * `volatile` accesses, or printed lines.
 */
bool reach_needs_order(const reach *r, const declaration *kernel);

#endif
