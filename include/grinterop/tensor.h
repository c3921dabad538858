/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tensors: memory with a type and a shape, as CUDA frameworks exchange it.
 *
 *     int64_t shape[] = {height, width, 4};
 *     gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
 *                                   .shape = shape);
 *     GR_AUTO(gr_tensor) *picture = gr_tensor_create(&desc, stream);
 *
 * Creation:
 *
 *     gr_tensor_create()        new memory
 *     gr_tensor_from_memory()   existing memory
 *     gr_tensor_from_dlpack()   from another framework
 *     gr_buffer_tensor()        from gr_map() or gr_map_linear(), zero-copy
 *     gr_tensor_view()          another view of a tensor's memory
 *     gr_tensor_clone()         a copy
 *
 * gr_tensor_to_dlpack() and gr_tensor_array_interface() export tensors to other frameworks,
 * gr_tensor_copy() copies them, and publish.h writes them to buffers and images.
 *
 * For all functions here:
 *
 * Order     A tensor has a stream: the stream of its creation or of its mapping. Earlier work in
 *           that stream precedes every use by the functions of this header. grinterop knows uses in
 *           other streams from gr_tensor_used_on(), its own copies and publish.h. The stream of a
 *           tensor must live as long as the tensor, and the stream of an export as long as the
 *           export. Each CUDA context has its own default streams. A default stream belongs, in
 *           publish.h, to the context of the resource; in gr_tensor_copy(), to the context of the
 *           target, or of the source if the target is host memory; in other functions, to the
 *           context of the tensor.
 * End       A tensor ends after it was freed, its exports and views are gone, and all known streams
 *           have done their work with it. gr_tensor_free() does not wait: a later call of this
 *           header ends the tensor. But freeing GR_MEMORY_PINNED or GR_MEMORY_MANAGED memory that
 *           grinterop allocated, or any memory on a device without memory pools, may wait in the
 *           driver for other work of the device.
 * Mapping   A tensor does not keep its mapping alive. A release, unmap or close revokes the tensors
 *           of the mapping: their pointer is 0, and each use returns GR_ERR_STATE. Do not use
 *           pointers that were exported before. gr_buffer_release_later() and gr_resource_free()
 *           keep the mapping until its last tensor ends.
 * Arrays    A CUDA array (GR_MEMORY_ARRAY) is a tensor of shape (H, W, C) without addresses: the
 *           output of a renderer, or an image mapped by gr_map(). Such a tensor can be wrapped,
 *           copied, cloned to other memory, and exchanged by DLPack as an opaque handle, as ovrtx
 *           and Warp do. gr_publish() and gr_fetch() copy it if type and channels agree; otherwise
 *           they convert a copy in linear memory.
 * Sizes     At most GR_TENSOR_DIMS dimensions. If a dimension is 0, there are no elements; with no
 *           dimensions there is one element. Strides are in bytes and may be negative or 0.
 *           Elements outside of the memory are refused.
 * Threads   Two threads may use two tensors at the same time. One thread at a time may use a tensor
 *           and its views, but any thread may free a tensor or an export at any time, without an
 *           OpenGL context, also at exit. Another thread may end the mapping during
 *           gr_tensor_view() and gr_tensor_from_dlpack(), which then return a revoked tensor or
 *           GR_ERR_STATE.
 */
#ifndef GR_TENSOR_H
#define GR_TENSOR_H

#include <stdint.h>

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory with a type and a shape. */
typedef struct gr_tensor gr_tensor;

/* ---- Types ----------------------------------------------------------------------------------- */

