/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: memory with a type and a shape, as CUDA's frameworks exchange it.
 *
 *     int64_t shape[] = {height, width, 4};
 *     gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
 *                                   .shape = shape);
 *     GR_AUTO(gr_tensor) *picture = gr_tensor_alloc(&desc, stream);
 *
 * Where tensors come from:
 *
 *     gr_tensor_alloc()         memory of its own
 *     gr_tensor_wrap()          somebody's memory, with a function that ends it
 *     gr_tensor_from_dlpack()   another framework's, by DLPack
 *     gr_buffer_tensor()        what gr_map() or gr_map_linear() gave: no copy
 *     gr_tensor_view()          another tensor's memory, described in another way
 *     gr_tensor_clone()         a copy
 *
 * Where they go: gr_tensor_dlpack() and gr_tensor_array_interface() give them to other frameworks,
 * gr_tensor_copy() to memory, and publish.h into what is drawn.
 *
 * What holds for everything here:
 *
 * Order     A tensor has a stream of its own: the one that it was made on, of a mapping the map's.
 *           What was put there comes before every use that is ordered by this header. Of uses on
 *           other streams grinterop knows by gr_tensor_used_on(), by its copies and by publish.h.
 *           The tensor's own stream has to live as long as the tensor, and the stream that an
 *           export was given as long as the export.
 * End       A tensor ends when it has been freed and no export and no view of it is left, and not
 *           before the streams that are known have done what they were given. Nothing waits: what
 *           is not done is put aside, and ended by a later call of this header. But where grinterop
 *           allocated GR_MEMORY_PINNED or GR_MEMORY_MANAGED, or the device has no pools, the
 *           driver's own call that frees it may wait for other work of the device.
 * Mapping   A tensor of a mapping does not keep it: a release, unmap or close ends the mapping as
 *           ever. Its tensors are revoked: they have pointer 0, and each use is GR_ERR_STATE. A
 *           pointer that was exported before must not be used any more.
 *           gr_buffer_release_later() and gr_resource_free() do leave the mapping to its tensors:
 *           it ends when the last is gone.
 * Sizes     At most GR_TENSOR_DIMS dimensions. A 0 among them, and no dimension at all, are legal:
 *           no element, and one. Strides are bytes, of any sign. What would lie outside of the
 *           memory is refused.
 * Threads   Two threads may use two tensors at once. One tensor, with its views, belongs to one
 *           thread at a time; but gr_tensor_free(), and the end of an export, may come on any
 *           thread at any time, without an OpenGL context, and when the process ends.
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

/* The type of an element. 0 is none. */
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

/*
 * The bytes of an element; its name, "float32"; its name in the array interfaces, "<f4". BF16, for
 * which they have none, is "<V2" there, as PyTorch says it.
 *
 * Valid    until the process ends
 *
 * Errors: 0 or NULL after
 *     GR_ERR_INVALID_VALUE  it is no dtype
 */
GR_API size_t gr_dtype_size(gr_dtype dtype);
GR_API const char *gr_dtype_name(gr_dtype dtype);
GR_API const char *gr_dtype_typestr(gr_dtype dtype);

/*
 * Turns either name into the dtype: "<f4", "f4", "float32", "bfloat16".
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  it is neither, or NULL
 *     GR_ERR_UNSUPPORTED    it is of the other byte order
 */
GR_API gr_dtype gr_dtype_parse(const char *name);

/* What the dimensions are, where it is a picture. publish.h needs to know. */
typedef enum gr_layout {
    GR_LAYOUT_SHAPE = 0, /* as the shape says: (H, W) or (H, W, C) */
    GR_LAYOUT_HWC = 1,
    GR_LAYOUT_CHW = 2,
    GR_LAYOUT_NV12 = 3,  /* 8 bit: Y, then UV in turns at half the width and height */
    GR_LAYOUT_P016 = 4,  /* the same in 16 bit */
    GR_LAYOUT_NV16 = 5,  /* 8 bit: Y, then UV in turns at half the width */
    GR_LAYOUT_YUV444 = 6 /* Y, U and V, each of full size */
} gr_layout;

