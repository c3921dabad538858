/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the tests of tensors. */
#ifndef GR_TESTS_TENSOR_H
#define GR_TESTS_TENSOR_H

#include "tests/support/support.h"

#include <grinterop/tensor.h>

/* A compact tensor on fx.stream. */
gr_tensor *must_alloc(gr_dtype dtype, gr_memory memory, unsigned ndim, const int64_t *shape);

/* All its bytes in element order, once `stream` has finished; the caller frees them. */
unsigned char *must_read(const gr_tensor *tensor, CUstream stream);

extern const gr_memory each_memory[4];

/* For elsewhere(). */
void *free_tensor(void *tensor);

#endif
