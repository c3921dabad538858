/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Peers that are alive and do nothing, or too much: only the caller decides how long a call waits.
 *
 * The nanosleep(), poll() and recvmsg() of this program override those of the C library.
 */
#define _GNU_SOURCE
#include "hostile.h"
#include "tests/support/next.h"
#include "tests/share/share_wire.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Longer than any call of these cases takes on a busy machine, and shorter than a call that hangs.
 */
#define ENOUGH_MS 10000

/* By how many nanoseconds each sleep of this thread is extended, as on a busy machine. */
static _Thread_local long late_ns;

/* A semaphore that the peer resets during the next sleep of this thread; NULL: none. */
static _Thread_local const struct hostile_semaphore *taken_back;

int nanosleep(const struct timespec *time, struct timespec *left)
{
    NEXT(nanosleep);
    struct timespec longer = *time;
    longer.tv_nsec += late_ns;
    int result = next(&longer, left);
    if (taken_back)
        hostile_set(taken_back, 0);
    taken_back = NULL;
    return result;
}

/*
 * How many milliseconds each recvmsg() of this thread takes. If not 0, each call returns at most
 * 100 bytes.
 */
static _Thread_local unsigned late_reads_ms;

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    NEXT(recvmsg);
    if (late_reads_ms) {
        sleep_ms(late_reads_ms);
        if (message->msg_iov->iov_len > 100)
            message->msg_iov->iov_len = 100;
    }
    return next(socket, message, flags);
}

/*
 * How many of the next poll() calls with three descriptors fail. Only the thread that watches a
 * peer polls three descriptors.
 */
static atomic_int failing_polls;

/* For how many milliseconds poll() blocks the thread that watches a peer. */
static atomic_int long_polls;

int poll(struct pollfd *fds, nfds_t n, int ms)
{
    NEXT(poll);
    for (; n == 3 && atomic_load(&long_polls) > 0; atomic_fetch_sub(&long_polls, 1))
        sleep_ms(1);
    if (n != 3 || atomic_load(&failing_polls) == 0)
        return next(fds, n, ms);
    atomic_fetch_sub(&failing_polls, 1);
    errno = ENOMEM;
    return -1;
}

static TCase *add_waits_case(Suite *suite, const char *name)
{
    return with_sharing(add_vulkan_case(suite, name));
}

GROUP("peers that live", add_waits_case)

struct flood {
    const struct hostile *peer;
    atomic_bool ends;
};

/* Sends bytes without end. Before each byte, the page says that a thread is waiting. */
static void *send_bytes(void *user)
{
    struct flood *flood = user;
    while (!atomic_load(&flood->ends)) {
        atomic_store(&flood->peer->page->waiting[0], 1);
        atomic_store(&flood->peer->page->waiting[1], 1);
        hostile_wake(flood->peer);
    }
    return NULL;
}

/*
 * The calls cannot succeed. No field in the page and no byte on the socket may extend their
 * timeout.
 */
VULKAN_TEST(a_flood_of_bytes_does_not_extend_an_acquire, 2)
{
    static const unsigned timeouts[] = {0, 1, 50, 200};
    bool here_writes = _i == 0;
    pthread_t thread;
    const gr_slot *slots[HOSTILE_SLOTS], *more;
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, here_writes, GR_RING_LOSSLESS);
    struct flood flood = {.peer = &peer};
    ck_assert_int_eq(pthread_create(&thread, NULL, send_bytes, &flood), 0);
    if (here_writes)
        assert_ok(gr_ring_acquire_write(r.ring, fx.stream, slots, HOSTILE_SLOTS, SOON));
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(*timeouts); i++) {
        int64_t begin = clock_ms();
        gr_status status = (here_writes ? gr_ring_acquire_write : gr_ring_acquire_read)(
            r.ring, fx.stream, &more, 1, timeouts[i]);
        ck_assert_int_eq(status, timeouts[i] ? GR_ERR_TIMEOUT : GR_ERR_NOT_READY);
        ck_assert_int_ge(clock_ms() - begin, timeouts[i]);
        ck_assert_int_lt(clock_ms() - begin, ENOUGH_MS);
    }
    gr_clear_error();
    if (here_writes)
        assert_ok(gr_ring_cancel_write(r.ring, slots, HOSTILE_SLOTS));
    atomic_store(&flood.ends, true);
    pthread_join(thread, NULL);
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* ---- Endless messages ------------------------------------------------------------------------ */

