/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings of OpenGL buffers that another process shares. Both ends are in this process. With
 * timelines OpenGL signals the peer and waits for it; otherwise CUDA streams relay.
 */
#define _GNU_SOURCE
#include "gl_shared.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/share.h>

#define SIZE    65536
#define LATE_MS 60
#define SOON    20000

static const char *missing(int way)
{
    const char *reason = kernels_load();
    return reason ? reason : way_missing(way);
}

#define PEER_TEST(...) TEST_UNLESS(missing(_i), __VA_ARGS__)

#define MOST_SLOTS 6

/* The two ends of a ring of n slots, and references to the resources of the slots. */
struct ends {
    size_t n;
    gr_resource *resources[MOST_SLOTS];
    gr_ring *here, *there;
    unsigned long semaphores; /* in OpenGL, before the ring was sent */
};

/* Shares a ring, of which this process keeps `role`. OpenGL refuses `refused` semaphores. */
static struct ends share_as(gr_ring_role role, size_t n, gr_side producer, unsigned refused)
{
    int sockets[2];
    struct ends e = {.n = n};
    for (size_t i = 0; i < n; i++)
        e.resources[i] = must_share(SIZE, GR_READ_WRITE);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    e.here =
        must_make(gr_ring_create(e.resources, n, &GR_INIT(gr_ring_options, .producer = producer)));
    e.semaphores = pretend_counts.alive;
    pretend_refusals(0, refused);
    assert_ok(gr_ring_send(sockets[0], e.here, role, NULL, 0, SOON));
    e.there = must_make(gr_ring_receive(sockets[1], NULL, 0, NULL, SOON));
    return e;
}

static struct ends share(size_t n, gr_side producer, unsigned refused)
{
    return share_as(producer == GR_SIDE_CUDA ? GR_RING_CONSUMER : GR_RING_PRODUCER, n, producer,
                    refused);
}

/* Ends the ring. This process then uses the resources alone. */
static void end(struct ends *e)
{
    unsigned char bytes[SIZE];
    memset(bytes, 0x21, SIZE);
    gr_ring_free(e->there);
    gr_ring_free(e->here);
    ck_assert_uint_eq(pretend_counts.alive, e->semaphores);
    for (size_t i = 0; i < e->n; i++) {
        GLuint name = gr_gl_name(e->resources[i]);
        gr_buffer *buffer = must_map(e->resources[i]);
        gate_open_after(gate_put(fx.stream), LATE_MS);
        kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, 9, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(gl_copy_of(name, SIZE), SIZE, 9);
        gl_write(name, bytes, SIZE);
    }
    free_resources(e->resources, e->n);
}

static void cuda_writes_late(gr_ring *ring, unsigned seed)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON));
    gate_open_after(gate_put(fx.stream), LATE_MS);
    kernel_fill_pattern(gr_buffer_ptr(slot->buffer), SIZE, seed, fx.stream);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

static void opengl_reads(gr_ring *ring, unsigned seed)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, SOON));
    GLuint copy = gl_copy_of(gr_gl_name(slot->resource), SIZE);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_gl_pattern(copy, SIZE, seed);
}

GROUP("rings of two processes", add_shared_case)

PEER_TEST(opengl_reads_what_the_peer_writes, WAYS)
{
    struct ends e = share(1, GR_SIDE_CUDA, 0);
    ck_assert_uint_eq(pretend_counts.alive,
                      e.semaphores + (gr_cuda_is_software() && _i == 0 ? 2 : 0));
    for (unsigned frame = 1; frame <= 3; frame++) {
        cuda_writes_late(e.there, frame);
        opengl_reads(e.here, frame);
    }
    end(&e);
}

PEER_TEST(the_peer_reads_what_opengl_writes, WAYS)
{
    static unsigned char bytes[SIZE];
    struct ends e = share(1, GR_SIDE_GRAPHICS, 0);
    for (int frame = 1; frame <= 3; frame++) {
        const gr_slot *slot;
        assert_ok(gr_ring_acquire_write(e.here, GR_STREAM_NONE, &slot, 1, SOON));
        gl_keep_busy();
        const unsigned char value = (unsigned char)frame;
        glClearNamedBufferData(gr_gl_name(slot->resource), GL_R8UI, GL_RED_INTEGER,
                               GL_UNSIGNED_BYTE, &value);
        assert_ok(gr_ring_hand_over(e.here, &slot, 1));
        assert_ok(gr_ring_acquire_read(e.there, fx.stream, &slot, 1, SOON));
        CU(MemcpyDtoHAsync(bytes, gr_buffer_ptr(slot->buffer), SIZE, fx.stream));
        assert_ok(gr_ring_give_back(e.there, &slot, 1));
        CU(StreamSynchronize(fx.stream));
        assert_bytes(bytes, SIZE, frame);
    }
    end(&e);
}

