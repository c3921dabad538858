/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The object of the driver, buffers whose mapping has ended, and gr_map_gl_buffer(). The ends of
 * all kinds of resources are in tests/facts.
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

TEST(release_after_map_gl_buffer_ends_the_registration)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    log_begin(GR_LOG_DEBUG);
    gr_buffer *buffer = must_make(gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream));
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, fx.stream);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->context, fx.context);
    cuda_fill(buffer, 0x73);
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, "closed"), 0);
    assert_ok(gr_buffer_release(buffer));
    log_end();
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, "closed"), 1);
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), 0);
    assert_gl_bytes(name, SIZE, 0x73);
}
