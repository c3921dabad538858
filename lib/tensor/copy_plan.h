/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Divides a copy between two tensors of the same shape into blocks that the driver copies in one
 * call: rows of bytes at a fixed pitch, in slices.
 */
#ifndef GR_LIB_TENSOR_COPY_PLAN_H
#define GR_LIB_TENSOR_COPY_PLAN_H

#include <grinterop/tensor.h>

struct gr_copy_dim {
    int64_t n, to, from; /* the number of elements, and the strides in bytes on both sides */
};

struct gr_copy_plan {
    int64_t to_first, from_first; /* byte offsets of the first block from element 0 */
    size_t width, rows, slices;
    struct gr_copy_dim row, slice; /* the strides of rows and slices in a block */
    /* the number of remaining dimensions: there is one block for each of their elements */
    unsigned outer;
    struct gr_copy_dim dims[GR_TENSOR_DIMS];
};

/*
 * Plans a copy. No dimension may be 0, and strides of `to` must not be 0 in dimensions larger than
 * 1.
 */
void gr_copy_plan_make(struct gr_copy_plan *plan, unsigned ndim, const int64_t *shape,
                       const int64_t *to, const int64_t *from, size_t element);

/* Steps from one block to the next. False after the last block. `at` must be all 0 at first. */
bool gr_copy_plan_next(const struct gr_copy_plan *plan, int64_t at[GR_TENSOR_DIMS],
                       int64_t *to_offset, int64_t *from_offset);

#endif