struct slots {
    struct wire slot;
    int socket;
};

/* Sends the message of the same slot again and again, until the other end is closed. */
static void *send_slots(void *user)
{
    struct slots *slots = user;
    while (wire_try(slots->socket, &slots->slot, MSG_NOSIGNAL))
        continue;
    return NULL;
}

/*
 * Takes the messages of a ring with one slot. The first message is changed to announce 1024 slots.
 */
static struct wire take_large_ring(struct slots *slots)
{
    struct pair pair = pair_make();
    struct shared_ring r = shared_ring_begin(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_ok(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    struct wire head = wire_take(pair.there);
    slots->slot = wire_take(pair.there);
    wire_change(&head, WIRE_HEADER, 4, 1024);
    close(pair.there);
    shared_ring_end(&r);
    return head;
}

/*
 * Catches: the deadline was only checked when no message was available, so the call lasted as long
 * as messages kept arriving. On a busy machine the thread may not send for 10 ms, so slow reads
 * always find a message that was sent before. If the test fails, the thread continues with static
 * data.
 */
VULKAN_TEST(endless_messages_do_not_extend_a_receive)
{
    static struct slots slots;
    struct pair pair = pair_make();
    slots.socket = pair.here;
    struct wire head = take_large_ring(&slots);
    pthread_t thread;
    wire_put(pair.here, &head);
    for (int i = 0; i < 10; i++)
        wire_put(pair.here, &slots.slot);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_slots, &slots), 0);
    late_reads_ms = 2;
    gr_ring *taken = gr_ring_receive(pair.there, NULL, 0, NULL, 10);
    late_reads_ms = 0;
    ck_assert_ptr_null(taken);
    assert_error(GR_ERR_TIMEOUT, 0, "complete in time");
    close(pair.there);
    pair.there = -1;
    pthread_join(thread, NULL);
    pair_close(&pair);
    wire_close(&head);
    wire_close(&slots.slot);
}

/* Catches: the deadline was only checked when no data was available. */
VULKAN_TEST(slow_reads_do_not_extend_a_receive)
{
    static unsigned char room[GR_SHARE_MOST_DATA];
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_send(pair.here, resource, room, sizeof(room), SOON));
    late_reads_ms = 20; /* each read takes 20 ms, and more bytes are available */
    gr_resource *taken = gr_resource_receive(pair.there, room, sizeof(room), NULL, 10);
    late_reads_ms = 0;
    ck_assert_ptr_null(taken);
    assert_error(GR_ERR_TIMEOUT, 0, "close the socket");
    pair_close(&pair);
}

/*
 * No byte on the socket announces the frame, so that only a failed acquire shows it to a poll. Then
 * the peer waits for the frame, which grinterop claims and cannot map, since the stream belongs to
 * another CUDA context.
 *
 * Catches: the frame was available again, but the peer was not woken.
 */
