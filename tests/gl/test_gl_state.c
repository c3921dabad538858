/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Each call, successful or refused, leaves the OpenGL bindings, the current context and an earlier
 * pending error unchanged.
 */
#include "tests/support/support_state.h"

#define SIZE 4096

/* ---- The calls ------------------------------------------------------------------------------- */

/* The objects that the steps use. A later step depends on the earlier ones. */
static GLuint names[2], deleted, empty;
static gr_resource *resources[2];
static gr_buffer *buffers[2];

static bool register_both(void)
{
    resources[0] = gr_from_gl_buffer(names[0], GR_READ_WRITE);
    resources[1] = gr_from_gl_buffer(names[1], GR_WRITE_DISCARD);
    return resources[0] && resources[1];
}

static bool register_bad_names(void)
{
    return !gr_from_gl_buffer(0, GR_READ_WRITE) && !gr_from_gl_buffer(deleted, GR_READ_WRITE) &&
           !gr_from_gl_buffer(empty, GR_READ_WRITE) && !gr_from_gl_buffer(names[0], 0x100);
}

static bool map_one(void)
{
    return (buffers[0] = gr_map(resources[0], fx.stream));
}

static bool map_it_again(void)
{
    return !gr_map(resources[0], fx.stream);
}

static bool ask(void)
{
    char text[256];
    return gr_buffer_ptr(buffers[0]) && gr_buffer_size(buffers[0]) == SIZE &&
           gr_resource_get_info(resources[0])->mapped &&
           !gr_resource_get_info(resources[0])->closed && driver_handle(resources[0]) &&
           gr_resource_describe(resources[0], text, sizeof(text)) > 0;
}

static bool release_one(void)
{
    return gr_buffer_release(buffers[0]) == GR_OK;
}

static bool release_it_again(void)
{
    return gr_buffer_release(buffers[0]) == GR_ERR_INVALID_VALUE;
}

static bool map_and_release_on_another_stream(void)
{
    return map_one() && release_on(buffers[0], fx.other) == GR_OK;
}

static bool map_and_unmap(void)
{
    return map_one() && gr_resource_unmap(resources[0], GR_STREAM_OF_MAP) == GR_OK &&
           gr_buffer_release(buffers[0]) == GR_OK;
}

static bool unmap_without_a_map(void)
{
    return gr_resource_unmap(resources[0], fx.stream) == GR_ERR_STATE;
}

static bool map_both(void)
{
    return gr_map_many(resources, 2, fx.stream, NULL, buffers) == GR_OK;
}

static bool release_both(void)
{
    return gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL) == GR_OK;
}

static bool map_on_entry(void)
{
    gr_buffer *buffer = gr_map_gl_buffer(names[0], GR_READ_WRITE, fx.stream);
    return buffer && gr_buffer_release(buffer) == GR_OK;
}

static bool close_while_mapped(void)
{
    return map_one() && gr_resource_close(resources[0], fx.stream) == GR_OK && release_one();
}

static bool map_a_closed_one(void)
{
    return !gr_map(resources[0], fx.stream);
}

static bool free_both(void)
{
    gr_resource_free(resources[0]);
    gr_resource_free(resources[1]);
    return true;
}

static const struct state_step steps[] = {
    {"register_both", register_both},
    {"register_bad_names", register_bad_names},
    {"map_one", map_one},
    {"map_it_again", map_it_again},
    {"ask", ask},
    {"release_one", release_one},
    {"release_it_again", release_it_again},
    {"map_and_release_on_another_stream", map_and_release_on_another_stream},
    {"map_and_unmap", map_and_unmap},
    {"unmap_without_a_map", unmap_without_a_map},
    {"map_both", map_both},
    {"release_both", release_both},
    {"map_on_entry", map_on_entry},
    {"close_while_mapped", close_while_mapped},
    {"map_a_closed_one", map_a_closed_one},
    {"free_both", free_both},
};

static void prepare(void)
{
    names[0] = gl_buffer_filled(SIZE, 1);
    names[1] = gl_buffer_filled(SIZE, 2);
    deleted = gl_buffer_filled(SIZE, 3);
    glDeleteBuffers(1, &deleted);
    empty = gl_buffer(NULL, 0);
    assert_gl_clean();
}

static const struct state_steps all = {prepare, NULL, sizeof(steps) / sizeof(steps[0]), steps};

GROUP("state", add_case)

TEST(the_test_detects_a_changed_binding)
{
    state_bind();
    state_assert_bound();
}

TEST(buffers_bound_by_the_application_can_be_mapped)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    GR_AUTO(gr_resource) *resource = must_register(name);
    fill_mapped(resource, 4);
    unsigned char bytes[SIZE];
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
    assert_bytes(bytes, SIZE, 4);
    GLint bound = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &bound);
    ck_assert_uint_eq((GLuint)bound, name);
}

TEST_STATE(&all)
