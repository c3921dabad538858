/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How mappings and resources end: by a close, a free or an unmap while mapped, on another stream,
 * and on another thread. No end loses bytes.
 */
#include "tests/kinds/kinds.h"

#include <string.h>

/* Each kind waits so long in each late end. */
#define LATE_MS 5

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The mapping of the buffer has ended; only its release is left. */
static void assert_ended(gr_buffer *buffer)
{
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_null(gr_buffer_array(buffer, 0, 0), GR_ERR_STATE, 0, "");
}

static void assert_state(const struct thing *thing, bool is_mapped, bool is_closed)
{
    ck_assert_int_eq(gr_resource_get_info(thing->resource)->mapped, is_mapped);
    ck_assert_int_eq(gr_resource_get_info(thing->resource)->closed, is_closed);
}

/* Frees the OpenGL objects that were set aside, and makes the releases that were deferred. */
static void collect(void)
{
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
}

/* Maps, and lets CUDA write the pattern: at once, or late. Returns the stream on which to end. */
static CUstream map_and_write(struct thing *thing, gr_buffer **buffer, unsigned seed, bool late)
{
    *buffer = thing_map(thing);
    if (late)
        gate_open_after(gate_put(fx.stream), LATE_MS);
    thing_cuda_write(thing, *buffer, seed);
    return late ? fx.other : GR_STREAM_OF_MAP;
}

GROUP("ends of mappings", add_kinds_case)

/* The four ends with both flags, on the stream of the map and, after late work there, on another.
 */
#define ENDS 4

FACT(a_release_keeps_the_bytes, writing[_i % 2], ENDS)
{
    gr_buffer *buffer;
    for (unsigned frame = 1; frame < 4; frame++) {
        const CUstream stream = map_and_write(thing, &buffer, frame, _i / 2);
        assert_state(thing, true, false);
        assert_ok(release_on(buffer, stream));
        assert_state(thing, false, false);
        assert_thing(thing, frame);
    }
}

FACT(an_unmap_keeps_the_bytes, writing[_i % 2], ENDS)
{
    gr_buffer *buffer, *next;
    const CUstream stream = map_and_write(thing, &buffer, 4, _i / 2);
    assert_null(gr_map(thing->resource, fx.other), GR_ERR_STATE, 0, "already mapped");
    assert_null(gr_map_linear(thing->resource, 0, 0, fx.other), GR_ERR_STATE, 0, "already mapped");
    assert_ok(gr_resource_unmap(thing->resource, stream));
    assert_state(thing, false, false);
    assert_ended(buffer);
    assert_thing(thing, 4);
    assert_fails(gr_resource_unmap(thing->resource, fx.stream), GR_ERR_STATE, 0, "not mapped");
    map_and_write(thing, &next, 5, false);
    ck_assert_ptr_ne(buffer, next);
    assert_ended(buffer);
    assert_ok(gr_buffer_release(buffer));
    assert_state(thing, true, false);
    assert_ok(gr_buffer_release(next));
    assert_thing(thing, 5);
}

FACT_UNLESS(lost_by_close, a_close_while_mapped_keeps_the_bytes, writing[_i % 2], ENDS)
{
    gr_buffer *buffer;
    void *handle = driver_handle(thing->resource);
    const CUstream stream = map_and_write(thing, &buffer, 6, _i / 2);
    assert_ok(gr_resource_close(thing->resource, stream));
    assert_state(thing, false, true);
    ck_assert_ptr_null(driver_handle(thing->resource));
    assert_unregistered(handle);
    assert_ended(buffer);
    assert_thing(thing, 6);
    assert_ok(gr_buffer_release(buffer));
}

/* For kinds that lose bytes at a close, too: they lose only what Vulkan has not taken over. */
FACT(a_close_while_mapped_ends_the_buffer, writing[_i % 2], 2)
{
    gr_buffer *buffer, *none = NULL;
    map_and_write(thing, &buffer, 6, false);
    assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    assert_state(thing, false, true);
    ck_assert_ptr_null(driver_handle(thing->resource));
    assert_ended(buffer);
    assert_null(gr_map(thing->resource, fx.stream), GR_ERR_STATE, 0, "closed");
    assert_fails(gr_map_many(&thing->resource, 1, fx.stream, NULL, &none), GR_ERR_STATE, 0,
                 "closed");
    ck_assert_ptr_null(none);
    assert_fails(gr_resource_unmap(thing->resource, fx.stream), GR_ERR_STATE, 0, "closed");
    assert_ok(gr_resource_close(thing->resource, fx.stream));
    assert_ok(gr_resource_close(thing->resource, fx.other));
    assert_invalid(gr_resource_close(thing->resource, NULL), "The stream is NULL");
    assert_ok(gr_buffer_release(buffer));
}

/* Maps, frees the resource, and checks that the mapping keeps it until its release. */
static void free_while_mapped(struct thing *thing, bool late)
{
    void *handle = driver_handle(thing->resource);
    log_begin(GR_LOG_DEBUG);
    gr_buffer *buffer = thing_map(thing);
    thing_free(thing);
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, "closed"), 0);
    const CUstream stream = late ? fx.other : GR_STREAM_OF_MAP;
    thing_cuda_write(thing, buffer, 7);
    assert_thing_in_cuda(thing, buffer, 7);
    if (late)
        gate_open_after(gate_put(fx.stream), LATE_MS);
    thing_cuda_write(thing, buffer, 8);
    assert_ok(release_on(buffer, stream));
    ck_assert_int_ge(log_count(GR_LOG_DEBUG, "closed"), 1); /* and for its staging memory */
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), 0);
    assert_unregistered(handle);
}

