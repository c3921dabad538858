/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Defines the words that grinterop-nvcc searches for as themselves, so that they stay in the
 * preprocessed text. This header is included before a program, after grinterop_nvcc.h. It must not
 * be a system header: otherwise lines of the program with these words would count as system code
 * and get no warnings.
 */
#ifndef GRINTEROP_NVCC_WORDS_H
#define GRINTEROP_NVCC_WORDS_H

#ifdef __cplusplus

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#undef __grid_constant__
#undef __noinline__
#define __global__        __global__
#define __device__        __device__
#define __host__          __host__
#define __shared__        __shared__
#define __constant__      __constant__
#define __managed__       __managed__
#define __launch_bounds__ __launch_bounds__
#define __grid_constant__ __grid_constant__
#define __noinline__      __noinline__

#endif /* __cplusplus */
#endif
