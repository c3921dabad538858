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

GROUP("heap", add_case)

TEST(allocations_of_a_registration_are_counted)
{
    need_counting();
    gr_resource_free(must_register(gl_buffer_filled(SIZE, 1)));
    ck_assert_uint_gt(allocations, 0);
}

TEST(map_and_release_allocate_nothing)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    need_counting();
    for (int i = 0; i < LOOPS; i++) {
        fill_mapped(resource, i);
    }
    ck_assert_uint_eq(allocations, 0);
}

/*
 * The stream of the release waits for the map, even without work in between. Otherwise unmaps
 * overtake their maps, and in the NVIDIA driver 580 a queue of such unmaps never ends.
 */
TEST(release_on_another_stream_and_unmap_allocate_nothing)
{
    need_counting();
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    /* The first release on another stream creates an event, which all later releases reuse. */
    assert_ok(release_on(buffer, fx.other));
    start_counting();
    for (int i = 0; i < LOOPS; i++) {
        buffer = must_map(resource);
        assert_ok(release_on(buffer, fx.other));
        buffer = must_map(resource);
        assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
        assert_ok(gr_buffer_release(buffer));
    }
    ck_assert_uint_eq(allocations, 0);
}

TEST(map_many_and_release_many_allocate_nothing)
{
    need_counting();
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
    for (int i = 0; i < BATCH; i++)
        resources[i] = must_register(gl_buffer_filled(SIZE, 1));
    start_counting();
    for (int i = 0; i < LOOPS; i++) {
        assert_ok(gr_map_many(resources, BATCH, fx.stream, NULL, buffers));
        assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
    }
    ck_assert_uint_eq(allocations, 0);
    free_resources(resources, BATCH);
}

TEST(a_refused_map_allocates_nothing)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    need_counting();
    gr_buffer *buffer = must_map(resource);
    for (int i = 0; i < LOOPS; i++)
        ck_assert_ptr_null(gr_map(resource, fx.stream));
    gr_clear_error();
    ck_assert_uint_eq(allocations, 0);
    assert_ok(gr_buffer_release(buffer));
}

GROUP("cycles", add_case)

/* Fewer cycles with sanitizers, which slow each cycle down and keep freed memory for a while. */
static int cycles(void)
{
    return sanitizer() ? 500 : 10000;
}

static void life(GLuint name)
{
    gr_resource *resource = must_register(name);
    fill_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    gr_resource_free(resource);
}

static void chained_life(GLuint name)
{
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream));
    cuda_fill(buffer, 2);
    assert_ok(gr_buffer_release(buffer));
}

TEST(register_map_release_close_leak_nothing)
{
    assert_steady(life, gl_buffer_filled(SIZE, 0), cycles());
}

TEST(map_gl_buffer_leaks_nothing)
{
    assert_steady(chained_life, gl_buffer_filled(SIZE, 0), cycles() / 5);
}

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    fill_mapped(steady, 3);
}

TEST(map_and_release_leak_nothing)
{
    steady = must_register(gl_buffer_filled(SIZE, 1));
    assert_steady(frame, gl_buffer_filled(SIZE, 0), cycles());
    gr_resource_free(steady);
}
