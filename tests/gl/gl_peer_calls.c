/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The number of OpenGL calls that a steady frame makes as on a GPU: with semaphores, and with
 * shaders that copy.
 */
#include "gl_peer.h"

#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>

#include "tests/support/gl_calls.h"
#include "tests/support/shader_calls.h"
#include "tests/tensor/tensor.h"

#define WIDTH  64
#define HEIGHT 32
#define FRAMES 4 /* OpenGL gives back half of the staging buffers at a time */

static TCase *add_watched_case(Suite *suite, const char *name)
{
    return with_fixture(add_near_case(suite, name), watch_gl, unwatch_gl);
}

GROUP("calls of OpenGL", add_watched_case)
TAG("alone")

/* Bound are only a framebuffer, or also a program or pipeline and all units of the shader. */
enum { IDLE, PROGRAM, PIPELINE, STATES, OF_BINDINGS = 17 /* calls */ };
static const char *const states[] = {"", ", beside a program", ", beside a pipeline"};

static void use_state(int state)
{
    static const char *const text = "#version 330\nvoid main() { gl_Position = vec4(0); }\n";
    if (state == IDLE)
        return;
    fill_units();
    const GLuint program = glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &text);
    glUseProgram(state == PROGRAM ? program : 0);
    if (state == PROGRAM)
        return;
    GLuint pipeline;
    glCreateProgramPipelines(1, &pipeline);
    glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, program);
    glBindProgramPipeline(pipeline);
}

static const gr_gl_options in_flight = {
    .struct_size = sizeof(gr_gl_options), .transports = GR_TRANSPORT_PEER, .in_flight = FRAMES};

static gr_resource *make_resource(int kind, unsigned flags)
{
    if (kind == 0)
        return gr_from_gl_buffer_with(gl_buffer_pattern(WIDTH * HEIGHT * 4, 1), flags, &in_flight);
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    if (kind == 1) {
        glTextureStorage2D(name, 1, GL_RGBA8, WIDTH, HEIGHT);
    } else {
        glBindTexture(GL_TEXTURE_2D, name);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    return gr_from_gl_image_with(name, GL_TEXTURE_2D, flags, &in_flight);
}

static void assert_few(unsigned long calls, int state, unsigned limit, const char *what,
                       const char *kind)
{
    printf("%s %s%s: %lu calls of OpenGL\n", what, kind, states[state], calls);
    ck_assert_uint_gt(calls, 0);
    ck_assert_uint_le(calls, limit + (state == IDLE ? 0 : OF_BINDINGS));
}

static gr_tensor *new_picture(void)
{
    return must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, (const int64_t[]){HEIGHT, WIDTH, 4});
}

static const char *const kinds[] = {"a buffer", "a texture", "a mutable texture"};
static const unsigned limits[][2] = {{43, 38}, {43, 41}, {56, 48}}; /* publish, fetch */

PEER_TEST(a_frame_in_flight_makes_few_calls, 3 * STATES)
{
    const int kind = _i / STATES, state = _i % STATES;
    GR_AUTO(gr_tensor) *tensor = new_picture();
    GR_AUTO(gr_resource) *written = must_make(make_resource(kind, GR_WRITE_DISCARD));
    GR_AUTO(gr_resource) *read = must_make(make_resource(kind, GR_READ_ONLY));
    unsigned long most[2] = {0};
    use_state(state);
    for (int frame = 0; frame < 3 * FRAMES; frame++)
        for (int i = 0; i < 2; i++) {
            if (!gl_calls_start())
                skip("calls of OpenGL cannot be counted here");
            assert_ok(i ? gr_fetch(read, tensor, NULL, fx.stream)
                        : gr_publish(written, tensor, NULL, fx.stream));
            const unsigned long calls = gl_calls_end();
            if (frame >= FRAMES && calls > most[i])
                most[i] = calls;
        }
    ck_assert_uint_eq(dispatches, has_shader ? 2 * 3 * FRAMES : 0);
    assert_few(most[0], state, limits[kind][0], "gr_publish() to", kinds[kind]);
    assert_few(most[1], state, limits[kind][1], "gr_fetch() from", kinds[kind]);
}

static const struct {
    GLenum attachment, format;
    bool is_texture;
    int samples;
    const char *what;
    unsigned limit;
} attached[] = {{GL_COLOR_ATTACHMENT0, GL_RGBA8, true, 0, "a texture", 52},
                {GL_COLOR_ATTACHMENT0, GL_RGBA8, false, 0, "a renderbuffer", 59},
                {GL_COLOR_ATTACHMENT0, GL_RGBA8, false, 4, "a multisampled renderbuffer", 58},
                {GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, true, 0, "depth", 65}};
enum { ATTACHED = sizeof(attached) / sizeof(*attached) };

static GLuint make_attached(int i)
{
    GLuint name, framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    if (attached[i].is_texture) {
        glCreateTextures(GL_TEXTURE_2D, 1, &name);
        glTextureStorage2D(name, 1, attached[i].format, WIDTH, HEIGHT);
        glNamedFramebufferTexture(framebuffer, attached[i].attachment, name, 0);
    } else {
        glCreateRenderbuffers(1, &name);
        glNamedRenderbufferStorageMultisample(name, attached[i].samples, attached[i].format, WIDTH,
                                              HEIGHT);
        glNamedFramebufferRenderbuffer(framebuffer, attached[i].attachment, GL_RENDERBUFFER, name);
    }
    return framebuffer;
}

PEER_TEST(a_fetch_of_a_framebuffer_makes_few_calls, ATTACHED *STATES)
{
    const int kind = _i / STATES, state = _i % STATES;
    const bool is_depth = attached[kind].attachment == GL_DEPTH_ATTACHMENT;
    GR_AUTO(gr_resource) *staging =
        must_make(gr_create_gl_buffer(WIDTH * HEIGHT * 4, GR_READ_ONLY, &in_flight));
    const gr_framebuffer_options options = GR_INIT(
        gr_framebuffer_options, .attachment = attached[kind].attachment, .staging = staging);
    static const int64_t shape[] = {HEIGHT, WIDTH};
    GR_AUTO(gr_tensor) *tensor =
        is_depth ? must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 2, shape) : new_picture();
    const GLuint framebuffer = make_attached(kind);
    unsigned long most = 0;
    use_state(state);
    for (int frame = 0; frame < 3 * FRAMES; frame++) {
        if (!gl_calls_start())
            skip("calls of OpenGL cannot be counted here");
        assert_ok(gr_fetch_framebuffer(framebuffer, tensor, &options, fx.stream));
        const unsigned long calls = gl_calls_end();
        if (frame >= FRAMES && calls > most)
            most = calls;
    }
    ck_assert_uint_eq(dispatches, has_shader ? 3 * FRAMES : 0);
    assert_few(most, state, attached[kind].limit, "gr_fetch_framebuffer() from",
               attached[kind].what);
}
