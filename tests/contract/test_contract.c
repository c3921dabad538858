/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of register, map, buffer, release and close, case by case: that of cuda.core's
 * GraphicsResource, and where grinterop promises more.
 */
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

#define SIZE 4096

/* ---- Register and close ---------------------------------------------------------------------- */

START_TEST(a_new_resource_is_open_and_not_mapped)
{
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE);
    assert_made(resource);
    ck_assert_ptr_nonnull(driver_handle(resource));
    assert_not_mapped(resource);
}
END_TEST

START_TEST(write_discard_and_read_only_register_too)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *discard = must_register_as(name, GR_WRITE_DISCARD);
    assert_not_mapped(discard);
    GR_AUTO(gr_resource) *read = gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_ONLY);
    assert_made(read);
    assert_not_mapped(read);
}
END_TEST

START_TEST(the_handle_is_the_drivers_resource)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(fx.resource)));
    ck_assert_uint_eq(pointer, gr_buffer_ptr(buffer));
    ck_assert_uint_eq(size, gr_buffer_size(buffer));
}
END_TEST

START_TEST(a_resource_says_what_it_is)
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
END_TEST

START_TEST(each_resource_has_cudas_object_of_its_own_kind)
{
    ck_assert_ptr_nonnull(gr_resource_graphics(fx.resource));
    assert_null(gr_resource_external_memory(fx.resource), GR_ERR_STATE, 0, "by interop");
    const gr_gl_options by_copy = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY);
    GR_AUTO(gr_resource) *copy = gr_from_gl_buffer_with(fx.name, GR_READ_WRITE, &by_copy);
    assert_made(copy);
    ck_assert_int_eq(gr_resource_transport(copy), GR_TRANSPORT_COPY);
    ck_assert_int_eq(gr_resource_api(copy), GR_OPENGL);
    assert_null(gr_resource_graphics(copy), GR_ERR_STATE, 0, "by copy");
    assert_null(gr_resource_external_memory(copy), GR_ERR_STATE, 0, "by copy");
}
END_TEST

START_TEST(close_ends_the_registration_and_the_handle)
{
    void *handle = driver_handle(fx.resource);
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_is_closed(fx.resource));
    ck_assert(!gr_resource_is_mapped(fx.resource));
    ck_assert_ptr_null(driver_handle(fx.resource));
    assert_unregistered(handle);
}
END_TEST

START_TEST(close_is_idempotent)
{
    assert_ok(gr_resource_close(fx.resource, fx.stream));
    assert_ok(gr_resource_close(fx.resource, fx.stream));
    assert_ok(gr_resource_close(fx.resource, fx.other));
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_is_closed(fx.resource));
}
END_TEST

START_TEST(close_while_mapped_empties_the_buffer)
{
    void *handle = driver_handle(fx.resource);
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x42);
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_is_closed(fx.resource));
    ck_assert(!gr_resource_is_mapped(fx.resource));
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_unregistered(handle);
    assert_gl_bytes(fx.name, SIZE, 0x42);
    assert_ok(gr_buffer_release(buffer));
}
END_TEST

START_TEST(close_while_mapped_takes_another_stream)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x43);
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_resource_close(fx.resource, fx.other));
    assert_gl_bytes(fx.name, SIZE, 0x43);
    assert_ok(release_on(buffer, fx.stream));
}
END_TEST

START_TEST(a_closed_buffer_object_can_be_registered_again)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *first = must_register(name);
    assert_ok(gr_resource_close(first, GR_STREAM_OF_MAP));
    GR_AUTO(gr_resource) *second = must_register(name);
    GR_AUTO(gr_buffer) *buffer = must_map(second);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
}
END_TEST

START_TEST(map_and_unmap_after_close_say_so)
{
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    assert_null(gr_map(fx.resource, fx.stream), GR_ERR_STATE, 0, "closed");
    assert_fails(gr_resource_unmap(fx.resource, fx.stream), GR_ERR_STATE, 0, "closed");
    ck_assert(gr_resource_is_closed(fx.resource));
}
END_TEST

