/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fetches framebuffers into tensors. For each kind of attachment the bytes must be those of
 * glReadPixels(). Conversions must give the expected values.
 */
#include "framebuffer_support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <epoxy/egl.h>

GROUP("formats", add_fetch_case, add_read_pixels_case)
TAG("bytes")

/* These colours are converted to the format of the buffer, which only glReadPixels() defines. */
static bool is_converted(const struct attachment_format *f)
{
    return f->internal == GL_RGB10_A2 || f->internal == GL_RGB565;
}

TEST(each_format_has_the_bytes_of_glreadpixels, ATTACHMENT_FORMATS)
{
    const struct attachment_format *f = &attachment_formats[_i];
    const gr_framebuffer_options options = options_for(f);
    const GLuint framebuffer = make_framebuffer(f, 0);
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    draw_pattern(f);
    read_reference(f, expected);
    must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    assert_pixels(f, size);
    ck_assert_uint_eq(dispatches, has_shader && !is_converted(f));
}

/* A clear gives all samples of a pixel the same value, which the resolve must keep. */
TEST(multisampled_attachments_are_resolved, ATTACHMENT_FORMATS)
{
    const struct attachment_format *f = &attachment_formats[_i];
    const gr_framebuffer_options options = options_for(f);
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    make_framebuffer(f, 0);
    clear_framebuffer(f, 77);
    read_reference(f, expected);
    const GLuint framebuffer = make_framebuffer(f, 4);
    glEnable(GL_SCISSOR_TEST);
    clear_framebuffer(f, 77);
    glDisable(GL_SCISSOR_TEST);
    clear_framebuffer(f, 77);
    must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    assert_pixels(f, size);
    ck_assert_uint_eq(dispatches, has_shader);
}

GROUP("attachments", add_fetch_case, add_read_pixels_case)

static void (*query_attachment)(GLenum, GLenum, GLenum, GLint *);

/* As the NVIDIA driver. Other attachments are not queried here. */
static void refuse_type(GLenum target, GLenum attachment, GLenum what, GLint *value)
{
    if (what == GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE)
        glBeginTransformFeedback(GL_POINTS); /* GL_INVALID_OPERATION */
    else
        query_attachment(target, attachment, what, value);
}

static gr_status fetch_untyped(const struct attachment_format *f)
{
    const gr_framebuffer_options options = options_for(f);
    gr_tensor *tensor = new_tensor(f->dtype, HEIGHT, WIDTH, f->channels);
    const GLuint framebuffer = make_framebuffer(f, 0);
    query_attachment = epoxy_glGetFramebufferAttachmentParameteriv;
    epoxy_glGetFramebufferAttachmentParameteriv = refuse_type;
    const gr_status status = gr_fetch_framebuffer(framebuffer, tensor, &options, fx.stream);
    epoxy_glGetFramebufferAttachmentParameteriv = query_attachment;
    return status;
}

TEST(the_type_of_signed_normalized_attachments_is_not_queried)
{
    for (int i = 0; i < ATTACHMENT_FORMATS; i++)
        if (is_signed_normalized(&attachment_formats[i]))
            assert_ok(fetch_untyped(&attachment_formats[i]));
}

TEST(an_error_of_a_query_is_reported)
{
    assert_fails(fetch_untyped(&attachment_formats[4]), GR_ERR_GL, GL_INVALID_OPERATION,
                 "could not read the attachment GL_COLOR_ATTACHMENT0"); /* GL_RGB10_A2 */
    assert_gl_clean();
}

TEST(an_attached_texture_level_is_read)
{
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 2, GL_RGBA8, 2 * WIDTH, 2 * HEIGHT);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 1);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    ck_assert_mem_eq(fetched, expected, sizeof(expected) / 4);
}

