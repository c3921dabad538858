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
#include_next <cuda_fp16.h>
#pragma pop_macro("__noinline__")
#pragma pop_macro("__CUDACC__")

#ifndef GRINTEROP_NVCC_CUDA_FP16
#define GRINTEROP_NVCC_CUDA_FP16
GR_HALF_ALL(__half, __half2, __half2float, __float2half, __low2half, __high2half, __halves2half2)
GR_HALF_FMA(__half, __half2, __half2float, __double2half, __low2half, __high2half, __halves2half2)
#endif