/* Where memory lies. */
typedef enum gr_memory {
    GR_MEMORY_DEVICE = 0, /* of a CUDA device */
    GR_MEMORY_HOST = 1,   /* of the process */
    GR_MEMORY_PINNED = 2, /* of the process, known to CUDA */
    GR_MEMORY_MANAGED = 3 /* moved by CUDA between the two */
} gr_memory;

/* ---- Making ---------------------------------------------------------------------------------- */

/* The most dimensions that a tensor has. */
#define GR_TENSOR_DIMS 8u

/* A tensor to make. Everything is copied. */
typedef struct gr_tensor_desc {
    size_t struct_size;

    /* The type of its elements. 0: refused. */
    gr_dtype dtype;

    /* How many dimensions it has, and how large each is. 0: one element, and `shape` is NULL. */
    unsigned ndim;
    const int64_t *shape;

    /*
     * The bytes from one element of each dimension to the next. NULL: they follow each other, the
     * last dimension fastest.
     */
    const int64_t *strides;

    /* What the dimensions are. 0: what the shape says. */
    gr_layout layout;

    /* Where the memory lies. gr_buffer_tensor() and gr_tensor_view() know it: 0 there. */
    gr_memory memory;

    /* Nobody may write to it. A view of such a tensor, and of a read_only resource, is so too. */
    bool read_only;

    /*
     * The byte where element 0 is. gr_buffer_tensor(): of the buffer; gr_tensor_view(): counted
     * from the lowest byte that the tensor's elements have. 0 elsewhere.
     */
    size_t offset;

    /* Exports by DLPack may have negative strides. false: refused, since consumers crash. */
    bool negative_strides;
} gr_tensor_desc;

/*
 * Makes a tensor with memory of its own, whose bytes are undefined.
 *
 * The tensor's own stream is `stream`, whose later work may use it: memory of the device comes in
 * the order of the stream where the device has pools. GR_STREAM_NONE: it has no stream, and its
 * memory can be used at once.
 *
 * Owner    the caller, who frees it with gr_tensor_free()
 * Context  the current CUDA context; where there is none, the primary one of device 0
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  a field of `desc` or `stream`; negative strides, or ones that let
 *                           elements share bytes; the message names it
 *     GR_ERR_NO_DRIVER      no driver starts
 *     GR_ERR_UNSUPPORTED    the device has no managed memory
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_MEMORY
 *
 * Wraps cuMemAllocAsync, cuMemAlloc, cuMemAllocHost, cuMemAllocManaged.
 */
GR_API gr_tensor *gr_tensor_alloc(const gr_tensor_desc *desc, CUstream stream);

/* Called once when a tensor's memory is not used any more, on a thread that calls grinterop. */
typedef void (*gr_tensor_end_fn)(void *user);

/*
 * Makes a tensor of memory that is somebody's: `data` is the address of element 0, of memory of a
 * device the CUdeviceptr by way of uintptr_t. NULL is legal where there is no element.
 *
 * The bytes are ready once `ready_on` has done what it was given; GR_STREAM_NONE: they are ready.
 *
 *     gr_tensor_wrap(&desc, (void *)(uintptr_t)pointer, stream, NULL, NULL);
 *
 * Owner    the caller frees the tensor; the memory is whose it was, and has to live until the
 *          tensor has ended, which `end` tells, with `user`. NULL: nobody is told. After an error
 *          `end` is not called
 * Thread   `end` runs on a thread that calls grinterop, never within the driver's. It may call
 *          grinterop
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  a field of `desc`, or `ready_on`, or `data` is NULL
 *     GR_ERR_NO_DRIVER      no driver starts
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_tensor *gr_tensor_wrap(const gr_tensor_desc *desc, void *data, CUstream ready_on,
                                 gr_tensor_end_fn end, void *user);

/*
 * Makes a tensor of a mapped buffer's bytes, or of the linear memory of gr_map_linear(). No copy.
 *
 *     gr_buffer *buffer = gr_map(resource, stream);
 *     gr_tensor *tensor = gr_buffer_tensor(buffer, NULL);
 *
 * `desc` may be NULL: a buffer is its bytes, U8 of shape (size); an image is (H, W, C), or
 * (D, H, W, C), of its format, with its pitch.
 *
 * Owner    the caller, who frees it before the release. A tensor that is left is revoked by it
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL; a field of `desc`; it lies outside of the buffer
 *     GR_ERR_STATE          the mapping has ended; or it is an image that was mapped by gr_map()
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_tensor *gr_buffer_tensor(gr_buffer *buffer, const gr_tensor_desc *desc);

/*
 * How many tensors of the mapping there are, views too, which its end would revoke. An export holds
 * its tensor. 0 once the mapping has ended.
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 */
GR_API unsigned gr_buffer_tensors(const gr_buffer *buffer);