/* One signal ends the reads of the slots that one call gives back. */
PEER_TEST(a_signal_serves_several_slots, 1)
{
    const gr_slot *slots[MOST_SLOTS];
    struct ends e = share(MOST_SLOTS, GR_SIDE_CUDA, 0);
    unsigned long before = pretend_counts.signals, each = gr_cuda_is_software();
    for (unsigned i = 0; i < MOST_SLOTS; i++) {
        cuda_writes_late(e.there, i);
        assert_ok(gr_ring_acquire_read(e.here, GR_STREAM_NONE, &slots[i], 1, SOON));
    }
    assert_ok(gr_ring_give_back(e.here, slots, MOST_SLOTS));
    ck_assert_uint_eq(pretend_counts.signals, before + each);
    assert_ok(gr_ring_acquire_write(e.there, fx.stream, slots, MOST_SLOTS, 0));
    assert_ok(gr_ring_cancel_write(e.there, slots, MOST_SLOTS));
    end(&e);
}

/* If OpenGL refuses the ring's semaphores, the streams relay, and no error is left. */
PEER_TEST(refused_semaphores_are_replaced_by_relays, 2)
{
    for (unsigned refused = 1; refused <= 2; refused++) {
        struct ends e = share(1, GR_SIDE_CUDA, refused);
        ck_assert_int_eq(gr_last_error()->status, GR_OK);
        if (gr_cuda_is_software())
            ck_assert_uint_eq(pretend_counts.alive, e.semaphores);
        cuda_writes_late(e.there, refused);
        opengl_reads(e.here, refused);
        end(&e);
    }
}

/* On a thread without the OpenGL context the streams relay. */
PEER_TEST(a_ring_is_sent_without_the_context, 1)
{
    int sockets[2];
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    GR_AUTO(gr_ring) *here = must_make(gr_ring_create(&resource, 1, NULL));
    assert_ok(gr_egl_make_current(NULL));
    assert_ok(gr_ring_send(sockets[0], here, GR_RING_CONSUMER, NULL, 0, SOON));
    assert_ok(gr_egl_make_current(fx.egl));
    GR_AUTO(gr_ring) *there = must_make(gr_ring_receive(sockets[1], NULL, 0, NULL, SOON));
    cuda_writes_late(there, 5);
    opengl_reads(here, 5);
}

/* Later uses by OpenGL wait for CUDA of this process again, and not for the peer. */
PEER_TEST(this_process_keeps_the_side_of_cuda, WAYS)
{
    const gr_slot *slot;
    struct ends e = share_as(GR_RING_PRODUCER, 1, GR_SIDE_CUDA, 0);
    cuda_writes_late(e.here, 6);
    assert_ok(gr_ring_acquire_read(e.there, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_give_back(e.there, &slot, 1));
    end(&e);
}

PEER_TEST(a_ring_is_sent_again_after_a_failure, 1)
{
    int sockets[2], closed[2];
    struct ends e = {.n = 1, .resources = {must_share(SIZE, GR_READ_WRITE)}};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, closed), 0);
    e.here = must_make(gr_ring_create(e.resources, 1, NULL));
    e.semaphores = pretend_counts.alive;
    close(closed[1]);
    assert_fails(gr_ring_send(closed[0], e.here, GR_RING_CONSUMER, NULL, 0, SOON), GR_ERR_SYSTEM,
                 EPIPE, "closed its end");
    close(closed[0]);
    ck_assert_uint_eq(pretend_counts.alive, e.semaphores);
    assert_ok(gr_ring_send(sockets[0], e.here, GR_RING_CONSUMER, NULL, 0, SOON));
    e.there = must_make(gr_ring_receive(sockets[1], NULL, 0, NULL, SOON));
    cuda_writes_late(e.there, 7);
    opengl_reads(e.here, 7);
    end(&e);
}

/*
 * Each process would count the values of the context's semaphores separately, though other
 * resources of this process signal them, too.
 */
PEER_TEST(a_resource_is_sent_without_the_semaphores_of_its_context, WAYS)
{
    int sockets[2];
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_ok(gr_resource_send(sockets[0], resource, NULL, 0, SOON));
    GR_AUTO(gr_resource) *there = must_make(gr_resource_receive(sockets[1], NULL, 0, NULL, SOON));
    assert_null(gr_map(there, fx.stream), GR_ERR_STATE, 0, "gr_resource_set_sync");
    close(sockets[0]);
    close(sockets[1]);
}