VULKAN_TEST(a_failed_acquire_wakes_polls_and_the_waiting_peer)
{
    const gr_slot *slot, *two[2];
    char byte;
    CUstream foreign;
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_NEWEST);
    struct pollfd frames = {.fd = gr_ring_descriptor(r.ring, GR_RING_CONSUMER), .events = POLLIN};
    struct hostile silent = peer;
    silent.socket = -1;
    hostile_publish(&silent, 0, 1, 1);
    hostile_set(&peer.received, 1);
    ck_assert_int_eq(poll(&frames, 1, 0), 0);
    assert_fails(gr_ring_acquire_read(r.ring, fx.stream, two, 2, 0), GR_ERR_NOT_READY, 0, "2 fr");
    ck_assert_int_eq(poll(&frames, 1, 0), 1);
    CUcontext second = new_context(&foreign);
    CU(CtxSetCurrent(fx.context));
    while (recv(peer.socket, &byte, 1, MSG_DONTWAIT) == 1)
        continue;
    atomic_store(&peer.page->waiting[0], 1);
    atomic_store(&peer.page->waiting[1], 1);
    gr_status status = gr_ring_acquire_read(r.ring, foreign, &slot, 1, SOON);
    CU(CtxDestroy(second));
    ck_assert_int_ne(status, GR_OK);
    ck_assert_int_eq(recv(peer.socket, &byte, 1, MSG_DONTWAIT), 1);
    gr_clear_error();
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    ck_assert_uint_eq(slot->frame, 1);
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    hostile_end(&peer);
    shared_ring_end(&r);
}

/*
 * Catches: the watching thread ended at the first failure of poll(), and a reader waited forever
 * for a peer that had gone.
 */
VULKAN_TEST(the_watching_thread_survives_a_failing_poll)
{
    const gr_slot *slot;
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    atomic_store(&failing_polls, 3);
    hostile_wake(&peer);
    for (int i = 0; i < ENOUGH_MS && atomic_load(&failing_polls) > 0; i++)
        sleep_ms(1);
    int left = atomic_exchange(&failing_polls, 0);
    ck_assert_int_eq(left, 0);
    close(peer.socket);
    peer.socket = -1;
    assert_fails(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, ENOUGH_MS), GR_ERR_SYSTEM, 0,
                 "has ended or closed the socket");
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* ---- OpenGL, which blocks in this thread ----------------------------------------------------- */

/* A ring in which OpenGL here has the given role. NULL if it cannot share its buffers. */
static gr_ring *opengl_ring(struct hostile *peer, gr_ring_role role)
{
    return hostile_opengl_ring(peer, role == GR_RING_CONSUMER ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS,
                               role);
}

/* OpenGL writes a frame, so that the peer can acquire the slot and return it. */
static void opengl_writes(gr_ring *ring)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, SOON));
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

/*
 * The peer hands over a slot with unfinished work: the semaphore of the peer does not have value 1
 * yet.
 */
static void hand_on(struct hostile *peer, gr_ring *ring, gr_ring_role role)
{
    if (role == GR_RING_CONSUMER) {
        hostile_publish(peer, 0, 1, 1);
        return;
    }
    for (int i = 0; i < HOSTILE_SLOTS; i++)
        opengl_writes(ring);
    hostile_give_back(peer, 0, 1, 1);
}

static gr_status acquire(gr_ring *ring, gr_ring_role role, const gr_slot **slot, unsigned ms)
{
    return (role == GR_RING_CONSUMER ? gr_ring_acquire_read
                                     : gr_ring_acquire_write)(ring, GR_STREAM_NONE, slot, 1, ms);
}

static void give_up(gr_ring *ring, gr_ring_role role, const gr_slot *slot)
{
    assert_ok((role == GR_RING_CONSUMER ? gr_ring_give_back : gr_ring_hand_over)(ring, &slot, 1));
}

static const gr_ring_role roles[] = {GR_RING_CONSUMER, GR_RING_PRODUCER};

/*
 * Catches: the acquire waited for the peer's signal for as long as the peer lived, on the only
 * thread that could have freed the ring.
 */
TEST(opengl_acquires_time_out_while_the_peer_works, 2)
{
    need_memory_semaphores();
    struct hostile peer;
    const gr_slot *slot;
    GR_AUTO(gr_ring) *ring = opengl_ring(&peer, roles[_i]);
    if (!ring)
        skip("%s", error_text());
    hand_on(&peer, ring, roles[_i]);
    for (int again = 0; again < 3; again++) {
        ck_assert_int_eq(acquire(ring, roles[_i], &slot, 0), GR_ERR_NOT_READY);
        assert_error(GR_ERR_NOT_READY, 0, "has not finished its work");
        ck_assert_int_eq(acquire(ring, roles[_i], &slot, 50), GR_ERR_TIMEOUT);
        assert_error(GR_ERR_TIMEOUT, 0, "has not finished its work");
    }
    hostile_set(&peer.received, 1);
    assert_ok(acquire(ring, roles[_i], &slot, SOON));
    give_up(ring, roles[_i], slot);
    hostile_end(&peer);
}

