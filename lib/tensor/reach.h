/* SPDX-License-Identifier: Apache-2.0 */
/* Whether kernels of one device reach a tensor of another one. */
#ifndef GR_LIB_TENSOR_REACH_H
#define GR_LIB_TENSOR_REACH_H

#include "lib/tensor/tensor_types.h"

/* Makes it so where it can be, else refuses with both devices. The driver's copies need it not. */
gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at, const char *call);

#endif