/*
 * Makes a tensor of another one's memory, which `desc` describes in another way: the layout or the
 * strides that a producer got wrong, a part, another dtype. The memory stays until both are freed.
 *
 * A view has to lie within the memory of its tensor, from the lowest byte that its elements have.
 * Of a tensor that was allocated or is of a mapping that goes to the end of the allocation or the
 * mapping; of one that was wrapped, and of a view, to the highest byte of its elements.
 *
 * Owner    the caller
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed; a field of `desc`; it lies outside
 *     GR_ERR_STATE          the tensor is revoked
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_tensor *gr_tensor_view(gr_tensor *tensor, const gr_tensor_desc *desc);

/*
 * Makes a compact copy, in memory of that kind, in the order of `stream`, which is its own.
 *
 * Owner    the caller
 *
 * Errors: NULL after those of gr_tensor_alloc() and gr_tensor_copy()
 */
GR_API gr_tensor *gr_tensor_clone(gr_tensor *tensor, gr_memory memory, CUstream stream);

/* ---- Ending ---------------------------------------------------------------------------------- */

/*
 * Drops the caller's hold. The tensor ends when its exports and views are gone too and the streams
 * that are known to use it have passed; nothing is waited for. NULL is fine.
 *
 * Thread   any, at any time
 *
 * Errors: recorded, as nothing is returned
 *     GR_ERR_INVALID_VALUE  it has been freed already
 */
GR_API void gr_tensor_free(gr_tensor *tensor);

/*
 * Ends what was freed and whose work is done, and waits for the rest, up to timeout_ms
 * milliseconds; 0 only looks, and GR_WAIT_FOREVER waits until nothing is left. The other calls that
 * make or end a tensor look likewise, so a program needs this only before it ends, or where memory
 * is short.
 *
 * Errors:
 *     GR_ERR_NOT_READY  some is not done, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT    some is not done after that time
 */
GR_API gr_status gr_tensor_collect(unsigned timeout_ms);

/* ---- What it is ------------------------------------------------------------------------------ */

/* A tensor. The tensor's. */
typedef struct gr_tensor_info {
    /* Where element 0 is, as CUDA knows it. 0: it was revoked, or has no element. */
    CUdeviceptr ptr;

    /* The same for the host. NULL: the host has no access. */
    void *data;

    gr_dtype dtype;

    /* Its dimensions; `shape` and `strides`, which are bytes, have as many entries. */
    unsigned ndim;
    const int64_t *shape;
    const int64_t *strides;

    gr_layout layout;
    gr_memory memory;

    /* The CUDA device whose memory it is, or in whose context the host's was made. */
    int device;

    bool read_only;

    /* The bytes of all elements, without gaps: what a copy to the host needs. */
    size_t bytes;

    /* Whether they follow each other without gaps, the last dimension fastest. */
    bool compact;

    /* Whether the mapping that it was of has ended. */
    bool revoked;
} gr_tensor_info;

/*
 * Tells what a tensor is.
 *
 * Valid    until gr_tensor_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed
 */
GR_API const gr_tensor_info *gr_tensor_get_info(const gr_tensor *tensor);

