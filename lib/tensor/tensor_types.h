/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The internal struct of a tensor. */
#ifndef GR_LIB_TENSOR_TENSOR_TYPES_H
#define GR_LIB_TENSOR_TENSOR_TYPES_H

#include <cuda.h>
#include <grinterop/tensor.h>

#include "lib/context.h"
#include "lib/resource/users.h"

/* How a tensor's memory is freed. */
enum gr_tensor_memory_end {
    GR_TENSOR_NOT_OURS, /* by `end`, if it is set */
    GR_TENSOR_ASYNC,    /* cuMemFreeAsync */
    GR_TENSOR_FREE,     /* cuMemFree */
    GR_TENSOR_PINNED,   /* cuMemFreeHost */
    GR_TENSOR_MALLOC    /* free() */
};

struct gr_tensor {
    unsigned holds; /* atomic: references by the caller, exports and views */
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS]; /* strides in bytes, always set */
    CUdeviceptr ptr; /* element 0, in host memory its address, or the CUarray; 0 once revoked */
    CUdeviceptr low; /* start of the memory that views may use */
    size_t room;     /* and its size in bytes */
    bool negative_strides; /* allowed in DLPack exports */
    bool copied;           /* by gr_tensor_clone(): IS_COPIED in DLPack */
    bool revoked;          /* atomic */
    struct gr_context context;
    CUstream stream;     /* its own stream, or GR_STREAM_NONE */
    gr_tensor *root;     /* for a view: the referenced owner of the memory; else NULL */
    struct gr_user user; /* of a mapping, if it has one; for a root, the streams that use it */
    enum gr_tensor_memory_end how;
    void *block; /* GR_TENSOR_MALLOC: the pointer from malloc() */
    gr_tensor_end_fn end;
    void *end_user;
    gr_tensor_info info;      /* its pointers are set by gr_tensor_expose() */
    gr_array_interface array; /* returned by gr_tensor_array_interface() */
    gr_tensor *next;          /* in the list of deferred tensors */
};

#endif
