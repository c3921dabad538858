/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Both ends of a shared ring in this process: which calls each end allows, stopping, and a shared
 * page that a peer overwrites.
 */
#define _GNU_SOURCE
#include "share_ring.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/ring/link/page.h"
#include "tests/support/fd_message.h"

#define SLOTS SLOTS_OF_TWO

GROUP("both sides here", add_vulkan_case)

/* ---- Allowed calls --------------------------------------------------------------------------- */

VULKAN_TEST(each_end_refuses_the_calls_of_the_other_end)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct pair pair = pair_make();
    const gr_slot *slot;
    gr_resource *resource = must_create(SLOT_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(resource, two.sent.acquire, two.sent.release));
    assert_fails(gr_ring_acquire_write(two.sent.ring, fx.stream, &slot, 1, SOON), GR_ERR_STATE, 0,
                 "consumer");
    assert_fails(gr_ring_acquire_read(two.received, GR_STREAM_NONE, &slot, 1, SOON), GR_ERR_STATE,
                 0, "producer");
    assert_fails(gr_ring_resize(two.sent.ring, &resource, 1), GR_ERR_STATE, 0, "shared");
    assert_fails(gr_ring_resize(two.received, &resource, 1), GR_ERR_STATE, 0, "shared");
    assert_fails(gr_ring_send(pair.here, two.sent.ring, GR_RING_CONSUMER, NULL, 0, 0), GR_ERR_STATE,
                 0, "shared");
    gr_resource_free(resource);
    pair_close(&pair);
    two_end(&two);
}

VULKAN_TEST(unsuitable_rings_are_not_sent)
{
    const gr_slot *slot;
    struct pair pair = pair_make();
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_invalid(gr_ring_send(pair.here, r.ring, (gr_ring_role)3, NULL, 0, 0), "role");
    assert_invalid(gr_ring_send(-1, r.ring, GR_RING_CONSUMER, NULL, 0, 0), "socket");
    assert_ok(gr_ring_acquire_write(r.ring, fx.stream, &slot, 1, SOON));
    assert_fails(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, 0), GR_ERR_STATE, 0,
                 "in flight");
    assert_ok(gr_ring_hand_over(r.ring, &slot, 1));
    assert_fails(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, 0), GR_ERR_STATE, 0,
                 "in flight");
    gr_resource *gl = must_register(gl_buffer_filled(64, 1));
    gr_ring *interop = must_make(gr_ring_create(&gl, 1, NULL));
    gr_resource_free(gl);
    assert_fails(gr_ring_send(pair.here, interop, GR_RING_CONSUMER, NULL, 0, 0), GR_ERR_UNSUPPORTED,
                 0, "gr_create_gl_buffer");
    gr_ring_free(interop);
    pair_close(&pair);
    shared_ring_end(&r);
}

/* True at the n-th call. */
static bool ends_the_wait(void *n)
{
    return --*(int *)n == 0;
}

/* The socket has no room for all of the message. */
VULKAN_TEST(an_interrupt_ends_a_send_and_a_receive)
{
    static const char data[GR_SHARE_MOST_DATA];
    int n = 2, room = 4096;
    struct pair pair = pair_make();
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    ck_assert_int_eq(setsockopt(pair.here, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
    gr_share_set_interrupt(ends_the_wait, &n);
    assert_null(gr_resource_receive(pair.there, NULL, 0, NULL, GR_WAIT_FOREVER), GR_ERR_STOPPED, 0,
                "Close the socket");
    n = 2;
    assert_fails(
        gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, data, sizeof(data), GR_WAIT_FOREVER),
        GR_ERR_STOPPED, 0, "Close the socket");
    gr_share_set_interrupt(NULL, NULL);
    assert_ok(cuda_writes(r.ring));
    ck_assert_uint_eq(vulkan_reads(&r), 1);
    pair_close(&pair);
    shared_ring_end(&r);
}

/* Graphics is still using a slot: the send times out, and this process keeps the ring. */
VULKAN_TEST(sending_times_out_while_graphics_uses_a_slot)
{
    int n = 2;
    const gr_slot *slot;
    struct pair pair = pair_make();
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_ok(cuda_writes(r.ring));
    assert_ok(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON));
    struct vulkan_gate *gate = vulkan_gate();
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(slot->resource), r.host);
    vulkan_submit_slot(commands, slot, gate);
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    assert_fails(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, 50), GR_ERR_TIMEOUT, 0,
                 "use");
    gr_share_set_interrupt(ends_the_wait, &n);
    assert_fails(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, GR_WAIT_FOREVER),
                 GR_ERR_STOPPED, 0, "interrupt function");
    gr_share_set_interrupt(NULL, NULL);
    vulkan_gate_open(gate);
    vulkan_finish();
    assert_ok(cuda_writes(r.ring));
    ck_assert_uint_eq(vulkan_reads(&r), 2);
    pair_close(&pair);
    shared_ring_end(&r);
}

