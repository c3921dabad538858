/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Long runs of the peer transport: a loop allocates nothing, a freed resource leaves nothing
 * behind, and rings work.
 */
#define _GNU_SOURCE
#include "gl_peer.h"

#include <string.h>

#include "tests/ring/ring.h"
#include "tests/support/allocations.h"

#define BATCH 8
#define LOOPS 300
#define SLOTS 3

GROUP("steady", EVERY_PEER)
TAG("alone")

static gr_resource *resources[BATCH];

static void frame(GLuint name)
{
    static int turn;
    gr_buffer *buffers[BATCH];
    (void)name;
    fill_mapped(resources[turn % BATCH], turn);
    turn++;
    assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
}

PEER_TEST(maps_and_releases_allocate_nothing)
{
    static const unsigned flags[] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD};
    need_counting();
    for (int i = 0; i < BATCH; i++)
        resources[i] = must_peer(gl_buffer_filled(SIZE, 1), flags[i % 3]);
    assert_allocates_nothing(frame, 0, 0, LOOPS);
    free_resources(resources, BATCH);
}

static void life(GLuint name)
{
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    fill_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
}

/* Each staging buffer has its own memory, unlike those above. */
static void large_life(GLuint name)
{
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_WRITE_DISCARD);
    fill_mapped(resource, 1);
}

PEER_TEST(creating_and_freeing_resources_leaks_nothing, 2)
{
    size_t size = _i ? LARGE : SIZE;
    GLuint name = gl_buffer_filled(size, 0);
    /* its semaphores serve the other resources: the number of simulated ones is limited */
    gr_resource *first = must_peer(gl_buffer_filled(SIZE, 0), GR_READ_ONLY);
    assert_steady(_i ? large_life : life, name, _i ? 30 : sanitizer() ? 100 : 1000);
    assert_gl_bytes(name, size, 1);
    gr_resource_free(first);
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

GROUP("the end of the process", add_near_case)

/* One resource is freed, and one stays open. */
CHILD(leave_one_open)
{
    gr_egl *egl = gr_egl_create(NULL);
    gr_resource *freed = egl ? must_peer(gl_buffer_filled(SIZE, 0), GR_WRITE_DISCARD) : NULL;
    gr_resource *open = egl ? must_peer(gl_buffer_filled(SIZE, 0), GR_WRITE_DISCARD) : NULL;
    gr_resource_free(freed);
    gr_log_add(GR_LOG_INFO, NULL, NULL); /* reports the objects that are open at the end */
    return egl && open ? 0 : 1;
}

/*
 * Catches: staging buffers were reported, and the report read those that had been freed.
 */
PEER_TEST(staging_buffers_are_not_reported_as_open)
{
    char said[8192];
    const int status = child_run("leave_one_open", said, sizeof(said));
    ck_assert_msg(status == 0, "0x%x: %s", (unsigned)status, said);
    ck_assert_msg(strstr(said, "the process ends with 1 resource open"), "%s", said);
}
