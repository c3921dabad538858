/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own kernels, publish/kernels.cu: both compilations of them are in the library, one
 * for GPUs and one for the software driver.
 */
#ifndef GR_LIB_KERNEL_MODULE_H
#define GR_LIB_KERNEL_MODULE_H

#include <grinterop/gr.h>

/* Whether there are some for the driver that is loaded. */
bool gr_kernels_are_built(void);

/*
 * Finds a kernel. The driver loads them once for all contexts; one older than CUDA 12.0 loads them
 * into the current context, as *module, which is the caller's and NULL at first.
 */
gr_status gr_kernel_find(const char *name, CUmodule *module, CUfunction *kernel, const char *call);

/* Ends what gr_kernel_find() has loaded; `alive`: the CUDA context still is, and is current. */
void gr_kernels_unload(CUmodule *module, bool alive);

#endif