/*
 * The semaphore reaches the value, and the peer resets it before OpenGL begins to use the slot. The
 * watching thread, which would notice the reset, is slow.
 *
 * Catches: the acquire waited for the value again, without its timeout.
 */
TEST(opengl_does_not_wait_again_for_a_reached_value)
{
    need_memory_semaphores();
    static struct hostile peer; /* taken_back stays if the test fails */
    const gr_slot *slot;
    gr_ring *ring = opengl_ring(&peer, GR_RING_CONSUMER);
    if (!ring)
        skip("%s", error_text());
    int64_t longest = 0;
    late_ns = 20000000;
    atomic_store(&long_polls, ENOUGH_MS);
    for (unsigned i = 0; i < HOSTILE_SLOTS; i++) {
        hostile_set(&peer.received, i + 1);
        hostile_publish(&peer, i, i + 1, i + 1);
        taken_back = &peer.received;
        int64_t begin = clock_ms();
        assert_ok(acquire(ring, GR_RING_CONSUMER, &slot, 0));
        longest = clock_ms() - begin > longest ? clock_ms() - begin : longest;
        give_up(ring, GR_RING_CONSUMER, slot);
        taken_back = NULL;
    }
    late_ns = 0;
    atomic_store(&long_polls, 0);
    hostile_end(&peer);
    gr_ring_free(ring);
    ck_assert_int_lt(longest, ENOUGH_MS / 2);
}

struct wait {
    gr_ring *ring;
    struct hostile *peer;
    int what;
};

/* Stops the ring, or closes the peer's socket, while the OpenGL thread waits. */
static void *end_it(void *user)
{
    struct wait *wait = user;
    sleep_ms(100);
    if (wait->what == 0) {
        gr_ring_stop(wait->ring);
    } else {
        close(wait->peer->socket);
        wait->peer->socket = -1;
    }
    return NULL;
}

TEST(a_stop_or_the_end_of_the_peer_ends_a_wait_of_opengl, 2)
{
    need_memory_semaphores();
    struct hostile peer;
    pthread_t thread;
    const gr_slot *slot;
    GR_AUTO(gr_ring) *ring = opengl_ring(&peer, GR_RING_CONSUMER);
    if (!ring)
        skip("%s", error_text());
    hand_on(&peer, ring, GR_RING_CONSUMER);
    struct wait wait = {.ring = ring, .peer = &peer, .what = _i};
    ck_assert_int_eq(pthread_create(&thread, NULL, end_it, &wait), 0);
    gr_status status = gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER);
    ck_assert_int_eq(status, _i == 0 ? GR_ERR_STOPPED : GR_OK);
    pthread_join(thread, NULL);
    if (status == GR_OK)
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    gr_clear_error();
    hostile_end(&peer);
}

/* ---- The end of a ring ----------------------------------------------------------------------- */

/*
 * The peer is alive, and a stream waits for it. Each sleep is as long as on a busy machine.
 *
 * Catches: the limit of gr_ring_free() was a number of polls, so 2 seconds became 5.
 */
VULKAN_TEST(freeing_a_ring_waits_2_s_for_a_live_peer)
{
    const gr_slot *slot;
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    hostile_publish(&peer, 0, 1, 1);
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    late_ns = 20000000;
    int64_t begin = clock_ms();
    gr_ring_free(r.ring);
    int64_t took = clock_ms() - begin;
    late_ns = 0;
    r.ring = NULL;
    ck_assert_int_ge(took, 1900);
    ck_assert_int_lt(took, ENOUGH_MS);
    ck_assert_msg(stream_ends_within(fx.stream, ENOUGH_MS), "the stream still waits");
    hostile_end(&peer);
    shared_ring_end(&r);
}
