/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fetches one sample of multisampled attachments. */
#include "framebuffer_support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>

#define SAMPLES 4

/* ---- Samples with different values ----------------------------------------------------------- */

static GLuint compile(GLenum stage, const char *declaration, const char *body)
{
    const GLchar *const texts[] = {"#version 330\n", declaration, body};
    const GLuint shader = glCreateShader(stage);
    GLint done = 0;
    glShaderSource(shader, 3, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    ck_assert_int_eq(done, GL_TRUE);
    return shader;
}

/* The output is a vec4 for fractions and floats, or an ivec4 or a uvec4. */
static GLuint make_program(const char *output)
{
    const GLuint program = glCreateProgram();
    glAttachShader(program, compile(GL_VERTEX_SHADER, "",
                                    "void main() {\n"
                                    "    vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
                                    "    gl_Position = vec4(4.0 * at - 1.0, 0.0, 1.0);\n"
                                    "}\n"));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, output,
                                    "uniform int variant;\n"
                                    "uniform float unit;\n"
                                    "void main() {\n"
                                    "    ivec2 at = ivec2(gl_FragCoord.xy);\n"
                                    "    int v = (at.x * 7 + at.y * 13 + variant * 31) & 127;\n"
                                    "    vec4 values = vec4(v, 127 - v, v / 2, variant);\n"
                                    "    colour = TYPE(values / unit);\n"
                                    "    gl_FragDepth = float(v + 1) / 130.0;\n"
                                    "}\n"));
    glLinkProgram(program);
    return program;
}

static const char *output_of(const struct attachment_format *f)
{
    if (f->transfer == GL_RED_INTEGER || f->transfer == GL_RG_INTEGER ||
        f->transfer == GL_RGBA_INTEGER)
        return f->type == GL_INT ? "out ivec4 colour;\n#define TYPE ivec4\n"
                                 : "out uvec4 colour;\n#define TYPE uvec4\n";
    return "out vec4 colour;\n#define TYPE vec4\n";
}

/* Draws the values of a variant to the whole of the bound framebuffer. */
static void draw_variant(const struct attachment_format *f, int variant, GLsizei width,
                         GLsizei height)
{
    const char *output = output_of(f);
    const GLuint program = make_program(output);
    GLuint vertices;
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "variant"), variant);
    glUniform1f(glGetUniformLocation(program, "unit"), strstr(output, "out vec4") ? 127 : 1);
    glViewport(0, 0, width, height);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 50 + variant, 0xff);
    glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glUseProgram(0);
    glDeleteProgram(program);
    glDeleteVertexArrays(1, &vertices);
    assert_gl_clean();
}

/* Gives each sample of the bound framebuffer the values of its own variant. */
static void draw_samples(const struct attachment_format *f, GLsizei width, GLsizei height)
{
    glEnable(GL_SAMPLE_MASK);
    for (int i = 0; i < SAMPLES; i++) {
        glSampleMaski(0, 1u << i);
        draw_variant(f, i, width, height);
    }
    glDisable(GL_SAMPLE_MASK);
}

/* Reads a variant from a framebuffer with one sample. */
static void expect_variant(const struct attachment_format *f, int variant)
{
    const GLuint plain = make_framebuffer(f, 0);
    draw_variant(f, variant, WIDTH, HEIGHT);
    read_reference(f, expected);
    glDeleteFramebuffers(1, &plain);
}

/* glReadPixels() of Mesa repeats the 5 and 6 bits, and NVIDIA's blit of 10 bits rounds down. */
static bool is_rounded(const struct attachment_format *f)
{
    return f->internal == GL_RGB565 || f->internal == GL_RGB10_A2;
}

static void assert_close(const struct attachment_format *f, size_t size)
{
    const uint16_t *a = (const void *)fetched, *b = (const void *)expected;
    const bool wide = f->dtype == GR_DTYPE_U16;
    for (size_t i = 0; i < (wide ? size / 2 : size); i++)
        ck_assert_int_le(wide ? abs(a[i] - b[i]) : abs(fetched[i] - expected[i]), 1);
}

static void check_samples(const struct attachment_format *f, GLuint framebuffer)
{
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    for (unsigned i = 1; i <= SAMPLES; i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .attachment = f->attachment, .sample = i);
        expect_variant(f, (int)i - 1);
        must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
        if (is_rounded(f))
            assert_close(f, size);
        else
            assert_pixels(f, size);
        tensors_end();
    }
}