/* The type of an element. 0 is invalid. */
typedef enum gr_dtype {
    GR_DTYPE_U8 = 1,
    GR_DTYPE_U16 = 2,
    GR_DTYPE_U32 = 3,
    GR_DTYPE_U64 = 4,
    GR_DTYPE_I8 = 5,
    GR_DTYPE_I16 = 6,
    GR_DTYPE_I32 = 7,
    GR_DTYPE_I64 = 8,
    GR_DTYPE_F16 = 9,
    GR_DTYPE_BF16 = 10, /* the upper half of an F32 */
    GR_DTYPE_F32 = 11,
    GR_DTYPE_F64 = 12,
    GR_DTYPE_BOOL = 13, /* a byte, 0 or 1 */
    GR_DTYPE_C64 = 14,  /* two F32: complex */
    GR_DTYPE_C128 = 15  /* two F64 */
} gr_dtype;

/* The size and the names of a dtype. Owned by the library. */
typedef struct gr_dtype_info {
    size_t size;      /* the size of an element in bytes */
    const char *name; /* such as "float32" */
    /* the name in array interfaces, such as "<f4"; "<V2" for BF16, which array interfaces lack */
    const char *typestr;
} gr_dtype_info;

/*
 * The size and the names of a dtype.
 *
 * Valid    until the process ends
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `dtype` is not a dtype
 */
GR_API const gr_dtype_info *gr_dtype_get_info(gr_dtype dtype);

/*
 * Returns the dtype with a name or typestr: "<f4", "f4", "float32", "bfloat16".
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `name` is unknown or NULL
 *     GR_ERR_UNSUPPORTED    `name` has the byte order that this machine does not use
 */
GR_API gr_dtype gr_dtype_parse(const char *name);

/* The meaning of the dimensions of a picture, for publish.h. */
typedef enum gr_layout {
    GR_LAYOUT_SHAPE = 0, /* by the shape: (H, W) or (H, W, C) */
    GR_LAYOUT_HWC = 1,
    GR_LAYOUT_CHW = 2,
    GR_LAYOUT_NV12 = 3,   /* 8 bits: Y, then interleaved UV at half the width and height */
    GR_LAYOUT_P016 = 4,   /* as NV12, with 16 bits */
    GR_LAYOUT_NV16 = 5,   /* 8 bits: Y, then interleaved UV at half the width */
    GR_LAYOUT_YUV444 = 6, /* Y, U and V, each of full size */
    GR_LAYOUT_YUV420 = 7, /* Y, then U and V at half the width and height, in three tensors */
    GR_LAYOUT_YUV422 = 8, /* Y, then U and V at half the width, in three tensors */
    GR_LAYOUT_YUYV = 9,   /* 8 bits, (H, W, 2): Y and U, Y and V in turn */
    GR_LAYOUT_UYVY = 10   /* 8 bits, (H, W, 2): U and Y, V and Y in turn */
} gr_layout;

/* The kinds of memory. */
typedef enum gr_memory {
    GR_MEMORY_DEVICE = 0,  /* memory of a CUDA device */
    GR_MEMORY_HOST = 1,    /* pageable host memory */
    GR_MEMORY_PINNED = 2,  /* host memory that CUDA can access */
    GR_MEMORY_MANAGED = 3, /* memory that CUDA moves between host and device */
    GR_MEMORY_ARRAY = 4    /* a 2D CUDA array, without addresses */
} gr_memory;

/* ---- Creating -------------------------------------------------------------------------------- */

/* The maximum number of dimensions. */
#define GR_TENSOR_DIMS 8u

/* A tensor to create. Read during the call. */
typedef struct gr_tensor_desc {
    size_t struct_size;
    gr_dtype dtype;         /* the type of its elements; required */
    unsigned ndim;          /* the number of dimensions; 0: one element, and `shape` is NULL */
    const int64_t *shape;   /* the sizes of the dimensions */
    const int64_t *strides; /* bytes between the elements of each dimension; NULL: compact, the
                             * last dimension fastest */
    gr_layout layout;       /* the meaning of the dimensions */
    gr_memory memory;       /* the kind of memory. gr_buffer_tensor(): 0, or GR_MEMORY_ARRAY for
                             * an image; gr_tensor_view(): 0 */
    bool read_only;         /* refuse writes, also to views; always true for read_only resources */

    /*
     * The offset of element 0 in bytes: for gr_buffer_tensor() in the buffer, for gr_tensor_view()
     * from the lowest byte of the tensor's elements. 0 otherwise.
     */
    size_t offset;

    /* allow DLPack exports with negative strides, on which many consumers crash */
    bool negative_strides;

    /*
     * For gr_tensor_create() in GR_MEMORY_DEVICE: memory that gr_create_gl_buffer_of() and
     * gr_create_vk_buffer_of() accept. Takes at least 2 MiB, and can be used at once, in any
     * stream. Other functions ignore this field.
     */
    GR_NEW_FIELD(bool) exportable;
} gr_tensor_desc;

