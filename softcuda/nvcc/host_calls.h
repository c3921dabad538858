/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds calls that nvcc refuses: calls of the program's host functions in device code. They are
 * found by name, so an ambiguous call is accepted.
 */
#ifndef GR_SOFTCUDA_NVCC_HOST_CALLS_H
#define GR_SOFTCUDA_NVCC_HOST_CALLS_H

#include "softcuda/nvcc/declarations.h"

/*
 * Prints an error for each such call, then exits. A program that uses __CUDA_ARCH__, which is not
 * defined here, may contain the call only in code that nvcc does not compile: for such a program,
 * prints warnings instead and continues.
 */
void refuse_host_calls(const source *s, const declarations *found);

#endif
