/* SPDX-License-Identifier: Apache-2.0 */
/* The lines by which a kernel's threads find that they have nothing to do. */
#ifndef GR_SOFTCUDA_NVCC_GUARDS_H
#define GR_SOFTCUDA_NVCC_GUARDS_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/*
 * Where a kernel begins with such lines, has the object gr_cuhost_guard decide them:
 *     int i = ...; if (i >= n) return;   ->  int i = ...; if (gr_cuhost_guard.last(i >= n)) return;
 * so that they can be asked of all threads of a block before anything else is done.
 */
enum guards {
    GUARDS_NONE, /* or none that may be asked twice */
    GUARDS_ANY,
    GUARDS_SPAN,   /* by the number of line.h; those threads of a row who pass are neighbours */
    GUARDS_STRIDE, /* none, but a loop of stride.h */
};
/* *far: the kernel multiplies the number of line.h, so that neighbours may be far in memory. */
enum guards guards_rewrite(source *s, const declaration *kernel, bool *far);

#endif