/* Catches: the format of the first face of a mutable cube map was taken for that of the others. */
TEST(a_face_of_a_cube_map_has_a_format_of_its_own)
{
    const GLenum first = GL_TEXTURE_CUBE_MAP_POSITIVE_X, face = first + 1;
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    const GLfloat colour[] = {2.5f, -1, 0, 1};
    GLuint cube;
    glGenTextures(1, &cube);
    glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
    glTexImage2D(first, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_FLOAT, NULL);
    glTexImage2D(face, 0, GL_RGBA32F, 8, 8, 0, GL_RGBA, GL_FLOAT, NULL);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, face, cube, 0);
    glClearBufferfv(GL_COLOR, 0, colour);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_F32, 8, 8, 4), NULL);
    ck_assert_mem_eq(fetched, colour, 16);
}

/* Each layer has one row. */
TEST(an_attached_layer_of_a_1d_array_is_read, 2)
{
    const GLsizei layers = _i ? HEIGHT : 1;
    const gr_framebuffer_options two = GR_INIT(gr_framebuffer_options, .height = 2);
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glCreateTextures(GL_TEXTURE_1D_ARRAY, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, WIDTH, layers);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (GLsizei layer = 0; layer < layers; layer++) {
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, layer);
        clear_framebuffer(attachment_rgba8, 100 + (unsigned)layer);
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, 1, WIDTH, 4), NULL);
        ck_assert_int_eq(fetched[4 * (WIDTH - 1)], 100 + layer);
    }
    assert_invalid(
        gr_fetch_framebuffer(framebuffer, new_tensor(GR_DTYPE_U8, 2, WIDTH, 4), &two, fx.stream),
        "which has 19 x 1");
}

/* The read buffer of the framebuffer is a different attachment. */
TEST(the_attachment_in_the_options_is_read)
{
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = GL_COLOR_ATTACHMENT0 + 2);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    const GLenum second = GL_COLOR_ATTACHMENT0 + 2;
    GLuint renderbuffer = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, second, GL_RENDERBUFFER, renderbuffer);
    clear_framebuffer(attachment_rgba8, 1);
    glDrawBuffers(1, &second);
    clear_framebuffer(attachment_rgba8, 200);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
    ck_assert_int_eq(fetched[0], 199);
    GLint selected = 0;
    glGetIntegerv(GL_READ_BUFFER, &selected);
    ck_assert_int_eq(selected, GL_COLOR_ATTACHMENT0);
}

GROUP("options", add_fetch_case, add_read_pixels_case)

TEST(only_the_given_rectangle_is_read)
{
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .x = 3, .y = 2, .width = 5, .height = 4);
    const gr_framebuffer_options corner = GR_INIT(gr_framebuffer_options, .x = 14, .y = 3);
    for (int samples = 0; samples <= 4; samples += 4) {
        const GLuint framebuffer = make_framebuffer(attachment_rgba8, samples);
        draw_pattern(attachment_rgba8);
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, 4, 5, 4), &options);
        for (int i = 0; i < 20; i++) {
            const int pixel = (2 + i / 5) * WIDTH + 3 + i % 5;
            ck_assert_int_eq(fetched[4 * i], (int)lroundf((float)pixel / 256 * 255));
        }
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, 4, 5, 4), &corner);
        ck_assert_int_eq(fetched[0], (int)lroundf((3.0f * WIDTH + 14) / 256 * 255));
    }
}

TEST(conversion_options_are_applied)
{
    need_publish_kernels();
    const gr_publish_options conversion =
        GR_INIT(gr_publish_options, .layout = GR_LAYOUT_CHW, .flip = true);
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .conversion = &conversion);
    const int64_t shape[] = {3, HEIGHT, WIDTH};
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    must_fetch(framebuffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, 3, shape, fetched), &options);
    const float *values = (const float *)(const void *)fetched;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ck_assert_float_eq_tol(
                    values[(c * HEIGHT + y) * WIDTH + x],
                    (float)expected[4 * ((HEIGHT - 1 - y) * WIDTH + x) + c] / 255, 1e-6f);
}

/* The mean of the pixels of a sample, in one channel. The size is odd. */
static double mean_at(const unsigned char *pixels, int x, int y, int size, int c)
{
    double sum = 0, count = 0;
    for (int j = y; j < y + size && j < HEIGHT; j++)
        for (int i = x; i < x + size && i < WIDTH; i++, count++)
            sum += pixels[(j * WIDTH + i) * 4 + c];
    return sum / count / 255;
}

