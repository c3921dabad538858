/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tests of gr_map(), gr_buffer_release() and gr_resource_unmap(), and of their streams. */
#include "contract.h"

GROUP("map, release, unmap", add_resource_case)

TEST(map_returns_pointer_size_and_stream)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, fx.stream);
    ck_assert(gr_resource_get_info(fx.resource)->mapped);
}

TEST(release_unmaps)
{
    for (int i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map(fx.resource);
        ck_assert(gr_resource_get_info(fx.resource)->mapped);
        assert_ok(gr_buffer_release(buffer));
        assert_not_mapped(fx.resource);
    }
}

TEST(release_on_another_stream_unmaps)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x51);
    CU(StreamSynchronize(fx.stream));
    assert_ok(release_on(buffer, fx.other));
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x51);
}

TEST(release_on_gr_stream_of_map_unmaps)
{
    assert_ok(release_on(must_map(fx.resource), GR_STREAM_OF_MAP));
    assert_not_mapped(fx.resource);
}

TEST(unmap_empties_the_buffer_but_does_not_release_it)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x53);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
    assert_not_mapped(fx.resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_gl_bytes(fx.name, SIZE, 0x53);
    assert_ok(gr_buffer_release(buffer));
    assert_not_mapped(fx.resource);
}

TEST(unmap_accepts_another_stream)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, fx.other));
    assert_not_mapped(fx.resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
}

TEST(map_works_before_the_old_buffer_is_released)
{
    gr_buffer *old = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, fx.stream));
    gr_buffer *new = must_map(fx.resource);
    ck_assert_ptr_ne(old, new);
    ck_assert_uint_eq(gr_buffer_ptr(old), 0);
    ck_assert_uint_eq(gr_buffer_size(new), SIZE);
    assert_ok(gr_buffer_release(old));
    ck_assert(gr_resource_get_info(fx.resource)->mapped);
    ck_assert_uint_ne(gr_buffer_ptr(new), 0);
    cuda_fill(new, 0x54);
    assert_ok(gr_buffer_release(new));
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x54);
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

TEST(a_map_accepts_both_default_streams)
{
    static const CUstream streams[] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 2; i++) {
        gr_buffer *buffer = must_make(gr_map(fx.resource, streams[i]));
        ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, streams[i]);
        cuda_fill(buffer, 0x60 + i);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(fx.name, SIZE, 0x60 + i);
    }
}
