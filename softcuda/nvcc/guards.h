/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Guards: conditions at the start of a kernel by which threads without work return. */
#ifndef GR_SOFTCUDA_NVCC_GUARDS_H
#define GR_SOFTCUDA_NVCC_GUARDS_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/*
 * Rewrites the guards at the start of a kernel so that they call the object gr_cuhost_guard:
 *     int i = ...; if (i >= n) return;   ->  int i = ...; if (gr_cuhost_guard.last(i >= n)) return;
 * The conditions of the guards can then be evaluated for all threads of a block before any other
 * code of the kernel runs.
 */
enum guards {
    GUARDS_NONE, /* the kernel has no guards that can be evaluated twice */
    GUARDS_ANY,  /* the kernel has such guards */
    /* The guards only compare the index (line.h): the passing threads of a row are neighbours. */
    GUARDS_SPAN,
    GUARDS_STRIDE, /* the kernel has no guard, but a loop of stride.h */
};
/*
 * *far becomes true if the kernel multiplies the index (line.h): threads that are neighbours may
 * then access memory that is far apart.
 */
enum guards guards_rewrite(source *s, const declaration *kernel, bool *far);

#endif
