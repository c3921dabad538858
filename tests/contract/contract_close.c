/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests of gr_resource_close() and gr_resource_free(), also on a mapped resource, and of the object
 * of the driver.
 */
#include "contract.h"

GROUP("close", add_resource_case)

TEST(the_handle_is_the_graphics_resource_of_the_driver)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(fx.resource)));
    ck_assert_uint_eq(pointer, gr_buffer_ptr(buffer));
    ck_assert_uint_eq(size, gr_buffer_size(buffer));
}

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

TEST(old_unreleased_buffers_are_distinct)
{
    enum { COUNT = 20 };
    gr_buffer *old[COUNT];
    for (int i = 0; i < COUNT; i++) {
        old[i] = must_map(fx.resource);
        assert_ok(gr_resource_unmap(fx.resource, fx.stream));
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            ck_assert_ptr_ne(old[i], old[j]);
    for (int i = 0; i < COUNT; i++)
        assert_ok(gr_buffer_release(old[i]));
    assert_not_mapped(fx.resource);
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
    fill_and_release(buffer, 0x71);
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

TEST(release_after_map_gl_buffer_ends_the_registration)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    start_listening();
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream));
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, fx.stream);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->context, fx.context);
    cuda_fill(buffer, 0x73);
    ck_assert_int_eq(seen.closed, 0);
    assert_ok(gr_buffer_release(buffer));
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_gl_bytes(name, SIZE, 0x73);
}
