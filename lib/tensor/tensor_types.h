/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The internal struct of a tensor. */
#ifndef GR_LIB_TENSOR_TENSOR_TYPES_H
#define GR_LIB_TENSOR_TENSOR_TYPES_H

#include <cuda.h>
#include <grinterop/tensor.h>

#include "lib/cuda/end_after_event.h"
#include "lib/resource/mapping_users.h"

/* How a tensor's memory is freed. */
enum gr_tensor_memory_end {
    GR_TENSOR_NOT_OURS, /* freed by `end`, if it is set */
    GR_TENSOR_ASYNC,    /* freed by cuMemFreeAsync */
    GR_TENSOR_FREE,     /* freed by cuMemFree */
    GR_TENSOR_PINNED,   /* freed by cuMemFreeHost */
    GR_TENSOR_MALLOC    /* freed by free() */
};

struct gr_tensor {
    unsigned holds; /* atomic: the number of references by the caller, exports and views */
    /* the strides are in bytes, and always set */
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS];
    /* the address of element 0, also in host memory, or the CUarray; 0 once revoked */
    CUdeviceptr ptr;
    CUdeviceptr low;       /* the start of the memory that views may use */
    size_t room;           /* the size of that memory in bytes */
    bool negative_strides; /* negative strides are allowed in DLPack exports */
    bool copied;           /* created by gr_tensor_clone(): IS_COPIED in DLPack */
    bool revoked;          /* the mapping has ended; atomic */
    struct gr_context context;
    CUstream stream; /* the tensor's own stream, or GR_STREAM_NONE */
    /* for a view: a reference to the tensor that owns the memory; otherwise NULL */
    gr_tensor *root;
    /* the tensor as a user of a mapping, if any, and its streams; a view uses those of `root` */
    struct gr_mapping_user user;
    enum gr_tensor_memory_end how;
    void *block; /* GR_TENSOR_MALLOC: the pointer from malloc() */
    gr_tensor_end_fn end;
    void *end_user;
    /* returned by gr_tensor_get_info(); its pointers are set by gr_tensor_expose() */
    gr_tensor_info info;
    gr_array_interface array; /* returned by gr_tensor_array_interface() */
    struct gr_ending ending;  /* keeps the freed tensor until the streams in `user` are done */
};

#endif
