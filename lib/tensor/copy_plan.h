/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a copy between two tensors of one shape is cut into blocks that the driver copies in one
 * call: rows of bytes, each a pitch from the next, in slices.
 */
#ifndef GR_LIB_TENSOR_COPY_PLAN_H
#define GR_LIB_TENSOR_COPY_PLAN_H

#include <grinterop/tensor.h>

struct gr_copy_dim {
    int64_t n, to, from; /* how many, and the bytes from one to the next on both sides */
};

struct gr_copy_plan {
    int64_t to_first, from_first; /* bytes from element 0 to where the first block begins */
    size_t width, rows, slices;
    struct gr_copy_dim row, slice; /* their steps */
    unsigned outer;                /* dimensions that are left: one block for each element */
    struct gr_copy_dim dims[GR_TENSOR_DIMS];
};

/* No dimension is 0, and the strides of `to` are not 0 where there is more than one element. */
void gr_copy_plan_make(struct gr_copy_plan *plan, unsigned ndim, const int64_t *shape,
                       const int64_t *to, const int64_t *from, size_t element);

/* Steps to the next block, from the first one on: false after the last. `at` begins as all 0. */
bool gr_copy_plan_next(const struct gr_copy_plan *plan, int64_t at[GR_TENSOR_DIMS],
                       int64_t *to_offset, int64_t *from_offset);

#endif