START_TEST(null_is_nothing_to_release_and_an_error_elsewhere)
{
    gr_resource_free(NULL);
    assert_ok(gr_buffer_release(NULL));
    assert_ok(release_on(NULL, fx.stream));
    assert_null(gr_resource_is_mapped(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(!gr_resource_is_closed(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_graphics(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_external_memory(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_kind(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_api(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_size(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_flags(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_resource_transport(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    ck_assert_uint_eq(gr_buffer_ptr(NULL), 0);
    ck_assert_uint_eq(gr_buffer_size(NULL), 0);
    ck_assert_ptr_null(gr_buffer_stream(NULL));
    assert_null(gr_map(NULL, fx.stream), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_fails(gr_resource_unmap(NULL, fx.stream), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_fails(gr_resource_close(NULL, fx.stream), GR_ERR_INVALID_VALUE, 0, "NULL");
}
END_TEST

/* ---- Map, release, unmap --------------------------------------------------------------------- */

START_TEST(map_gives_pointer_size_and_stream)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_stream(buffer), fx.stream);
    ck_assert(gr_resource_is_mapped(fx.resource));
}
END_TEST

START_TEST(release_unmaps)
{
    for (int i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map(fx.resource);
        ck_assert(gr_resource_is_mapped(fx.resource));
        assert_ok(gr_buffer_release(buffer));
        assert_not_mapped(fx.resource);
    }
}
END_TEST

START_TEST(release_on_another_stream_unmaps)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x51);
    CU(StreamSynchronize(fx.stream));
    assert_ok(release_on(buffer, fx.other));
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x51);
}
END_TEST

START_TEST(release_on_the_stream_of_the_map_by_name)
{
    assert_ok(release_on(must_map(fx.resource), GR_STREAM_OF_MAP));
    assert_not_mapped(fx.resource);
}
END_TEST

START_TEST(map_twice_is_refused_and_keeps_the_first)
{
    gr_buffer *buffer = must_map(fx.resource);
    CUdeviceptr pointer = gr_buffer_ptr(buffer);
    assert_null(gr_map(fx.resource, fx.stream), GR_ERR_STATE, 0, "already mapped");
    assert_null(gr_map(fx.resource, fx.other), GR_ERR_STATE, 0, "already mapped");
    ck_assert(gr_resource_is_mapped(fx.resource));
    ck_assert_uint_eq(gr_buffer_ptr(buffer), pointer);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    cuda_fill(buffer, 0x52);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(fx.name, SIZE, 0x52);
}
END_TEST

START_TEST(unmap_when_not_mapped_is_refused)
{
    assert_fails(gr_resource_unmap(fx.resource, fx.stream), GR_ERR_STATE, 0, "not mapped");
    assert_fails(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP), GR_ERR_STATE, 0, "not mapped");
    assert_not_mapped(fx.resource);
    assert_ok(gr_buffer_release(must_map(fx.resource)));
    assert_fails(gr_resource_unmap(fx.resource, fx.stream), GR_ERR_STATE, 0, "not mapped");
}
END_TEST

START_TEST(unmap_empties_the_buffer_but_leaves_it_to_be_released)
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
END_TEST

START_TEST(unmap_takes_another_stream)
{
    GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, fx.other));
    assert_not_mapped(fx.resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
}
END_TEST

START_TEST(map_again_while_the_old_buffer_is_still_out)
{
    gr_buffer *old = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, fx.stream));
    gr_buffer *new = must_map(fx.resource);
    ck_assert_ptr_ne(old, new);
    ck_assert_uint_eq(gr_buffer_ptr(old), 0);
    ck_assert_uint_eq(gr_buffer_size(new), SIZE);
    assert_ok(gr_buffer_release(old));
    ck_assert(gr_resource_is_mapped(fx.resource));
    ck_assert_uint_ne(gr_buffer_ptr(new), 0);
    cuda_fill(new, 0x54);
    assert_ok(gr_buffer_release(new));
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x54);
}
END_TEST

START_TEST(many_old_buffers_may_be_out_at_once)
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
END_TEST

START_TEST(a_second_release_is_an_error_while_the_resource_lives)
{
    gr_buffer *buffer = must_map(fx.resource);
    assert_ok(gr_buffer_release(buffer));
    assert_fails(gr_buffer_release(buffer), GR_ERR_INVALID_VALUE, 0, "released already");
    assert_fails(release_on(buffer, fx.other), GR_ERR_INVALID_VALUE, 0, "released already");
    assert_not_mapped(fx.resource);
    assert_ok(gr_resource_close(fx.resource, fx.stream));
    assert_fails(gr_buffer_release(buffer), GR_ERR_INVALID_VALUE, 0, "released already");
}
END_TEST

START_TEST(the_default_streams_are_streams_when_they_are_named)
{
    static const CUstream streams[] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 2; i++) {
        gr_buffer *buffer = gr_map(fx.resource, streams[i]);
        assert_made(buffer);
        ck_assert_ptr_eq(gr_buffer_stream(buffer), streams[i]);
        cuda_fill(buffer, 0x60 + i);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(fx.name, SIZE, 0x60 + i);
    }
}
END_TEST

/* ---- The stream is always named -------------------------------------------------------------- */

static void assert_names_streams(void)
{
    ck_assert_msg(strstr(error_text(), "CU_STREAM_LEGACY"), "%s", error_text());
    assert_error(GR_ERR_INVALID_VALUE, 0, "CU_STREAM_PER_THREAD");
}

START_TEST(a_null_stream_is_refused_at_map)
{
    ck_assert_ptr_null(gr_map(fx.resource, NULL));
    assert_names_streams();
    assert_not_mapped(fx.resource);
    ck_assert_ptr_null(gr_map_gl_buffer(fx.name, GR_READ_WRITE, NULL));
    assert_names_streams();
    gr_buffer *out[1] = {NULL};
    ck_assert_int_eq(gr_map_many(&fx.resource, 1, NULL, NULL, out), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    assert_not_mapped(fx.resource);
}
END_TEST

START_TEST(a_null_stream_is_refused_at_release_unmap_and_close)
{
    gr_buffer *buffer = must_map(fx.resource);
    CUdeviceptr pointer = gr_buffer_ptr(buffer);
    ck_assert_int_eq(release_on(buffer, NULL), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    ck_assert_int_eq(gr_buffer_release_many(&buffer, 1, NULL, NULL), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    ck_assert_int_eq(gr_resource_unmap(fx.resource, NULL), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    ck_assert_int_eq(gr_resource_close(fx.resource, NULL), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    ck_assert(gr_resource_is_mapped(fx.resource));
    ck_assert_ptr_nonnull(buffer);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), pointer);
    assert_ok(gr_buffer_release(buffer));
    ck_assert_int_eq(gr_resource_close(fx.resource, NULL), GR_ERR_INVALID_VALUE);
    assert_names_streams();
    assert_not_mapped(fx.resource);
}
END_TEST

START_TEST(the_stream_of_the_map_means_nothing_at_map)
{
    assert_null(gr_map(fx.resource, GR_STREAM_OF_MAP), GR_ERR_INVALID_VALUE, 0, "GR_STREAM_OF_MAP");
    assert_null(gr_map(fx.resource, GR_STREAM_NONE), GR_ERR_INVALID_VALUE, 0, "GR_STREAM_NONE");
    gr_buffer *buffer = must_map(fx.resource);
    assert_fails(release_on(buffer, GR_STREAM_NONE), GR_ERR_INVALID_VALUE, 0, "GR_STREAM_NONE");
    assert_fails(gr_resource_close(fx.resource, GR_STREAM_NONE), GR_ERR_INVALID_VALUE, 0,
                 "GR_STREAM_NONE");
    assert_ok(gr_buffer_release(buffer));
    assert_null(gr_map_gl_buffer(fx.name, GR_READ_WRITE, GR_STREAM_OF_MAP), GR_ERR_INVALID_VALUE, 0,
                "GR_STREAM_OF_MAP");
    assert_not_mapped(fx.resource);
}
END_TEST

/* ---- Describe -------------------------------------------------------------------------------- */

static const char *description(const gr_resource *resource)
{
    static char text[512];
    int length = gr_resource_describe(resource, text, sizeof(text));
    ck_assert_int_eq(length, (int)strlen(text));
    ck_assert_ptr_null(strchr(text, '\n'));
    return text;
}

static void assert_says(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text);
}

/* Catches: "1 bytes". */
START_TEST(describe_counts_in_english)
{
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    GR_AUTO(gr_resource) *one = gr_from_gl_buffer(gl_buffer_filled(1, 0), GR_READ_WRITE);
    GR_AUTO(gr_resource) *two = gr_from_gl_buffer(gl_buffer_filled(2, 0), GR_READ_WRITE);
    GR_AUTO(gr_resource) *image = gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE);
    assert_made(one);
    assert_made(two);
    assert_made(image);
    assert_says(description(one), ", 1 byte, ");
    assert_says(description(two), ", 2 bytes, ");
    assert_says(description(image), "1 level, 1 layer)");
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &texture);
}
END_TEST

START_TEST(describe_says_what_it_is_and_its_state)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_register_as(name, GR_WRITE_DISCARD);
    char what[64], where[64];
    snprintf(what, sizeof(what), "buffer %u", name);
    assert_says(description(resource), what);
    assert_says(description(resource), "4096 bytes");
    assert_says(description(resource), "write_discard");
    assert_says(description(resource), "interop");
    assert_says(description(resource), "not mapped");
    ck_assert_int_eq(strstr(description(resource), "software") != NULL, gr_cuda_is_software());

    gr_buffer *buffer = must_map(resource);
    snprintf(where, sizeof(where), "mapped at 0x%llx", (unsigned long long)gr_buffer_ptr(buffer));
    assert_says(description(resource), where);
    assert_ok(gr_buffer_release(buffer));
    assert_says(description(resource), "not mapped");

    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    assert_says(description(resource), "closed");
    assert_says(description(resource), what);
    ck_assert_ptr_null(strstr(description(resource), "mapped"));
}
END_TEST

START_TEST(describe_counts_and_cuts_like_snprintf)
{
    char whole[512], part[10];
    int length = gr_resource_describe(fx.resource, whole, sizeof(whole));
    ck_assert_int_eq(gr_resource_describe(fx.resource, NULL, 0), length);
    memset(part, 'x', sizeof(part));
    ck_assert_int_eq(gr_resource_describe(fx.resource, part, sizeof(part) - 1), length);
    ck_assert_int_eq(strncmp(part, whole, sizeof(part) - 2), 0);
    ck_assert_int_eq(part[sizeof(part) - 2], '\0');
    ck_assert_int_eq(part[sizeof(part) - 1], 'x');
    ck_assert_int_gt(gr_resource_describe(NULL, whole, sizeof(whole)), 0);
    assert_says(whole, "NULL");
}
END_TEST

static void build(Suite *suite)
{
    resource_case_buffer(SIZE, 1);
    add_tests(add_resource_case(suite, "register and close"), a_new_resource_is_open_and_not_mapped,
              a_resource_says_what_it_is, each_resource_has_cudas_object_of_its_own_kind,
              write_discard_and_read_only_register_too, the_handle_is_the_drivers_resource,
              close_ends_the_registration_and_the_handle, close_is_idempotent,
              close_while_mapped_empties_the_buffer, close_while_mapped_takes_another_stream,
              a_closed_buffer_object_can_be_registered_again, map_and_unmap_after_close_say_so,
              null_is_nothing_to_release_and_an_error_elsewhere);

    add_tests(add_resource_case(suite, "map, release, unmap"), map_gives_pointer_size_and_stream,
              release_unmaps, release_on_another_stream_unmaps,
              release_on_the_stream_of_the_map_by_name, map_twice_is_refused_and_keeps_the_first,
              unmap_when_not_mapped_is_refused,
              unmap_empties_the_buffer_but_leaves_it_to_be_released, unmap_takes_another_stream,
              map_again_while_the_old_buffer_is_still_out, many_old_buffers_may_be_out_at_once,
              a_second_release_is_an_error_while_the_resource_lives,
              the_default_streams_are_streams_when_they_are_named);

    add_tests(add_resource_case(suite, "the stream is named"), a_null_stream_is_refused_at_map,
              a_null_stream_is_refused_at_release_unmap_and_close,
              the_stream_of_the_map_means_nothing_at_map);

    add_tests(add_resource_case(suite, "describe"), describe_counts_in_english,
              describe_says_what_it_is_and_its_state, describe_counts_and_cuts_like_snprintf);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "contract", build, NULL);
}
