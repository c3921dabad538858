/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fetches framebuffers into tensors: each kind of attachment has the bytes of glReadPixels(), the
 * conversions give the expected values, and attachments that cannot be read are refused.
 */
#include "publish_support.h"

#include <math.h>
#include <string.h>

#include <epoxy/egl.h>
#include <grinterop/framebuffer.h>

#define WIDTH  19
#define HEIGHT 7

/* ---- Attachments ----------------------------------------------------------------------------- */

/* The format of a renderbuffer, and how its pixels are read. */
static const struct format {
    GLenum internal, attachment, transfer, type;
    gr_dtype dtype;
    unsigned channels;
} formats[] = {
    {GL_RGBA8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 4},
    {GL_SRGB8_ALPHA8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 4},
    {GL_RG8, GL_COLOR_ATTACHMENT0, GL_RG, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 2},
    {GL_R8, GL_COLOR_ATTACHMENT0, GL_RED, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 1},
    {GL_RGB10_A2, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_SHORT, GR_DTYPE_U16, 4},
    {GL_RGBA16F, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_HALF_FLOAT, GR_DTYPE_F16, 4},
    {GL_R11F_G11F_B10F, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_HALF_FLOAT, GR_DTYPE_F16, 4},
    {GL_RGBA32F, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_FLOAT, GR_DTYPE_F32, 4},
    {GL_RGBA8UI, GL_COLOR_ATTACHMENT0, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 4},
    {GL_R16UI, GL_COLOR_ATTACHMENT0, GL_RED_INTEGER, GL_UNSIGNED_SHORT, GR_DTYPE_U16, 1},
    {GL_RG32I, GL_COLOR_ATTACHMENT0, GL_RG_INTEGER, GL_INT, GR_DTYPE_I32, 2},
    {GL_DEPTH_COMPONENT16, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_DEPTH_COMPONENT32F, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_DEPTH24_STENCIL8, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_DEPTH32F_STENCIL8, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_DEPTH24_STENCIL8, GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, GR_DTYPE_U8,
     1},
    {GL_DEPTH32F_STENCIL8, GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, GR_DTYPE_U8,
     1},
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

static const struct format *const rgba8 = &formats[0], *const depth24 = &formats[12];

static bool is_integer(const struct format *f)
{
    return f->transfer == GL_RGBA_INTEGER || f->transfer == GL_RG_INTEGER ||
           f->transfer == GL_RED_INTEGER;
}

static bool is_packed_depth(const struct format *f)
{
    return f->internal == GL_DEPTH24_STENCIL8 || f->internal == GL_DEPTH32F_STENCIL8;
}

/*
 * Creates a framebuffer with one renderbuffer and binds it. The objects live as long as the
 * context.
 */
static GLuint make_framebuffer(const struct format *f, int samples)
{
    GLuint framebuffer, renderbuffer;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, f->internal, WIDTH, HEIGHT);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER,
                              is_packed_depth(f) ? GL_DEPTH_STENCIL_ATTACHMENT : f->attachment,
                              GL_RENDERBUFFER, renderbuffer);
    ck_assert_int_eq(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    return framebuffer;
}

static void clear(const struct format *f, unsigned value)
{
    const GLfloat colour[] = {(GLfloat)value / 256, 0.25f, 1 - (GLfloat)value / 256, 0.5f};
    const GLint numbers[] = {(GLint)value, 3 * (GLint)value % 128, 5, 6};
    const GLuint naturals[] = {value, 3 * value % 256, 5, 6};
    const GLfloat depth = (GLfloat)(value + 1) / 300;
    const GLint stencil = (GLint)value;
    if (f->attachment == GL_DEPTH_ATTACHMENT)
        glClearBufferfv(GL_DEPTH, 0, &depth);
    else if (f->attachment == GL_STENCIL_ATTACHMENT)
        glClearBufferiv(GL_STENCIL, 0, &stencil);
    else if (is_integer(f) && f->type == GL_INT)
        glClearBufferiv(GL_COLOR, 0, numbers);
    else if (is_integer(f))
        glClearBufferuiv(GL_COLOR, 0, naturals);
    else
        glClearBufferfv(GL_COLOR, 0, colour);
}

/* Gives each pixel a different value. */
static void draw_pattern(const struct format *f)
{
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        glScissor(i % WIDTH, i / WIDTH, 1, 1);
        clear(f, (unsigned)i);
    }
    glDisable(GL_SCISSOR_TEST);
}

/* Reads the bound framebuffer by glReadPixels(). */
static void read_reference(const struct format *f, void *pixels)
{
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, WIDTH, HEIGHT, f->transfer, f->type, pixels);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    assert_gl_clean();
}

