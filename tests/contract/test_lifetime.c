/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long things live: a buffer keeps its resource, the end of a scope releases both, and each
 * call uses the resource's CUDA context and puts the caller's back.
 */
#include "tests/support/support.h"

#include <string.h>

#define SIZE 4096

/* What grinterop says it did, by words of its debug lines. */
static struct {
    int closed, warnings;
} seen;

static void listen(void *user, gr_log_level level, const char *line)
{
    (void)user;
    if (level == GR_LOG_WARNING)
        seen.warnings++;
    if (level == GR_LOG_DEBUG && strstr(line, "closed"))
        seen.closed++;
}

static void start_listening(void)
{
    seen.closed = seen.warnings = 0;
    gr_log_set(GR_LOG_DEBUG, listen, NULL);
}

static void stop_listening(void)
{
    gr_log_set(GR_LOG_NONE, NULL, NULL);
}

/* ---- Who keeps whom alive -------------------------------------------------------------------- */

START_TEST(a_chained_map_keeps_the_resource_alive)
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
END_TEST

START_TEST(free_without_a_mapping_ends_the_registration_now)
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
END_TEST

START_TEST(free_leaves_a_buffer_that_was_unmapped_to_be_released)
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
END_TEST

START_TEST(free_after_close_leaves_a_buffer_to_be_released)
{
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    assert_ok(release_on(buffer, fx.other));
}
END_TEST

START_TEST(free_with_old_and_new_buffers_out_ends_with_the_mapped_one)
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
END_TEST

START_TEST(map_on_entry_closes_what_it_opened)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    start_listening();
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream);
    assert_made(buffer);
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    ck_assert_ptr_eq(gr_buffer_stream(buffer), fx.stream);
    cuda_fill(buffer, 0x73);
    ck_assert_int_eq(seen.closed, 0);
    assert_ok(gr_buffer_release(buffer));
    stop_listening();
    ck_assert_int_eq(seen.closed, 1);
    ck_assert_int_eq(seen.warnings, 0);
    assert_gl_bytes(name, SIZE, 0x73);
}
END_TEST

START_TEST(map_on_entry_releases_on_another_stream)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream);
    assert_made(buffer);
    cuda_fill(buffer, 0x74);
    CU(StreamSynchronize(fx.stream));
    assert_ok(release_on(buffer, fx.other));
    assert_gl_bytes(name, SIZE, 0x74);
}
END_TEST

/* ---- End of scope ---------------------------------------------------------------------------- */

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

/* At its end, and by an early return. */
START_TEST(scope_exit_releases_the_buffer_and_then_the_resource)
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
END_TEST

START_TEST(an_inner_scope_unmaps_and_leaves_the_resource_open)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_register(name);
    for (int i = 0; i < 3; i++) {
        GR_AUTO(gr_buffer) *buffer = must_map(resource);
        cuda_fill(buffer, 0x90 + i);
        if (i == 1)
            continue;
        ck_assert(gr_resource_is_mapped(resource));
    }
    assert_not_mapped(resource);
    assert_gl_bytes(name, SIZE, 0x92);
}
END_TEST

START_TEST(scope_exit_takes_null)
{
    GR_AUTO(gr_resource) *resource = NULL;
    GR_AUTO(gr_buffer) *buffer = NULL;
    GR_AUTO(gr_egl) *egl = NULL;
    ck_assert(!resource && !buffer && !egl);
}
END_TEST

/* ---- CUDA contexts --------------------------------------------------------------------------- */

static CUcontext current(void)
{
    CUcontext context = NULL;
    CU(CtxGetCurrent(&context));
    return context;
}

/* Register, map, write, release, unmap and close while `context` is current. */
static void go_round(CUcontext context)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    CU(CtxSetCurrent(context));
    gr_buffer *buffer = gr_map(resource, fx.stream);
    assert_made(buffer);
    ck_assert_ptr_eq(current(), context);
    CU(CtxSetCurrent(fx.context));
    cuda_fill(buffer, 0xA0);
    CU(CtxSetCurrent(context));
    assert_ok(gr_buffer_release(buffer));
    ck_assert_ptr_eq(current(), context);
    assert_gl_bytes(name, SIZE, 0xA0);
    buffer = gr_map(resource, fx.stream);
    assert_made(buffer);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "already mapped");
    ck_assert_ptr_eq(current(), context);
    assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    ck_assert_ptr_eq(current(), context);
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    ck_assert_ptr_eq(current(), context);
    gr_resource_free(resource);
    CU(CtxSetCurrent(fx.context));
}