/*
 * Whether the descriptor becomes readable. A grinterop thread notices the calls of the peer a
 * moment later.
 */
static bool readable(gr_ring *ring, gr_ring_role role, int ms)
{
    struct pollfd one = {.fd = gr_ring_descriptor(ring, role), .events = POLLIN};
    ck_assert_int_ge(one.fd, 0);
    return poll(&one, 1, ms) == 1;
}

/* ---- While it is being sent ------------------------------------------------------------------ */

struct sender {
    gr_ring *ring;
    int socket;
    gr_status status;
};

static void *send_it(void *user)
{
    struct sender *sender = user;
    CU(CtxSetCurrent(fx.context));
    sender->status = gr_ring_send(sender->socket, sender->ring, GR_RING_PRODUCER, NULL, 0, SOON);
    return NULL;
}

static void assert_being_sent(const struct shared_ring *r, gr_resource *resource)
{
    const gr_slot *slot;
    struct pair pair = pair_make();
    assert_ok(gr_resource_set_sync(resource, r->acquire, r->release));
    assert_fails(gr_ring_resize(r->ring, &resource, 1), GR_ERR_STATE, 0, "being sent to");
    assert_fails(gr_ring_send(pair.here, r->ring, GR_RING_PRODUCER, NULL, 0, 0), GR_ERR_STATE, 0,
                 "being sent to");
    assert_fails(gr_ring_acquire_write(r->ring, fx.stream, &slot, 1, 0), GR_ERR_NOT_READY, 0,
                 "being sent to another process: acquire after");
    assert_fails(gr_ring_acquire_write(r->ring, fx.stream, &slot, 1, 20), GR_ERR_TIMEOUT, 0,
                 "being sent to another process: acquire after");
    pair_close(&pair);
}

/*
 * The send waits for Vulkan's work. Meanwhile another thread tries to change the slots, before
 * anything is received.
 *
 * Catches: the ring was sent with the state and resources that a resize had freed.
 */
VULKAN_TEST(a_ring_cannot_be_changed_while_it_is_being_sent, 2)
{
    const gr_slot *slot;
    pthread_t thread;
    struct pair pair = pair_make();
    struct two two = {.sent = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS)};
    struct sender sender = {.ring = two.sent.ring, .socket = pair.here, .status = GR_ERR_STATE};
    struct vulkan_gate *gate = vulkan_gate();
    gr_resource *other = must_create(SLOT_SIZE, GR_READ_WRITE);
    assert_ok(cuda_writes(sender.ring));
    vulkan_begins_read(&two.sent, &slot, gate);
    ck_assert(readable(sender.ring, GR_RING_PRODUCER, 0));
    ck_assert_int_eq(pthread_create(&thread, NULL, send_it, &sender), 0);
    for (int ms = 0; ms < SOON / 2 && readable(sender.ring, GR_RING_PRODUCER, 0); ms++)
        sleep_ms(1);
    ck_assert(!readable(sender.ring, GR_RING_PRODUCER, 0));
    assert_being_sent(&two.sent, other);
    if (_i == 1)
        gr_ring_stop(sender.ring);
    vulkan_gate_open(gate);
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    pthread_join(thread, NULL);
    ck_assert_int_eq(sender.status, GR_OK);
    vulkan_finish();
    gr_resource_free(other);
    if (_i == 0) {
        assert_ok(cuda_writes(sender.ring));
        ck_assert_uint_eq(cuda_reads(two.received), 2);
    } else {
        assert_fails(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON), GR_ERR_STOPPED,
                     0, "has been stopped");
    }
    two_end(&two);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

