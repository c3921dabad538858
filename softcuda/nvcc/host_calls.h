/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls that nvcc refuses: host functions of the program called from device code. They are found by
 * name, so an ambiguous call is accepted.
 */
#ifndef GR_SOFTCUDA_NVCC_HOST_CALLS_H
#define GR_SOFTCUDA_NVCC_HOST_CALLS_H

#include "softcuda/nvcc/declarations.h"

/*
 * Exits after printing an error for each such call. Prints warnings instead if __CUDA_ARCH__, which
 * is not defined here, may decide what the function is.
 */
void refuse_host_calls(const source *s, const declarations *found);

#endif
