/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The struct of a tensor, its shape, and its creation, uses and end inside the library. */
#ifndef GR_LIB_TENSOR_TENSOR_H
#define GR_LIB_TENSOR_TENSOR_H

#include <stdatomic.h>
#include <grinterop/tensor.h>

#include "lib/base/cuda_abi.h"
#include "lib/cuda/end_after_event.h"
#include "lib/cuda/exportable.h"
#include "lib/resource/mapping_users.h"

/* ---- Shapes and strides ---------------------------------------------------------------------- */

struct gr_shape {
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS]; /* strides in bytes */
    size_t bytes;                                           /* the size of all elements in bytes */
    size_t before, span; /* the bytes spanned before element 0, and in total */
    bool compact;
};

/* Checks a description that was copied by GR_TAKE. Fills in NULL strides. */
gr_status gr_shape_init(struct gr_shape *shape, const gr_tensor_desc *desc);

/* Refuses shapes whose elements lie outside of `room` bytes, if element 0 is at `offset`. */
gr_status gr_shape_check_room(const struct gr_shape *shape, size_t offset, size_t room,
                              const char *what);

/* Whether no two elements share bytes. May be false for complicated strides that are disjoint. */
bool gr_shape_is_disjoint(const struct gr_shape *shape, size_t element);

/* Fills in the strides of a compact tensor, for a checked shape. */
void gr_shape_compact(unsigned ndim, const int64_t *shape, size_t element, int64_t *strides);

/* The text of a shape for messages, such as "(1080, 1920, 4)". */
#define GR_SHAPE_TEXT 176
struct gr_shape_text {
    char text[GR_SHAPE_TEXT];
};
struct gr_shape_text gr_shape_format(unsigned ndim, const int64_t *shape);

/* The size in bytes of a type that was checked. */
extern const gr_dtype_info gr_dtypes[];
static inline size_t gr_dtype_size(gr_dtype dtype)
{
    return gr_dtypes[dtype].size;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

/* How a tensor's memory is freed. */
enum gr_tensor_memory_end {
    GR_TENSOR_NOT_OURS,  /* freed by `end`, if it is set */
    GR_TENSOR_ASYNC,     /* freed by cuMemFreeAsync */
    GR_TENSOR_FREE,      /* freed by cuMemFree */
    GR_TENSOR_PINNED,    /* freed by cuMemFreeHost */
    GR_TENSOR_MALLOC,    /* freed by free() */
    GR_TENSOR_EXPORTABLE /* freed by gr_exportable_end() */
};

struct gr_tensor {
    atomic_uint holds; /* the number of references by the caller, exports and views */
    /* the strides are in bytes, and always set */
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS];
    /* the address of element 0, also in host memory, or the CUarray; 0 once revoked */
    _Atomic CUdeviceptr ptr;
    CUdeviceptr low;       /* the start of the memory that views may use */
    size_t room;           /* the size of that memory in bytes */
    bool negative_strides; /* negative strides are allowed in DLPack exports */
    bool copied;           /* created by gr_tensor_clone(): IS_COPIED in DLPack */
    struct gr_context context;
    CUstream stream; /* the tensor's own stream, or GR_STREAM_NONE */
    /* for a view: a reference to the tensor that owns the memory; otherwise NULL */
    gr_tensor *root;
    /* the tensor as a user of a mapping, if any, and its streams; a view uses those of `root` */
    struct gr_mapping_user user;
    enum gr_tensor_memory_end how;
    void *block;                     /* GR_TENSOR_MALLOC: the pointer from malloc() */
    struct gr_exportable exportable; /* for GR_TENSOR_EXPORTABLE */
    gr_tensor_end_fn end;
    void *end_user;
    /*
     * Returned by gr_tensor_get_info(). Its pointers are set by gr_tensor_expose(), and `revoked`,
     * which is atomic, at the end of the mapping.
     */
    gr_tensor_info info;
    gr_array_interface array; /* returned by gr_tensor_array_interface() */
    struct gr_ending ending;  /* keeps the freed tensor until the streams in `user` are done */
};

/* Refuses NULL, freed tensors and revoked tensors. */
gr_status gr_tensor_check(const gr_tensor *tensor);

/*
 * gr_tensor_make() creates the common part, with one reference and no memory. `desc` must be copied
 * by GR_TAKE, and `shape` computed from it. NULL: out of memory.
 */
gr_tensor *gr_tensor_make(const gr_tensor_desc *desc, const struct gr_shape *shape);

/*
 * Sets the tensor's CUDA context: a reference to `context`, or, if `context` is NULL, to the
 * current context.
 */
gr_status gr_tensor_set_context(gr_tensor *tensor, const struct gr_context *context);

/* Sets the memory: element 0 at `ptr`, and the range that views may use. */
void gr_tensor_set_memory(gr_tensor *tensor, CUdeviceptr ptr, CUdeviceptr low, size_t room);

