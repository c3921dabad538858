/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor, as the library's own files see it. */
#ifndef GR_LIB_TENSOR_TENSOR_TYPES_H
#define GR_LIB_TENSOR_TENSOR_TYPES_H

#include <grinterop/tensor.h>

#include "lib/context.h"
#include "lib/resource/users.h"

/* How a tensor's memory ends. */
enum gr_tensor_memory_end {
    GR_TENSOR_NOT_OURS, /* by `end`, if there is one */
    GR_TENSOR_ASYNC,    /* cuMemFreeAsync */
    GR_TENSOR_FREE,     /* cuMemFree */
    GR_TENSOR_PINNED,   /* cuMemFreeHost */
    GR_TENSOR_MALLOC    /* free() */
};

struct gr_tensor {
    unsigned holds; /* atomic: the caller's, each export's, each view's */
    gr_dtype dtype;
    gr_layout layout;
    gr_memory memory;
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS]; /* strides in bytes, always there */
    CUdeviceptr ptr; /* element 0 (memory of the host: its address); 0 once revoked */
    CUdeviceptr low; /* where the memory begins in which a view may lie, */
    size_t room;     /* and its bytes */
    size_t bytes;    /* of all elements */
    bool compact, read_only;
    bool negative_strides; /* exports by DLPack may have them */
    bool copied;           /* by gr_tensor_clone(): what DLPack calls IS_COPIED */
    bool revoked;          /* atomic */
    struct gr_context context;
    CUdevice device;
    CUstream stream;     /* its own, or GR_STREAM_NONE */
    gr_tensor *root;     /* a view's: whose memory it is, with a hold on that; else NULL */
    struct gr_user user; /* of a mapping, if it has one; and the streams that use a root */
    enum gr_tensor_memory_end how;
    void *block; /* GR_TENSOR_MALLOC: what malloc() gave, in which the memory lies */
    gr_tensor_end_fn end;
    void *end_user;
    gr_tensor_info info;
    gr_array_interface array; /* what gr_tensor_array_interface() has shown */
    gr_tensor *next;          /* in the list of what is put aside */
};

#endif