FACT(a_mapping_keeps_a_freed_resource_alive, writing[_i % 2], ENDS)
{
    free_while_mapped(thing, _i / 2);
}

FACT_UNLESS(lost_by_free, a_free_while_mapped_keeps_the_bytes, writing[_i % 2], ENDS)
{
    free_while_mapped(thing, _i / 2);
    assert_thing(thing, 8);
}

FACT_UNLESS(lost_by_free, a_free_after_a_late_release_keeps_the_bytes, writing[_i % 2], ENDS)
{
    gr_buffer *buffer;
    const CUstream stream = map_and_write(thing, &buffer, 9, _i / 2);
    assert_ok(release_on(buffer, stream));
    thing_free(thing);
    assert_thing(thing, 9);
}

GROUP("ends of resources", add_kinds_case)

FACT(a_close_without_a_mapping_ends_the_resource, writing[_i % 2], 2)
{
    void *handle = driver_handle(thing->resource);
    thing_fill(thing, 10);
    assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    assert_state(thing, false, true);
    ck_assert_ptr_null(driver_handle(thing->resource));
    assert_unregistered(handle);
}

FACT(a_free_without_a_mapping_ends_the_resource_at_once, writing[_i % 2], 2)
{
    void *handle = driver_handle(thing->resource);
    thing_fill(thing, 10);
    log_begin(GR_LOG_DEBUG);
    thing_free(thing);
    ck_assert_int_ge(log_count(GR_LOG_DEBUG, "closed"), 1); /* and for its staging memory */
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), 0);
    assert_unregistered(handle);
}

FACT(a_buffer_unmapped_before_a_free_must_still_be_released, writing[_i % 2], 2)
{
    void *handle = driver_handle(thing->resource);
    gr_buffer *buffer = thing_map(thing);
    assert_ok(gr_resource_unmap(thing->resource, fx.stream));
    thing_free(thing);
    assert_unregistered(handle);
    assert_ended(buffer);
    assert_ok(gr_buffer_release(buffer));
}

/* Catches: a map of a freed resource read freed memory. */
FACT(calls_on_a_freed_resource_are_refused, writing[_i % 2], 2)
{
    gr_resource *freed = thing->resource;
    gr_buffer *buffer = NULL;
    thing_fill(thing, 11);
    thing_free(thing);
    assert_null_invalid(gr_map(freed, fx.stream), "gr_map was given");
    assert_null_invalid(gr_map_linear(freed, 0, 0, fx.stream), "gr_map_linear was given");
    assert_invalid(gr_map_many(&freed, 1, fx.stream, NULL, &buffer), "gr_map_many was given");
    ck_assert_ptr_null(buffer);
    assert_invalid(gr_resource_unmap(freed, fx.stream), "gr_resource_unmap was given");
    assert_invalid(gr_resource_close(freed, fx.stream), "gr_resource_close was given");
    gr_clear_error();
    gr_resource_free(freed);
    assert_error(GR_ERR_INVALID_VALUE, 0, "gr_resource_free was given");
}

GROUP("ends on another thread", add_kinds_case)

FACT(a_release_on_another_thread_keeps_the_bytes, writing[_i % 2], ENDS)
{
    gr_buffer *buffer;
    map_and_write(thing, &buffer, 12, _i / 2);
    elsewhere(release_elsewhere, buffer);
    assert_invalid(gr_buffer_release(buffer), "released already");
    collect();
    assert_state(thing, false, false);
    assert_thing(thing, 12);
}

/* The next map makes the release itself, and follows the work of its buffer. */
FACT(a_map_after_a_release_on_another_thread_follows_it, GR_READ_WRITE, 2)
{
    gr_buffer *buffer;
    map_and_write(thing, &buffer, 13, _i);
    elsewhere(release_elsewhere, buffer);
    gr_buffer *next = thing_map(thing);
    assert_thing_in_cuda(thing, next, 13);
    assert_ok(gr_buffer_release(next));
    assert_thing(thing, 13);
}

/* Like a garbage collector: another thread frees the buffer and its resource, in either order. */
static void end_elsewhere(struct thing *thing, bool free_first)
{
    gr_buffer *buffer;
    void *handle = driver_handle(thing->resource);
    map_and_write(thing, &buffer, 14, false);
    gr_resource *resource = thing->resource;
    thing->resource = NULL;
    if (free_first)
        elsewhere(free_elsewhere, resource);
    elsewhere(release_elsewhere, buffer);
    if (!free_first)
        elsewhere(free_elsewhere, resource);
    collect();
    assert_unregistered(handle);
}

FACT(buffer_and_resource_can_be_freed_on_another_thread, writing[_i % 2], ENDS)
{
    end_elsewhere(thing, _i / 2);
}

FACT_UNLESS(lost_by_free, frees_on_another_thread_keep_the_bytes, writing[_i % 2], ENDS)
{
    end_elsewhere(thing, _i / 2);
    assert_thing(thing, 14);
}

FACT_UNLESS(lost_by_free, a_free_ends_a_release_on_another_thread, writing[_i % 2], 2)
{
    gr_buffer *buffer;
    void *handle = driver_handle(thing->resource);
    map_and_write(thing, &buffer, 15, false);
    elsewhere(release_elsewhere, buffer);
    thing_free(thing);
    assert_unregistered(handle);
    assert_thing(thing, 15);
}

FACT_UNLESS(lost_by_close, a_close_ends_a_release_on_another_thread, writing[_i % 2], 2)
{
    gr_buffer *buffer;
    map_and_write(thing, &buffer, 16, false);
    elsewhere(release_elsewhere, buffer);
    assert_ok(gr_resource_close(thing->resource, GR_STREAM_OF_MAP));
    ck_assert_ptr_null(driver_handle(thing->resource));
    assert_thing(thing, 16);
}
