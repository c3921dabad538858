/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of tensors share. */
#ifndef GR_TESTS_TENSOR_H
#define GR_TESTS_TENSOR_H

#include "tests/support/support.h"

#include <grinterop/tensor.h>

/* A compact tensor on fx.stream. */
gr_tensor *must_alloc(gr_dtype dtype, gr_memory memory, unsigned ndim, const int64_t *shape);

/* All its bytes in the order of its elements, once `stream` has passed; the caller frees them. */
unsigned char *must_read(const gr_tensor *tensor, CUstream stream);

extern const gr_memory each_memory[4];

/* On a thread that has neither an OpenGL nor a CUDA context, as a finalizer's. */
void elsewhere(void *(*body)(void *), void *object);
void *free_tensor(void *tensor);

/* tensor_ends.c's child: a process that ends with tensors. */
int ends_with_tensors(void);

#endif
