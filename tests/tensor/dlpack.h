/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_dlpack: tensors, and DLPack producers. */
#ifndef GR_TESTS_DLPACK_H
#define GR_TESTS_DLPACK_H

#include "tests/support/support.h"

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

#define SIZE 4096

/* The DLPack device of device memory here. */
DLDevice dlpack_device(void);

/* A tensor of bytes on fx.stream. */
gr_tensor *must_alloc(size_t size);
gr_tensor *must_alloc_as(gr_dtype dtype, unsigned ndim, const int64_t *shape);

/* Write or read a compact tensor's bytes by the driver, after the fixture's streams, and wait. */
void tensor_fill(gr_tensor *tensor, int value);
void tensor_read(gr_tensor *tensor, void *bytes);
#define assert_tensor_bytes(tensor, value) assert_no_difference(tensor_differs(tensor, value))
const char *tensor_differs(gr_tensor *tensor, int value);

/* A tensor around new device memory; its end function counts the calls and frees the memory. */
struct wrapped {
    CUdeviceptr memory;
    unsigned ends;
    gr_tensor *tensor;
};
void wrap(struct wrapped *wrapped, CUstream ready_on);

/* Frees everything that was set aside, whatever it waits for. */
void settle(void);

/* Another framework's tensor, of SIZE bytes in new device memory. Its deleters count calls. */
struct producer {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
    int64_t shape[9], strides[9];
    CUdeviceptr memory;
    unsigned deleted;
    pthread_t by;
};
void produce(struct producer *producer);

/* Frees the memory; the deleter must have been called that often. */
void producer_end(struct producer *producer, unsigned deleted);

#endif
