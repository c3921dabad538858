/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Guards: the conditions at the start of a kernel that make threads without work return. */
#ifndef GR_SOFTCUDA_NVCC_GUARDS_H
#define GR_SOFTCUDA_NVCC_GUARDS_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/*
 * Rewrites the guards at the start of a kernel to call the object gr_cuhost_guard:
 *     int i = ...; if (i >= n) return;   ->  int i = ...; if (gr_cuhost_guard.last(i >= n)) return;
 * so that they can be evaluated for all threads of a block before anything else runs.
 */
enum guards {
    GUARDS_NONE, /* no guards, or none that can be evaluated twice */
    GUARDS_ANY,
    GUARDS_SPAN, /* they only test the index of line.h: the passing threads of a row are adjacent */
    GUARDS_STRIDE, /* no guard, but a loop of stride.h */
};
/* *far: the kernel multiplies the index of line.h, so neighbours may be far apart in memory. */
enum guards guards_rewrite(source *s, const declaration *kernel, bool *far);

#endif
