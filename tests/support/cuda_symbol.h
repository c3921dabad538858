/* SPDX-License-Identifier: Apache-2.0 */
/* A function of the driver by name and version, for what a test calls once; NULL: it has none. */
#ifndef GR_TESTS_CUDA_SYMBOL_H
#define GR_TESTS_CUDA_SYMBOL_H

#include <grinterop/cuda.h>

static inline void *cuda_symbol(const char *name, int version)
{
    void *symbol = NULL;
    return gr_cuda_symbol(name, version, 0, &symbol) == GR_OK ? symbol : NULL;
}

#endif
