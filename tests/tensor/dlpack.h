/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_dlpack: tensors, and DLPack producers. */
#ifndef GR_TESTS_DLPACK_H
#define GR_TESTS_DLPACK_H

#include "tests/support/support.h"

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

#define SIZE 4096

/* The DLPack device of device memory on the fixture's device. */
DLDevice dlpack_device(void);

/* Creates a tensor of `size` bytes on fx.stream. */
gr_tensor *must_alloc(size_t size);
gr_tensor *must_alloc_as(gr_dtype dtype, unsigned ndim, const int64_t *shape);

/* Exports the tensor with a version, for work in this stream. */
DLManagedTensorVersioned *must_export(gr_tensor *tensor, CUstream stream);

/*
 * Write or compare the bytes of a compact tensor with driver calls, after the work in the fixture's
 * streams, and wait.
 */
void tensor_fill(gr_tensor *tensor, int value);
void tensor_read(gr_tensor *tensor, void *bytes);
#define assert_tensor_bytes(tensor, value) assert_no_difference(tensor_differs(tensor, value))
const char *tensor_differs(gr_tensor *tensor, int value);

/* A tensor that wraps new device memory. Its deleter counts the calls and frees the memory. */
struct wrapped {
    CUdeviceptr memory;
    unsigned ends;
    gr_tensor *tensor;
};
void wrap(struct wrapped *wrapped, CUstream ready_on);

/* Frees all tensors whose free was deferred, and waits for the work that they wait for. */
void settle(void);

/*
 * The tensor of another framework, with SIZE bytes of new device memory. Its deleters count their
 * calls.
 */
struct producer {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
    int64_t shape[9], strides[9];
    CUdeviceptr memory;
    unsigned deleted;
    pthread_t by;
};
void produce(struct producer *producer);

/* Frees the memory. The deleter must have been called `deleted` times. */
void producer_end(struct producer *producer, unsigned deleted);

#endif
