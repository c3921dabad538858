/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors with memory of their own. */
#ifndef GR_LIB_TENSOR_ALLOC_H
#define GR_LIB_TENSOR_ALLOC_H

#include "lib/tensor/tensor_types.h"

/* gr_tensor_alloc() of a description that was taken, in a context like `like`, or NULL. */
gr_tensor *gr_tensor_alloc_taken(const gr_tensor_desc *desc, const struct gr_context *like,
                                 CUstream stream, const char *call);

#endif
