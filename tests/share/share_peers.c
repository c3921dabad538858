/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Peers that die or leave before, during and after a frame. The frames that they handed over can be
 * read, and nothing hangs.
 */
#define _GNU_SOURCE
#include "share_ring.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLOTS 3

/* The headers of the C library may be older than the kernel. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif

/* ---- The peers ------------------------------------------------------------------------------- */

/* The CUDA work of the second frame never completes, and its signal is missing. */
void job_dies_in_a_frame(int socket)
{
    gr_ring *ring = peer_ring(socket);
    child_check(cuda_writes(ring) == GR_OK);
    CU(StreamSynchronize(fx.stream));
    gate_put(fx.stream);
    child_check(cuda_writes(ring) == GR_OK);
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON);
    /* The consumer may already have freed its ring. */
    child_check(status == GR_OK || status == GR_ERR_SYSTEM);
    sleep_ms(100);
    raise(SIGKILL);
}

void job_dies_after(int socket)
{
    gr_ring *ring = peer_ring(socket);
    child_check(cuda_writes(ring) == GR_OK);
    CU(StreamSynchronize(fx.stream));
    raise(SIGKILL);
}

void job_dies_at_once(int socket)
{
    (void)peer_ring(socket);
    raise(SIGKILL);
}

/* The job frees its ring while its work is pending, and lives until that work is done. */
void job_ends_at_once(int socket)
{
    gr_ring *ring = peer_ring(socket);
    gate_open_after(gate_put(fx.stream), 700);
    child_check(cuda_writes(ring) == GR_OK);
    gr_ring_free(ring);
    CU(StreamSynchronize(fx.stream));
}

/* The job reports the failure, and lives until the consumer has freed its ring. */
void job_kernel_fails(int socket)
{
    const gr_slot *slot;
    gr_status status = GR_OK;
    child_check(!kernels_load());
    gr_ring *ring = peer_ring(socket);
    child_check(gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON) == GR_OK);
    struct gate *gate = gate_put(fx.stream);
    kernel_fail(fx.stream);
    child_check(gr_ring_hand_over(ring, &slot, 1) == GR_OK);
    sleep_ms(50);
    gate_open(gate);
    for (int i = 0; status != GR_ERR_SYSTEM && i < SOON / 10; i++) {
        status = gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON);
        child_check(status != GR_ERR_TIMEOUT);
        sleep_ms(10);
    }
    raise(SIGKILL);
}

GROUP("peers that end", add_share_case)

static void must_be_over(gr_status status)
{
    ck_assert_msg(status == GR_ERR_SYSTEM, "%s: %s", gr_status_name(status), error_text());
    assert_error(GR_ERR_SYSTEM, -1, "other process");
}

/* Starts a peer for the job and sends it a ring. This process reads the frames of the peer. */
static struct shared_ring ring_with(struct peer *peer, const char *job, gr_side producer)
{
    *peer = peer_start(job);
    return shared_ring_sent(peer->socket, SLOTS, producer, GR_RING_LOSSLESS, GR_RING_CONSUMER);
}

/* A ring whose peer dies during a frame. CUDA in this process has acquired that frame. */
static struct shared_ring ring_with_a_pending_cuda_read(struct peer *peer, const gr_slot **slot)
{
    struct shared_ring r = ring_with(peer, "dies_in_a_frame", GR_SIDE_GRAPHICS);
    ck_assert_uint_eq(cuda_reads(r.ring), 1);
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, slot, 1, SOON));
    return r;
}

VULKAN_TEST(sending_to_a_dead_peer_fails_and_keeps_the_ring)
{
    struct peer peer = peer_that_dies_before();
    peer_end_killed(&peer, true);
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_fails(gr_ring_send(peer.socket, r.ring, GR_RING_CONSUMER, NULL, 0, SOON), GR_ERR_SYSTEM,
                 -1, "closed its end");
    /* This process still owns the ring, which is unchanged. */
    assert_ok(cuda_writes(r.ring));
    ck_assert_uint_eq(vulkan_reads(&r), 1);
    close(peer.socket);
    shared_ring_end(&r);
}

/* Many programs forget to close the end of the socket that they passed to a child. */
VULKAN_TEST(the_end_of_a_peer_is_noticed_while_its_socket_is_open_here, 2)
{
    const gr_slot *slot;
    int end, yes = 1;
    struct peer peer = peer_start_sharing_its_end(_i ? "dies_at_once" : "dies_after", &end);
    if (_i == 1) /* since Linux 6.5, each message then has a pidfd */
        setsockopt(peer.socket, SOL_SOCKET, SO_PASSPIDFD, &yes, sizeof(yes));
    struct shared_ring r =
        shared_ring_sent(peer.socket, SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS, GR_RING_CONSUMER);
    if (_i == 0)
        ck_assert_uint_eq(vulkan_reads(&r), 1);
    peer_end_killed(&peer, true);
    assert_fails(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON), GR_ERR_SYSTEM, -1,
                 "has ended");
    shared_ring_end(&r);
    close(end);
}