struct waiting {
    gr_ring *ring;
    gr_status status;
};

static void *wait_for_a_slot(void *user)
{
    struct waiting *waiting = user;
    const gr_slot *slots[SLOTS];
    CU(CtxSetCurrent(fx.context));
    for (waiting->status = GR_OK; waiting->status == GR_OK;) {
        waiting->status = gr_ring_acquire_write(waiting->ring, fx.other, slots, 1, SOON);
        if (waiting->status == GR_OK)
            ck_assert(gr_ring_hand_over(waiting->ring, slots, 1) == GR_OK);
    }
    return NULL;
}

VULKAN_TEST(stopping_or_freeing_either_end_wakes_waiting_threads, 3)
{
    pthread_t thread;
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct waiting waiting = {.ring = two.received};
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_a_slot, &waiting), 0);
    sleep_ms(50);
    if (_i == 0)
        gr_ring_stop(two.sent.ring);
    else if (_i == 1)
        gr_ring_stop(two.received);
    else
        gr_ring_free(two.sent.ring);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiting.status, _i == 2 ? GR_ERR_SYSTEM : GR_ERR_STOPPED);
    if (_i == 2)
        two.sent.ring = NULL;
    CU(StreamSynchronize(fx.other));
    two_end(&two);
}

VULKAN_TEST(descriptors_become_readable_by_calls_of_the_peer, 2)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    ck_assert_int_eq(gr_ring_descriptor(two.received, GR_RING_CONSUMER), -1);
    assert_error(GR_ERR_STATE, 0, "producer");
    ck_assert(!readable(two.sent.ring, GR_RING_CONSUMER, 0));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < SLOTS; i++) {
            ck_assert(readable(two.received, GR_RING_PRODUCER, SOON));
            assert_ok(cuda_writes(two.received));
        }
        ck_assert(!readable(two.received, GR_RING_PRODUCER, 0));
        for (int i = 0; i < SLOTS; i++) {
            ck_assert(readable(two.sent.ring, GR_RING_CONSUMER, SOON));
            ck_assert_uint_eq(vulkan_reads(&two.sent), (unsigned)(round * SLOTS + i + 1));
        }
        ck_assert(!readable(two.sent.ring, GR_RING_CONSUMER, 0));
    }
    if (_i == 0)
        gr_ring_stop(two.received);
    else
        gr_ring_free(two.received);
    ck_assert(readable(two.sent.ring, GR_RING_CONSUMER, SOON));
    ck_assert_int_eq(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &slot, 1, 0),
                     _i == 0 ? GR_ERR_STOPPED : GR_ERR_SYSTEM);
    gr_clear_error();
    if (_i == 1)
        two.received = NULL;
    two_end(&two);
}

/* The peer hands over two frames, and then ends while one is unread. */
VULKAN_TEST(each_frame_of_the_peer_is_an_edge_of_the_descriptor)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    const gr_slot *slots[2];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int fd = gr_ring_descriptor(two.sent.ring, GR_RING_CONSUMER);
    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
    for (int i = 0; i < 2; i++) {
        assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, slots, 2, 0),
                     GR_ERR_NOT_READY, 0, "2 frames were not available");
        assert_ok(cuda_writes(two.received));
        ck_assert_int_eq(epoll_wait(epoll, &event, 1, SOON), 1);
    }
    assert_ok(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, slots, 2, 0));
    assert_ok(gr_ring_cancel_read(two.sent.ring, slots, 2));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 1);
    assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, slots, 2, 0), GR_ERR_NOT_READY,
                 0, "2 frames were not available");
    while (epoll_wait(epoll, &event, 1, 0) > 0)
        ;
    gr_ring_free(two.received);
    two.received = NULL;
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, SOON), 1);
    assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, slots, 2, 0), GR_ERR_SYSTEM, 0,
                 "");
    close(epoll);
    two_end(&two);
}

