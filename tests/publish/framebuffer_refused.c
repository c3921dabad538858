/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The attachments, options and arguments that gr_fetch_framebuffer() refuses. */
#include "framebuffer_support.h"

#include <math.h>

#include <epoxy/egl.h>
#include <grinterop/ring.h>

GROUP("what is refused", add_fetch_case)

static const float two[] = {2, 2, 2, 2};

TEST(wrong_options_are_refused)
{
    const gr_publish_options level = GR_INIT(gr_publish_options, .level = 1);
    const gr_publish_options layer = GR_INIT(gr_publish_options, .layer = 1);
    const gr_publish_options bits = GR_INIT(gr_publish_options, .bits = 10);
    const gr_publish_options timeout = GR_INIT(gr_publish_options, .timeout_ms = 10);
    const gr_publish_options offset = GR_INIT(gr_publish_options, .offset = 4);
    const gr_publish_options rectangle = GR_INIT(gr_publish_options, .height = 1);
    const gr_publish_options layers = GR_INIT(gr_publish_options, .layers = 1);
    const gr_publish_options slice = GR_INIT(gr_publish_options, .depth = 1);
    const struct {
        gr_framebuffer_options options;
        const char *text;
    } rows[] = {
        {{.attachment = GL_COLOR_ATTACHMENT0 + 1}, "has nothing to read"},
        {{.attachment = GL_STENCIL_ATTACHMENT}, "has nothing to read"},
        {{.attachment = GL_DEPTH_STENCIL_ATTACHMENT}, "two tensors"},
        {{.attachment = GL_TEXTURE_2D}, "There is no attachment 0xde1"},
        {{.width = WIDTH + 1}, "is not inside the attachment GL_COLOR_ATTACHMENT0"},
        {{.x = WIDTH}, "is not inside"},
        {{.y = 1, .height = HEIGHT}, "is not inside"},
        {{.z_near = 1, .z_far = 2}, "are for depth"},
        {{.attachment = GL_DEPTH_ATTACHMENT, .z_near = 1}, "`z_far` is 0"},
        {{.attachment = GL_DEPTH_ATTACHMENT, .z_near = -1, .z_far = 2}, "`z_near` is -1"},
        {{.attachment = GL_DEPTH_ATTACHMENT, .z_near = NAN, .z_far = 2}, "`z_near` is nan"},
        {{.attachment = GL_DEPTH_ATTACHMENT, .z_near = 2, .z_far = 2}, "two planes"},
        {{.conversion = &level}, "`level` of `conversion`"},
        {{.conversion = &layer}, "`layer` of `conversion`"},
        {{.conversion = &layers}, "`layers`, `z` or `depth` of"},
        {{.conversion = &slice}, "`depth` of `conversion`"},
        {{.conversion = &bits}, "`bits` is for YUV"},
        {{.conversion = &timeout}, "`timeout_ms` of `conversion`"},
        {{.conversion = &offset}, "`offset` of `conversion`"},
        {{.conversion = &rectangle}, "`height` of `conversion`"},
    };
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        gr_framebuffer_options options = rows[i].options;
        options.struct_size = sizeof(options);
        assert_invalid(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream), rows[i].text);
        assert_gl_clean();
    }
    download_tensor(to);
    assert_bytes(fetched, (size_t)WIDTH * HEIGHT * 4, 0xee);
}

/* A framebuffer that is not bound keeps a deleted attachment. */
TEST(deleted_attachments_are_refused, 2)
{
    GLint name = 0;
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    if (_i) {
        GLuint texture;
        glCreateTextures(GL_TEXTURE_2D, 1, &texture);
        glTextureStorage2D(texture, 1, GL_RGBA8, WIDTH, HEIGHT);
        glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0);
    }
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                                          GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    if (_i)
        glDeleteTextures(1, (GLuint[]){(GLuint)name});
    else
        glDeleteRenderbuffers(1, (GLuint[]){(GLuint)name});
    assert_invalid(gr_fetch_framebuffer(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4),
                                        NULL, fx.stream),
                   "was deleted");
    assert_gl_clean();
}

TEST(a_framebuffer_without_a_read_buffer_is_refused)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    glReadBuffer(GL_NONE);
    assert_invalid(gr_fetch_framebuffer(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4),
                                        NULL, fx.stream),
                   "set `attachment`");
}