/* ---- Order ----------------------------------------------------------------------------------- */

/*
 * Makes `stream` wait until the bytes are ready: for what the tensor's own stream has been given so
 * far, and for what wrote to it elsewhere, as far as that is known.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, or `stream` is none
 *     GR_ERR_STATE          it is revoked
 *     GR_ERR_CUDA           the driver refused
 *
 * Wraps cuEventRecord, cuStreamWaitEvent.
 */
GR_API gr_status gr_tensor_wait(const gr_tensor *tensor, CUstream stream);

/*
 * Says that `stream` uses the tensor, in work that it has been given already: the tensor's end, the
 * release of its mapping and later gr_tensor_wait() come after that. It need not be said of the
 * tensor's own stream.
 *
 * Errors: as for gr_tensor_wait()
 *
 * Wraps cuEventRecord.
 */
GR_API gr_status gr_tensor_used_on(gr_tensor *tensor, CUstream stream);

/* ---- Copies ---------------------------------------------------------------------------------- */

/*
 * Copies all elements, in the order of `stream`, which first waits until both are ready. Their
 * shapes and dtypes are equal; their strides, memories and devices may differ. Where elements lie
 * scattered in either, the copy has many parts and is slow. The two must not overlap.
 *
 * With GR_MEMORY_HOST the call may wait for the stream; where it need not, the memory has to live,
 * and is ready, as the stream says.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a tensor is NULL or freed; their shapes or dtypes differ, which the
 *                           message has both of; elements of `to` share bytes; `stream` is none
 *     GR_ERR_STATE          a tensor is revoked, or `to` is read-only
 *     GR_ERR_CUDA           the driver refused
 *
 * Wraps cuMemcpyAsync, cuMemcpy3DAsync, cuMemcpyPeerAsync, cuMemcpy3DPeerAsync.
 */
GR_API gr_status gr_tensor_copy(gr_tensor *to, const gr_tensor *from, CUstream stream);

/*
 * Copies all elements to memory of the host, or from it. There they lie without gaps, the last
 * dimension fastest. `bytes` is how many there are: gr_tensor_info.bytes.
 *
 * The memory has to live until the stream has come so far, and what was copied to it is there then:
 * wait for the stream before you read it. Pageable memory may block the thread.
 *
 * Errors: as for gr_tensor_copy(), and
 *     GR_ERR_INVALID_VALUE  the memory is NULL, or `bytes` is another number
 */
GR_API gr_status gr_tensor_copy_to_host(const gr_tensor *tensor, void *to, size_t bytes,
                                        CUstream stream);
GR_API gr_status gr_tensor_copy_from_host(gr_tensor *tensor, const void *from, size_t bytes,
                                          CUstream stream);

/*
 * The bytes that the copies of this header and the kernels and copies of publish.h have written so
 * far, in this process: a difference of 0 says that nothing was copied.
 *
 * Thread   any
 */
GR_API uint64_t gr_bytes_moved(void);

/* ---- DLPack ---------------------------------------------------------------------------------- */

/*
 * DLPack's own. To look inside, include its one header, dlpack/dlpack.h of github.com/dmlc/dlpack;
 * ./bootstrap puts it into build/dlpack.
 */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/*
 * Exports a tensor by DLPack 1.3, without a copy. The second is what older consumers take, which
 * cannot say read-only.
 *
 * `consumer` is made to wait until the bytes are ready. What it has been given until the export
 * ends is a use of the tensor that may write: its end, the release of its mapping and later
 * gr_tensor_wait() come after that. GR_STREAM_NONE: no order.
 *
 * Memory of a device is kDLCUDA, other memory kDLCUDAHost, kDLCUDAManaged and kDLCPU; on the
 * software CUDA driver a device's is kDLCPU. For kDLCPU the call waits until the bytes are ready,
 * since who reads them there has no stream. For kDLCUDAHost and kDLCUDAManaged it waits as well,
 * unless `consumer` is GR_STREAM_NONE. Strides are always there, those of dimensions of 1 as if
 * compact; byte_offset is 0.
 *
 * Owner    the caller, or whoever gets it from there, who calls its deleter once, on any thread.
 *          It holds the tensor: gr_tensor_free() may come before
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, or `consumer` is NULL
 *     GR_ERR_STATE          it is revoked; or read-only, and the export is the older one
 *     GR_ERR_UNSUPPORTED    strides that are negative, unless gr_tensor_desc.negative_strides, or
 *                           no multiples of an element; an address that is none, where no kernel
 *                           can read it; grinterop was built without DLPack
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_MEMORY
 */
