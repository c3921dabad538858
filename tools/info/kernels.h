/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the GPU. */
#ifndef INFO_KERNELS_H
#define INFO_KERNELS_H

#include <grinterop/cuda.h>

/* How many threads a block has. */
enum { KERNELS_THREADS = 256 };

/*
 * Finds "copy", of (to, from, words), or "mesh", of (to, phase), in the current context, until the
 * process ends. NULL on the software driver, where there are none, too.
 */
CUresult kernels_find(const gr_cuda_api *cu, const char *name, CUfunction *kernel);

#endif
