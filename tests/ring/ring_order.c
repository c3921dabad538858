/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Order between the two sides: delayed work in a stream is complete when the other side sees the
 * slot. Each case first shows with raw driver calls that there is work to wait for.
 */
#define _GNU_SOURCE
#include "ring.h"

#include <grinterop/image.h>
#include <string.h>

#define DELAY_MS 60

static unsigned char host[RING_SIZE];

/*
 * Reads a mapped slot on a stream that does not wait for the delayed writes, and checks that it
 * still has `value`, the bytes from before these writes.
 */
static void assert_raw(const gr_slot *slot, int value, CUstream stream)
{
    cuda_read(host, gr_buffer_ptr(slot->buffer), RING_SIZE, stream);
    assert_bytes(host, RING_SIZE, value);
}

/* Waits for the stream, so that raw driver calls see its results. Then inserts a gate. */
static struct gate *gate_after_work(void)
{
    CU(StreamSynchronize(fx.stream));
    return gate_put(fx.stream);
}

GROUP("order", add_ring_case)

TEST(opengl_reads_after_pending_cuda_writes, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    GR_AUTO(gr_ring) *ring =
        must_make_ring(2, &GR_INIT(gr_ring_options, .mode = (gr_ring_mode)(_i % 2)));
    const gr_slot *slot;
    for (int value = 1; value < 5; value++) {
        must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
        CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), 0xAA, RING_SIZE, fx.stream));
        struct gate *gate = gate_after_work();
        slot_fill(slot, value);
        assert_raw(slot, 0xAA, fx.other);
        gate_open_after(gate, DELAY_MS);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        read_frame(ring, GR_SIDE_CUDA, value);
        ck_assert(gate_is_open(gate));
    }
}

TEST(opengl_reads_a_group_after_all_its_cuda_writes, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_ring) *ring = must_make_ring(4, NULL);
    const gr_slot *slots[4];
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 4);
    for (int i = 0; i < 3; i++)
        slot_fill(slots[i], i + 1);
    struct gate *gate = gate_after_work();
    slot_fill(slots[3], 4);
    assert_raw(slots[3], 0, fx.other);
    gate_open_after(gate, DELAY_MS);
    assert_ok(gr_ring_hand_over(ring, slots, 4));
    must_acquire_read(ring, GR_SIDE_CUDA, slots, 4);
    for (int i = 3; i >= 0; i--)
        assert_slot(slots[i], i + 1);
    assert_ok(gr_ring_give_back(ring, slots, 4));
}

/* The slots of one group may have been acquired on different streams. */
TEST(each_slot_of_a_group_is_handed_over_on_its_own_stream, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    const gr_slot *slots[2];
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slots[0], 1, 0));
    assert_ok(gr_ring_acquire_write(ring, fx.other, &slots[1], 1, 0));
    struct gate *gates[2] = {gate_put(fx.stream), gate_put(fx.other)};
    slot_fill(slots[0], 1);
    slot_fill(slots[1], 2);
    gate_open_after(gates[0], DELAY_MS);
    gate_open_after(gates[1], DELAY_MS);
    assert_ok(gr_ring_hand_over(ring, slots, 2));
    ck_assert_uint_eq(read_frame(ring, GR_SIDE_CUDA, 1), 1);
    ck_assert_uint_eq(read_frame(ring, GR_SIDE_CUDA, 2), 2);
}

/*
 * The next write is on another stream and must come after the write of the dropped frame, which
 * nobody read.
 */
TEST(a_dropped_frame_is_overwritten_after_its_pending_write, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    GR_AUTO(gr_ring) *ring = must_make_ring_of(1, GR_SIDE_CUDA, GR_RING_NEWEST);
    const gr_slot *slot;
    for (int value = 1; value < 5; value++) {
        must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
        struct gate *gate = gate_after_work();
        slot_fill(slot, 0xBB);
        gate_open_after(gate, DELAY_MS);
        assert_ok((_i % 2 ? gr_ring_cancel_write : gr_ring_hand_over)(ring, &slot, 1));
        assert_ok(gr_ring_acquire_write(ring, fx.other, &slot, 1, 0));
        slot_fill(slot, value);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        read_frame(ring, GR_SIDE_CUDA, value);
        ck_assert(gate_is_open(gate));
        CU(StreamSynchronize(fx.stream));
    }
}

