/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests invalid arguments and calls in the wrong state. Lists of resources, and resources that are
 * closed or not mapped, are facts of all kinds (tests/facts). Wrong values that need no object of
 * their own are rows of tests/api. Each case expects an error class, a code of the driver, and
 * words of the message. Afterwards nothing is mapped or registered. The CUDA driver underneath
 * counts the errors that it returns: grinterop must detect each mistake before it calls the driver.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "tests/drivers/fault_driver.h"
#include "tests/support/usable.h"

#include <string.h>

#define SIZE USABLE_SIZE

static GLuint new_buffer(void)
{
    return gl_buffer_filled(SIZE, 0x11);
}

static void end_usable(gr_resource *resource)
{
    GLuint name = gr_gl_name(resource);
    assert_resource_usable(resource, name);
    gr_resource_free(resource);
    assert_buffer_usable(name);
}

/* Runs between the set-up and the teardown of the fixture. */
static void watch_driver(void)
{
    fault->reset();
}

static void check_driver(void)
{
    ck_assert_uint_eq(fault->all_refusals(), 0);
}

static TCase *add_watched_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), watch_driver, check_driver);
}

GROUP("names", add_watched_case)

/*
 * glGenBuffers() alone creates no buffer, and a bound buffer has no storage before glBufferData().
 */
TEST(a_buffer_without_storage_is_refused)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    assert_null_invalid(gr_from_gl_buffer(name, GR_READ_WRITE), "buffer");
    glBindBuffer(GL_ARRAY_BUFFER, name);
    assert_null_invalid(gr_from_gl_buffer(name, GR_READ_WRITE), "glBufferData");
    glBufferData(GL_ARRAY_BUFFER, 0, NULL, GL_STATIC_DRAW);
    assert_null_invalid(gr_from_gl_buffer(name, GR_READ_WRITE), "glBufferData");
    assert_null_invalid(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream), "glBufferData");
    glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
    assert_buffer_usable(name);
}

TEST(a_deleted_buffer_is_refused)
{
    GLuint name = new_buffer();
    glDeleteBuffers(1, &name);
    assert_null_invalid(gr_from_gl_buffer(name, GR_READ_WRITE), "buffer");
    assert_null_invalid(gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream), "buffer");
}

GROUP("flags and streams", add_watched_case)

TEST(only_the_valid_flags_register_a_buffer)
{
    GLuint name = new_buffer();
    for (unsigned flags = 0; flags < 64; flags++) {
        bool good = flags == GR_READ_WRITE || flags == GR_READ_ONLY || flags == GR_WRITE_DISCARD;
        gr_resource *resource = gr_from_gl_buffer(name, flags);
        ck_assert_msg((resource != NULL) == good, "flags 0x%x", flags);
        gr_resource_free(resource);
        if (!good)
            assert_error(GR_ERR_INVALID_VALUE, 0, "");
    }
    assert_buffer_usable(name);
}

/* No map function may accept this stream. The error message must contain `text`. */
static void no_map_on(CUstream stream, const char *text, gr_resource *resource)
{
    gr_buffer *none = NULL;
    assert_null_invalid(gr_map(resource, stream), text);
    assert_null_invalid(gr_map_gl_buffer(gr_gl_name(resource), GR_READ_WRITE, stream), text);
    assert_invalid(gr_map_many(&resource, 1, stream, NULL, &none), text);
    ck_assert_ptr_eq(none, NULL);
}

/* No function that ends a mapping may accept this stream, and the resource must stay mapped. */
static void no_end_on(CUstream stream, const char *text, gr_resource *resource)
{
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr pointer = gr_buffer_ptr(buffer);
    assert_invalid(release_on(buffer, stream), text);
    assert_invalid(gr_buffer_release_many(&buffer, 1, stream, NULL), text);
    assert_invalid(gr_resource_unmap(resource, stream), text);
    assert_invalid(gr_resource_close(resource, stream), text);
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_ptr_nonnull(buffer);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), pointer);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    assert_ok(gr_buffer_release(buffer));
}

TEST(a_null_stream_is_refused)
{
    static const char *const names[] = {"GR_STREAM_LEGACY", "GR_STREAM_PER_THREAD",
                                        "GR_STREAM_OF_MAP"};
    gr_resource *resource = must_register(new_buffer());
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            no_map_on(NULL, names[i], resource);
        no_end_on(NULL, names[i], resource);
        assert_invalid(gr_resource_close(resource, NULL), names[i]);
    }
    end_usable(resource);
}

/* GR_STREAM_OF_MAP is invalid for a map. GR_STREAM_NONE is invalid for a map and for its end. */
TEST(special_streams_are_refused_where_they_are_invalid)
{
    gr_resource *resource = must_register(new_buffer());
    no_map_on(GR_STREAM_OF_MAP, "GR_STREAM_OF_MAP", resource);
    no_map_on(GR_STREAM_NONE, "GR_STREAM_NONE", resource);
    no_end_on(GR_STREAM_NONE, "GR_STREAM_NONE", resource);
    end_usable(resource);
}

GROUP("states", add_watched_case)

static void give_storage(GLuint name, size_t size)
{
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
}

/* Catches: the message named a CUDA function that this program does not call. */
static void assert_says_to_close(void)
{
    const char *message = gr_last_error()->message;
    ck_assert_msg(strstr(message, "by gr_resource_close(), and register"), "%s", message);
    ck_assert_msg(!strstr(message, "Unregister"), "%s", message);
}

