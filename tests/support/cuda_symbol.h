/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Looks up a driver function by name and version, for functions that a test calls once. Returns
 * NULL if the driver lacks the function.
 */
#ifndef GR_TESTS_CUDA_SYMBOL_H
#define GR_TESTS_CUDA_SYMBOL_H

#include <grinterop/cuda.h>

static inline void *cuda_symbol(const char *name, int version)
{
    void *symbol = NULL;
    const gr_cuda_api *cuda = gr_cuda();
    return cuda && cuda->GetProcAddress(name, &symbol, version, 0, NULL) == CUDA_SUCCESS ? symbol
                                                                                         : NULL;
}

#endif
