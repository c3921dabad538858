/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executes a plan with the driver: a copy or a kernel. The CUDA context is current. */
#ifndef GR_LIB_PUBLISH_LAUNCH_H
#define GR_LIB_PUBLISH_LAUNCH_H

#include <cuda.h>

#include "lib/publish/choose_kernel.h"

/* The place of a picture in a CUDA array. */
struct gr_array_place {
    CUarray array; /* NULL: the picture is in memory */
    size_t slice;  /* the first slice of the picture in the array */
};

/* Copies a picture to another with the same layout. Each may be in a CUDA array. */
gr_status gr_launch_copy(const struct gr_picture *from, const struct gr_array_place *from_array,
                         const struct gr_picture *to, const struct gr_array_place *to_array,
                         CUstream stream, const char *call);

/*
 * Loads the kernel of a plan, or records why there is none. `module` is passed to gr_kernel_find().
 */
gr_status gr_launch_prepare(const struct gr_plan *plan, CUmodule *module, const char *call);

/* Launches the kernel of a plan. */
gr_status gr_launch_kernel(const struct gr_plan *plan, CUmodule *module, CUstream stream,
                           const char *call);

#endif