TEST(map_after_the_storage_was_replaced_is_refused)
{
    static const size_t sizes[] = {SIZE * 2, SIZE / 2, 0};
    GLuint name = new_buffer();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        give_storage(name, SIZE);
        GR_AUTO(gr_resource) *resource = must_register(name);
        give_storage(name, sizes[i]);
        ck_assert_ptr_null(gr_map(resource, fx.stream));
        assert_says_to_close();
        assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "storage");
        gr_buffer *none = NULL;
        assert_fails(gr_map_many(&resource, 1, fx.stream, NULL, &none), GR_ERR_STATE, 0, "storage");
        ck_assert_ptr_eq(none, NULL);
        ck_assert(!gr_resource_get_info(resource)->mapped);
        assert_ok(gr_resource_close(resource, fx.stream));
    }
    give_storage(name, SIZE);
    assert_buffer_usable(name);
}

TEST(map_after_the_buffer_was_deleted_is_refused, 2)
{
    GLuint name = new_buffer();
    GR_AUTO(gr_resource) *resource = must_register(name);
    gl_buffer_delete(name, _i, SIZE, 3);
    ck_assert_ptr_null(gr_map(resource, fx.stream));
    assert_says_to_close();
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0,
                _i ? "another object has its name" : "deleted");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_ok(gr_resource_close(resource, fx.stream));
    ck_assert(gr_resource_get_info(resource)->closed);
}

/* Labels of the application, and of another registration, are no sign of another object. */
TEST(a_deleted_buffer_is_recognised_by_its_label)
{
    GLuint name = new_buffer();
    char label[64] = "";
    gr_resource *resources[3] = {must_register(name), must_register(name)};
    glGetObjectLabel(GL_BUFFER, name, sizeof(label), NULL, label);
    ck_assert_msg(!strncmp(label, "grinterop ", 10), "the label is %s", label);
    gr_resource_free(must_register(name));
    assert_ok(gr_buffer_release(must_map(resources[0])));
    glObjectLabel(GL_BUFFER, name, -1, "vertices");
    resources[2] = must_register(name);
    glGetObjectLabel(GL_BUFFER, name, sizeof(label), NULL, label);
    ck_assert_str_eq(label, "vertices");
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3; i++) {
            gr_buffer *buffer = gr_map(resources[i], fx.stream);
            ck_assert_int_eq(buffer == NULL, again);
            assert_ok(gr_buffer_release(buffer));
        }
        if (!again)
            gl_buffer_delete(name, true, SIZE, 3);
    }
    free_resources(resources, 3);
    assert_gl_clean();
}

/* Catches: the label of the staging buffer passed for one of the application. */
TEST(a_staging_buffer_that_gets_the_name_of_a_deleted_buffer_is_another)
{
    const GLuint name = new_buffer(), other = new_buffer();
    GR_AUTO(gr_resource) *resource = must_register(name);
    glDeleteBuffers(1, &name);
    GR_AUTO(gr_resource) *staged = gr_from_gl_buffer_with(
        other, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER));
    gr_buffer *mapped = gr_map(staged, fx.stream);
    if (mapped) {
        assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
        assert_ok(gr_buffer_release(mapped));
    } else
        skip_say(__func__, "%s", error_text());
}

/* Catches: the free deleted a buffer of the application that got the name. */
TEST(freeing_a_created_buffer_that_was_deleted_keeps_another_of_its_name, 3)
{
    static const gr_transport transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                              GR_TRANSPORT_SHARED};
    gr_resource *resource = gr_create_gl_buffer(
        SIZE, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = transports[_i]));
    if (!resource)
        skip("%s", gr_last_error()->message);
    const GLuint name = gr_gl_name(resource);
    gl_buffer_delete(name, true, SIZE, 3);
    gr_resource_free(resource);
    assert_gl_bytes(name, SIZE, 3);
}

TEST(release_after_the_buffer_was_deleted_works, 2)
{
    GLuint name = new_buffer();
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 1, SIZE, fx.stream));
    gl_buffer_delete(name, _i, SIZE, 3);
    assert_ok(gr_buffer_release(buffer));
    if (_i)
        assert_gl_bytes(name, SIZE, 3);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    gr_resource_free(resource);
    assert_buffer_usable(new_buffer());
}

/* ---- Wrong state ----------------------------------------------------------------------------- */

TEST(a_second_map_of_a_resource_is_refused)
{
    gr_resource *resource = must_register(new_buffer());
    gr_buffer *buffer = must_map(resource), *none = NULL;
    CUdeviceptr pointer = gr_buffer_ptr(buffer);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "already mapped");
    assert_null(gr_map(resource, fx.other), GR_ERR_STATE, 0, "already mapped");
    assert_fails(gr_map_many(&resource, 1, fx.stream, NULL, &none), GR_ERR_STATE, 0,
                 "already mapped");
    ck_assert_ptr_eq(none, NULL);
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), pointer);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    fill_and_release(buffer, 0x52);
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x52);
    end_usable(resource);
}

GROUP("values", add_watched_case)

TEST(null_arguments_of_egl_h_are_accepted)
{
    GR_AUTO(gr_egl) *egl = must_make(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(NULL));
    ck_assert(egl->description && egl->description[0]);
    gr_egl_free(NULL);
}

TEST(values_out_of_range_have_defined_results)
{
    ck_assert_str_eq(gr_status_name(GR_ERR_STATE), "GR_ERR_STATE");
    ck_assert_ptr_ne(gr_status_name((gr_status)999), NULL);
    ck_assert_ptr_ne(gr_status_name((gr_status)-1), NULL);
    gr_clear_error();
    ck_assert_ptr_eq(cuda_symbol("cuNoSuchFunction", 12000), NULL);
    ck_assert_ptr_eq(cuda_symbol("cuMemAlloc", 99000), NULL);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

START(fault_control_start())
