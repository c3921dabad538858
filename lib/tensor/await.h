/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting on the host for a tensor. */
#ifndef GR_LIB_TENSOR_AWAIT_H
#define GR_LIB_TENSOR_AWAIT_H

#include "lib/tensor/tensor_types.h"

/* The calling thread waits until the bytes are ready, for those who read without a stream. */
gr_status gr_tensor_await(const gr_tensor *tensor, const char *call);

#endif
