/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Orders the uses of a tensor. Every use is between a begin and an end. */
#ifndef GR_LIB_TENSOR_USE_H
#define GR_LIB_TENSOR_USE_H

#include "lib/tensor/tensor.h"

/*
 * Begins a use: makes the stream wait until the tensor's data is ready. Refuses revoked or freed
 * tensors, and memory of another device that kernels on this stream cannot access. A write also
 * waits for pending reads, and refuses read-only tensors. `at` is the CUDA context of the stream,
 * because each context has its own default streams.
 */
gr_status gr_tensor_begin_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                              bool write, const char *call);

/* Like gr_tensor_begin_use(), for copies by the driver, which can access every device. */
gr_status gr_tensor_begin_copy(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool write, const char *call);

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
gr_status gr_tensor_begin_export(gr_tensor *tensor, CUstream consumer, const char *call);
void gr_tensor_end_export(gr_tensor *tensor, CUstream consumer);

/* Blocks the calling thread until the bytes are ready, for readers without a stream. */
gr_status gr_tensor_await(const gr_tensor *tensor, const char *call);

/*
 * Enables peer access if the device of the stream needs it; if that fails, the message names both
 * devices. Copies by the driver do not need this.
 */
gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at, const char *call);

#endif