/* ---- Tensors --------------------------------------------------------------------------------- */

#define MOST_BYTES (WIDTH * HEIGHT * 16)
static unsigned char expected[MOST_BYTES], fetched[MOST_BYTES];

static gr_tensor *tensor(gr_dtype dtype, int64_t height, int64_t width, unsigned channels)
{
    const int64_t shape[] = {height, width, channels};
    memset(fetched, 0xee, sizeof(fetched));
    return tensor_of(dtype, GR_LAYOUT_SHAPE, channels > 1 ? 3 : 2, shape, fetched);
}

static void download(gr_tensor *from)
{
    assert_ok(gr_tensor_copy_to_host(from, fetched, gr_tensor_get_info(from)->bytes, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

static void must_fetch(GLuint framebuffer, gr_tensor *to, const gr_framebuffer_options *options)
{
    assert_ok(gr_fetch_framebuffer(framebuffer, to, options, fx.stream));
    assert_gl_clean();
    download(to);
}

static gr_framebuffer_options reading(const struct format *f)
{
    return GR_INIT(gr_framebuffer_options, .attachment = f->attachment);
}

static void teardown(void)
{
    tensors_end();
}

static TCase *add_fetch_case(Suite *suite, const char *name)
{
    return with_fixture(with_sharing(add_case(suite, name)), NULL, teardown);
}

GROUP("attachments", add_fetch_case)

TEST(each_format_has_the_bytes_of_glreadpixels, FORMATS)
{
    const struct format *f = &formats[_i];
    const gr_framebuffer_options options = reading(f);
    const GLuint framebuffer = make_framebuffer(f, 0);
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    draw_pattern(f);
    read_reference(f, expected);
    must_fetch(framebuffer, tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    ck_assert_mem_eq(fetched, expected, size);
}

/* A clear gives all samples of a pixel the same value, which the resolve must keep. */
TEST(multisampled_attachments_are_resolved, FORMATS)
{
    const struct format *f = &formats[_i];
    const gr_framebuffer_options options = reading(f);
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    make_framebuffer(f, 0);
    clear(f, 77);
    read_reference(f, expected);
    const GLuint framebuffer = make_framebuffer(f, 4);
    glEnable(GL_SCISSOR_TEST);
    clear(f, 77);
    glDisable(GL_SCISSOR_TEST);
    clear(f, 77);
    must_fetch(framebuffer, tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    ck_assert_mem_eq(fetched, expected, size);
}

TEST(an_attached_texture_level_is_read)
{
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 2, GL_RGBA8, 2 * WIDTH, 2 * HEIGHT);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 1);
    draw_pattern(rgba8);
    read_reference(rgba8, expected);
    must_fetch(framebuffer, tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    ck_assert_mem_eq(fetched, expected, sizeof(expected) / 4);
}

/* The read buffer of the framebuffer is a different attachment. */
TEST(the_attachment_in_the_options_is_read)
{
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = GL_COLOR_ATTACHMENT0 + 2);
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    const GLenum second = GL_COLOR_ATTACHMENT0 + 2;
    GLuint renderbuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, second, GL_RENDERBUFFER, renderbuffer);
    clear(rgba8, 1);
    glDrawBuffers(1, &second);
    clear(rgba8, 200);
    must_fetch(framebuffer, tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
    ck_assert_int_eq(fetched[0], 199);
    GLint selected = 0;
    glGetIntegerv(GL_READ_BUFFER, &selected);
    ck_assert_int_eq(selected, GL_COLOR_ATTACHMENT0);
}

GROUP("options", add_fetch_case)

TEST(only_the_given_rectangle_is_read)
{
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .x = 3, .y = 2, .width = 5, .height = 4);
    const gr_framebuffer_options corner = GR_INIT(gr_framebuffer_options, .x = 14, .y = 3);
    for (int samples = 0; samples <= 4; samples += 4) {
        const GLuint framebuffer = make_framebuffer(rgba8, samples);
        draw_pattern(rgba8);
        must_fetch(framebuffer, tensor(GR_DTYPE_U8, 4, 5, 4), &options);
        for (int i = 0; i < 20; i++) {
            const int pixel = (2 + i / 5) * WIDTH + 3 + i % 5;
            ck_assert_int_eq(fetched[4 * i], (int)lroundf((float)pixel / 256 * 255));
        }
        must_fetch(framebuffer, tensor(GR_DTYPE_U8, 4, 5, 4), &corner);
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
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    draw_pattern(rgba8);
    read_reference(rgba8, expected);
    must_fetch(framebuffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, 3, shape, fetched), &options);
    const float *values = (const float *)(const void *)fetched;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ck_assert_float_eq_tol(
                    values[(c * HEIGHT + y) * WIDTH + x],
                    (float)expected[4 * ((HEIGHT - 1 - y) * WIDTH + x) + c] / 255, 1e-6f);
}

/* The integer 7 becomes 7.0, not 7/255. */
TEST(integers_become_floats_of_the_same_value)
{
    need_publish_kernels();
    for (int i = 0; i < FORMATS; i++) {
        const struct format *f = &formats[i];
        if (f->attachment != GL_STENCIL_ATTACHMENT && f->internal != GL_R16UI)
            continue;
        const gr_framebuffer_options options = reading(f);
        const GLuint framebuffer = make_framebuffer(f, 0);
        clear(f, 7);
        must_fetch(framebuffer, tensor(GR_DTYPE_F32, HEIGHT, WIDTH, 1), &options);
        ck_assert_float_eq(((const float *)(const void *)fetched)[WIDTH], 7);
    }
}

/* The depth value to which a projection maps this distance. */
static float depth_of(float distance, float z_near, float z_far, bool reverse)
{
    const float farther = isinf(z_far) ? 0 : 1 / z_far;
    const float depth = (1 / z_near - 1 / distance) / (1 / z_near - farther);
    return reverse ? 1 - depth : depth;
}

TEST(depth_is_converted_to_distance, 8)
{
    need_publish_kernels();
    const bool reverse = _i & 1;
    const float z_far = _i & 2 ? INFINITY : 100, distances[] = {0.5f, 0.75f, 2, 10, 60};
    const int samples = _i & 4 ? 4 : 0;
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT, .z_near = 0.5f,
                .z_far = z_far, .reverse_z = reverse);
    const GLuint framebuffer = make_framebuffer(&formats[13], samples);
    for (int i = 0; i < 5; i++) {
        const float depth = depth_of(distances[i], 0.5f, z_far, reverse);
        glClearBufferfv(GL_DEPTH, 0, &depth);
        must_fetch(framebuffer, tensor(GR_DTYPE_F32, HEIGHT, WIDTH, 1), &options);
        ck_assert_float_eq_tol(((const float *)(const void *)fetched)[WIDTH + 1], distances[i],
                               2e-4f * distances[i]);
    }
}

GROUP("staging", add_fetch_case)

TEST(a_staging_buffer_can_be_reused)
{
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    GR_AUTO(gr_resource) *created = gr_gl_buffer_create(MOST_BYTES, GR_READ_ONLY, NULL);
    GR_AUTO(gr_resource) *registered = must_register(gl_buffer_filled(MOST_BYTES, 1));
    gr_resource *const stagings[] = {created, registered};
    assert_made(created);
    for (unsigned i = 0; i < 20; i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .staging = stagings[i % 2]);
        clear(rgba8, 2 * i);
        read_reference(rgba8, expected);
        must_fetch(framebuffer, tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
        ck_assert_mem_eq(fetched, expected, (size_t)WIDTH * HEIGHT * 4);
    }
}

/* The transfers overlap: the test reads the tensors only after the last fetch. */
TEST(overlapping_fetches_keep_their_frames_apart)
{
    enum { FRAMES = 8 };
    gr_tensor *frames[FRAMES];
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    GR_AUTO(gr_resource) *staging = gr_gl_buffer_create(MOST_BYTES, GR_READ_ONLY, NULL);
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = staging);
    assert_made(staging);
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i] = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
        clear(rgba8, 16 * i);
        assert_ok(gr_fetch_framebuffer(framebuffer, frames[i], &options, fx.stream));
    }
    for (unsigned i = 0; i < FRAMES; i++) {
        download(frames[i]);
        ck_assert_int_eq(fetched[4 * WIDTH], (int)lroundf(16.0f * (float)i / 256 * 255));
    }
}

