/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_dlpack have in common: tensors, and producers of DLPack's. */
#ifndef GR_TESTS_DLPACK_H
#define GR_TESTS_DLPACK_H

#include "tests/support/support.h"

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

#define SIZE 4096

/* How DLPack calls a device's memory here. */
DLDevice dlpack_device(void);

/* A tensor of bytes on fx.stream. */
gr_tensor *must_alloc(size_t size);
gr_tensor *must_alloc_as(gr_dtype dtype, unsigned ndim, const int64_t *shape);

/* The bytes of a compact one, by the driver: after both of the fixture's streams; when ready. */
void tensor_fill(gr_tensor *tensor, int value);
void tensor_read(gr_tensor *tensor, void *bytes);
#define assert_tensor_bytes(tensor, value) assert_no_difference(tensor_differs(tensor, value))
const char *tensor_differs(gr_tensor *tensor, int value);

/* A tensor around new memory of a device; its end counts, and frees that. */
struct wrapped {
    CUdeviceptr memory;
    unsigned ends;
    gr_tensor *tensor;
};
void wrap(struct wrapped *wrapped, CUstream ready_on);

/* Ends what is put aside, whatever it waits for. */
void settle(void);

/* Another framework's tensor, of SIZE bytes in new memory of a device; its deleters count. */
struct producer {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
    int64_t shape[9], strides[9];
    CUdeviceptr memory;
    unsigned deleted;
    pthread_t by;
};
void produce(struct producer *producer);

/* Frees the memory; the deleter has to have been called that often. */
void producer_end(struct producer *producer, unsigned deleted);

extern const struct child dlpack_children[];

#endif