/* Integers would be clamped: of 40 metres, 1 would be left. */
TEST(distances_in_integers_without_a_scale_are_refused, 3)
{
    static const gr_dtype dtypes[] = {GR_DTYPE_U8, GR_DTYPE_U16, GR_DTYPE_I32};
    const gr_publish_options biased = GR_INIT(gr_publish_options, .bias = two);
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT, .z_near = 0.1f,
                .z_far = 40, .conversion = &biased);
    const GLuint framebuffer = make_framebuffer(attachment_depth24, 0);
    gr_tensor *tensor = new_tensor(dtypes[_i], HEIGHT, WIDTH, 1);
    assert_invalid(gr_fetch_framebuffer(framebuffer, tensor, &options, fx.stream), "set `scale`");
}

TEST(wrong_arguments_are_refused)
{
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0),
                 deep = make_framebuffer(attachment_depth24, 0);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_tensor *small = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH - 1, 4);
    gr_tensor *pairs = new_tensor(GR_DTYPE_C64, HEIGHT, WIDTH, 1);
    assert_invalid(gr_fetch_framebuffer(framebuffer + 1000, to, NULL, fx.stream),
                   "There is no OpenGL framebuffer");
    assert_invalid(gr_fetch_framebuffer(framebuffer, small, NULL, fx.stream), "(7, 18, 4)");
    assert_fails(gr_fetch_framebuffer(deep, pairs, &depth, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "complex numbers");
    eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    assert_fails(gr_fetch_framebuffer(framebuffer, to, NULL, fx.stream), GR_ERR_GL, 0, "current");
    assert_ok(gr_egl_make_current(fx.egl));
}

TEST(wrong_staging_buffers_are_refused)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    struct image image = image_make("RGBA8", "2D", WIDTH, HEIGHT, 1);
    GR_AUTO(gr_resource) *texture = gr_from_gl_image(image.name, GL_TEXTURE_2D, GR_READ_ONLY);
    GR_AUTO(gr_resource) *small = must_register(gl_buffer_filled(WIDTH * HEIGHT * 4 - 1, 1));
    GR_AUTO(gr_resource) *mapped = must_register(gl_buffer_filled(MOST_BYTES, 1));
    GR_AUTO(gr_resource) *discard =
        must_register_as(gl_buffer_filled(MOST_BYTES, 1), GR_WRITE_DISCARD);
    const struct {
        gr_resource *staging;
        gr_status status;
        const char *text;
    } rows[] = {{texture, GR_ERR_INVALID_VALUE, "is not an OpenGL buffer"},
                {small, GR_ERR_INVALID_VALUE, "is 531, but 19 x 7 pixels need 532 bytes"},
                {mapped, GR_ERR_STATE, "`staging` is mapped"},
                {discard, GR_ERR_STATE, "write_discard"}};
    assert_made(texture);
    gr_buffer *buffer = must_map(mapped);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .staging = rows[i].staging);
        assert_fails(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream), rows[i].status, 0,
                     rows[i].text);
    }
    assert_ok(gr_buffer_release(buffer));
}

static void assert_unwritten(GLuint framebuffer, gr_tensor *to, gr_resource *staging,
                             CUstream stream, gr_status status, const char *text)
{
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = staging);
    assert_fails(gr_fetch_framebuffer(framebuffer, to, &options, stream), status, 0, text);
    if (glIsBuffer(gr_gl_name(staging)))
        assert_gl_pattern(gr_gl_name(staging), MOST_BYTES, 5);
}

TEST(a_refused_fetch_does_not_write_the_staging_buffer)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    GR_AUTO(gr_resource) *staging = must_register(gl_buffer_pattern(MOST_BYTES, 5));
    GR_AUTO(gr_resource) *slot = must_register(gl_buffer_pattern(MOST_BYTES, 5));
    gr_ring *ring = must_make(gr_ring_create(&slot, 1, NULL));
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_tensor *small = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH - 1, 4);
    gr_tensor *words = new_tensor(GR_DTYPE_U32, HEIGHT, WIDTH, 4);
    assert_unwritten(framebuffer, small, staging, fx.stream, GR_ERR_INVALID_VALUE, "(7, 18, 4)");
    assert_unwritten(framebuffer, words, staging, fx.stream, GR_ERR_INVALID_VALUE, "set `scale`");
    assert_unwritten(framebuffer, to, staging, NULL, GR_ERR_INVALID_VALUE, "stream");
    assert_unwritten(framebuffer, to, slot, fx.stream, GR_ERR_STATE, "is a slot of a ring");
    gr_ring_free(ring);
}