/*
 * Creates a tensor with new, uninitialised memory.
 *
 * `stream` becomes the stream of the tensor, and later work in it may use the tensor: on devices
 * with memory pools, device memory is allocated in stream order. GR_STREAM_NONE: the tensor has no
 * stream and can be used at once.
 *
 * Owner    the caller, who frees it with gr_tensor_free()
 * Context  the current CUDA context, or else the primary context of device 0
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  a field of `desc`, or `stream`, is invalid; or strides are negative or
 *                           overlap; or `exportable` is set for other memory than that of a device;
 *                           the message names the field
 *     GR_ERR_UNSUPPORTED    the device has no managed memory, or none that is exportable
 *
 * Wraps cuMemAllocAsync, cuMemAlloc, cuMemAllocHost, cuMemAllocManaged, cuMemCreate.
 */
GR_API gr_tensor *gr_tensor_create(const gr_tensor_desc *desc, CUstream stream);

/* Called once when the memory of a tensor is no longer used, on a thread that calls grinterop. */
typedef void (*gr_tensor_end_fn)(void *user);

/*
 * Creates a tensor of existing memory. `data` is the address of element 0; for device memory, cast
 * the CUdeviceptr. `data` may be NULL if there are no elements.
 *
 * The bytes are ready when `ready_on` has done its work so far, or at once with GR_STREAM_NONE.
 *
 *     gr_tensor_from_memory(&desc, (void *)(uintptr_t)pointer, stream, NULL, NULL);
 *
 * With GR_MEMORY_ARRAY `data` is the CUarray. The driver reports its type and shape: leave these
 * fields 0.
 *
 * Owner    the caller frees the tensor. The memory must live until `end` is called with `user`.
 *          `end` and `user` may be NULL. After an error `end` is not called
 * Thread   `end` runs on a thread that calls grinterop, never on a thread of the driver. `end` may
 *          call grinterop
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  a field of `desc` is invalid; `ready_on` or `data` is NULL; or CUDA
 *                           cannot access the memory, and `memory` is not GR_MEMORY_HOST
 */
GR_API gr_tensor *gr_tensor_from_memory(const gr_tensor_desc *desc, void *data, CUstream ready_on,
                                        gr_tensor_end_fn end, void *user);

/*
 * Creates a tensor of a mapped buffer, or of the linear memory of gr_map_linear(), zero-copy.
 *
 *     gr_buffer *buffer = gr_map(resource, stream);
 *     gr_tensor *tensor = gr_buffer_tensor(buffer, NULL);
 *
 * If `desc` is NULL, a buffer becomes a tensor of U8 with shape (size), and an image a tensor (H,
 * W, C) or (D, H, W, C) of its format and pitch; packed texels are (H, W) or (D, H, W) of U32 or
 * U16. With GR_MEMORY_ARRAY the tensor is the CUDA array of level 0 and layer 0 of an image mapped
 * by gr_map().
 *
 * Owner    the caller, who frees the tensor before it releases the buffer: the release revokes the
 *          tensor
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL; a field of `desc` is invalid; the tensor exceeds the
 *                           buffer; or it has several dimensions and no `strides`, and reaches into
 *                           the padding between the rows of an image
 *     GR_ERR_STATE          the mapping has ended; or `buffer` is an image mapped by gr_map(),
 *                           without GR_MEMORY_ARRAY
 */
