/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of the library, from publish/kernels.cu. There are two compilations of this file: for
 * GPUs and for the software driver.
 */
#ifndef GR_LIB_CUDA_KERNEL_MODULE_H
#define GR_LIB_CUDA_KERNEL_MODULE_H

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

/* Whether there are kernels for the loaded driver, in the library or in a file. */
bool gr_kernels_are_there(void);

/*
 * Finds a kernel. The driver loads the kernels once for all contexts. A driver before CUDA 12.0
 * loads them into the current context as *module, which the caller owns and initialises to NULL.
 */
gr_status gr_kernel_find(const char *name, CUmodule *module, CUfunction *kernel);

/* Unloads the module of gr_kernel_find(). `alive`: the CUDA context exists and is current. */
void gr_kernels_unload(CUmodule *module, bool alive);

#endif
