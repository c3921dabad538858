/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How long a call waits, which waits gr_ring_stop() ends, and when the descriptors are readable. */
#define _GNU_SOURCE
#include "ring.h"

#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

GROUP("waiting", add_ring_case)

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

TEST(an_acquire_waits_until_its_timeout)
{
    const gr_slot *slot, *none;
    GR_AUTO(gr_ring) *ring = must_make_ring(1, NULL);
    double start = seconds();
    assert_fails(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 60), GR_ERR_TIMEOUT, 0,
                 "1 frame was not available within 60 ms");
    ck_assert_double_ge(seconds() - start, 0.059);
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    start = seconds();
    assert_fails(gr_ring_acquire_write(ring, fx.stream, &none, 1, 60), GR_ERR_TIMEOUT, 0,
                 "being written: 1");
    ck_assert_double_ge(seconds() - start, 0.059);
    assert_fails(gr_ring_acquire_write(ring, fx.stream, &none, 1, 0), GR_ERR_NOT_READY, 0,
                 "1 slot was not available yet");
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
}

TEST(frames_of_a_stopped_ring_can_be_read, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(3, producer, GR_RING_LOSSLESS);
    CUstream writes = ring_stream(producer, true), reads = ring_stream(producer, false);
    const gr_slot *slots[2];
    write_frame(ring, producer, 1);
    must_acquire_write(ring, producer, slots, 1);
    slot_fill(slots[0], 2);
    gr_ring_stop(ring);
    assert_fails(gr_ring_acquire_write(ring, writes, slots + 1, 1, GR_WAIT_FOREVER), GR_ERR_STOPPED,
                 0, "has been stopped");
    assert_fails(gr_ring_acquire_read(ring, reads, slots + 1, 2, GR_WAIT_FOREVER), GR_ERR_STOPPED,
                 0, "left to read: 1");
    assert_ok(gr_ring_hand_over(ring, slots, 1));
    ck_assert_uint_eq(read_frame(ring, producer, 1), 1);
    ck_assert_uint_eq(read_frame(ring, producer, 2), 2);
    assert_fails(gr_ring_acquire_read(ring, reads, slots, 1, 0), GR_ERR_STOPPED, 0,
                 "left to read: 0");
}

GROUP("polling", add_ring_case)

static bool readable(gr_ring *ring, gr_ring_role role)
{
    struct pollfd one = {.fd = gr_ring_descriptor(ring, role), .events = POLLIN};
    ck_assert_int_ge(one.fd, 0);
    int ready = poll(&one, 1, 0);
    ck_assert_int_ge(ready, 0);
    return ready == 1;
}

static void assert_readable(gr_ring *ring, bool producer, bool consumer)
{
    ck_assert(readable(ring, GR_RING_PRODUCER) == producer);
    ck_assert(readable(ring, GR_RING_CONSUMER) == consumer);
}

TEST(descriptors_are_readable_while_a_slot_or_frame_exists, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, producer, GR_RING_LOSSLESS);
    const gr_slot *slots[2];
    assert_readable(ring, true, false);
    ck_assert_int_eq(gr_ring_descriptor(ring, GR_RING_CONSUMER),
                     gr_ring_descriptor(ring, GR_RING_CONSUMER));
    must_acquire_write(ring, producer, slots, 2);
    assert_readable(ring, false, false);
    assert_ok(gr_ring_hand_over(ring, &slots[0], 1));
    assert_readable(ring, false, true);
    assert_readable(ring, false, true); /* the descriptor stays readable while a frame is unread */
    assert_ok(gr_ring_cancel_write(ring, &slots[1], 1));
    assert_readable(ring, true, true);
    must_acquire_read(ring, producer, slots, 1);
    assert_readable(ring, true, false);
    assert_ok(gr_ring_cancel_read(ring, slots, 1));
    assert_readable(ring, true, true);
    read_frame(ring, producer, 0);
    assert_readable(ring, true, false);
    gr_ring_stop(ring);
    assert_readable(ring, true, true);
}