GR_API gr_tensor *gr_buffer_tensor(gr_buffer *buffer, const gr_tensor_desc *desc);

/*
 * Creates a tensor in the memory of another tensor, with another layout, other strides, another
 * part or dtype. The memory stays until both tensors are freed.
 *
 * A view lies within the memory of its tensor. This memory begins at the lowest byte of the
 * tensor's elements. Its last byte is the last byte of the allocation or mapping, or, for a wrapped
 * tensor or a view, the highest byte of the elements.
 *
 * Owner    the caller
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed; a field of `desc` is invalid; the view
 *                           exceeds the memory
 *     GR_ERR_STATE          the tensor is revoked
 */
GR_API gr_tensor *gr_tensor_view(gr_tensor *tensor, const gr_tensor_desc *desc);

/*
 * Creates a compact copy in memory of the kind `memory`, in the order of `stream`, which becomes
 * the stream of the new tensor.
 *
 * Owner    the caller
 *
 * Errors: NULL after those of gr_tensor_create() and gr_tensor_copy()
 */
GR_API gr_tensor *gr_tensor_clone(gr_tensor *tensor, gr_memory memory, CUstream stream);

/* ---- Freeing --------------------------------------------------------------------------------- */

/*
 * Releases the caller's reference. The tensor ends when its exports and views are gone and the
 * known streams have done their work with it. A graph capture in the stream of the tensor delays
 * the end. This call never waits.
 *
 * Thread   any, at any time
 *
 * Errors: reported only by gr_last_error()
 *     GR_ERR_INVALID_VALUE  the tensor was freed before
 */
GR_API void gr_tensor_free(gr_tensor *tensor);

/*
 * Ends freed tensors whose work is done, and waits at most timeout_ms milliseconds for the other
 * freed tensors. All calls that create or free a tensor also end freed tensors whose work is done,
 * so a program needs this function only before it exits, or when memory is short. Do not use
 * GR_WAIT_FOREVER while a stream captures a graph: the tensors of that stream do not end.
 *
 * Errors:
 *     GR_ERR_NOT_READY  some work is not done, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT    some work is not done after `timeout_ms`
 */
GR_API gr_status gr_tensor_collect(unsigned timeout_ms);

/* ---- Queries --------------------------------------------------------------------------------- */

/* The properties of a tensor. Owned by the tensor. */
typedef struct gr_tensor_info {
    /* the CUDA address of element 0; 0: the tensor was revoked, or has no elements */
    CUdeviceptr ptr;
    void *data;             /* the host address of element 0; NULL for device memory */
    gr_dtype dtype;         /* the type of an element */
    unsigned ndim;          /* the number of dimensions */
    const int64_t *shape;   /* the sizes of the dimensions */
    const int64_t *strides; /* their strides in bytes */
    gr_layout layout;       /* the meaning of the dimensions */
    gr_memory memory;       /* the kind of memory */
    /* the device of the memory, or of the CUDA context that maps it or that created host memory */
    int device;
    bool read_only; /* writes are refused */
    /* the size of all elements without gaps, which is the size of a copy to the host */
    size_t bytes;
    bool compact;      /* the elements are contiguous, the last dimension fastest */
    bool revoked;      /* the mapping of the tensor has ended */
    CUarray array;     /* the array of GR_MEMORY_ARRAY; otherwise NULL */
    CUcontext context; /* the CUDA context, to which the default streams of the tensor belong */
} gr_tensor_info;

/*
 * The properties of a tensor.
 *
 * Valid    until gr_tensor_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed
 */
GR_API const gr_tensor_info *gr_tensor_get_info(const gr_tensor *tensor);

/* ---- Order ----------------------------------------------------------------------------------- */

/*
 * Makes `stream` wait for the work so far in the tensor's stream, and for known writes in other
 * streams. The calling thread does not wait.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, or `stream` is invalid
 *     GR_ERR_STATE          the tensor is revoked
 *
 * Wraps cuEventRecord, cuStreamWaitEvent.
 */
