/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Includes the CUDA header of this name without __CUDACC__, as any host compiler would, and defines
 * the functions that this header has only for the device (grinterop_nvcc_half.hpp).
 */
#pragma GCC system_header

#include <grinterop_nvcc_half.hpp>

#pragma push_macro("__CUDACC__")
#pragma push_macro("__noinline__")
#undef __CUDACC__
#undef __noinline__
#include_next <cuda_bf16.h>
#pragma pop_macro("__noinline__")
#pragma pop_macro("__CUDACC__")

#ifndef GRINTEROP_NVCC_CUDA_BF16
#define GRINTEROP_NVCC_CUDA_BF16
GR_HALF_ALL(__nv_bfloat16, __nv_bfloat162, __bfloat162float, __float2bfloat16, __low2bfloat16,
            __high2bfloat16, __halves2bfloat162)
GR_HALF_FMA(__nv_bfloat16, __nv_bfloat162, __bfloat162float, __double2bfloat16, __low2bfloat16,
            __high2bfloat16, __halves2bfloat162)
#endif
