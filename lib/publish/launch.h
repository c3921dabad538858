/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executes a plan with the driver: a copy or a kernel. The CUDA context is current. */
#ifndef GR_LIB_PUBLISH_LAUNCH_H
#define GR_LIB_PUBLISH_LAUNCH_H

#include <cuda.h>

#include "lib/publish/choose_kernel.h"

/* Copies a picture to another with the same layout. Each may be in a CUDA array. */
gr_status gr_launch_copy(const struct gr_picture *from, const struct gr_picture *to,
                         CUstream stream, const char *call);

/*
 * Loads the kernel of a plan, or records why there is none. `module` is passed to gr_kernel_find().
 */
gr_status gr_launch_prepare(const struct gr_plan *plan, CUmodule *module, const char *call);

/* Launches the kernel of a plan. */
gr_status gr_launch_kernel(const struct gr_plan *plan, CUmodule *module, CUstream stream,
                           const char *call);

#endif