GR_API gr_status gr_tensor_wait(const gr_tensor *tensor, CUstream stream);

/*
 * Registers the work so far in `stream` as a use of the tensor. The end of the tensor, the release
 * of its mapping and later calls of gr_tensor_wait() wait for this work. Not needed for the
 * tensor's own stream.
 *
 * Errors: as for gr_tensor_wait()
 *
 * Wraps cuEventRecord.
 */
GR_API gr_status gr_tensor_used_on(gr_tensor *tensor, CUstream stream);

/* ---- Copies ---------------------------------------------------------------------------------- */

/*
 * Copies all elements, in stream order on `stream`. The stream first waits until both tensors are
 * ready. Shapes and dtypes must be equal; strides, kinds of memory and devices may differ. If
 * elements are scattered, the copy has many parts and is slow. The tensors must not overlap. If the
 * strides of `to` make its elements overlap, an overlapped element may end up with any of the
 * values written to it.
 *
 * With GR_MEMORY_HOST the call may wait for the stream; if it does not wait, the host memory must
 * live until the stream has done the copy.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a tensor is NULL or freed; shapes or dtypes differ, and the message
 *                           contains both; a stride of `to` is 0; `stream` is invalid
 *     GR_ERR_STATE          a tensor is revoked, or `to` is read-only
 *
 * Wraps cuMemcpyAsync, cuMemcpy3DAsync, cuMemcpyPeerAsync, cuMemcpy3DPeerAsync.
 */
GR_API gr_status gr_tensor_copy(gr_tensor *to, const gr_tensor *from, CUstream stream);

/*
 * Copies all elements to or from host memory. In host memory they are contiguous, with the last
 * dimension fastest. `bytes` must be gr_tensor_info.bytes.
 *
 * The host memory must live until the stream has done the copy: wait for the stream before you read
 * the memory, by cuStreamSynchronize, for which <grinterop/cuda.h> has
 * gr_cuda()->StreamSynchronize(). With pageable memory the call may block the thread.
 *
 * Errors: as for gr_tensor_copy(), and
 *     GR_ERR_INVALID_VALUE  the memory is NULL, or `bytes` is wrong
 */
GR_API gr_status gr_tensor_copy_to_host(const gr_tensor *tensor, void *to, size_t bytes,
                                        CUstream stream);
GR_API gr_status gr_tensor_copy_from_host(gr_tensor *tensor, const void *from, size_t bytes,
                                          CUstream stream);

/* ---- DLPack ---------------------------------------------------------------------------------- */

/*
 * The struct that passes a tensor. dlpack/dlpack.h of github.com/dmlc/dlpack declares it;
 * bootstrap puts that header into build/dlpack.
 */
typedef enum gr_dlpack {
    GR_DLPACK_VERSIONED = 0, /* a DLManagedTensorVersioned, DLPack 1.x */
    GR_DLPACK_LEGACY = 1     /* a DLManagedTensor, which has no read-only flag */
} gr_dlpack;

/*
 * Exports a tensor by DLPack 1.3, zero-copy, in a struct of the form `form`.
 *
 * The stream `consumer` waits until the bytes are ready. Its work until the end of the export
 * counts as a use that may write: the end of the tensor, the release of its mapping and later calls
 * of gr_tensor_wait() wait for it. GR_STREAM_NONE: no order.
 *
 * Device memory is exported as kDLCUDA, other memory as kDLCUDAHost, kDLCUDAManaged or kDLCPU.
 * Device memory of the software CUDA driver is exported as kDLCPU. A CUDA array is exported as
 * kDLCUDA with the type kDLOpaqueHandle: tell the consumer what the handle is, as in
 * wp.from_dlpack(t, hint=wp.Texture2D). For kDLCPU the call waits until the bytes are ready,
 * because consumers of host memory have no stream. It also waits for kDLCUDAHost and
 * kDLCUDAManaged, unless `consumer` is GR_STREAM_NONE. Strides are always set; for dimensions of 1
 * they are those of a compact tensor. byte_offset is 0.
 *
 * Owner    the caller or its consumer, who calls the deleter once, on any thread. The export keeps
 *          the tensor alive after gr_tensor_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, `consumer` is NULL, or `form` is unknown
 *     GR_ERR_STATE          the tensor is revoked; or it is read-only, and the form is legacy
 *     GR_ERR_UNSUPPORTED    negative strides without gr_tensor_desc.negative_strides; strides that
 *                           are not multiples of the element size; memory for kernels at an address
 *                           that is not such a multiple; grinterop was built without DLPack
 */