GROUP("OpenGL state", add_fetch_case)

TEST(fetching_preserves_the_opengl_state)
{
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .width = 0);
    const GLuint other = make_framebuffer(rgba8, 0);
    const GLuint framebuffer = make_framebuffer(rgba8, 4);
    GLint value = 0;
    clear(rgba8, 9);
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    const GLuint pack = gl_buffer_filled(16, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, other);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, pack);
    glPixelStorei(GL_PACK_ROW_LENGTH, 33);
    glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 1, 1);
    glDeleteBuffers(-1, NULL); /* GL_INVALID_VALUE stays pending */
    assert_ok(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream));
    ck_assert_uint_eq(glGetError(), GL_INVALID_VALUE);
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)other);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)framebuffer);
    glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &value);
    ck_assert_int_eq(value, (GLint)pack);
    glGetIntegerv(GL_PACK_ROW_LENGTH, &value);
    ck_assert_int_eq(value, 33);
    glGetIntegerv(GL_CLAMP_READ_COLOR, &value);
    ck_assert_int_eq(value, GL_TRUE);
    ck_assert(glIsEnabled(GL_SCISSOR_TEST));
    glDisable(GL_SCISSOR_TEST);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    download(to); /* the scissor test did not limit what was read */
    ck_assert_int_eq(fetched[4 * (WIDTH * HEIGHT - 1)], 9);
}

