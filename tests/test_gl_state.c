/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's state stays as the application left it: each call, good or refused, leaves bindings, the
 * current context and an error that was pending from before as they were.
 */
#include "support.h"

#include <string.h>

#include <epoxy/egl.h>

#define SIZE 4096

/* ---- A state that would show a change -------------------------------------------------------- */

static const struct {
    GLenum what;
    int version; /* of OpenGL, in which it came */
    const char *name;
} queries[] = {
    {GL_ARRAY_BUFFER_BINDING, 30, "GL_ARRAY_BUFFER"},
    {GL_ELEMENT_ARRAY_BUFFER_BINDING, 30, "GL_ELEMENT_ARRAY_BUFFER"},
    {GL_COPY_READ_BUFFER_BINDING, 31, "GL_COPY_READ_BUFFER"},
    {GL_COPY_WRITE_BUFFER_BINDING, 31, "GL_COPY_WRITE_BUFFER"},
    {GL_PIXEL_PACK_BUFFER_BINDING, 30, "GL_PIXEL_PACK_BUFFER"},
    {GL_PIXEL_UNPACK_BUFFER_BINDING, 30, "GL_PIXEL_UNPACK_BUFFER"},
    {GL_UNIFORM_BUFFER_BINDING, 31, "GL_UNIFORM_BUFFER"},
    {GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 30, "GL_TRANSFORM_FEEDBACK_BUFFER"},
    {GL_SHADER_STORAGE_BUFFER_BINDING, 43, "GL_SHADER_STORAGE_BUFFER"},
    {GL_VERTEX_ARRAY_BINDING, 30, "vertex array"},
    {GL_DRAW_FRAMEBUFFER_BINDING, 30, "draw framebuffer"},
    {GL_READ_FRAMEBUFFER_BINDING, 30, "read framebuffer"},
    {GL_RENDERBUFFER_BINDING, 30, "renderbuffer"},
    {GL_TEXTURE_BINDING_2D, 30, "texture"},
    {GL_ACTIVE_TEXTURE, 30, "texture unit"},
    {GL_CURRENT_PROGRAM, 30, "program"},
    {GL_PROGRAM_PIPELINE_BINDING, 41, "program pipeline"},
    {GL_UNPACK_ALIGNMENT, 30, "GL_UNPACK_ALIGNMENT"},
    {GL_VIEWPORT, 30, "viewport"},
};
#define QUERY_COUNT (sizeof(queries) / sizeof(queries[0]))

struct state {
    GLint values[QUERY_COUNT];
    EGLContext context;
    CUcontext cuda;
};

static struct state before;

static void read_state(struct state *state)
{
    memset(state, 0, sizeof(*state));
    for (size_t i = 0; i < QUERY_COUNT; i++) {
        GLint values[4] = {0};
        if (epoxy_gl_version() >= queries[i].version)
            glGetIntegerv(queries[i].what, values);
        state->values[i] = values[queries[i].what == GL_VIEWPORT ? 2 : 0];
    }
    state->context = eglGetCurrentContext();
    CU(cuCtxGetCurrent(&state->cuda));
}

static void use_some_program(void)
{
    static const char *const source = "#version 330\nvoid main() { gl_Position = vec4(0); }\n";
    GLuint program = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glUseProgram(program);
}

/* Something of its own in each place, so that a 0 put there is a change. */
static void bind_everything(void)
{
    static const struct {
        GLenum target;
        int version;
    } targets[] = {{GL_ARRAY_BUFFER, 30},         {GL_ELEMENT_ARRAY_BUFFER, 30},
                   {GL_COPY_READ_BUFFER, 31},     {GL_COPY_WRITE_BUFFER, 31},
                   {GL_PIXEL_PACK_BUFFER, 30},    {GL_PIXEL_UNPACK_BUFFER, 30},
                   {GL_UNIFORM_BUFFER, 31},       {GL_TRANSFORM_FEEDBACK_BUFFER, 30},
                   {GL_SHADER_STORAGE_BUFFER, 43}};
    GLuint vertices = 0, framebuffers[2], renderbuffer = 0, texture = 0, pipeline = 0;
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (epoxy_gl_version() >= targets[i].version)
            glBindBuffer(targets[i].target, gl_buffer_filled(64, 0));
    glGenFramebuffers(2, framebuffers);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[0]);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[1]);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glActiveTexture(GL_TEXTURE3);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    if (epoxy_gl_version() >= 41) {
        glGenProgramPipelines(1, &pipeline);
        glBindProgramPipeline(pipeline);
    }
    use_some_program();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glViewport(1, 2, 3, 4);
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* What the steps work on, in this order. */
static GLuint names[2], deleted, empty;
static gr_resource *resources[2];
static gr_buffer *buffers[2];

