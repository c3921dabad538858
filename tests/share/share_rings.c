/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings between two processes in both directions, and the calls that one side may make. */
#define _GNU_SOURCE
#include "share_ring.h"
#include "tests/support/ring_age.h"

#define SLOTS  4
#define FRAMES 200

/* The most submits that are pending at once. */
#define SUBMITS 32

/* ---- The other process ----------------------------------------------------------------------- */

gr_ring *peer_ring(int socket)
{
    gr_ring *ring = gr_ring_receive(socket, NULL, 0, NULL, SOON);
    child_check(ring);
    return ring;
}

void peer_ring_end(gr_ring *ring)
{
    CU(StreamSynchronize(fx.stream));
    gr_ring_free(ring);
}

void job_produces(int socket)
{
    gr_ring *ring = peer_ring(socket);
    for (int i = 0; i < FRAMES; i++)
        child_check(cuda_writes(ring) == GR_OK);
    child_check(gr_ring_get_info(ring)->newest_age_ns > 0);
    peer_ring_end(ring);
}

/* Reads until the peer stops the ring. In lossless rings no frame may be missing. */
static void consume(int socket, bool lossless)
{
    gr_ring *ring = peer_ring(socket);
    uint64_t last = 0, frame;
    while ((frame = cuda_reads(ring)) != 0) {
        ck_assert_uint_gt(frame, last);
        child_check(gr_ring_get_info(ring)->newest_age_ns > 0);
        child_check(!lossless || frame == last + 1);
        last = frame;
    }
    child_check(gr_last_error()->status == GR_ERR_STOPPED);
    child_check(lossless ? last == FRAMES : last > 0);
    peer_ring_end(ring);
}

void job_consumes_all(int socket)
{
    consume(socket, true);
}

void job_consumes_the_newest(int socket)
{
    consume(socket, false);
}

GROUP("rings between processes", add_share_case)

VULKAN_TEST(vulkan_reads_frames_of_a_peer, 2)
{
    const uint64_t begun = monotonic_ns();
    struct peer peer = peer_start("produces");
    struct shared_ring r = shared_ring_sent(peer.socket, 1 + _i * (SLOTS - 1), GR_SIDE_CUDA,
                                            GR_RING_LOSSLESS, GR_RING_CONSUMER);
    for (uint64_t i = 1; i <= FRAMES; i++) {
        uint64_t frame = vulkan_reads(&r);
        ck_assert_msg(frame == i, "frame %d, not %d: %s", (int)frame, (int)i, error_text());
        assert_age(r.ring, begun, monotonic_ns());
    }
    peer_end(&peer, true);
    shared_ring_end(&r);
}

VULKAN_TEST(a_peer_reads_frames_of_vulkan, 3)
{
    gr_ring_mode mode = _i == 2 ? GR_RING_NEWEST : GR_RING_LOSSLESS;
    struct peer peer =
        peer_start(mode == GR_RING_LOSSLESS ? "consumes_all" : "consumes_the_newest");
    struct shared_ring r = shared_ring_sent(peer.socket, _i == 0 ? 1 : SLOTS, GR_SIDE_GRAPHICS,
                                            mode, GR_RING_PRODUCER);
    for (int i = 0; i < FRAMES; i++) {
        assert_ok(vulkan_writes(r.ring));
        if (i % SUBMITS == 0)
            vulkan_finish();
    }
    gr_ring_stop(r.ring);
    peer_end(&peer, true);
    shared_ring_end(&r);
}

/* CUDA is the producer at the sender's end. */
VULKAN_TEST(a_peer_reads_frames_of_cuda, 2)
{
    struct peer peer = peer_start(_i == 0 ? "consumes_all" : "consumes_the_newest");
    struct shared_ring r =
        shared_ring_sent(peer.socket, SLOTS, GR_SIDE_CUDA,
                         _i == 0 ? GR_RING_LOSSLESS : GR_RING_NEWEST, GR_RING_PRODUCER);
    for (int i = 0; i < FRAMES; i++)
        assert_ok(cuda_writes(r.ring));
    gr_ring_stop(r.ring);
    peer_end(&peer, true);
    shared_ring_end(&r);
}

VULKAN_TEST(cuda_reads_frames_of_a_peer)
{
    struct peer peer = peer_start("produces");
    struct shared_ring r =
        shared_ring_sent(peer.socket, SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS, GR_RING_CONSUMER);
    for (uint64_t i = 1; i <= FRAMES; i++)
        ck_assert_uint_eq(cuda_reads(r.ring), i);
    peer_end(&peer, true);
    shared_ring_end(&r);
}

