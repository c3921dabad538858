/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls of gr_buffer_release_later() on a thread that cannot release the buffer, also during calls
 * on the resource.
 */
#include "contract.h"

GROUP("deferred releases", add_sharing_case)

/* Frees the objects that were set aside in the current OpenGL context. */
static void collect(void)
{
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
}

TEST(release_later_on_the_right_thread_releases_at_once)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x21);
    gr_buffer_release_later(buffer);
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x21);
    gr_buffer_release_later(NULL);
    gr_clear_error();
    gr_buffer_release_later(buffer);
    assert_error(GR_ERR_INVALID_VALUE, 0, "released already");
}

/* Two mappings of one resource. gr_resource_unmap() ended the first mapping. */
TEST(two_releases_for_one_resource_are_deferred)
{
    gr_buffer *first = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
    gr_buffer *second = must_map(fx.resource);
    elsewhere(release_elsewhere, second);
    elsewhere(release_elsewhere, first);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP) == GR_ERR_STATE ? GR_OK
                                                                               : GR_ERR_STATE);
    assert_not_mapped(fx.resource);
    gr_clear_error();
}

/* ---- Concurrent calls on the resource -------------------------------------------------------- */

static struct {
    gr_resource *resource;
    gr_buffer *buffer;
} meeting;

static int kind_of_meeting;
static void *last_handle;

static void make_mapped(void)
{
    GLuint name;
    meeting.resource = make_resource(kind_of_meeting, &name);
    ck_assert_msg(meeting.resource, "%s", error_text());
    last_handle = kind_of_meeting == 0 ? driver_handle(meeting.resource) : NULL;
    meeting.buffer = must_map(meeting.resource);
}

static void make_unmapped(void)
{
    make_mapped();
    assert_ok(gr_resource_unmap(meeting.resource, GR_STREAM_OF_MAP));
}

static void release_it(void)
{
    gr_buffer_release_later(meeting.buffer);
}

static void free_it(void)
{
    gr_resource_free(meeting.resource);
}

/*
 * Each case is one combination: interop, copy or shared storage; a mapped or an unmapped buffer;
 * and the thread that frees the resource.
 */
TEST(a_deferred_release_may_run_during_the_free_of_its_resource, 12)
{
    const bool mapped = _i / 3 % 2 == 0, frees_here = _i / 6 == 0;
    GLuint name;
    kind_of_meeting = _i % 3;
    gr_resource *resource = make_resource(kind_of_meeting, &name);
    if (!resource)
        skip("%s", error_text());
    gr_resource_free(resource);
    meet(mapped ? make_mapped : make_unmapped, frees_here ? free_it : release_it,
         frees_here ? release_it : free_it);
    collect();
    if (last_handle)
        assert_unregistered(last_handle);
}

static void end_a_mapping(void)
{
    meeting.buffer = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
}

static void map_and_release(void)
{
    assert_ok(gr_buffer_release(must_map(fx.resource)));
}

TEST(a_deferred_release_may_run_during_the_next_map)
{
    meet(end_a_mapping, map_and_release, release_it);
    collect();
    assert_not_mapped(fx.resource);
}