VULKAN_TEST(application_data_is_sent_with_a_ring)
{
    static const char text[] = "of the mesh";
    char got[sizeof(text)] = "";
    size_t size = 0;
    struct pair pair = pair_make();
    struct two two = {.sent = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS)};
    assert_invalid(gr_ring_send(pair.here, two.sent.ring, GR_RING_CONSUMER, NULL, 1, SOON),
                   "`data` is NULL");
    assert_ok(gr_ring_send(pair.here, two.sent.ring, GR_RING_CONSUMER, text, sizeof(text), SOON));
    assert_null_invalid(gr_ring_receive(pair.there, got, 3, &size, SOON), "room for 3");
    ck_assert_uint_eq(size, sizeof(text));
    two.received = must_make(gr_ring_receive(pair.there, got, sizeof(got), &size, SOON));
    ck_assert_str_eq(got, text);
    assert_ok(cuda_writes(two.received));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 1);
    two_end(&two);
}

GROUP("an overwritten page", add_vulkan_case)

/*
 * Like gr_ring_send() and gr_ring_receive(), but maps the shared page in between, from the
 * descriptors of the first message.
 */
static struct two two_begin_with_page(gr_side producer, void **page, size_t *size)
{
    static unsigned char bytes[65536];
    struct pair pair = pair_make();
    struct two two = {.sent = send_ring(&pair, producer, GR_RING_NEWEST)};
    int fds[4];
    size_t count = 4;
    ck_assert_int_gt(fd_receive(pair.there, bytes, sizeof(bytes), fds, &count, MSG_PEEK), 0);
    ck_assert_uint_eq(count, 3);
    *size = (size_t)lseek(fds[0], 0, SEEK_END);
    *page = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    ck_assert_ptr_ne(*page, MAP_FAILED);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    return two;
}

static void try_everything(struct two *two, bool cuda_produces)
{
    const gr_slot *slot;
    gr_clear_error();
    gr_ring *writer = cuda_produces ? two->received : two->sent.ring;
    gr_ring *reader = cuda_produces ? two->sent.ring : two->received;
    if (gr_ring_acquire_write(writer, cuda_produces ? fx.stream : GR_STREAM_NONE, &slot, 1, SOON) ==
        GR_OK)
        assert_ok(gr_ring_cancel_write(writer, &slot, 1));
    const gr_ring_info *now = gr_ring_get_info(reader);
    ck_assert_uint_le(now->dropped, now->written);
    ck_assert_uint_eq(now->written, now->read + now->dropped + now->ready + now->reading);
}

VULKAN_TEST(random_bytes_in_the_shared_page_do_no_harm, 8)
{
    void *page;
    size_t size;
    bool cuda_produces = _i % 2 == 0;
    struct two two =
        two_begin_with_page(cuda_produces ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS, &page, &size);
    assert_ok(cuda_produces ? cuda_writes(two.received) : vulkan_writes(two.sent.ring));
    unsigned seed = (unsigned)_i + 1;
    volatile unsigned char *bytes = page;
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[seed / 65536 % size] ^= (unsigned char)(seed >> 8);
        }
        try_everything(&two, cuda_produces);
    }
    munmap(page, size);
    gr_clear_error();
    two_end(&two);
}

