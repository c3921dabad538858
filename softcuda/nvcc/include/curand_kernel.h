/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cuRAND generators for kernels, which are entirely in the cuRAND header. MTGP32 is left out,
 * because it needs whole blocks.
 */
#ifndef GRINTEROP_NVCC_CURAND_KERNEL_H
#define GRINTEROP_NVCC_CURAND_KERNEL_H

#pragma GCC system_header

#include <grinterop_nvcc.h>

#define CURAND_MTGP32_KERNEL_H
typedef struct curandStateMtgp32 curandStateMtgp32_t;
unsigned int curand(curandStateMtgp32_t *state);

#include_next <curand_kernel.h>

#endif