GR_API struct DLManagedTensorVersioned *gr_tensor_dlpack(gr_tensor *tensor, CUstream consumer);
GR_API struct DLManagedTensor *gr_tensor_dlpack_legacy(gr_tensor *tensor, CUstream consumer);

/*
 * Imports another framework's tensor, of DLPack 1 or of the older form, without a copy. The bytes
 * are ready once `ready_on` has done what it was given: pass the stream that the producer was asked
 * for. GR_STREAM_NONE: they are ready.
 *
 * Strides that are NULL are compact. Elements of several lanes are as many elements, in a dimension
 * of their own. On the software CUDA driver memory of the process counts as the device's.
 *
 * Owner    the caller frees the tensor. On success it has taken `managed`, and calls its deleter
 *          once, when the tensor ends; after an error `managed` is still the caller's, to whom it
 *          falls to call that
 * Thread   the deleter runs on a thread that calls grinterop
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `managed` is NULL, or is imported and not ended, or holds what cannot
 *                           be; the message says what
 *     GR_ERR_UNSUPPORTED    a type, device or version that grinterop does not know; more than
 *                           GR_TENSOR_DIMS dimensions; an address that is no multiple of an
 *                           element; grinterop was built without DLPack
 *     GR_ERR_NO_DRIVER      no driver starts
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_tensor *gr_tensor_from_dlpack(struct DLManagedTensorVersioned *managed,
                                        CUstream ready_on);
GR_API gr_tensor *gr_tensor_from_dlpack_legacy(struct DLManagedTensor *managed, CUstream ready_on);

/* ---- The CUDA array interface ---------------------------------------------------------------- */

/* The fields of __cuda_array_interface__. The tensor's. */
typedef struct gr_array_interface {
    /* Where element 0 is. */
    CUdeviceptr data;

    /* Nobody may write to it. */
    bool read_only;

    /* The type of an element, as gr_dtype_typestr() names it. */
    const char *typestr;

    /* `strides`, in bytes, is NULL where elements follow each other. */
    unsigned ndim;
    const int64_t *shape;
    const int64_t *strides;

    /* The stream that the consumer has to wait for, as a pointer. NULL: the bytes are ready. */
    CUstream stream;

    /* 3. */
    unsigned version;
} gr_array_interface;

/*
 * Describes memory that CUDA can reach by the fields of the CUDA array interface, version 3.
 * Imports are gr_tensor_wrap().
 *
 * `consumer` is made to wait until the bytes are ready, and `stream` is NULL. With GR_STREAM_NONE
 * `stream` names the tensor's own, for which the consumer waits by itself; where it has none, this
 * call waits.
 *
 * The interface has no end: say by gr_tensor_used_on() what a stream was given later, and keep the
 * tensor until then.
 *
 * Valid    until the next such call for the tensor, and gr_tensor_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL or freed, or `consumer` is NULL
 *     GR_ERR_STATE          it is revoked
 *     GR_ERR_UNSUPPORTED    it is memory of the process, which CUDA does not know
 *     GR_ERR_CUDA           the driver refused
 */
GR_API const gr_array_interface *gr_tensor_array_interface(gr_tensor *tensor, CUstream consumer);

#if defined(__GNUC__)
GR_API void gr_tensor_at_scope_end(gr_tensor **tensor); /* for GR_AUTO(gr_tensor) */
#endif

#ifdef __cplusplus
}
#endif
#endif