static GLuint attach_texture(GLenum target, GLenum format, GLenum point)
{
    GLuint name;
    glCreateTextures(target, 1, &name);
    if (target == GL_TEXTURE_2D_MULTISAMPLE)
        glTextureStorage2DMultisample(name, SAMPLES, format, WIDTH, HEIGHT, GL_FALSE);
    else
        glTextureStorage3DMultisample(name, SAMPLES, format, WIDTH, HEIGHT, 3, GL_TRUE);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    if (target == GL_TEXTURE_2D_MULTISAMPLE)
        glFramebufferTexture(GL_FRAMEBUFFER, point, name, 0);
    else
        glFramebufferTextureLayer(GL_FRAMEBUFFER, point, name, 0, 2);
    ck_assert_int_eq(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    return framebuffer;
}

/* ---- Reads ----------------------------------------------------------------------------------- */

static TCase *add_samples_case(Suite *suite, const char *name)
{
    return with_fixture(with_sharing(add_case(suite, name)), NULL, tensors_end);
}

GROUP("samples of each format", add_fetch_case, add_samples_case)
TAG("bytes")

/* Mesa has no shader of its own speed, but runs this one. */
TEST(each_sample_of_a_renderbuffer_is_read, ATTACHMENT_FORMATS)
{
    const struct attachment_format *f = &attachment_formats[_i];
    const GLuint framebuffer = make_framebuffer(f, SAMPLES);
    draw_samples(f, WIDTH, HEIGHT);
    check_samples(f, framebuffer);
}

GROUP("samples", add_fetch_case, add_samples_case)

TEST(each_sample_of_a_texture_is_read, 4)
{
    const struct attachment_format *f = _i % 2 ? attachment_depth24 : attachment_rgba8;
    const GLuint framebuffer =
        attach_texture(_i / 2 ? GL_TEXTURE_2D_MULTISAMPLE_ARRAY : GL_TEXTURE_2D_MULTISAMPLE,
                       f->internal, f->attachment);
    draw_samples(f, WIDTH, HEIGHT);
    check_samples(f, framebuffer);
}

/* sRGB encoded colours are not converted. The second framebuffer has another number of samples. */
TEST(samples_are_read_with_the_state_of_the_application)
{
    const struct attachment_format *f = &attachment_formats[1];
    const GLuint framebuffer = make_framebuffer(f, SAMPLES);
    GLint texture = 0;
    GLuint bound;
    glEnable(GL_FRAMEBUFFER_SRGB);
    draw_samples(f, WIDTH, HEIGHT);
    glCreateTextures(GL_TEXTURE_2D_MULTISAMPLE, 1, &bound);
    glTextureStorage2DMultisample(bound, 2, GL_RGBA8, 3, 3, GL_TRUE);
    glActiveTexture(GL_TEXTURE0 + 93);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, bound);
    check_samples(f, framebuffer);
    glGetIntegerv(GL_TEXTURE_BINDING_2D_MULTISAMPLE, &texture);
    ck_assert_int_eq(texture, (GLint)bound);
    ck_assert(glIsEnabled(GL_FRAMEBUFFER_SRGB));
    assert_gl_clean();
}

/* The shader reads large attachments in strips, from a texture of up to 32 MiB. */
TEST(samples_of_a_large_framebuffer_are_read)
{
    enum { WIDE = 1024, HIGH = 1030, BYTES = WIDE * HIGH * 4 };
    static unsigned char wanted[BYTES], got[BYTES];
    const gr_framebuffer_options third = GR_INIT(gr_framebuffer_options, .sample = 3);
    const int64_t shape[] = {HIGH, WIDE, 4};
    make_framebuffer_of(attachment_rgba8, 0, WIDE, HIGH);
    draw_variant(attachment_rgba8, 2, WIDE, HIGH);
    glReadPixels(0, 0, WIDE, HIGH, GL_RGBA, GL_UNSIGNED_BYTE, wanted);
    const GLuint framebuffer = make_framebuffer_of(attachment_rgba8, SAMPLES, WIDE, HIGH);
    draw_samples(attachment_rgba8, WIDE, HIGH);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, shape, got);
    assert_ok(gr_fetch_framebuffer(framebuffer, tensor, &third, fx.stream));
    tensor_to_host(tensor, got, BYTES);
    ck_assert_mem_eq(got, wanted, BYTES);
}

/* One call reads two samples and the resolved colours. */
TEST(samples_and_resolved_pixels_are_read_together)
{
    const struct attachment_format *f = attachment_rgba8;
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .sample = 1),
                                 last = GR_INIT(gr_framebuffer_options, .sample = 4);
    const gr_framebuffer_options *const options[] = {&first, NULL, &last};
    const GLuint framebuffer = make_framebuffer(f, SAMPLES);
    gr_tensor *tensors[3];
    unsigned char samples[2][4], mean[4];
    draw_samples(f, WIDTH, HEIGHT);
    for (int i = 0; i < 3; i++)
        tensors[i] = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    assert_ok(gr_fetch_framebuffer_many(framebuffer, tensors, options, 3, fx.stream));
    for (int i = 0; i < 3; i++) {
        download_tensor(tensors[i]);
        memcpy(i == 1 ? mean : samples[i / 2], fetched, 4);
        if (i == 1)
            continue;
        expect_variant(f, i == 0 ? 0 : 3);
        ck_assert_mem_eq(fetched, expected, (size_t)WIDTH * HEIGHT * 4);
    }
    /* alpha is 0 to 3 of 127 in the samples */
    ck_assert(samples[0][3] < mean[3] && mean[3] < samples[1][3]);
}