/* A producer of version 0.2.0 leaves 0 in the page, and a hostile one a time in the future. */
VULKAN_TEST(an_age_that_the_producer_does_not_tell_is_unknown, 2)
{
    void *page;
    size_t size;
    struct two two = two_begin_with_page(GR_SIDE_CUDA, &page, &size);
    assert_ok(cuda_writes(two.received));
    ck_assert_uint_gt(gr_page_newest_at(page, GR_RING_PRODUCER, SLOTS), 0);
    gr_page_set_newest_at(page, GR_RING_PRODUCER, SLOTS, _i == 0 ? 0 : UINT64_MAX);
    ck_assert_uint_eq(gr_ring_get_info(two.sent.ring)->newest_age_ns, 0);
    ck_assert_uint_gt(gr_ring_get_info(two.received)->newest_age_ns, 0);
    assert_ok(cuda_writes(two.received));
    ck_assert_uint_gt(gr_ring_get_info(two.sent.ring)->newest_age_ns, 0);
    munmap(page, size);
    two_end(&two);
}

/* With more slots all words of the changes are bits of slots. */
VULKAN_TEST(rings_of_up_to_960_slots_have_room_for_the_time)
{
    struct gr_page *page = calloc(1, sizeof(*page));
    ck_assert_ptr_nonnull(page);
    gr_page_set_newest_at(page, GR_RING_CONSUMER, 961, 1);
    ck_assert_uint_eq(gr_page_newest_at(page, GR_RING_CONSUMER, 960), 0);
    gr_page_mark(&page->changes[1], 960);
    ck_assert_uint_eq(gr_page_newest_at(page, GR_RING_CONSUMER, 961), 0);
    gr_page_set_newest_at(page, GR_RING_CONSUMER, 960, 2);
    ck_assert_uint_eq(gr_page_newest_at(page, GR_RING_CONSUMER, 960), 2);
    free(page);
}

/* A peer hands over one frame twice. Catches: then the counts of dropped frames fell below 0. */
VULKAN_TEST(more_frames_than_were_written_are_refused)
{
    void *mapped;
    size_t size;
    const gr_slot *slot;
    struct two two = two_begin_with_page(GR_SIDE_CUDA, &mapped, &size);
    struct gr_page *page = mapped;
    assert_ok(cuda_writes(two.received));
    ck_assert_uint_eq(gr_ring_get_info(two.sent.ring)->ready, 1);
    for (uint32_t i = 0; i < SLOTS; i++) {
        atomic_store(&page->slots[i].word, 1 << 2 | GR_OWNER_READY);
        gr_page_mark(&page->changes[0], i);
    }
    const gr_ring_info *now = gr_ring_get_info(two.sent.ring);
    ck_assert_uint_eq(now->written, 1);
    ck_assert_uint_eq(now->ready, 1);
    ck_assert_uint_eq(now->dropped, 0);
    assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &slot, 1, SOON), GR_ERR_SYSTEM,
                 0, "overwritten");
    munmap(mapped, size);
    two_end(&two);
}

/*
 * Whatever the shared page contains, a process that has acquired a slot cannot acquire the same
 * slot again.
 */
VULKAN_TEST(an_overwritten_page_cannot_make_a_slot_be_acquired_twice)
{
    void *page;
    size_t size;
    const gr_slot *slot, *second;
    struct two two = two_begin_with_page(GR_SIDE_CUDA, &page, &size);
    assert_ok(cuda_writes(two.received));
    assert_ok(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &slot, 1, SOON));
    memset(page, 0xff, size);
    assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &second, 1, SOON),
                 GR_ERR_SYSTEM, 0, "overwritten");
    assert_fails(gr_ring_acquire_write(two.received, fx.stream, &second, 1, SOON), GR_ERR_SYSTEM, 0,
                 "overwritten");
    memset(page, 0, size);
    assert_fails(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &second, 1, SOON),
                 GR_ERR_SYSTEM, 0, "overwritten");
    /* The overwritten page must not prevent the commit of a submit that has begun. */
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(slot->resource), two.sent.host);
    vulkan_submit_slot(commands, slot, NULL);
    vulkan_finish();
    assert_ok(gr_ring_give_back(two.sent.ring, &slot, 1));
    munmap(page, size);
    two_end(&two);
}