TEST(freeing_a_ring_waits_for_pending_cuda_writes)
{
    gr_ring *ring = must_make_ring(2, NULL);
    const gr_slot *slot;
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    GLuint name = ring_name(slot->resource);
    struct gate *gate = gate_after_work();
    slot_fill(slot, 7);
    assert_raw(slot, 0, fx.other);
    gate_open_after(gate, DELAY_MS);
    gr_buffer *buffer = slot->buffer;
    gr_ring_free(ring);
    assert_gl_bytes(name, RING_SIZE, 7);
    assert_ok(gr_buffer_release(buffer));
}

/* ---- CUDA reads ------------------------------------------------------------------------------ */

/* The consumer gives the frame back or cancels the read, which may have begun in the stream. */
TEST(opengl_writes_after_pending_cuda_reads, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    const bool cancels = _i % 2;
    GR_AUTO(gr_ring) *ring =
        must_make_ring_of(1, GR_SIDE_GRAPHICS, cancels ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    const gr_slot *slot;
    CUdeviceptr copy = 0;
    CU(MemAlloc(&copy, RING_SIZE));
    CU(MemsetD8Async(copy, 0, RING_SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    for (int value = 1; value < 5; value++) {
        write_frame(ring, GR_SIDE_GRAPHICS, value);
        must_acquire_read(ring, GR_SIDE_GRAPHICS, &slot, 1);
        struct gate *gate = gate_after_work();
        CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(slot->buffer), RING_SIZE, fx.stream));
        cuda_read(host, copy, RING_SIZE, fx.other);
        ck_assert_int_ne(host[0], value); /* the copy from the slot is still pending */
        gate_open_after(gate, DELAY_MS);
        assert_ok((cancels ? gr_ring_cancel_read : gr_ring_give_back)(ring, &slot, 1));
        write_frame(ring, GR_SIDE_GRAPHICS, 0xCC);
        glFinish();
        cuda_read(host, copy, RING_SIZE, fx.stream);
        assert_bytes(host, RING_SIZE, value);
        read_frame(ring, GR_SIDE_GRAPHICS, 0xCC);
    }
    CU(MemFree(copy));
}

/* Like a cancel above, for OpenGL commands that read. */
TEST(cuda_writes_after_a_pending_opengl_read_was_cancelled, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_ring) *ring = must_make_ring_of(1, GR_SIDE_CUDA, GR_RING_NEWEST);
    GLuint copy = gl_buffer_filled(RING_SIZE, 0);
    const gr_slot *slot;
    for (int value = 1; value < 5; value++) {
        write_frame(ring, GR_SIDE_CUDA, value);
        must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
        glBindBuffer(GL_COPY_READ_BUFFER, ring_name(slot->resource));
        glBindBuffer(GL_COPY_WRITE_BUFFER, copy);
        glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, RING_SIZE);
        assert_ok(gr_ring_cancel_read(ring, &slot, 1));
        write_frame(ring, GR_SIDE_CUDA, 0xCC);
        CU(StreamSynchronize(fx.stream));
        assert_gl_bytes(copy, RING_SIZE, value);
        read_frame(ring, GR_SIDE_CUDA, 0xCC);
    }
}

/*
 * OpenGL creates the signal, so the cancel fails without the OpenGL context, and the consumer keeps
 * the slot.
 */
TEST(cancelling_an_opengl_read_needs_the_opengl_context)
{
    need_transport(1);
    GR_AUTO(gr_ring) *ring = must_make_ring(1, NULL);
    const gr_slot *slot;
    write_frame(ring, GR_SIDE_CUDA, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_cancel_read(ring, &slot, 1), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_slots(ring, 0, 0, 0, 1);
    assert_ok(gr_ring_cancel_read(ring, &slot, 1));
    read_frame(ring, GR_SIDE_CUDA, 1);
}

/* Before the first frame, CUDA waits for what OpenGL was told to draw into the slots. */
TEST(cuda_writes_after_the_drawing_from_before_the_ring)
{
    enum { SIDE = 256 };
    static unsigned char bytes[SIDE][SIDE][4];
    need_transport(1);
    GR_AUTO(gr_resource) *image = gr_create_gl_image(
        &GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                 .width = SIDE, .height = SIDE),
        GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED));
    if (!image)
        skip("%s", error_text());
    const gr_slot *slot;
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, gr_gl_name(image),
                           0);
    glClearColor(1, 1, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&image, 1, NULL));
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    memset(bytes, 0x5A, sizeof(bytes));
    copy_array(gr_buffer_array(slot->buffer, 0, 0), bytes, sizeof(bytes[0]), SIDE, true);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    memset(bytes, 0, sizeof(bytes));
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    assert_bytes(&bytes[0][0][0], sizeof(bytes), 0x5A);
    glDeleteFramebuffers(1, &framebuffer);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}