TEST(a_sample_is_copied_to_a_buffer)
{
    const struct attachment_format *f = attachment_rgba8;
    const size_t size = (size_t)WIDTH * HEIGHT * 4;
    const gr_framebuffer_options second = GR_INIT(gr_framebuffer_options, .sample = 2);
    const GLuint name = gl_buffer(NULL, (GLsizeiptr)size);
    GR_AUTO(gr_resource) *buffer = must_make(gr_from_gl_buffer(name, GR_READ_ONLY));
    const GLuint framebuffer = make_framebuffer(f, SAMPLES);
    draw_samples(f, WIDTH, HEIGHT);
    assert_ok(gr_copy_framebuffer(framebuffer, buffer, 0, &second));
    gl_read(name, fetched, size);
    expect_variant(f, 1);
    ck_assert_mem_eq(fetched, expected, size);
}

GROUP("a slow shader", add_fetch_case)

/* The shader is slower than the calls of Mesa, which cannot read one sample. */
TEST(a_shader_of_mesa_reads_only_single_samples)
{
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .sample = 1);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, SAMPLES);
    epoxy_glGetString = (PFNGLGETSTRINGPROC)eglGetProcAddress("glGetString");
    if (strstr((const char *)glGetString(GL_VENDOR), "NVIDIA"))
        skip("the shader is fast");
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    must_fetch(framebuffer, to, &first);
    must_fetch(framebuffer, to, NULL);
    ck_assert_uint_eq(dispatches, 1);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(samples_that_do_not_exist_are_refused)
{
    const gr_framebuffer_options fifth = GR_INIT(gr_framebuffer_options, .sample = 5),
                                 last = GR_INIT(gr_framebuffer_options, .sample = UINT_MAX),
                                 first = GR_INIT(gr_framebuffer_options, .sample = 1);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    const GLuint plain = make_framebuffer(attachment_rgba8, 0),
                 four = make_framebuffer(attachment_rgba8, SAMPLES);
    assert_invalid(gr_fetch_framebuffer(four, to, &fifth, fx.stream), "`sample` is 5, but");
    assert_invalid(gr_fetch_framebuffer(four, to, &fifth, fx.stream), "has 4: pass 1 to that");
    assert_invalid(gr_fetch_framebuffer(four, to, &last, fx.stream), "has 4: pass 1 to that");
    assert_invalid(gr_fetch_framebuffer(plain, to, &first, fx.stream), "has 0 samples");
    download_tensor(to);
    ck_assert_int_eq(fetched[0], 0xee);
}

/* Not even with another way: none but the shader reads one sample. */
static void assert_unreadable(GLuint framebuffer, const char *text)
{
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .sample = 1);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    assert_fails(gr_fetch_framebuffer(framebuffer, to, &first, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 text);
    download_tensor(to);
    ck_assert_int_eq(fetched[0], 0xee);
    assert_gl_clean();
}

TEST(samples_are_not_read_during_transform_feedback)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, SAMPLES);
    const GLuint program = begin_feedback();
    assert_unreadable(framebuffer, "cannot read one sample of the attachment");
    glEndTransformFeedback();
    glUseProgram(0);
    glDeleteProgram(program);
    draw_samples(attachment_rgba8, WIDTH, HEIGHT);
    check_samples(attachment_rgba8, framebuffer);
}

static void APIENTRY refuse_storage(GLuint name, GLsizei samples, GLenum format, GLsizei width,
                                    GLsizei height, GLboolean fixed)
{
    (void)name;
    (void)samples;
    (void)format;
    (void)width;
    (void)height;
    (void)fixed;
    glHint(GL_NONE, GL_NONE);
}

/* Catches: a later refusal named the OpenGL error of an earlier call. */
TEST(a_refused_sample_has_the_error_of_its_own_call)
{
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .sample = 1);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, SAMPLES);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    PFNGLTEXTURESTORAGE2DMULTISAMPLEPROC own = epoxy_glTextureStorage2DMultisample;
    epoxy_glTextureStorage2DMultisample = refuse_storage;
    assert_fails(gr_fetch_framebuffer(framebuffer, to, &first, fx.stream), GR_ERR_GL,
                 GL_INVALID_ENUM, "could not read the attachment");
    assert_ok(gr_fetch_framebuffer(framebuffer, to, NULL, fx.stream));
    epoxy_glTextureStorage2DMultisample = own;
    const GLuint program = begin_feedback();
    assert_unreadable(framebuffer, "cannot read one sample of the attachment");
    glEndTransformFeedback();
    glUseProgram(0);
    glDeleteProgram(program);
    draw_samples(attachment_rgba8, WIDTH, HEIGHT);
    check_samples(attachment_rgba8, framebuffer);
}

TEST(samples_are_not_read_during_conditional_rendering)
{
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .sample = 1);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, SAMPLES);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    const GLuint query = begin_condition();
    assert_fails(gr_fetch_framebuffer(framebuffer, to, &first, fx.stream), GR_ERR_STATE,
                 GL_INVALID_OPERATION, "conditional rendering is active");
    glEndConditionalRender();
    glDeleteQueries(1, &query);
}

GROUP("samples without a shader", add_read_pixels_case)

TEST(samples_are_not_read_without_a_shader)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, SAMPLES);
    assert_unreadable(framebuffer, "No compute shader can run in this context");
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
}
