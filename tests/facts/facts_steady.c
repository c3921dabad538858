/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Programs that run for days: maps and releases allocate nothing, and repeated lives of a resource
 * leak neither descriptors nor memory.
 */
#define _GNU_SOURCE
#include "tests/kinds/kinds.h"
#include "tests/support/allocations.h"

#define BATCH 8
#define LOOPS 30

GROUP("steady", add_kinds_case)
TAG("alone")

static struct thing *steady[BATCH];

static void frame(GLuint unused)
{
    (void)unused;
    thing_fill(steady[0], 3);
}

/*
 * The stream of the release waits for the map, even without work in between. Otherwise unmaps
 * overtake their maps, and in the NVIDIA driver 580 a queue of such unmaps never ends. The first
 * release on another stream creates an event, which all later releases reuse.
 */
static void frame_on_two_streams(GLuint unused)
{
    (void)unused;
    assert_ok(release_on(thing_map(steady[0]), fx.other));
    gr_buffer *buffer = thing_map(steady[0]);
    assert_ok(gr_resource_unmap(steady[0]->resource, GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release(buffer));
}

static void frame_of_many(GLuint unused)
{
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
    (void)unused;
    for (int i = 0; i < BATCH; i++)
        resources[i] = steady[i]->resource;
    assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
}

static void refused_map(GLuint unused)
{
    (void)unused;
    ck_assert_ptr_null(gr_map(steady[BATCH - 1]->resource, fx.stream));
    gr_clear_error();
}

/* Work that waits in a stream may need memory, so a frame begins after the work of the last. */
static void (*cycle)(GLuint);

static void cycle_in_turn(GLuint unused)
{
    cycle(unused);
    CU(CtxSynchronize());
}

static void (*const frames[])(GLuint) = {frame, frame_on_two_streams, frame_of_many, refused_map};
enum { FRAMES = sizeof(frames) / sizeof(frames[0]) };

static const unsigned directions[] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD};

/* The first frames create events, staging memory and views of images, which later ones reuse. */
FACT(frames_allocate_nothing, directions[_i / FRAMES], 3 * FRAMES)
{
    const int first = 2 * BATCH;
    need_counting();
    steady[0] = thing;
    for (int i = 1; i < BATCH; i++)
        steady[i] = thing_make(thing->kind, thing->flags);
    cycle = frames[_i % FRAMES];
    gr_buffer *held = cycle == refused_map ? thing_map(steady[BATCH - 1]) : NULL;
    for (int i = 0; i < first; i++)
        cycle_in_turn(0);
    const int fds = open_fds();
    assert_allocates_nothing(cycle_in_turn, 0, 0, LOOPS);
    ck_assert_int_eq(open_fds(), fds);
    if (held)
        assert_ok(gr_buffer_release(held));
}

static const struct thing *model; /* its semaphores serve all lives */

/* The resource is closed first, or only freed, after uses on two streams. */
static void life(GLuint closes)
{
    struct thing *thing = thing_make(model->kind, model->flags);
    thing_fill(thing, 1);
    assert_ok(release_on(thing_map(thing), fx.other));
    CU(CtxSynchronize()); /* else the lives run ahead of their ends */
    if (closes)
        assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    thing_end(thing);
}

FACT(lives_leak_nothing, writing[_i], 2)
{
    model = thing;
    assert_steady(life, (GLuint)_i, 30);
}

static void chained_life(GLuint name)
{
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream));
    fill_and_release(buffer, 2);
}

TEST(a_buffer_mapped_at_once_leaks_nothing)
{
    assert_steady(chained_life, gl_buffer_filled(THING_SIZE, 0), 300);
}
