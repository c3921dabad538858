/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One thread fills frames with CUDA, and another thread reads each frame with OpenGL. */
#include <epoxy/gl.h>
#include <pthread.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>

#include "program.h"

enum { SLOTS = 3, FRAMES = 20, SIZE = 4096 };

static int frame; /* the frame being read */

static unsigned char of_frame(size_t place)
{
    (void)place;
    return (unsigned char)frame;
}

static void *produce(void *user)
{
    gr_ring *ring = user;
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the producer's CUDA context");
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    for (int i = 1; i <= FRAMES; i++) {
        const gr_slot *slot;
        check(gr_ring_acquire_write(ring, stream, &slot, 1, 10000) == GR_OK, "a free slot");
        check(
            !gr_cuda()->MemsetD8Async(gr_buffer_ptr(slot->buffer), (unsigned char)i, SIZE, stream),
            "a fill");
        check(gr_ring_hand_over(ring, &slot, 1) == GR_OK, "a frame");
    }
    check(!gr_cuda()->StreamSynchronize(stream), "the stream");
    return NULL;
}

static gr_ring *make_ring(void)
{
    gr_resource *slots[SLOTS];
    const gr_gl_options shared = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    for (int i = 0; i < SLOTS; i++) {
        slots[i] = gr_create_gl_buffer(SIZE, GR_WRITE_DISCARD, &shared);
        check(slots[i], "a buffer");
    }
    gr_ring *ring = gr_ring_create(slots, SLOTS, NULL);
    check(ring, "the ring");
    for (int i = 0; i < SLOTS; i++)
        gr_resource_free(slots[i]); /* the ring keeps the resources */
    return ring;
}

int main(void)
{
    static unsigned char bytes[SIZE];
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    GR_AUTO(gr_ring) *ring = make_ring();
    pthread_t producer;
    check(pthread_create(&producer, NULL, produce, ring) == 0, "a thread");
    for (frame = 1; frame <= FRAMES; frame++) {
        const gr_slot *slot;
        check(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 10000) == GR_OK, "a frame");
        glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(slot->resource));
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
        check_bytes(bytes, SIZE, of_frame);
        check(gr_ring_give_back(ring, &slot, 1) == GR_OK, "a slot");
    }
    pthread_join(producer, NULL);
    return 0;
}