static bool register_both(void)
{
    resources[0] = gr_from_gl_buffer(names[0], GR_NONE);
    resources[1] = gr_from_gl_buffer(names[1], GR_WRITE_DISCARD);
    return resources[0] && resources[1];
}

static bool register_bad_names(void)
{
    return !gr_from_gl_buffer(0, GR_NONE) && !gr_from_gl_buffer(deleted, GR_NONE) &&
           !gr_from_gl_buffer(empty, GR_NONE) && !gr_from_gl_buffer(names[0], 0x100);
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
           gr_is_mapped(resources[0]) && !gr_is_closed(resources[0]) && gr_handle(resources[0]) &&
           gr_resource_describe(resources[0], text, sizeof(text)) > 0;
}

static bool release_one(void)
{
    return gr_buffer_release(buffers[0]) == GR_OK;
}

static bool release_it_again(void)
{
    return gr_buffer_release(buffers[0]) == GR_ERR_STATE;
}

static bool map_and_release_on_another_stream(void)
{
    return map_one() && gr_buffer_release_on(buffers[0], fx.other) == GR_OK;
}

static bool map_and_unmap(void)
{
    return map_one() && gr_unmap(resources[0], GR_STREAM_OF_MAP) == GR_OK &&
           gr_buffer_release(buffers[0]) == GR_OK;
}

static bool unmap_without_a_map(void)
{
    return gr_unmap(resources[0], fx.stream) == GR_ERR_STATE;
}

static bool map_both(void)
{
    return gr_map_many(resources, 2, fx.stream, buffers) == GR_OK;
}

static bool release_both(void)
{
    return gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP) == GR_OK;
}

static bool map_on_entry(void)
{
    gr_buffer *buffer = gr_map_gl_buffer(names[0], GR_NONE, fx.stream);
    return buffer && gr_buffer_release(buffer) == GR_OK;
}

static bool close_while_mapped(void)
{
    return map_one() && gr_close(resources[0], fx.stream) == GR_OK && release_one();
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

static const struct {
    const char *name;
    bool (*run)(void);
} steps[] = {
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
    bind_everything();
    assert_gl_clean();
}

/* Runs all steps, each with the error pending, which is GL_NO_ERROR or what the call raises. */
static void run_steps(GLenum pending)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        read_state(&before);
        if (pending != GL_NO_ERROR)
            glEnable(0xFFFF);
        bool good = steps[i].run();
        GLenum error = glGetError();
        ck_assert_msg(good, "%s went wrong: %s", steps[i].name, error_text());
        ck_assert_msg(error == pending, "%s: OpenGL error 0x%04x, not 0x%04x", steps[i].name, error,
                      pending);
        ck_assert_msg(glGetError() == GL_NO_ERROR, "%s raised another error", steps[i].name);
        struct state after;
        read_state(&after);
        for (size_t k = 0; k < QUERY_COUNT; k++)
            ck_assert_msg(after.values[k] == before.values[k], "%s: %s is %d, not %d",
                          steps[i].name, queries[k].name, after.values[k], before.values[k]);
        ck_assert_msg(after.context == before.context, "%s: another EGL context", steps[i].name);
        ck_assert_msg(after.cuda == before.cuda, "%s: another CUDA context", steps[i].name);
    }
}

START_TEST(no_call_changes_bindings_or_raises_an_error)
{
    prepare();
    run_steps(GL_NO_ERROR);
}
END_TEST

START_TEST(an_error_from_before_stays_pending_over_each_call)
{
    prepare();
    run_steps(GL_INVALID_ENUM);
}
END_TEST

START_TEST(the_queries_see_a_change)
{
    prepare();
    read_state(&before);
    for (size_t i = 0; i < QUERY_COUNT; i++)
        if (epoxy_gl_version() >= queries[i].version)
            ck_assert_msg(before.values[i] != 0, "%s has nothing bound", queries[i].name);
}
END_TEST

START_TEST(an_application_may_have_the_buffer_bound)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 4);
    assert_ok(gr_buffer_release(buffer));
    unsigned char bytes[SIZE];
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
    assert_bytes(bytes, SIZE, 4);
    GLint bound = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &bound);
    ck_assert_uint_eq((GLuint)bound, name);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "state"), the_queries_see_a_change,
              no_call_changes_bindings_or_raises_an_error,
              an_error_from_before_stays_pending_over_each_call,
              an_application_may_have_the_buffer_bound);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "gl_state", build, NULL);
}
