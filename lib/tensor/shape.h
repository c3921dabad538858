/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shapes and strides: checks them, and computes which bytes they span. */
#ifndef GR_LIB_TENSOR_SHAPE_H
#define GR_LIB_TENSOR_SHAPE_H

#include <grinterop/tensor.h>

struct gr_shape {
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS]; /* strides in bytes */
    size_t bytes;                                           /* the size of all elements in bytes */
    size_t before, span; /* the bytes spanned before element 0, and in total */
    bool compact;
};

/* Checks a description that was copied by GR_TAKE. Fills in NULL strides. */
gr_status gr_shape_init(struct gr_shape *shape, const gr_tensor_desc *desc, const char *call);

/* Refuses shapes whose elements lie outside of `room` bytes, if element 0 is at `offset`. */
gr_status gr_shape_check_room(const struct gr_shape *shape, size_t offset, size_t room,
                              const char *what, const char *call);

/* Whether no two elements share bytes. May be false for complicated strides that are disjoint. */
bool gr_shape_is_disjoint(const struct gr_shape *shape, size_t element);

/* Fills in the strides of a compact tensor, for a checked shape. */
void gr_shape_compact(unsigned ndim, const int64_t *shape, size_t element, int64_t *strides);

/* The text of a shape for messages, such as "(1080, 1920, 4)". */
#define GR_SHAPE_TEXT 176
struct gr_shape_text {
    char text[GR_SHAPE_TEXT];
};
struct gr_shape_text gr_shape_format(unsigned ndim, const int64_t *shape);

#endif
