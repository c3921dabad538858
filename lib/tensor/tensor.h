/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, for the code that creates and uses them. */
#ifndef GR_LIB_TENSOR_TENSOR_H
#define GR_LIB_TENSOR_TENSOR_H

#include "lib/tensor/shape.h"
#include "lib/tensor/tensor_types.h"

/* Refuses NULL, what was freed, and what was revoked. */
gr_status gr_tensor_check(const gr_tensor *tensor, const char *call);

/*
 * Makes the common part, with one hold and no memory; `desc` was taken and `shape` is of it. NULL:
 * no memory. gr_tensor_discard() frees what has not become a tensor; its context is dropped.
 */
gr_tensor *gr_tensor_make(const gr_tensor_desc *desc, const struct gr_shape *shape,
                          const char *call);
void gr_tensor_discard(gr_tensor *tensor);

/* The tensor's CUDA context, a new hold of `context`, or the current one where that is NULL. */
gr_status gr_tensor_take_context(gr_tensor *tensor, const struct gr_context *context,
                                 const char *call);

/* Where it is: element 0 at `ptr`, and the memory for its views. */
void gr_tensor_place(gr_tensor *tensor, CUdeviceptr ptr, CUdeviceptr low, size_t room);

/* It is the caller's from now on. */
gr_tensor *gr_tensor_show(gr_tensor *tensor);

/* A hold of the library's own, and the end of any; the last one ends the tensor. Any thread. */
void gr_tensor_hold(gr_tensor *tensor);
void gr_tensor_drop(gr_tensor *tensor);

/* gr_tensor_alloc() of a description that was taken, in a context like `like`, or NULL. */
gr_tensor *gr_tensor_alloc_taken(const gr_tensor_desc *desc, const struct gr_context *like,
                                 CUstream stream, const char *call);

/*
 * As gr_tensor_wrap(), of a description that is the library's own, in messages of `call`. `device`:
 * whose memory it is, which the driver need not know; -1: the driver is asked.
 */
gr_tensor *gr_tensor_wrap_as(const gr_tensor_desc *desc, void *data, int device, CUstream ready_on,
                             gr_tensor_end_fn end, void *user, const char *call);

/* Element 0 is at `ptr`, and the memory is `room` bytes from `low` on; the mapping lives. */
gr_tensor *gr_tensor_of_mapping(gr_buffer *buffer, gr_tensor *tensor, CUdeviceptr ptr,
                                CUdeviceptr low, size_t room, const char *call);

/* The calling thread waits until the bytes are ready, for those who read without a stream. */
gr_status gr_tensor_await(const gr_tensor *tensor, const char *call);

/* Makes it so where it can be, else refuses with both devices. The driver's copies need it not. */
gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at, const char *call);

/* A copy or a kernel that writes so many bytes was put into a stream. */
void gr_count_moved(size_t bytes);

/* From now on the end of the process is noticed, after which no driver is asked. */
void gr_tensor_watch_exit(void);

/* Enters the context if the driver may be asked: the process is not ending, the context lives. */
bool gr_tensor_enter(const struct gr_context *context, bool *pushed);

/* Nobody holds it any more. */
void gr_tensor_end(gr_tensor *tensor);

/* Ends what was put aside and is done. */
void gr_tensor_end_done(void);

#endif
