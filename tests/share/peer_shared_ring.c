/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings between a device that renders and another device that computes. Every byte of every frame
 * is compared. GR_TEST_FRAMES sets the number of frames.
 */
#define _GNU_SOURCE
#include "peer_shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 4
#define FRAME ((size_t)4096)
#define BATCH 63 /* the number of frames compared in one step */

static gr_ring *make_ring(gr_side producer)
{
    gr_resource *resources[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_share(FRAME);
    gr_ring *ring = must_make(
        gr_ring_create(resources, SLOTS, &GR_INIT(gr_ring_options, .producer = producer)));
    free_resources(resources, SLOTS);
    return ring;
}

/* Checks `count` frames in `bytes`: frame i must have the pattern first + i. */
static void check_frames(const unsigned char *bytes, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_pattern(bytes + i * FRAME, FRAME, first + i);
}

GROUP("frames", add_peer_case)

static void cuda_to_opengl(gr_ring *ring, unsigned frame, GLuint seen)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON));
    kernel_fill_pattern(gr_buffer_ptr(slot->buffer), FRAME, frame, fx.stream);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, SOON));
    glCopyNamedBufferSubData(gr_gl_name(slot->resource), seen, 0, (GLintptr)(frame % BATCH * FRAME),
                             (GLsizeiptr)FRAME);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

PEER_TEST(opengl_reads_every_frame_of_cuda)
{
    need_kernels();
    unsigned long wanted = frames_wanted();
    GLuint seen = gl_buffer_filled(BATCH * FRAME, 0xEE);
    unsigned char *bytes = must_allocate(BATCH * FRAME);
    gr_ring *ring = make_ring(GR_SIDE_CUDA);
    for (unsigned long i = 0; i < wanted; i++) {
        unsigned in_batch = (unsigned)(i % BATCH) + 1;
        cuda_to_opengl(ring, (unsigned)i, seen);
        if (in_batch < BATCH && i + 1 < wanted)
            continue;
        gl_read(seen, bytes, in_batch * FRAME);
        check_frames(bytes, (unsigned)i + 1 - in_batch, in_batch);
    }
    gr_ring_free(ring);
    free(bytes);
}

/* ---- OpenGL writes, CUDA reads --------------------------------------------------------------- */

static void opengl_to_cuda(gr_ring *ring, unsigned frame, GLuint patterns, CUdeviceptr seen)
{
    const gr_slot *slot;
    size_t at = frame % BATCH * FRAME;
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, SOON));
    glCopyNamedBufferSubData(patterns, gr_gl_name(slot->resource), (GLintptr)at, 0,
                             (GLsizeiptr)FRAME);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    assert_ok(gr_ring_acquire_read(ring, fx.stream, &slot, 1, SOON));
    kernel_copy(seen + at, gr_buffer_ptr(slot->buffer), FRAME, fx.stream);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

PEER_TEST(cuda_reads_every_frame_of_opengl)
{
    need_kernels();
    unsigned long wanted = frames_wanted();
    CUdeviceptr seen = 0;
    unsigned char *bytes = must_allocate(BATCH * FRAME);
    for (unsigned i = 0; i < BATCH; i++)
        pattern_fill(bytes + i * FRAME, FRAME, i);
    GLuint patterns = gl_buffer(bytes, BATCH * FRAME);
    gr_ring *ring = make_ring(GR_SIDE_GRAPHICS);
    CU(MemAlloc(&seen, BATCH * FRAME));
    for (unsigned long i = 0; i < wanted; i++) {
        unsigned in_batch = (unsigned)(i % BATCH) + 1;
        opengl_to_cuda(ring, (unsigned)i, patterns, seen);
        if (in_batch < BATCH && i + 1 < wanted)
            continue;
        CU(MemcpyDtoHAsync(bytes, seen, in_batch * FRAME, fx.stream));
        CU(MemsetD8Async(seen, 0xEE, BATCH * FRAME, fx.stream));
        CU(StreamSynchronize(fx.stream));
        check_frames(bytes, 0, in_batch);
    }
    gr_ring_free(ring);
    CU(MemFree(seen));
    free(bytes);
}

/* ---- Another process, with its CUDA context on another device -------------------------------- */

