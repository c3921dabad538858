/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors of CUDA arrays, which have a shape but no addresses. */
#ifndef GR_LIB_TENSOR_ARRAY_H
#define GR_LIB_TENSOR_ARRAY_H

#include <stdint.h>

#include "lib/tensor/tensor.h"

/* Returns the element type of an array format; 0 for formats without plain channels. */
gr_dtype gr_array_dtype(CUarray_format format);

/*
 * Completes the description of an array by the values that the driver reports: the dtype and the
 * shape (H, W, C), which is written to `shape`. Refuses a description that differs, and arrays that
 * are not 2D.
 */
gr_status gr_array_describe(CUarray array, gr_tensor_desc *desc, int64_t shape[3],
                            const char *call);

/* Whether the memory of the tensor is an array, whose handle is then in `ptr`. */
static inline bool gr_tensor_is_array(const gr_tensor *tensor)
{
    return tensor->info.memory == GR_MEMORY_ARRAY;
}

/* Refuses a tensor of an array, for calls that need addresses. */
gr_status gr_tensor_refuse_array(const gr_tensor *tensor, const char *what, const char *call);

#endif
