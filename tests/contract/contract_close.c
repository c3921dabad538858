/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tests of gr_resource_close() and gr_resource_free(), also on a mapped resource. */
#include "contract.h"

GROUP("close", add_resource_case)

TEST(close_ends_the_registration)
{
    void *handle = driver_handle(fx.resource);
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_get_info(fx.resource)->closed);
    ck_assert(!gr_resource_get_info(fx.resource)->mapped);
    ck_assert_ptr_null(driver_handle(fx.resource));
    assert_unregistered(handle);
}

TEST(close_while_mapped_clears_the_gr_buffer)
{
    void *handle = driver_handle(fx.resource);
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x42);
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_get_info(fx.resource)->closed);
    ck_assert(!gr_resource_get_info(fx.resource)->mapped);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_unregistered(handle);
    assert_gl_bytes(fx.name, SIZE, 0x42);
    assert_ok(gr_buffer_release(buffer));
}

TEST(close_while_mapped_accepts_another_stream)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x43);
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_resource_close(fx.resource, fx.other));
    assert_gl_bytes(fx.name, SIZE, 0x43);
    assert_ok(release_on(buffer, fx.stream));
}

TEST(a_gl_buffer_can_be_registered_again_after_close)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *first = must_register(name);
    assert_ok(gr_resource_close(first, GR_STREAM_OF_MAP));
    GR_AUTO(gr_resource) *second = must_register(name);
    GR_AUTO(gr_buffer) *buffer = must_map(second);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
}

GROUP("lifetimes", add_case)

TEST(a_mapping_keeps_a_freed_resource_alive)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    void *handle = driver_handle(resource);
    gr_buffer *buffer = must_map(resource);
    start_listening();
    gr_resource_free(resource);
    ck_assert_int_eq(seen.closed, 0);
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    cuda_fill(buffer, 0x71);
    assert_ok(gr_buffer_release(buffer));
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_unregistered(handle);
    assert_gl_bytes(name, SIZE, 0x71);
}

TEST(free_without_a_mapping_ends_the_registration_at_once)
{
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    void *handle = driver_handle(resource);
    assert_ok(gr_buffer_release(must_map(resource)));
    start_listening();
    gr_resource_free(resource);
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_unregistered(handle);
}

TEST(a_buffer_unmapped_before_free_must_still_be_released)
{
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    void *handle = driver_handle(resource);
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_resource_unmap(resource, fx.stream));
    gr_resource_free(resource);
    assert_unregistered(handle);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_ok(gr_buffer_release(buffer));
}

TEST(a_buffer_closed_before_free_must_still_be_released)
{
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_ok(release_on(buffer, fx.other));
}

TEST(free_with_an_old_and_a_mapped_buffer_waits_for_the_mapped_one)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    gr_buffer *old = must_map(resource);
    assert_ok(gr_resource_unmap(resource, fx.stream));
    gr_buffer *new = must_map(resource);
    start_listening();
    gr_resource_free(resource);
    cuda_fill(new, 0x72);
    assert_ok(gr_buffer_release(new));
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    assert_gl_bytes(name, SIZE, 0x72);
    ck_assert_uint_eq(gr_buffer_ptr(old), 0);
    assert_ok(gr_buffer_release(old));
}

TEST(release_after_map_gl_buffer_ends_the_registration)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    start_listening();
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream));
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, fx.stream);
    cuda_fill(buffer, 0x73);
    ck_assert_int_eq(seen.closed, 0);
    assert_ok(gr_buffer_release(buffer));
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_gl_bytes(name, SIZE, 0x73);
}

TEST(map_gl_buffer_can_be_released_on_another_stream)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream));
    cuda_fill(buffer, 0x74);
    CU(StreamSynchronize(fx.stream));
    assert_ok(release_on(buffer, fx.other));
    assert_gl_bytes(name, SIZE, 0x74);
}