static double bt709_luma(const unsigned char *pixels, int x, int y, int size)
{
    return 0.2126 * mean_at(pixels, x, y, size, 0) + 0.7152 * mean_at(pixels, x, y, size, 1) +
           0.0722 * mean_at(pixels, x, y, size, 2);
}

TEST(colours_become_nv12)
{
    need_publish_kernels();
    enum { COLUMNS = (WIDTH + 1) / 2, ROWS = (HEIGHT + 1) / 2 };
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    gr_tensor *luma = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 1);
    gr_tensor *chroma = new_tensor(GR_DTYPE_U8, ROWS, COLUMNS, 2);
    const gr_publish_options nv12 =
        GR_INIT(gr_publish_options, .layout = GR_LAYOUT_NV12, .chroma = chroma);
    must_fetch(framebuffer, luma, &GR_INIT(gr_framebuffer_options, .conversion = &nv12));
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        ck_assert_double_eq_tol(fetched[i],
                                16 + 219 * bt709_luma(expected, i % WIDTH, i / WIDTH, 1), 0.51);
    download_tensor(chroma);
    for (int i = 0; i < ROWS * COLUMNS * 2; i++) {
        const int x = i / 2 % COLUMNS * 2, y = i / 2 / COLUMNS * 2, c = i % 2 ? 0 : 2;
        const double difference = mean_at(expected, x, y, 2, c) - bt709_luma(expected, x, y, 2);
        ck_assert_double_eq_tol(fetched[i], 128 + 224 * difference / (c ? 1.8556 : 1.5748), 0.51);
    }
    tensors_end();
}

/* The integer 7 becomes 7.0, not 7/255. */
TEST(integers_become_floats_of_the_same_value)
{
    need_publish_kernels();
    for (int i = 0; i < ATTACHMENT_FORMATS; i++) {
        const struct attachment_format *f = &attachment_formats[i];
        if (f->attachment != GL_STENCIL_ATTACHMENT && f->internal != GL_R16UI)
            continue;
        const gr_framebuffer_options options = options_for(f);
        const GLuint framebuffer = make_framebuffer(f, 0);
        clear_framebuffer(f, 7);
        must_fetch(framebuffer, new_tensor(GR_DTYPE_F32, HEIGHT, WIDTH, 1), &options);
        ck_assert_float_eq(((const float *)(const void *)fetched)[WIDTH], 7);
    }
}

/* Depths of which most are near the far plane, where distances differ most: from 0 to 1. */
static GLuint make_depths(GLenum internal, float *depths)
{
    GLuint texture;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const double rest = 1 - i / (WIDTH * HEIGHT - 1.0);
        depths[i] = (float)(1 - rest * rest * rest * rest);
    }
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, internal, WIDTH, HEIGHT);
    glTextureSubImage2D(texture, 0, 0, 0, WIDTH, HEIGHT, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, texture, 0);
    return framebuffer;
}

static double distance_of(double depth, const gr_framebuffer_options *o)
{
    const double nearest = o->z_near, farthest = o->z_far;
    const double first = o->reverse_z ? depth : 1 - depth;
    return 1 / (first / nearest + (1 - first) / farthest);
}

/* The largest relative error of the distances; not a number if one of them is none. */
static double error_of(gr_dtype dtype, const float *depths, const gr_framebuffer_options *o)
{
    double worst = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const double got = dtype == GR_DTYPE_F64
                               ? ((const double *)(const void *)fetched)[i]
                               : (double)((const float *)(const void *)fetched)[i];
        const double want = distance_of((double)depths[i], o);
        const double error = got == want ? 0 : fabs(got / want - 1);
        if (!(error <= worst))
            worst = error;
    }
    return worst;
}