static gr_ring *child_ring(void)
{
    const char *number = getenv("CHILD_FD");
    child_check(number);
    fixture_setup();
    gr_ring *ring = gr_ring_receive(atoi(number), NULL, 0, NULL, SOON);
    child_check(ring);
    return ring;
}

/*
 * The memory of the slot is on the rendering device, and is imported into the child's own CUDA
 * context.
 */
static void check_slot(gr_ring *ring)
{
    const gr_slot *slot;
    char text[400];
    child_check(gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON) == GR_OK);
    gr_resource_describe(slot->resource, text, sizeof(text));
    int device = -1;
    CU(PointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                           gr_buffer_ptr(slot->buffer)));
    ck_assert_msg(device == 0, "the memory is on device %d: %s", device, text);
    child_check(gr_ring_cancel_write(ring, &slot, 1) == GR_OK);
}

CHILD(writes)
{
    GR_AUTO(gr_ring) *ring = child_ring();
    unsigned long wanted = frames_wanted();
    check_slot(ring);
    for (unsigned long i = 0; i < wanted; i++)
        child_check(cuda_writes(ring) == GR_OK);
    CU(StreamSynchronize(fx.stream));
    return 0;
}

CHILD(reads)
{
    GR_AUTO(gr_ring) *ring = child_ring();
    uint64_t last = 0, frame;
    while ((frame = cuda_reads(ring)) != 0) {
        ck_assert_uint_eq(frame, last + 1);
        last = frame;
    }
    child_check(gr_last_error()->status == GR_ERR_STOPPED);
    ck_assert_uint_eq(last, frames_wanted());
    return 0;
}

/*
 * Starts a child that computes on that device. `here` is set to this process's end of the socket.
 */
static struct child_process start_on(int device, const char *name, int *here)
{
    char text[16];
    struct pair pair = pair_make();
    ck_assert_int_eq(fcntl(pair.there, F_SETFD, 0), 0);
    snprintf(text, sizeof(text), "%d", pair.there);
    setenv("CHILD_FD", text, 1);
    snprintf(text, sizeof(text), "%d", device);
    setenv("GR_TEST_CUDA_DEVICE", text, 1);
    struct child_process child = child_start(name);
    snprintf(text, sizeof(text), "%d", fx.device);
    setenv("GR_TEST_CUDA_DEVICE", text, 1);
    unsetenv("CHILD_FD");
    close(pair.there);
    *here = pair.here;
    return child;
}

static void end_child(const struct child_process *child)
{
    char said[8192];
    int status = child_end(child, said, sizeof(said));
    ck_assert_msg(status == 0, "the child ended with 0x%x: %.3500s", (unsigned)status, said);
}

#define need_device(device)                                                                        \
    do {                                                                                           \
        if ((device) >= devices.count)                                                             \
            skip("there is no CUDA device %d", device);                                            \
    } while (0)

GROUP("another process", add_peer_case)

/* Sends a new ring to a child on that device. */
static gr_ring *send_to(int device, const char *name, gr_ring_role role,
                        struct child_process *child)
{
    int socket;
    gr_ring *ring = make_ring(GR_SIDE_CUDA);
    *child = start_on(device, name, &socket);
    assert_ok(gr_ring_send(socket, ring, role, NULL, 0, SOON));
    return ring;
}

/* OpenGL in this process reads, and a child on each device writes. */
PEER_TEST(opengl_reads_frames_of_a_child_on_each_device, MOST_DEVICES)
{
    need_device(_i);
    struct child_process child;
    GR_AUTO(gr_ring) *ring = send_to(_i, "writes", GR_RING_CONSUMER, &child);
    for (unsigned long i = 1; i <= frames_wanted(); i++) {
        const gr_slot *slot;
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, SOON));
        ck_assert_uint_eq(slot->frame, i);
        assert_gl_bytes(gr_gl_name(slot->resource), FRAME, value_of_frame(i));
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    end_child(&child);
}

/* CUDA in this process writes, and a child on each device reads. */
PEER_TEST(cuda_writes_frames_for_a_child_on_each_device, MOST_DEVICES)
{
    need_device(_i);
    struct child_process child;
    GR_AUTO(gr_ring) *ring = send_to(_i, "reads", GR_RING_PRODUCER, &child);
    for (unsigned long i = 0; i < frames_wanted(); i++)
        assert_ok(cuda_writes(ring));
    gr_ring_stop(ring);
    end_child(&child);
}