START_TEST(the_resources_context_is_used_and_the_callers_put_back)
{
    CUcontext second = NULL;
    CU(CtxCreate(&second, 0, fx.device));
    CU(CtxSetCurrent(fx.context));
    go_round(second);
    CU(CtxDestroy(second));
}
END_TEST

/* Catches: a driver makes a destroyed context current, and crashes in the next call. */
START_TEST(a_destroyed_context_is_refused)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUcontext second = NULL, later[2];
    CU(CtxCreate(&second, 0, fx.device));
    gr_resource *resource = must_register(name);
    CU(CtxDestroy(second));
    CU(CtxSetCurrent(fx.context));
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "been destroyed");
    /* One of these may lie where it was. */
    for (int i = 0; i < 2; i++) {
        CU(CtxCreate(&later[i], 0, fx.device));
        CU(CtxPopCurrent(NULL));
    }
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "been destroyed");
    gr_resource_free(resource);
    ck_assert_ptr_eq(current(), fx.context);
    for (int i = 0; i < 2; i++)
        CU(CtxDestroy(later[i]));
}
END_TEST

/*
 * Each call that ends a mapping says that it was the context's end, and takes it for ended.
 *
 * Catches: it stayed mapped for good, and buffer and resource could not be freed.
 */
START_TEST(a_mapping_ends_with_its_context)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUcontext second = NULL;
    CUstream stream = NULL;
    CU(CtxCreate(&second, 0, fx.device));
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map_on(resource, stream), *list[1] = {buffer};
    CU(StreamSynchronize(stream));
    CU(CtxDestroy(second));
    CU(CtxSetCurrent(fx.context));
    start_listening();
    gr_clear_error();
    const gr_status ended = _i == 0   ? gr_buffer_release(buffer)
                            : _i == 1 ? gr_buffer_release_many(list, 1, fx.stream, NULL)
                            : _i == 2 ? gr_resource_unmap(resource, GR_STREAM_OF_MAP)
                            : _i == 3 ? gr_resource_close(resource, GR_STREAM_OF_MAP)
                                      : (gr_buffer_release_later(buffer), GR_OK);
    ck_assert_int_eq(ended, _i == 4 ? GR_OK : GR_ERR_PARTIAL);
    ck_assert_int_eq(seen.warnings, _i == 4);
    stop_listening();
    if (_i < 4)
        assert_error(GR_ERR_PARTIAL, CUDA_ERROR_CONTEXT_IS_DESTROYED, "has been destroyed");
    ck_assert(_i != 1 || !list[0]);
    ck_assert(!gr_resource_is_mapped(resource));
    if (_i == 2 || _i == 3) {
        ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
        assert_ok(gr_buffer_release(buffer));
    }
    gr_resource_free(resource);
    fill_mapped(resource = must_register(name), 2);
    gr_resource_free(resource);
    assert_gl_bytes(name, SIZE, 2);
}
END_TEST

START_TEST(calls_work_with_no_context_current)
{
    go_round(NULL);
}
END_TEST

START_TEST(without_a_context_the_drawing_devices_primary_one_is_retained)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CU(CtxSetCurrent(NULL));
    gr_resource *resource = must_register(name);
    ck_assert_ptr_null(current());
    gr_buffer *buffer = must_map(resource);
    ck_assert_ptr_null(current());
    CU(CtxSetCurrent(fx.context));
    cuda_fill(buffer, 0xA1);
    CU(CtxSetCurrent(NULL));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert_ptr_null(current());
    CU(CtxSetCurrent(fx.context));
    assert_gl_bytes(name, SIZE, 0xA1);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "who keeps whom alive"), a_chained_map_keeps_the_resource_alive,
              free_without_a_mapping_ends_the_registration_now,
              free_leaves_a_buffer_that_was_unmapped_to_be_released,
              free_after_close_leaves_a_buffer_to_be_released,
              free_with_old_and_new_buffers_out_ends_with_the_mapped_one,
              map_on_entry_closes_what_it_opened, map_on_entry_releases_on_another_stream);

    TCase *scope = add_case(suite, "end of scope");
    add_loop_tests(scope, 2, scope_exit_releases_the_buffer_and_then_the_resource);
    add_tests(scope, an_inner_scope_unmaps_and_leaves_the_resource_open, scope_exit_takes_null);

    TCase *contexts = add_case(suite, "CUDA contexts");
    add_loop_tests(contexts, 5, a_mapping_ends_with_its_context);
    add_tests(contexts, the_resources_context_is_used_and_the_callers_put_back,
              a_destroyed_context_is_refused, calls_work_with_no_context_current,
              without_a_context_the_drawing_devices_primary_one_is_retained);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "lifetime", build, NULL);
}
