/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Requirements of programs that run for days: a loop of map and release allocates nothing, and
 * repeated registering and closing leaks neither file descriptors nor memory.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"

#define SIZE  4096
#define BATCH 32
#define LOOPS 1000

static gr_resource *steady[BATCH];
static gr_buffer *buffers[BATCH];

static void frame(GLuint name)
{
    (void)name;
    fill_mapped(steady[0], 3);
}

/*
 * The stream of the release waits for the map, even without work in between. Otherwise unmaps
 * overtake their maps, and in the NVIDIA driver 580 a queue of such unmaps never ends. The first
 * release on another stream creates an event, which all later releases reuse.
 */
static void frame_on_two_streams(GLuint name)
{
    (void)name;
    assert_ok(release_on(must_map(steady[0]), fx.other));
    gr_buffer *buffer = must_map(steady[0]);
    assert_ok(gr_resource_unmap(steady[0], GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release(buffer));
}

static void frame_of_many(GLuint name)
{
    (void)name;
    assert_ok(gr_map_many(steady, BATCH, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
}

static void refused_map(GLuint name)
{
    (void)name;
    ck_assert_ptr_null(gr_map(steady[BATCH - 1], fx.stream));
    gr_clear_error();
}

static void life(GLuint name)
{
    GR_AUTO(gr_resource) *resource = must_register(name);
    fill_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
}

static void chained_life(GLuint name)
{
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream));
    fill_and_release(buffer, 2);
}

static void make_steady(void)
{
    for (int i = 0; i < BATCH; i++)
        steady[i] = must_register(gl_buffer_filled(SIZE, 1));
}

GROUP("heap", add_case)

static const struct {
    void (*cycle)(GLuint name);
    int first;
} frames[] = {{frame, 0}, {frame_on_two_streams, 1}, {frame_of_many, 0}, {refused_map, 0}};

TEST(frames_allocate_nothing, sizeof(frames) / sizeof(*frames))
{
    need_counting();
    make_steady();
    gr_buffer *held = frames[_i].cycle == refused_map ? must_map(steady[BATCH - 1]) : NULL;
    assert_allocates_nothing(frames[_i].cycle, 0, frames[_i].first, LOOPS);
    if (held)
        assert_ok(gr_buffer_release(held));
    free_resources(steady, BATCH);
}

GROUP("cycles", add_case)

static const struct {
    void (*cycle)(GLuint name);
    int share; /* of the cycles */
} cycles[] = {{life, 1}, {chained_life, 5}, {frame, 1}};

/* Fewer cycles with sanitizers, which slow each cycle down and keep freed memory for a while. */
TEST(cycles_leak_nothing, sizeof(cycles) / sizeof(*cycles))
{
    make_steady();
    assert_steady(cycles[_i].cycle, gl_buffer_filled(SIZE, 0),
                  (sanitizer() ? 500 : 10000) / cycles[_i].share);
    free_resources(steady, BATCH);
}
