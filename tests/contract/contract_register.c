/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tests of gr_from_gl_buffer() and of the properties of a resource. */
#include "contract.h"

GROUP("register", add_resource_case)

TEST(a_new_resource_is_open_and_not_mapped)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    ck_assert_ptr_nonnull(driver_handle(resource));
    assert_not_mapped(resource);
}

TEST(write_discard_and_read_only_buffers_are_registered)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *discard = must_register_as(name, GR_WRITE_DISCARD);
    assert_not_mapped(discard);
    GR_AUTO(gr_resource) *read = must_register_as(gl_buffer_filled(SIZE, 1), GR_READ_ONLY);
    assert_not_mapped(read);
}

TEST(the_handle_is_the_graphics_resource_of_the_driver)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(fx.resource)));
    ck_assert_uint_eq(pointer, gr_buffer_ptr(buffer));
    ck_assert_uint_eq(size, gr_buffer_size(buffer));
}

TEST(resource_info_describes_the_resource)
{
    GR_AUTO(gr_resource) *r = must_register_as(gl_buffer_filled(SIZE, 1), GR_WRITE_DISCARD);
    for (int closed = 0; closed < 2; closed++) {
        const gr_resource_info *info = gr_resource_get_info(r);
        ck_assert_int_eq(info->kind, GR_KIND_BUFFER);
        ck_assert_int_eq(info->api, GR_GRAPHICS_OPENGL);
        ck_assert_int_eq(info->transport, GR_TRANSPORT_INTEROP);
        ck_assert_uint_eq(info->size, SIZE);
        ck_assert_uint_eq(info->flags, GR_WRITE_DISCARD);
        ck_assert_int_eq(info->closed, closed);
        ck_assert_int_eq(info->graphics == NULL, closed);
        assert_ok(gr_resource_close(r, GR_STREAM_OF_MAP));
    }
}

TEST(resource_info_has_a_graphics_handle_only_for_interop)
{
    const gr_resource_info *info = gr_resource_get_info(fx.resource);
    ck_assert(info->graphics && !info->external_memory);
    GR_AUTO(gr_resource) *copy =
        must_make(gr_from_gl_buffer_with(fx.name, GR_READ_WRITE, &by_copy));
    info = gr_resource_get_info(copy);
    ck_assert(info->transport == GR_TRANSPORT_COPY && info->api == GR_GRAPHICS_OPENGL);
    ck_assert(!info->graphics && !info->external_memory);
}