/* With floats and doubles, and with 24-bit depth, whose own rounding the reference includes. */
TEST(distances_have_the_precision_of_the_type, 16)
{
    need_publish_kernels();
    static const float planes[][2] = {
        {0.1f, 100}, {0.01f, 1000}, {0.0001f, 10000}, {0.1f, INFINITY}};
    static float depths[WIDTH * HEIGHT];
    const gr_dtype dtype = _i & 1 ? GR_DTYPE_F64 : GR_DTYPE_F32;
    const gr_framebuffer_options raw =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    gr_framebuffer_options options = raw;
    const GLuint framebuffer =
        make_depths(_i & 8 ? GL_DEPTH_COMPONENT24 : GL_DEPTH_COMPONENT32F, depths);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_F32, HEIGHT, WIDTH, 1), &raw);
    memcpy(depths, fetched, sizeof(depths));
    options.z_near = planes[_i / 2 % 4][0];
    options.z_far = planes[_i / 2 % 4][1];
    for (int i = 0; i < 4; i++) {
        gr_framebuffer_options swapped = options;
        swapped.reverse_z = i % 2;
        if (i >= 2) { /* the planes in the other order */
            swapped.z_near = options.z_far;
            swapped.z_far = options.z_near;
        }
        must_fetch(framebuffer, new_tensor(dtype, HEIGHT, WIDTH, 1), &swapped);
        ck_assert_double_le(error_of(dtype, depths, &swapped),
                            dtype == GR_DTYPE_F64 ? 4 * DBL_EPSILON : 2 * (double)FLT_EPSILON);
    }
}

TEST(distances_are_scaled, 2)
{
    need_publish_kernels();
    static float depths[WIDTH * HEIGHT];
    static const float scale[] = {1000 / 65535.0f, 1, 1, 1}, bias[] = {5 / 65535.0f, 0, 0, 0};
    const gr_publish_options scaled = GR_INIT(gr_publish_options, .scale = scale, .bias = bias);
    const gr_framebuffer_options millimetres =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT, .z_near = 0.5f,
                .z_far = 60, .reverse_z = _i, .conversion = &scaled);
    const GLuint framebuffer = make_depths(GL_DEPTH_COMPONENT32F, depths);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U16, HEIGHT, WIDTH, 1), &millimetres);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_double_eq_tol(((const uint16_t *)(const void *)fetched)[i],
                                1000 * distance_of((double)depths[i], &millimetres) + 5, 0.52);
}

/* As framebuffer.h says for orthographic projections. */
TEST(scale_and_bias_convert_orthographic_depth)
{
    need_publish_kernels();
    static float depths[WIDTH * HEIGHT];
    static const float scale[] = {100 - 0.5f, 1, 1, 1}, bias[] = {0.5f, 0, 0, 0};
    const gr_publish_options linear = GR_INIT(gr_publish_options, .scale = scale, .bias = bias);
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT, .conversion = &linear);
    const GLuint framebuffer = make_depths(GL_DEPTH_COMPONENT32F, depths);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_F32, HEIGHT, WIDTH, 1), &options);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_float_eq_tol(((const float *)(const void *)fetched)[i], 0.5f + 99.5f * depths[i],
                               1e-5f);
}

GROUP("staging", add_fetch_case, add_read_pixels_case)

TEST(a_staging_buffer_can_be_reused)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    GR_AUTO(gr_resource) *created = must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL));
    GR_AUTO(gr_resource) *registered = must_register(gl_buffer_filled(MOST_BYTES, 1));
    gr_resource *const stagings[] = {created, registered};
    for (unsigned i = 0; i < 20; i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .staging = stagings[i % 2]);
        clear_framebuffer(attachment_rgba8, 2 * i);
        read_reference(attachment_rgba8, expected);
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
        ck_assert_mem_eq(fetched, expected, (size_t)WIDTH * HEIGHT * 4);
    }
}

/* The transfers overlap: the test reads the tensors only after the last fetch. */
TEST(overlapping_fetches_keep_their_frames_apart)
{
    enum { FRAMES = 8 };
    gr_tensor *frames[FRAMES];
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    GR_AUTO(gr_resource) *staging = gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL);
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = staging);
    assert_made(staging);
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i] = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
        clear_framebuffer(attachment_rgba8, 16 * i);
        assert_ok(gr_fetch_framebuffer(framebuffer, frames[i], &options, fx.stream));
    }
    for (unsigned i = 0; i < FRAMES; i++) {
        download_tensor(frames[i]);
        ck_assert_int_eq(fetched[4 * WIDTH], (int)lroundf(16.0f * (float)i / 256 * 255));
    }
}

