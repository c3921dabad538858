/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies a tensor to or from the next slot of a ring. */
#ifndef GR_TESTS_RING_RING_TENSOR_H
#define GR_TESTS_RING_RING_TENSOR_H

#include <grinterop/publish.h>
#include <grinterop/ring.h>

static inline gr_status ring_publish(gr_ring *ring, const gr_tensor *tensor, CUstream stream,
                                     unsigned timeout_ms)
{
    return gr_publish(NULL, tensor,
                      &GR_INIT(gr_publish_options, .ring = ring, .timeout_ms = timeout_ms), stream);
}

static inline gr_status ring_fetch(gr_ring *ring, gr_tensor *tensor, CUstream stream,
                                   unsigned timeout_ms)
{
    return gr_fetch(NULL, tensor,
                    &GR_INIT(gr_publish_options, .ring = ring, .timeout_ms = timeout_ms), stream);
}

#endif
