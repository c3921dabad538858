/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a tensor's uses. Every use stands between a begin and an end. */
#ifndef GR_LIB_TENSOR_USE_H
#define GR_LIB_TENSOR_USE_H

#include "lib/tensor/tensor_types.h"

/*
 * The stream waits until the tensor's data is ready; refuses one that was revoked or freed, or of
 * another device that kernels on this stream can't reach. The begin of a write also waits for those
 * who still read, and refuses a read-only tensor. `at` is the CUDA context in which the stream is
 * used: each context has default streams of its own.
 */
gr_status gr_tensor_begin_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                              const char *call);
gr_status gr_tensor_begin_write(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at, const char *call);

/*
 * Work with the tensor was put into the stream: its end comes after that, and so do later uses of
 * what was written. They can't fail: without an event they wait.
 */
void gr_tensor_end_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at);
void gr_tensor_end_write(const gr_tensor *tensor, CUstream stream, const struct gr_context *at);

/* The same two begins for copies by the driver, which reach every device. */
gr_status gr_tensor_begin_read_copy(const gr_tensor *tensor, CUstream stream,
                                    const struct gr_context *at, const char *call);
gr_status gr_tensor_begin_write_copy(const gr_tensor *tensor, CUstream stream,
                                     const struct gr_context *at, const char *call);

/*
 * An export to `consumer`, which is GR_STREAM_NONE where there is no order: it holds the tensor
 * until it ends, on any thread.
 */
gr_status gr_tensor_begin_export(gr_tensor *tensor, CUstream consumer, const char *call);
void gr_tensor_end_export(gr_tensor *tensor, CUstream consumer);

#endif
