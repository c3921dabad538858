/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels by the address of the function that the program calls. */
#ifndef GR_SOFTCUDA_RUNTIME_KERNEL_H
#define GR_SOFTCUDA_RUNTIME_KERNEL_H

#include "softcuda/runtime/runtime.h"

#include <grinterop/cuhost.h>

/*
 * The function of a kernel that was registered by its address. `address` may also be a library's
 * kernel. Returns cudaErrorInvalidDeviceFunction for any other address.
 */
CUresult rt_function(const void *address, CUfunction *function);

/* The function of a kernel whose parameter is a closure. Settings for `address` apply to it. */
CUresult rt_closure_function(const gr_cuhost_kernel *kernel, const void *address,
                             CUfunction *function);

/* Sets an attribute of every function that the address launches. */
CUresult rt_function_set(const void *address, CUfunction_attribute attribute, int value);

#define RT_ERROR_FUNCTION ((CUresult)cudaErrorInvalidDeviceFunction)

#endif
