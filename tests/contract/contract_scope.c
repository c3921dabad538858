/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* GR_AUTO(): the end of a scope releases the buffer, and then the resource. */
#define _POSIX_C_SOURCE 200809L
#include "contract.h"

#include <stdlib.h>
#include <string.h>

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
    log_begin(GR_LOG_DEBUG);
    ck_assert_int_eq(write_in_scope(name, 0x80, early), !early);
    log_end();
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, "closed"), 1);
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), 0);
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

static void lose_a_frame(void)
{
    const gr_gl_options copy = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY);
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &copy));
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    cuda_fill(buffer, 2);
    glDeleteBuffers(1, &name);
}

/* Neither the resource that ends next, nor an older error, hides the loss. */
TEST(a_frame_lost_at_the_end_of_a_scope_is_the_last_error, 2)
{
    gr_clear_error();
    if (_i)
        assert_null_invalid(gr_from_gl_buffer(0, GR_READ_WRITE), "name is 0");
    lose_a_frame();
    assert_error(GR_ERR_PARTIAL, 0, "deleted while it was mapped");
    if (_i)
        assert_null_invalid(gr_from_gl_buffer(0, GR_READ_WRITE), "name is 0");
}

CHILD(fails_without_a_status)
{
    fixture_setup();
    fx.fds = -1; /* drivers open files at their first use */
    lose_a_frame();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    for (int i = 0; i < 2; i++)
        gr_resource_free(resource);
    fixture_teardown();
    return 0;
}

TEST(a_failure_that_no_call_returns_is_printed)
{
    static const struct {
        const char *level, *loss, *second_free;
    } logs[] = {
        {NULL, "grinterop: gr_buffer_release_later: ", "grinterop: gr_resource_free was given"},
        {"none", NULL, NULL},
        {"error", NULL, "grinterop error: gr_resource_free: gr_resource_free was given"},
        {"warning", "grinterop warning: gr_buffer_release_later: ", "grinterop error: gr_resource"},
    };
    static char text[16384];
    for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
        if (logs[i].level)
            setenv("GR_LOG", logs[i].level, 1);
        const int status = child_run("fails_without_a_status", text, sizeof(text));
        unsetenv("GR_LOG");
        ck_assert_msg(status == 0, "%s", text);
        const char *loss = strstr(text, "deleted while"), *again = strstr(text, "was given");
        ck_assert_msg(!loss == !logs[i].loss && !again == !logs[i].second_free, "%s", text);
        ck_assert_msg(!loss || (strstr(text, logs[i].loss) && !strstr(loss + 1, "deleted while")),
                      "%s", text);
        ck_assert_msg(!again || strstr(text, logs[i].second_free), "%s", text);
    }
}
