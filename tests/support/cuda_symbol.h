/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Looks up a driver function by name and version, for functions that a test calls once. NULL if the
 * driver lacks it.
 */
#ifndef GR_TESTS_CUDA_SYMBOL_H
#define GR_TESTS_CUDA_SYMBOL_H

#include <grinterop/cuda.h>

static inline void *cuda_symbol(const char *name, int version)
{
    void *symbol = NULL;
    return gr_cuda_symbol(name, version, 0, &symbol) == GR_OK ? symbol : NULL;
}

#endif