/* A ring that this process has used must continue without a change after it is sent. */
VULKAN_TEST(a_ring_continues_if_it_was_used_before_the_send)
{
    struct peer peer = peer_start("produces");
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    for (int i = 0; i < 2 * SLOTS + 1; i++) {
        assert_ok(cuda_writes(r.ring));
        ck_assert_uint_eq(vulkan_reads(&r), (unsigned)i + 1);
    }
    assert_ok(gr_ring_send(peer.socket, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    for (uint64_t i = 1; i <= FRAMES; i++)
        ck_assert_uint_eq(vulkan_reads(&r), 2 * SLOTS + 1 + i);
    peer_end(&peer, true);
    shared_ring_end(&r);
}

/* The ring was resized: old slots have left, and some of the current slots have been used. */
VULKAN_TEST(a_ring_continues_if_it_was_resized_before_the_send, 3)
{
    gr_resource *others[SLOTS];
    struct peer peer = peer_start("produces");
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    for (unsigned i = 1; i <= SLOTS + 1; i++) {
        assert_ok(cuda_writes(r.ring));
        ck_assert_uint_eq(vulkan_reads(&r), i);
    }
    for (int i = 0; i < SLOTS; i++) {
        others[i] = must_create(SLOT_SIZE, GR_READ_WRITE);
        assert_ok(gr_resource_set_sync(others[i], r.acquire, r.release));
    }
    assert_ok(gr_ring_resize(r.ring, others, SLOTS - _i));
    free_resources(others, SLOTS);
    for (unsigned i = 2; i <= 3; i++) {
        assert_ok(cuda_writes(r.ring));
        ck_assert_uint_eq(vulkan_reads(&r), SLOTS + i);
    }
    CU(CtxSynchronize()); /* the slots that left are no longer in use */
    assert_ok(gr_ring_send(peer.socket, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    ck_assert_uint_eq(gr_ring_get_info(r.ring)->slots, SLOTS - _i);
    for (uint64_t i = 1; i <= FRAMES; i++)
        ck_assert_uint_eq(vulkan_reads(&r), SLOTS + 3 + i);
    peer_end(&peer, true);
    shared_ring_end(&r);
}

/* Creates a ring of OpenGL buffers. NULL if this OpenGL cannot share them. */
static gr_ring *make_opengls_ring(void)
{
    gr_resource *resources[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        resources[i] = gr_create_gl_buffer(SLOT_SIZE, GR_READ_WRITE, &by_sharing);
        if (!resources[i])
            return NULL;
    }
    gr_ring *ring = must_make(gr_ring_create(resources, SLOTS, NULL));
    free_resources(resources, SLOTS);
    return ring;
}

TEST(opengl_reads_frames_of_a_peer)
{
    GR_AUTO(gr_ring) *ring = make_opengls_ring();
    if (!ring)
        skip("%s", error_text());
    struct peer peer = peer_start("produces");
    assert_ok(gr_ring_send(peer.socket, ring, GR_RING_CONSUMER, NULL, 0, SOON));
    for (uint64_t i = 1; i <= FRAMES; i++) {
        const gr_slot *slot;
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, SOON));
        ck_assert_uint_eq(slot->frame, i);
        assert_gl_bytes(gr_gl_name(slot->resource), SLOT_SIZE, value_of_frame(i));
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    peer_end(&peer, true);
}

/* OpenGL leaves the ring: the peer must not need signals of it any more. */
TEST(a_ring_that_opengl_has_read_is_sent)
{
    const gr_slot *slot, *all[SLOTS];
    GR_AUTO(gr_ring) *ring = make_opengls_ring();
    if (!ring)
        skip("%s", error_text());
    struct peer peer = peer_start("consumes_the_newest");
    assert_ok(cuda_writes(ring));
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, SOON));
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_ok(gr_ring_send(peer.socket, ring, GR_RING_PRODUCER, NULL, 0, SOON));
    assert_ok(gr_egl_make_current(NULL)); /* all of OpenGL's signals were made before the send */
    assert_ok(gr_ring_acquire_write(ring, fx.stream, all, SLOTS, SOON));
    assert_ok(gr_ring_cancel_write(ring, all, SLOTS));
    for (int i = 0; i < FRAMES; i++)
        assert_ok(cuda_writes(ring));
    gr_ring_stop(ring);
    peer_end(&peer, true);
    assert_ok(gr_egl_make_current(fx.egl));
}