GR_API void *gr_tensor_to_dlpack(gr_tensor *tensor, gr_dlpack form, CUstream consumer);

/*
 * Imports a tensor of another framework from a struct of the form `form`, zero-copy. The bytes are
 * ready when `ready_on` has done its work so far: pass the stream given to the producer.
 * GR_STREAM_NONE: the bytes are ready.
 *
 * An opaque handle (kDLOpaqueHandle) of kDLCUDA is a CUDA array, as in the render outputs of ovrtx.
 * NULL strides mean a compact tensor. Lanes become a dimension of their own. On the software CUDA
 * driver host memory counts as device memory. An export of a mapping by grinterop is revoked with
 * that mapping.
 *
 * Owner    the caller frees the tensor. After a success the tensor owns `managed` and calls its
 *          deleter once, when it ends; after an error the caller still owns it
 * Thread   the deleter runs on a thread that calls grinterop
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `managed` is NULL, already imported, or inconsistent; the message says
 *                           how; or `form` is unknown
 *     GR_ERR_UNSUPPORTED    an unknown type, device or version; more than GR_TENSOR_DIMS
 *                           dimensions; an address that is not a multiple of the element size;
 *                           grinterop was built without DLPack
 *     GR_ERR_STATE          grinterop exported the tensor, and its mapping has ended
 */
GR_API gr_tensor *gr_tensor_from_dlpack(void *managed, gr_dlpack form, CUstream ready_on);

/* ---- The CUDA array interface ---------------------------------------------------------------- */

/* The fields of __cuda_array_interface__. Owned by the tensor. */
typedef struct gr_array_interface {
    CUdeviceptr data;       /* the address of element 0 */
    bool read_only;         /* writes are refused */
    const char *typestr;    /* the type of an element: gr_dtype_info.typestr */
    unsigned ndim;          /* the number of dimensions */
    const int64_t *shape;   /* the sizes of the dimensions */
    const int64_t *strides; /* their strides in bytes; NULL: the elements are contiguous */
    /* the stream that the consumer must wait for; NULL: the bytes are ready */
    CUstream stream;
    unsigned version; /* 3 */
} gr_array_interface;

/*
 * The fields of the CUDA array interface, version 3, for memory that CUDA can access. To import,
 * use gr_tensor_from_memory().
 *
 * The stream `consumer` waits until the bytes are ready, and the field `stream` is NULL. If
 * `consumer` is GR_STREAM_NONE, the field `stream` is the stream of the tensor, and the consumer
 * must wait for it; if the tensor has no stream, this call waits.
 *
 * The interface does not report when the consumer is done: register the consumer's work by
 * gr_tensor_used_on() before you free the tensor.
 *
 * Valid    until the next call of this function for the tensor, or until gr_tensor_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, or `consumer` is NULL
 *     GR_ERR_STATE          the tensor is revoked
 *     GR_ERR_UNSUPPORTED    the tensor is in pageable host memory, which CUDA cannot access
 */
GR_API const gr_array_interface *gr_tensor_array_interface(gr_tensor *tensor, CUstream consumer);

GR_SCOPE_END(gr_tensor, gr_tensor_free)

#ifdef __cplusplus
}
#endif
#endif
