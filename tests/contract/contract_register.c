/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* gr_from_gl_buffer(), and the properties of a resource. */
#include "contract.h"

GROUP("register", add_resource_case)

TEST(a_new_resource_is_open_and_not_mapped)
{
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE);
    assert_made(resource);
    ck_assert_ptr_nonnull(driver_handle(resource));
    assert_not_mapped(resource);
}

TEST(write_discard_and_read_only_register_too)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *discard = must_register_as(name, GR_WRITE_DISCARD);
    assert_not_mapped(discard);
    GR_AUTO(gr_resource) *read = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_ONLY);
    assert_made(read);
    assert_not_mapped(read);
}

TEST(the_handle_is_the_drivers_resource)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(fx.resource)));
    ck_assert_uint_eq(pointer, gr_buffer_ptr(buffer));
    ck_assert_uint_eq(size, gr_buffer_size(buffer));
}

TEST(resources_describe_themselves)
{
    GR_AUTO(gr_resource) *r = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_WRITE_DISCARD);
    assert_made(r);
    for (int closed = 0; closed < 2; closed++) {
        ck_assert_int_eq(gr_resource_kind(r), GR_KIND_BUFFER);
        ck_assert_int_eq(gr_resource_api(r), GR_OPENGL);
        ck_assert_int_eq(gr_resource_transport(r), GR_TRANSPORT_INTEROP);
        ck_assert_uint_eq(gr_resource_size(r), SIZE);
        ck_assert_uint_eq(gr_resource_flags(r), GR_WRITE_DISCARD);
        assert_ok(gr_resource_close(r, GR_STREAM_OF_MAP));
    }
    assert_null(gr_resource_graphics(r), GR_ERR_STATE, 0, "closed");
}

TEST(each_resource_returns_its_cuda_object)
{
    ck_assert_ptr_nonnull(gr_resource_graphics(fx.resource));
    assert_null(gr_resource_external_memory(fx.resource), GR_ERR_STATE, 0, "transport interop");
    const gr_gl_options by_copy = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY);
    GR_AUTO(gr_resource) *copy = gr_from_gl_buffer_with(fx.name, GR_READ_WRITE, &by_copy);
    assert_made(copy);
    ck_assert_int_eq(gr_resource_transport(copy), GR_TRANSPORT_COPY);
    ck_assert_int_eq(gr_resource_api(copy), GR_OPENGL);
    assert_null(gr_resource_graphics(copy), GR_ERR_STATE, 0, "transport copy");
    assert_null(gr_resource_external_memory(copy), GR_ERR_STATE, 0, "transport copy");
}