VULKAN_TEST(a_pending_vulkan_read_ends_when_the_cuda_peer_dies, 2)
{
    const gr_slot *slot;
    struct peer peer;
    struct shared_ring r = ring_with(&peer, "dies_in_a_frame", GR_SIDE_CUDA);
    ck_assert_uint_eq(vulkan_reads(&r), 1);
    /*
     * In the first run, the Vulkan submit waits for the frame before the peer dies. In the second
     * run, the peer is already dead.
     */
    if (_i == 1)
        peer_end_killed(&peer, true);
    assert_ok(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON));
    ck_assert_uint_eq(slot->frame, 2);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(slot->resource), r.host);
    vulkan_submit_slot(commands, slot, NULL);
    if (_i == 0)
        peer_end_killed(&peer, true);
    vulkan_finish();
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    must_be_over(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON));
    shared_ring_end(&r);
}

TEST_UNLESS(vulkan_failures_missing(), a_pending_vulkan_read_ends_when_a_kernel_of_the_peer_fails)
{
    const gr_slot *slot;
    struct peer peer;
    struct shared_ring r = ring_with(&peer, "kernel_fails", GR_SIDE_CUDA);
    vulkan_begins_read(&r, &slot, NULL);
    vulkan_finish();
    must_be_over(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER));
    gr_ring_free(r.ring);
    r.ring = NULL;
    peer_end_killed(&peer, true);
    shared_ring_end(&r);
}

VULKAN_TEST(a_pending_cuda_read_ends_when_the_vulkan_peer_dies, 2)
{
    const gr_slot *slot;
    struct peer peer;
    struct shared_ring r = ring_with_a_pending_cuda_read(&peer, &slot);
    peer_end_killed(&peer, true);
    if (_i == 0) {
        CU(StreamSynchronize(fx.stream));
        assert_ok(gr_ring_give_back(r.ring, &slot, 1));
        must_be_over(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    }
    gr_buffer *buffer = slot->buffer;
    shared_ring_end(&r); /* in the second run a slot is still acquired */
    if (_i == 1)
        assert_ok(gr_buffer_release(buffer));
}

/*
 * This process frees the ring while its stream still waits for a signal that the dead peer will
 * never make.
 *
 * Catches: on a GPU the free did not return. Destroying a slot waits for all work of the GPU, and
 * the slots were destroyed before the link, which signals in place of the dead peer.
 */
VULKAN_TEST(a_ring_can_be_freed_before_the_death_of_its_peer)
{
    const gr_slot *slot;
    struct peer peer;
    struct shared_ring r = ring_with_a_pending_cuda_read(&peer, &slot);
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    gr_ring_free(r.ring);
    r.ring = NULL;
    peer_end_killed(&peer, true);
    shared_ring_end(&r);
    sleep_ms(50);
    /* Creating a resource also frees resources whose free was deferred. */
    gr_resource_free(must_create(64, GR_READ_WRITE));
}

VULKAN_TEST(frames_of_a_dead_peer_can_be_read)
{
    const gr_slot *slot;
    struct peer peer;
    struct shared_ring r = ring_with(&peer, "dies_after", GR_SIDE_CUDA);
    peer_end_killed(&peer, true);
    sleep_ms(300);
    ck_assert_uint_eq(vulkan_reads(&r), 1);
    must_be_over(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON));
    shared_ring_end(&r);
}

/* The consumer is dead, so the producer cannot write to the ring. */
VULKAN_TEST(writing_fails_after_the_consumer_dies)
{
    struct peer peer = peer_that_dies_before();
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    gr_status status = gr_ring_send(peer.socket, r.ring, GR_RING_PRODUCER, NULL, 0, SOON);
    peer_end_killed(&peer, true);
    if (status != GR_OK)
        close(peer.socket);
    for (int i = 0; i <= SLOTS && status == GR_OK; i++)
        status = vulkan_writes(r.ring);
    ck_assert_msg(status == GR_ERR_SYSTEM, "%s", error_text());
    gr_clear_error();
    shared_ring_end(&r);
}

VULKAN_TEST(frames_of_a_peer_that_freed_its_ring_can_be_read)
{
    const gr_slot *slot;
    struct peer peer = peer_start("ends_at_once");
    /*
     * The ring has one slot, so that every slot is used: destroying an unused slot makes the driver
     * wait for the whole GPU.
     */
    struct shared_ring r =
        shared_ring_sent(peer.socket, 1, GR_SIDE_CUDA, GR_RING_LOSSLESS, GR_RING_CONSUMER);
    ck_assert_uint_eq(vulkan_reads(&r), 1);
    must_be_over(gr_ring_acquire_read(r.ring, GR_STREAM_NONE, &slot, 1, SOON));
    peer_end(&peer, true);
    shared_ring_end(&r);
}
