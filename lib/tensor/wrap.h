/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of memory that is somebody's, for the library's own callers. */
#ifndef GR_LIB_TENSOR_WRAP_H
#define GR_LIB_TENSOR_WRAP_H

#include "lib/tensor/tensor_types.h"

/*
 * As gr_tensor_wrap(), of a description that is the library's own, in messages of `call`. `device`:
 * whose memory it is, which the driver need not know; -1: the driver is asked.
 */
gr_tensor *gr_tensor_wrap_as(const gr_tensor_desc *desc, void *data, int device, CUstream ready_on,
                             gr_tensor_end_fn end, void *user, const char *call);

#endif
