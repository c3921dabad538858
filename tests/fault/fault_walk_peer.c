/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Scenarios of test_fault_walk with rings whose peer ends at any step. The peer is simulated in
 * this process, so that each call of this process may fail while the peer exists and after it has
 * ended.
 */
#include "fault_walk.h"
#include "tests/hostile/hostile.h"

#include <unistd.h>

/* More time than it takes to detect the end of a peer. */
#define ENOUGH_MS 10000

static struct hostile peer;
static gr_semaphore *acquire, *release;

static void give_all(void)
{
    hostile_set(&peer.sent, 1 << 20);
    hostile_set(&peer.received, 1 << 20);
}

/* The simulated peer receives the ring, which may be NULL. */
static gr_ring *send_to_peer(gr_ring *ring, gr_ring_role role)
{
    int socket;
    peer = hostile_pair(&socket);
    if (ring && ok(gr_ring_send(socket, ring, role, NULL, 0, WALK_SOON))) {
        hostile_take(&peer);
        walk_give_all = give_all;
        return ring;
    }
    close(socket);
    gr_ring_free(ring);
    return NULL;
}

/*
 * Passes frames: in each round the peer uses one slot, and then this process writes or reads one.
 */
static bool take_turns(gr_ring *ring, bool here_writes, int frames)
{
    bool good = true;
    for (int i = 0; i < frames && good; i++) {
        hostile_be_good(&peer, here_writes);
        good = here_writes ? walk_write(ring, i % 2 ? fx.other : fx.stream)
                           : walk_read(ring, i % 2 ? fx.other : fx.stream);
    }
    return good;
}

/* grinterop must have signalled for the peer that ended, so that no stream waits forever. */
static void check_streams(void)
{
    bool end = stream_ends_within(fx.stream, ENOUGH_MS) && stream_ends_within(fx.other, ENOUGH_MS);
    if (end)
        return;
    complain("a stream waits for a peer that has gone");
    give_all();
}

static bool end_ring(gr_ring *ring, bool good)
{
    gr_ring_free(ring);
    walk_give_all = NULL;
    if (peer.page)
        check_streams();
    hostile_end(&peer);
    gr_semaphore_free(acquire);
    gr_semaphore_free(release);
    return good;
}

static gr_ring *begin_ring(bool here_writes, gr_ring_mode mode)
{
    const gr_ring_options options = GR_INIT(
        gr_ring_options, .producer = here_writes ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS, .mode = mode);
    acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    release = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    return send_to_peer(walk_vulkan_ring(acquire, release, &options),
                        here_writes ? GR_RING_PRODUCER : GR_RING_CONSUMER);
}

static void die(void)
{
    close(peer.socket);
    peer.socket = -1;
}

/*
 * The peer hands over a frame without having done the work of that frame. This process waits for
 * the work, and the peer ends.
 */
static void leave_unfinished(gr_ring *ring)
{
    const gr_slot *slot = NULL;
    hostile_publish(&peer, 0, peer.frame + 1, peer.value + 1);
    if (gr_ring_acquire_read(ring, fx.stream, &slot, 1, 0) == GR_OK)
        gr_ring_give_back(ring, &slot, 1);
}

static bool run_writes(void)
{
    gr_ring *ring = begin_ring(true, GR_RING_LOSSLESS);
    bool good = ring && take_turns(ring, true, 2 * WALK_SLOTS);
    if (ring)
        die();
    return end_ring(ring, good);
}

static bool run_reads(void)
{
    gr_ring *ring = begin_ring(false, GR_RING_NEWEST);
    bool good = ring && take_turns(ring, false, 2 * WALK_SLOTS);
    if (good)
        leave_unfinished(ring);
    if (ring)
        die();
    return end_ring(ring, good);
}

/* The peer sets its signal back to a lower value, which grinterop checks while the peer lives. */
static bool run_takes_back(void)
{
    gr_ring *ring = begin_ring(true, GR_RING_LOSSLESS);
    bool good = ring && take_turns(ring, true, 2);
    if (good) {
        hostile_set(&peer.sent, 0);
        hostile_set(&peer.received, 0);
        gr_ring_get_info(ring);
    }
    if (ring)
        die();
    return end_ring(ring, good);
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static gr_ring *make_opengls(void)
{
    gr_resource *of[WALK_SLOTS] = {NULL};
    bool good = true;
    for (int i = 0; i < WALK_SLOTS && good; i++) {
        of[i] = gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing);
        good = done(of[i]);
    }
    gr_ring *ring = good ? gr_ring_create(of, WALK_SLOTS, NULL) : NULL;
    free_resources(of, WALK_SLOTS);
    done(ring);
    return ring;
}

/*
 * Without semaphores the OpenGL thread blocks. Here it waits for the work of a peer that ends
 * before it has done that work.
 */
static bool run_opengl_reads(void)
{
    const gr_slot *slot = NULL;
    acquire = release = NULL;
    gr_ring *ring = send_to_peer(make_opengls(), GR_RING_CONSUMER);
    bool good = ring != NULL;
    for (int i = 0; i < 2 * WALK_SLOTS && good; i++) {
        hostile_be_good(&peer, false);
        good = walk_read(ring, GR_STREAM_NONE);
    }
    if (good) {
        hostile_publish(&peer, 0, peer.frame + 1, peer.value + 1);
        if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 1) == GR_OK)
            gr_ring_give_back(ring, &slot, 1);
    }
    if (ring)
        die();
    return end_ring(ring, good);
}

static const char *no_sharing(void)
{
    gr_ring *ring = make_opengls();
    gr_ring_free(ring);
    return ring ? NULL : gr_last_error()->message;
}

const struct scenario walk_peers[] = {
    {"a ring of OpenGL buffers whose writer ends", .run = run_opengl_reads, .missing = no_sharing,
     .rules = WALK_FEW},
    {"a ring whose reader ends", .run = run_writes, .rules = WALK_FEW},
    {"a ring whose writer ends", .run = run_reads, .rules = WALK_FEW},
    {"a ring whose reader takes back", .run = run_takes_back, .rules = WALK_FEW},
    {.name = NULL},
};
