/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* GR_AUTO(): the end of a scope releases the buffer, and then the resource. */
#include "contract.h"

GROUP("end of scope", add_case)

static bool write_in_scope(GLuint name, int value, bool leave_early)
{
    GR_AUTO(gr_resource) *resource = must_register(name);
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    cuda_fill(buffer, value);
    if (leave_early)
        return false;
    cuda_fill(buffer, value + 1);
    return true;
}

/* The scope is left at its end, and by an early return. */
TEST(scope_exit_releases_the_buffer_and_then_the_resource, 2)
{
    const bool early = _i == 1;
    GLuint name = gl_buffer_filled(SIZE, 1);
    start_listening();
    ck_assert_int_eq(write_in_scope(name, 0x80, early), !early);
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_gl_bytes(name, SIZE, early ? 0x80 : 0x81);
}

TEST(leaving_an_inner_scope_unmaps_but_does_not_close_the_resource)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_register(name);
    for (int i = 0; i < 3; i++) {
        GR_AUTO(gr_buffer) *buffer = must_map(resource);
        cuda_fill(buffer, 0x90 + i);
        if (i == 1)
            continue;
        ck_assert(gr_resource_get_info(resource)->mapped);
    }
    assert_not_mapped(resource);
    assert_gl_bytes(name, SIZE, 0x92);
}

TEST(scope_exit_ignores_null)
{
    GR_AUTO(gr_resource) *resource = NULL;
    GR_AUTO(gr_buffer) *buffer = NULL;
    GR_AUTO(gr_egl) *egl = NULL;
    ck_assert(!resource && !buffer && !egl);
}
