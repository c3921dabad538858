/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds kernels by the address of the function that the program calls. */
#ifndef GR_SOFTCUDA_RUNTIME_KERNEL_H
#define GR_SOFTCUDA_RUNTIME_KERNEL_H

#include "softcuda/runtime/runtime.h"

#include <grinterop/cuhost.h>

/*
 * Gets the CUfunction of a kernel that was registered by its address. `address` may also be a
 * kernel of a library. Returns cudaErrorInvalidDeviceFunction for any other address.
 */
CUresult rt_function(const void *address, CUfunction *function);

/*
 * Gets the CUfunction of a kernel whose parameter is a closure. Settings for `address` apply to it,
 * too.
 */
CUresult rt_closure_function(const gr_cuhost_kernel *kernel, const void *address,
                             CUfunction *function);

/* Sets an attribute of every CUfunction that a launch of the address may use. */
CUresult rt_function_set(const void *address, CUfunction_attribute attribute, int value);

#define RT_ERROR_FUNCTION ((CUresult)cudaErrorInvalidDeviceFunction)

#endif