/* Replaces fx.egl as the current context. Compatibility contexts accept any name. */
static gr_egl *enter_other(void)
{
    return must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true)));
}

static void leave_other(gr_egl *other)
{
    gr_egl_free(other);
    assert_ok(gr_egl_make_current(fx.egl));
}

static void store(GLuint name, size_t size)
{
    pattern_fill(expected, size, 5);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, expected, GL_STATIC_DRAW);
}

/*
 * The registration of immutable storage stays valid, and the memory of a created buffer, but its
 * name is that of another buffer.
 */
TEST(a_buffer_that_reuses_the_name_of_the_staging_buffer_is_not_written, 3)
{
    gr_egl *other = enter_other();
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    store(77, MOST_BYTES);
    if (_i == 1)
        glBufferStorage(GL_ARRAY_BUFFER, MOST_BYTES, NULL, 0);
    gr_resource *staging = _i == 2 ? must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL))
                                   : must_register(77);
    const GLuint name = gr_gl_name(staging);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    glDeleteBuffers(1, &name);
    assert_unwritten(framebuffer, to, staging, fx.stream, GR_ERR_STATE, "has been deleted");
    store(name, MOST_BYTES);
    assert_unwritten(framebuffer, to, staging, fx.stream, GR_ERR_STATE, "another object has");
    gr_resource_free(staging);
    ck_assert(glIsBuffer(name));
    leave_other(other);
}

TEST(a_buffer_of_another_context_is_not_written)
{
    GR_AUTO(gr_resource) *staging = must_register(gl_buffer_filled(MOST_BYTES, 1));
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_egl *other = enter_other();
    store(gr_gl_name(staging), MOST_BYTES);
    assert_unwritten(make_framebuffer(attachment_rgba8, 0), to, staging, fx.stream, GR_ERR_GL,
                     "another context");
    leave_other(other);
}

/* The message names the attachment, also if `attachment` is 0. */
TEST(a_staging_buffer_mapped_by_the_application_is_refused)
{
    static const struct {
        GLenum attachment;
        const char *text;
    } rows[] = {{0, "could not read the attachment GL_COLOR_ATTACHMENT0 of OpenGL framebuffer"},
                {GL_DEPTH_ATTACHMENT, "could not read the attachment GL_DEPTH_ATTACHMENT of"}};
    const GLuint name = gl_buffer_filled(MOST_BYTES, 1);
    const GLuint framebuffers[2] = {make_framebuffer(attachment_rgba8, 0),
                                    make_framebuffer(attachment_depth24, 0)};
    GR_AUTO(gr_resource) *staging = must_register(name);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    ck_assert_ptr_nonnull(glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY));
    for (size_t i = 0; i < 2; i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .attachment = rows[i].attachment, .staging = staging);
        assert_fails(gr_fetch_framebuffer(framebuffers[i], to, &options, fx.stream), GR_ERR_GL,
                     GL_INVALID_OPERATION, rows[i].text);
    }
    ck_assert(glUnmapBuffer(GL_ARRAY_BUFFER));
    assert_gl_clean();
}

GROUP("conditional rendering", add_fetch_case, add_read_pixels_case)

/* OpenGL may discard a resolve, but reads attachments with one sample. */
TEST(resolves_during_conditional_rendering_are_refused)
{
    const GLuint plain = make_framebuffer(attachment_rgba8, 0),
                 samples = make_framebuffer(attachment_rgba8, 4);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    GLuint query;
    assert_ok(gr_fetch_framebuffer(samples, to, NULL, fx.stream));
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glEndQuery(GL_SAMPLES_PASSED);
    glBeginConditionalRender(query, GL_QUERY_WAIT);
    assert_fails(gr_fetch_framebuffer(samples, to, NULL, fx.stream), GR_ERR_STATE,
                 GL_INVALID_OPERATION, "conditional rendering is active");
    assert_ok(gr_fetch_framebuffer(plain, to, NULL, fx.stream));
    glEndConditionalRender();
    assert_gl_clean();
    assert_ok(gr_fetch_framebuffer(samples, to, NULL, fx.stream));
    glDeleteQueries(1, &query);
    assert_gl_clean();
}

GROUP("what is refused", add_fetch_case)

TEST(incomplete_framebuffers_are_refused)
{
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    GLuint empty = bound_framebuffer(GL_FRAMEBUFFER);
    assert_fails(gr_fetch_framebuffer(empty, to, NULL, fx.stream), GR_ERR_GL,
                 GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT, "incomplete");
}
