/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Included before every program, as nvcc includes its own header. Provides the types of CUDA and
 * the device functions for the host, then the CUDA headers as they are under nvcc, without the
 * declarations of functions that are built into nvcc.
 */
#ifndef GRINTEROP_NVCC_H
#define GRINTEROP_NVCC_H

#pragma GCC system_header

#ifdef __cplusplus

/* The headers of the runtime API, included one by one, as its main header does. */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include <builtin_types.h>
#include <channel_descriptor.h>
#include <cuda_runtime_api.h>
#include <driver_functions.h>
#include <library_types.h>
#include <vector_functions.h>
#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__

/* gr_cuhost::assert_failed() needs what <assert.h> declares without NDEBUG. */
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <assert.h>
#pragma pop_macro("NDEBUG")
#include <assert.h>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <new>

#include <grinterop/cuhost.h>
#include <grinterop_nvcc_launch.hpp>
#include <grinterop_nvcc_math.hpp>
#include <grinterop_nvcc_round.hpp>
#include <grinterop_nvcc_simd.hpp>
#include <grinterop_nvcc_special.hpp>
#include <grinterop_nvcc_step.hpp>

/*
 * Default options for a program under AddressSanitizer. When libraries such as modules are loaded
 * late (gcc 12 with glibc 2.36), the sanitizer's table of thread-local memory becomes wrong, and
 * LeakSanitizer crashes at exit. A function of this name in the program, and ASAN_OPTIONS, take
 * precedence.
 */
#ifdef __SANITIZE_ADDRESS__
extern "C" __attribute__((weak, used, visibility("default"), no_sanitize("address"))) const char *
__asan_default_options()
{
    return "intercept_tls_get_addr=0";
}
#endif

/* Sources for grinterop/cuhost.h use these macros. Here they are empty, as under nvcc. */
#undef GR_KERNEL
#undef GR_KERNEL_SYNC
#undef GR_SHARED
#define GR_KERNEL(name)
#define GR_KERNEL_SYNC(name)
#define GR_SHARED(name)

#define __CUDACC__           1
#define __NVCC__             1
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0

/*
 * The include guards of headers that declare functions built into nvcc. The headers above define
 * these functions.
 */
#define __COMMON_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_DOUBLE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_HPP__
#define __SM_20_ATOMIC_FUNCTIONS_H__
#define __SM_20_INTRINSICS_H__
#define __SM_30_INTRINSICS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_INTRINSICS_H__
#define __SM_35_ATOMIC_FUNCTIONS_H__
#define __SM_35_INTRINSICS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_61_INTRINSICS_H__
#define __SURFACE_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#include <cuda_runtime.h>

#endif /* __cplusplus */
#endif
