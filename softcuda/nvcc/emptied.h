/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds kernels that do nothing because __CUDA_ARCH__ is not defined. */
#ifndef GR_SOFTCUDA_NVCC_EMPTIED_H
#define GR_SOFTCUDA_NVCC_EMPTIED_H

#include "softcuda/nvcc/declarations.h"
#include "softcuda/nvcc/source.h"

/*
 * Warns if the kernel does nothing and the lines of its body in the program's file contain
 * __CUDA_ARCH__.
 */
void warn_if_empty(const source *s, const declaration *kernel);

#endif
