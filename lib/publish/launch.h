/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A plan as the driver's work: a copy, or a launch. The CUDA context is current. */
#ifndef GR_LIB_PUBLISH_LAUNCH_H
#define GR_LIB_PUBLISH_LAUNCH_H

#include <cuda.h>

#include "lib/publish/plan.h"

/* Where in CUDA's arrays a picture is. */
struct gr_array_place {
    CUarray array; /* NULL: it is in memory */
    size_t slice;  /* the first of the array's */
};

/* Copies a picture whose bytes agree; either may be in an array. */
gr_status gr_launch_copy(const struct gr_picture *from, const struct gr_array_place *from_array,
                         const struct gr_picture *to, const struct gr_array_place *to_array,
                         CUstream stream, const char *call);

/* Loads the plan's kernel, or says why there is none. `module` as for gr_kernel_find(). */
gr_status gr_launch_prepare(const struct gr_plan *plan, CUmodule *module, const char *call);

/* Launches it. */
gr_status gr_launch_kernel(const struct gr_plan *plan, CUmodule *module, CUstream stream,
                           const char *call);

#endif
