/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks kernel parameters for addresses of other devices and of the host. */
#ifndef GR_SOFTCUDA_DRIVER_KERNEL_ACCESS_H
#define GR_SOFTCUDA_DRIVER_KERNEL_ACCESS_H

#include "softcuda/driver/soft.h"

#include <grinterop/cuhost.h>

/*
 * Whether a kernel of the context may have these parameters, laid out as in the buffer of `extra`.
 * An address of memory that the context has no access to prints a message and ends the program; if
 * a signal handler continues, the result is false.
 */
bool soft_kernel_may_have(const soft_context *context, const gr_cuhost_kernel *kernel,
                          const unsigned char *parameters);

/*
 * Logs a parameter that is an address of host memory unknown to the driver. Kernels can access it
 * here, unlike on most GPUs. Makes some system calls.
 */
void soft_kernel_look_at(const gr_cuhost_kernel *kernel, const unsigned char *parameters);

#endif