GROUP("OpenGL state", add_fetch_case, add_read_pixels_case)

TEST(fetching_preserves_the_opengl_state, 4)
{
    const GLuint other = make_framebuffer(attachment_rgba8, 0);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 4);
    const GLuint read = _i & 1 ? framebuffer : other, draw = _i & 2 ? framebuffer : other;
    GLint value = 0;
    clear_framebuffer(attachment_rgba8, 9);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    const GLuint pack = gl_buffer_filled(16, 0);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, read);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, draw);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, pack);
    glPixelStorei(GL_PACK_ROW_LENGTH, 33);
    glEnable(GL_RASTERIZER_DISCARD);
    glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 1, 1);
    glDeleteBuffers(-1, NULL); /* GL_INVALID_VALUE stays pending */
    assert_ok(gr_fetch_framebuffer(framebuffer, to, NULL, fx.stream));
    ck_assert_uint_eq(glGetError(), GL_INVALID_VALUE);
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)read);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)draw);
    glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)pack);
    glGetIntegerv(GL_PACK_ROW_LENGTH, &value);
    ck_assert_int_eq(value, 33);
    glGetIntegerv(GL_CLAMP_READ_COLOR, &value);
    ck_assert_int_eq(value, GL_TRUE);
    ck_assert(glIsEnabled(GL_SCISSOR_TEST) && glIsEnabled(GL_RASTERIZER_DISCARD));
    glDisable(GL_RASTERIZER_DISCARD);
    glDisable(GL_SCISSOR_TEST);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    download_tensor(to); /* neither the scissor test nor the discard limited the read */
    ck_assert_int_eq(fetched[0], 9);
    ck_assert_int_eq(fetched[4 * (WIDTH * HEIGHT - 1)], 9);
}

TEST(rows_are_not_inverted)
{
    GLint inverted = 0;
    if (!epoxy_has_gl_extension("GL_MESA_pack_invert"))
        skip("OpenGL has no GL_MESA_pack_invert");
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    glPixelStorei(GL_PACK_INVERT_MESA, GL_TRUE);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    glGetIntegerv(GL_PACK_INVERT_MESA, &inverted);
    ck_assert_int_eq(inverted, GL_TRUE);
    ck_assert_mem_eq(fetched, expected, sizeof(expected) / 4);
}

GROUP("the default framebuffer", add_fetch_case)

TEST(a_missing_default_framebuffer_is_refused)
{
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    assert_fails(gr_fetch_framebuffer(0, to, NULL, fx.stream), GR_ERR_GL, GL_FRAMEBUFFER_UNDEFINED,
                 "no default framebuffer");
}

/* An EGL pbuffer is a default framebuffer with one colour buffer. */
TEST(an_egl_pbuffer_is_read)
{
    need_publish_kernels();
    static const EGLint sizes[] = {EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE};
    gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .width = WIDTH);
    EGLSurface surface = eglCreatePbufferSurface(fx.egl->display, fx.egl->config, sizes);
    if (surface == EGL_NO_SURFACE)
        skip("this EGL has no pbuffers: 0x%x", (unsigned)eglGetError());
    ck_assert(eglMakeCurrent(fx.egl->display, surface, surface, fx.egl->context));
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    GLenum only = GL_FRONT;
    glDrawBuffer(only);
    if (glGetError() != GL_NO_ERROR)
        glDrawBuffer(only = GL_BACK);
    clear_framebuffer(attachment_rgba8, 100);
    options.attachment = only;
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 3);
    assert_invalid(gr_fetch_framebuffer(0, to, &options, fx.stream),
                   only == GL_FRONT
                       ? "attachment GL_FRONT of the default framebuffer: set `width` and `height`"
                       : "attachment GL_BACK of the default framebuffer: set `width` and `height`");
    options.height = HEIGHT;
    must_fetch(0, to, &options);
    ck_assert_int_eq(fetched[0], 100);
    ck_assert_int_eq(fetched[1], 64);
    assert_ok(gr_egl_make_current(fx.egl));
    eglDestroySurface(fx.egl->display, surface);
}