GROUP("what is refused", add_fetch_case)

static const float two[] = {2, 2, 2, 2};

TEST(wrong_options_are_refused)
{
    const gr_publish_options level = GR_INIT(gr_publish_options, .level = 1);
    const gr_publish_options offset = GR_INIT(gr_publish_options, .offset = 4);
    const gr_publish_options scaled = GR_INIT(gr_publish_options, .scale = two);
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
        {{.conversion = &offset}, "`offset` of `conversion`"},
        {{.attachment = GL_DEPTH_ATTACHMENT, .z_near = 1, .z_far = 2, .conversion = &scaled},
         "`scale` of `conversion`"},
    };
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        gr_framebuffer_options options = rows[i].options;
        options.struct_size = sizeof(options);
        assert_invalid(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream), rows[i].text);
        assert_gl_clean();
    }
    download(to);
    assert_bytes(fetched, (size_t)WIDTH * HEIGHT * 4, 0xee);
}

TEST(a_framebuffer_without_a_read_buffer_is_refused)
{
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
    glReadBuffer(GL_NONE);
    assert_invalid(
        gr_fetch_framebuffer(framebuffer, tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL, fx.stream),
        "set `attachment`");
}

TEST(wrong_arguments_are_refused)
{
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    const GLuint framebuffer = make_framebuffer(rgba8, 0), deep = make_framebuffer(depth24, 0);
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_tensor *small = tensor(GR_DTYPE_U8, HEIGHT, WIDTH - 1, 4);
    gr_tensor *doubles = tensor(GR_DTYPE_F64, HEIGHT, WIDTH, 1);
    assert_invalid(gr_fetch_framebuffer(framebuffer, NULL, NULL, fx.stream), "tensor is NULL");
    assert_invalid(gr_fetch_framebuffer(framebuffer, to, NULL, NULL), "stream");
    assert_invalid(gr_fetch_framebuffer(framebuffer + 1000, to, NULL, fx.stream),
                   "There is no OpenGL framebuffer");
    assert_invalid(gr_fetch_framebuffer(framebuffer, small, NULL, fx.stream), "(7, 18, 4)");
    assert_fails(gr_fetch_framebuffer(deep, doubles, &depth, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "only uint8");
    eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    assert_fails(gr_fetch_framebuffer(framebuffer, to, NULL, fx.stream), GR_ERR_GL, 0, "current");
    assert_ok(gr_egl_make_current(fx.egl));
}

TEST(wrong_staging_buffers_are_refused)
{
    const GLuint framebuffer = make_framebuffer(rgba8, 0);
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
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const gr_framebuffer_options options =
            GR_INIT(gr_framebuffer_options, .staging = rows[i].staging);
        assert_fails(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream), rows[i].status, 0,
                     rows[i].text);
    }
    assert_ok(gr_buffer_release(buffer));
}

TEST(incomplete_framebuffers_are_refused)
{
    GLuint empty;
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    glGenFramebuffers(1, &empty);
    glBindFramebuffer(GL_FRAMEBUFFER, empty);
    assert_fails(gr_fetch_framebuffer(empty, to, NULL, fx.stream), GR_ERR_GL,
                 GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT, "incomplete");
}

GROUP("the default framebuffer", add_fetch_case)

TEST(a_missing_default_framebuffer_is_refused)
{
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
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
    clear(rgba8, 100);
    options.attachment = only;
    gr_tensor *to = tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 3);
    assert_invalid(gr_fetch_framebuffer(0, to, &options, fx.stream), "set `width` and `height`");
    options.height = HEIGHT;
    must_fetch(0, to, &options);
    ck_assert_int_eq(fetched[0], 100);
    ck_assert_int_eq(fetched[1], 64);
    assert_ok(gr_egl_make_current(fx.egl));
    eglDestroySurface(fx.egl->display, surface);
}
