/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies a tensor to or from the next slot of a ring, as publish.h describes. */
#ifndef GR_TESTS_RING_RING_TENSOR_H
#define GR_TESTS_RING_RING_TENSOR_H

#include <grinterop/publish.h>
#include <grinterop/ring.h>

static inline gr_status ring_publish(gr_ring *ring, const gr_tensor *tensor, CUstream stream,
                                     unsigned timeout_ms)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_write(ring, stream, &slot, 1, timeout_ms);
    if (status != GR_OK)
        return status;
    status = gr_buffer_publish(slot->buffer, tensor, NULL, stream);
    if (status == GR_OK)
        status = gr_ring_hand_over(ring, &slot, 1);
    if (status != GR_OK)
        gr_ring_cancel_write(ring, &slot, 1);
    return status;
}

static inline gr_status ring_fetch(gr_ring *ring, gr_tensor *tensor, CUstream stream,
                                   unsigned timeout_ms)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_read(ring, stream, &slot, 1, timeout_ms);
    if (status != GR_OK)
        return status;
    status = gr_buffer_fetch(slot->buffer, tensor, NULL, stream);
    if (status == GR_OK)
        status = gr_ring_give_back(ring, &slot, 1);
    if (status != GR_OK)
        gr_ring_cancel_read(ring, &slot, 1);
    return status;
}

#endif
