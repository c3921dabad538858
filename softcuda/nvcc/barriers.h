/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which kernels may meet a barrier, which may use their grid position outside their own body, and
 * which may depend on the order of their threads. Decided by names: a function that names one of
 * these counts as one itself.
 */
#ifndef GR_SOFTCUDA_NVCC_BARRIERS_H
#define GR_SOFTCUDA_NVCC_BARRIERS_H

#include "softcuda/nvcc/declarations.h"

typedef struct reach reach;

/* Analyses all declarations. */
reach *reach_find(const source *s, const declarations *found);

bool reach_has_barrier(const reach *r, const declaration *kernel);

/* Whether something that the kernel calls uses threadIdx and the like. */
bool reach_uses_index(const reach *r, const declaration *kernel);

/*
 * Whether the order of the threads may matter: because of shared memory, atomics, `volatile`
 * accesses, or printed lines.
 */
bool reach_needs_order(const reach *r, const declaration *kernel);

#endif
