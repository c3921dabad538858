/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The memory of a tensor as that of a buffer of OpenGL or Vulkan. */
#ifndef GR_LIB_EXTERNAL_TENSOR_MEMORY_H
#define GR_LIB_EXTERNAL_TENSOR_MEMORY_H

#include "lib/external/external.h"
#include "lib/tensor/tensor.h"

/*
 * `import.ptr` is the lowest byte of the tensor's elements, and `import.size` the size of the
 * allocation. Mappings are ordered with the other uses of the tensor.
 */
struct gr_tensor_memory {
    struct gr_import import;
    gr_tensor *tensor;   /* a reference */
    size_t offset, size; /* of the elements in the allocation, with the gaps between them */
    CUdevice device;     /* the device with the memory */
};

/*
 * Makes the memory of a resource with these flags, with one reference. NULL after recording an
 * error.
 */
struct gr_tensor_memory *gr_tensor_memory_make(gr_tensor *tensor, unsigned flags);

/* Drops that reference, on any thread. */
void gr_tensor_memory_drop(struct gr_tensor_memory *memory);

#endif