TEST(in_newest_mode_producers_wait_only_for_slots_being_read, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(1, producer, GR_RING_NEWEST);
    const gr_slot *slot;
    write_frame(ring, producer, 1);
    assert_readable(ring, true, true);
    must_acquire_read(ring, producer, &slot, 1);
    assert_readable(ring, false, false);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_readable(ring, true, false);
}

/*
 * After the read, OpenGL frees one slot after the other. The descriptor of the producer must not be
 * readable before a slot can be acquired.
 */
TEST(a_readable_producer_descriptor_means_an_acquire_succeeds, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_ring) *ring = must_make_ring_of(8, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slots[8];
    for (int i = 0; i < 8; i++)
        write_frame(ring, GR_SIDE_CUDA, i);
    assert_readable(ring, false, true);
    read_frame(ring, GR_SIDE_CUDA, 0);
    assert_readable(ring, true, true);
    assert_ok(gr_egl_make_current(_i == 1 ? NULL : fx.egl));
    assert_ok(gr_ring_acquire_write(ring, fx.stream, slots, 1, 0));
    assert_ok(gr_ring_cancel_write(ring, slots, 1));
    assert_ok(gr_egl_make_current(fx.egl));
}

/* An epoll that reports each further slot of the role. */
static int epoll_of(gr_ring *ring, gr_ring_role role)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ck_assert_int_ge(epoll, 0);
    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, gr_ring_descriptor(ring, role), &event), 0);
    return epoll;
}

/* Catches: a thread that needed several slots had to poll, since one was readable all the time. */
TEST(an_edge_is_reported_for_each_further_slot, 2)
{
    GR_AUTO(gr_ring) *ring =
        must_make_ring_of(3, GR_SIDE_CUDA, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    struct epoll_event event;
    const gr_slot *slots[3], *read;
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 3);
    int consumer = epoll_of(ring, GR_RING_CONSUMER), producer = epoll_of(ring, GR_RING_PRODUCER);
    ck_assert_int_eq(epoll_wait(consumer, &event, 1, 0), 0);
    ck_assert_int_eq(epoll_wait(producer, &event, 1, 0), 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_ring_hand_over(ring, &slots[i], 1));
        ck_assert_int_eq(epoll_wait(consumer, &event, 1, 0), 1);
        ck_assert_int_eq(epoll_wait(consumer, &event, 1, 0), 0);
        /* the producer can overwrite a frame of GR_RING_NEWEST */
        ck_assert_int_eq(epoll_wait(producer, &event, 1, 0), _i);
    }
    must_acquire_read(ring, GR_SIDE_CUDA, &read, 1);
    assert_ok(gr_ring_give_back(ring, &read, 1));
    ck_assert_int_eq(epoll_wait(consumer, &event, 1, 0), 0);
    assert_ok(gr_ring_cancel_write(ring, &slots[2], 1));
    ck_assert_int_eq(epoll_wait(producer, &event, 1, 0), 1);
    gr_ring_stop(ring);
    ck_assert_int_eq(epoll_wait(consumer, &event, 1, 0), 1);
    close(consumer);
    close(producer);
}

TEST(a_copy_of_a_descriptor_is_readable_once_the_ring_is_freed)
{
    gr_ring *ring = must_make_ring_of(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct pollfd one = {.fd = dup(gr_ring_descriptor(ring, GR_RING_CONSUMER)), .events = POLLIN};
    ck_assert_int_eq(poll(&one, 1, 0), 0);
    gr_ring_free(ring);
    ck_assert_int_eq(poll(&one, 1, 0), 1);
    close(one.fd);
}

TEST(a_descriptor_needs_a_ring_and_a_role)
{
    GR_AUTO(gr_ring) *ring = must_make_ring_of(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    ck_assert_int_eq(gr_ring_descriptor(NULL, GR_RING_CONSUMER), -1);
    assert_error(GR_ERR_INVALID_VALUE, 0, "The ring is NULL");
    ck_assert_int_eq(gr_ring_descriptor(ring, (gr_ring_role)0), -1);
    assert_error(GR_ERR_INVALID_VALUE, 0, "`role` is 0");
    gr_clear_error();
}