/*
 * Completes a creation: makes the tensor visible to the caller, who owns it from now on, or
 * discards it and returns NULL if `status` is an error.
 */
gr_tensor *gr_tensor_expose(gr_tensor *tensor, gr_status status);

/*
 * These functions take and drop a reference, on any thread. Dropping the last reference ends the
 * tensor.
 */
void gr_tensor_hold(gr_tensor *tensor);
void gr_tensor_drop(gr_tensor *tensor);

/*
 * Like gr_tensor_create(), for a copied description, in the same context as `like`, which may be
 * NULL.
 */
gr_tensor *gr_tensor_alloc_taken(const gr_tensor_desc *desc, const struct gr_context *like,
                                 CUstream stream);

/*
 * Like gr_tensor_from_memory(), for a description by the library. `device`
 * is the owner of the memory, even if the driver does not know it; -1: the driver is queried.
 */
gr_tensor *gr_tensor_wrap_as(const gr_tensor_desc *desc, void *data, int device, CUstream ready_on,
                             gr_tensor_end_fn end, void *user);

/*
 * Makes the context current if the driver may be called: the context exists, and the process is not
 * exiting. Tries twice, because after a failure memory is leaked, or the use of a stream is not
 * noted, and the memory may be freed under its work.
 */
bool gr_tensor_enter(const struct gr_context *context, gr_entered *entered);

/* ---- Uses: every use is between a begin and an end ------------------------------------------- */

/*
 * Begins a use: makes the stream wait until the tensor's data is ready. The tensor is alive.
 * Refuses memory of another device that kernels on this stream cannot access. A write also waits
 * for pending reads, and refuses read-only tensors. `at` is the CUDA context of the stream, because
 * each context has its own default streams.
 */
gr_status gr_tensor_begin_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                              bool write);

/* The same for a stream that was checked, after gr_tensor_check_reach(). */
gr_status gr_tensor_begin_checked_use(const gr_tensor *tensor, CUstream stream,
                                      const struct gr_context *at, bool write);

/*
 * Like gr_tensor_begin_use(), for copies by the driver, which can access every device. Also refuses
 * revoked or freed tensors.
 */
gr_status gr_tensor_begin_copy(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool write);

/*
 * Ends a use, after the work with the tensor was enqueued in the stream. The end of the tensor
 * waits for that work; after a write, later uses wait for it, too. This function cannot fail: if no
 * event can be recorded, it blocks.
 */
void gr_tensor_end_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                       bool wrote);

/*
 * Begins an export to a consumer that uses the stream `consumer`. With GR_STREAM_NONE, nothing
 * orders the consumer's work. The export keeps the tensor alive until it ends, on any thread.
 */
gr_status gr_tensor_begin_export(gr_tensor *tensor, CUstream consumer);
void gr_tensor_end_export(gr_tensor *tensor, CUstream consumer);

/* Blocks the calling thread until the bytes are ready, for readers without a stream. */
gr_status gr_tensor_await(const gr_tensor *tensor);

/*
 * Enables peer access if the device of the stream needs it; if that fails, the message names both
 * devices. Copies by the driver do not need this.
 */
gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at);

/*
 * Runs of adjacent bytes in host and device memory: one run for each element of the shape. The
 * strides are not negative.
 */
struct gr_runs {
    CUdeviceptr at; /* the address of the first run in host memory */
    size_t bytes;   /* the size of a run */
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS], host[GR_TENSOR_DIMS], device[GR_TENSOR_DIMS];
};

/* Copies runs in stream order, to or from device memory. The CUDA context is current. */
gr_status gr_runs_copy(const struct gr_runs *runs, CUdeviceptr device, bool to_device,
                       CUstream stream);

/* Copies a tensor of the same type and shape in stream order. The use of both has begun. */
gr_status gr_tensor_copy_used(const gr_tensor *to, const gr_tensor *from,
                              const struct gr_context *at, CUstream stream);

/* ---- Tensors of CUDA arrays, which have a shape but no addresses ----------------------------- */

/* Returns the element type of an array format; 0 for formats without plain channels. */
gr_dtype gr_array_dtype(CUarray_format format);

/*
 * Completes the description of an array by the values that the driver reports: the dtype and the
 * shape (H, W, C), which is written to `shape`. Refuses a description that differs, and arrays that
 * are not 2D.
 */
gr_status gr_array_describe(CUarray array, gr_tensor_desc *desc, int64_t shape[3]);

/* Whether the memory of the tensor is an array, whose handle is then in `ptr`. */
static inline bool gr_tensor_is_array(const gr_tensor *tensor)
{
    return tensor->info.memory == GR_MEMORY_ARRAY;
}

/* Refuses a tensor of an array, for calls that need addresses. */
gr_status gr_tensor_refuse_array(const gr_tensor *tensor, const char *what);

#endif
