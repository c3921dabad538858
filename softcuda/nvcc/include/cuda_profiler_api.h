/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of this header have no effect, because there is no profiler here. Not all CUDA packages
 * contain the header.
 */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#pragma GCC system_header

#include <cuda_runtime_api.h>

static inline cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

static inline cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

#endif
