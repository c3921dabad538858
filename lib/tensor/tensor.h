/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a tensor, for what makes and uses one. */
#ifndef GR_LIB_TENSOR_TENSOR_H
#define GR_LIB_TENSOR_TENSOR_H

#include "lib/tensor/shape.h"
#include "lib/tensor/tensor_types.h"

/* Refuses NULL, what was freed, and what was revoked. */
gr_status gr_tensor_check(const gr_tensor *tensor, const char *call);

/*
 * Makes the common part, with one hold and no memory; `desc` was taken and `shape` is of it. NULL:
 * no memory. gr_tensor_discard() frees what has not become a tensor; its context is dropped.
 */
gr_tensor *gr_tensor_make(const gr_tensor_desc *desc, const struct gr_shape *shape,
                          const char *call);
void gr_tensor_discard(gr_tensor *tensor);

/* The tensor's CUDA context, a new hold of `context`, or the current one where that is NULL. */
gr_status gr_tensor_take_context(gr_tensor *tensor, const struct gr_context *context,
                                 const char *call);

/* Where it is: element 0 at `ptr`, and the memory for its views. */
void gr_tensor_place(gr_tensor *tensor, CUdeviceptr ptr, CUdeviceptr low, size_t room);

/* It is the caller's from now on. */
gr_tensor *gr_tensor_show(gr_tensor *tensor);

/* A hold of the library's own, and the end of any; the last one ends the tensor. Any thread. */
void gr_tensor_hold(gr_tensor *tensor);
void gr_tensor_drop(gr_tensor *tensor);

#endif
