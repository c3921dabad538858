/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks kernel parameters for addresses of other devices and of the host. */
#ifndef GR_SOFTCUDA_DRIVER_KERNEL_ACCESS_H
#define GR_SOFTCUDA_DRIVER_KERNEL_ACCESS_H

#include "softcuda/driver/soft.h"

#include <grinterop/cuhost.h>

/*
 * Whether a kernel of the context may have these parameters, which are laid out as in the buffer of
 * `extra`. If a parameter is an address of memory that the context cannot access, prints a message
 * and raises a signal that ends the program. If the program's handler of that signal returns, the
 * result is false.
 */
bool soft_kernel_may_have(const soft_context *context, const gr_cuhost_kernel *kernel,
                          const unsigned char *parameters);

/*
 * Logs a parameter that is an address of host memory unknown to the driver. Here kernels can access
 * such memory; on most GPUs they cannot. Makes some system calls.
 */
void soft_kernel_look_at(const gr_cuhost_kernel *kernel, const unsigned char *parameters);

#endif
