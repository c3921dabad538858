/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Long runs of the peer transport: a loop allocates nothing, a freed resource leaves nothing
 * behind, and rings work.
 */
#define _GNU_SOURCE
#include "gl_peer.h"

#include "tests/ring/ring.h"
#include "tests/support/allocations.h"

#define BATCH 8
#define LOOPS 300
#define SLOTS 3

GROUP("steady", add_peer_case)

PEER_TEST(maps_and_releases_allocate_nothing)
{
    static const unsigned flags[] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD};
    need_counting();
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
    for (int i = 0; i < BATCH; i++)
        resources[i] = must_peer(gl_buffer_filled(SIZE, 1), flags[i % 3]);
    ck_assert_uint_gt(allocations, 0);
    start_counting();
    for (int i = 0; i < LOOPS; i++) {
        fill_mapped(resources[i % BATCH], i);
        assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
        assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
    }
    ck_assert_uint_eq(allocations, 0);
    free_resources(resources, BATCH);
}

static void life(GLuint name)
{
    gr_resource *resource = must_peer(name, GR_READ_WRITE);
    fill_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    gr_resource_free(resource);
}

PEER_TEST(creating_and_freeing_resources_leaks_nothing)
{
    GLuint name = gl_buffer_filled(SIZE, 0);
    assert_steady(life, name, sanitizer() ? 100 : 1000);
    assert_gl_bytes(name, SIZE, 1);
}

/* CUDA writes the slots in order, and OpenGL reads each. */
PEER_TEST(a_ring_passes_frames_from_cuda_to_opengl)
{
    gr_resource *resources[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_peer(gl_buffer_filled(SIZE, 0), GR_WRITE_DISCARD);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(resources, SLOTS, NULL));
    free_resources(resources, SLOTS);
    for (int frame = 1; frame < 20; frame++)
        ring_frame(ring, frame, 10000);
}
