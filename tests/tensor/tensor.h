/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the tests of tensors. */
#ifndef GR_TESTS_TENSOR_H
#define GR_TESTS_TENSOR_H

#include "tests/support/support.h"

#include <grinterop/tensor.h>

/* Creates a compact tensor on fx.stream. */
gr_tensor *must_alloc(gr_dtype dtype, gr_memory memory, unsigned ndim, const int64_t *shape);

/*
 * Waits for `stream` and returns all bytes of the tensor in element order. The caller frees them.
 */
unsigned char *must_read(const gr_tensor *tensor, CUstream stream);

/* Copy all bytes of a compact tensor to or from the host in fx.stream, and wait. */
void tensor_to_host(const gr_tensor *tensor, void *bytes, size_t size);
void tensor_from_host(gr_tensor *tensor, const void *bytes, size_t size);

extern const gr_memory each_memory[4];

/* For elsewhere(): calls gr_tensor_free(). */
void *free_tensor(void *tensor);

#endif
