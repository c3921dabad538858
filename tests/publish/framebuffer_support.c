/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Framebuffers with each kind of attachment, and tensors that receive their pixels. */
#include "framebuffer_support.h"

#include <string.h>

/* ---- Attachments ----------------------------------------------------------------------------- */

const struct attachment_format attachment_formats[ATTACHMENT_FORMATS] = {
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
    {GL_RGB8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 4},
    {GL_RGB565, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 4},
    {GL_R16, GL_COLOR_ATTACHMENT0, GL_RED, GL_UNSIGNED_SHORT, GR_DTYPE_U16, 1},
    {GL_RGBA16, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_SHORT, GR_DTYPE_U16, 4},
    {GL_R16F, GL_COLOR_ATTACHMENT0, GL_RED, GL_HALF_FLOAT, GR_DTYPE_F16, 1},
    {GL_RG32F, GL_COLOR_ATTACHMENT0, GL_RG, GL_FLOAT, GR_DTYPE_F32, 2},
    {GL_R8UI, GL_COLOR_ATTACHMENT0, GL_RED_INTEGER, GL_UNSIGNED_BYTE, GR_DTYPE_U8, 1},
    {GL_RGBA32UI, GL_COLOR_ATTACHMENT0, GL_RGBA_INTEGER, GL_UNSIGNED_INT, GR_DTYPE_U32, 4},
    {GL_R8_SNORM, GL_COLOR_ATTACHMENT0, GL_RED, GL_FLOAT, GR_DTYPE_F32, 1},
    {GL_RGB8_SNORM, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_FLOAT, GR_DTYPE_F32, 4},
    {GL_RG16_SNORM, GL_COLOR_ATTACHMENT0, GL_RG, GL_FLOAT, GR_DTYPE_F32, 2},
    {GL_RGBA16_SNORM, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_FLOAT, GR_DTYPE_F32, 4},
};
const struct attachment_format *const attachment_rgba8 = &attachment_formats[0];
const struct attachment_format *const attachment_depth24 = &attachment_formats[12];

static bool is_integer(const struct attachment_format *f)
{
    return f->transfer == GL_RGBA_INTEGER || f->transfer == GL_RG_INTEGER ||
           f->transfer == GL_RED_INTEGER;
}

bool is_signed_normalized(const struct attachment_format *f)
{
    return f->internal >= GL_R8_SNORM && f->internal <= GL_RGBA16_SNORM;
}

static int signed_bits(const struct attachment_format *f)
{
    return f->internal == GL_R8_SNORM || f->internal == GL_RGB8_SNORM ? 8 : 16;
}

static bool is_packed_depth(const struct attachment_format *f)
{
    return f->internal == GL_DEPTH24_STENCIL8 || f->internal == GL_DEPTH32F_STENCIL8;
}

GLuint make_framebuffer(const struct attachment_format *f, int samples)
{
    return make_framebuffer_of(f, samples, WIDTH, HEIGHT);
}

GLuint make_framebuffer_of(const struct attachment_format *f, int samples, GLsizei width,
                           GLsizei height)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    GLuint renderbuffer = bound_renderbuffer();
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, f->internal, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER,
                              is_packed_depth(f) ? GL_DEPTH_STENCIL_ATTACHMENT : f->attachment,
                              GL_RENDERBUFFER, renderbuffer);
    ck_assert_int_eq(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
    return framebuffer;
}

void clear_framebuffer(const struct attachment_format *f, unsigned value)
{
    const GLfloat fraction = (GLfloat)value / 256, sign = is_signed_normalized(f) ? -1 : 1;
    const GLfloat colour[] = {sign * fraction, 0.25f, sign * (1 - fraction), 0.5f};
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

void draw_pattern(const struct attachment_format *f)
{
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        glScissor(i % WIDTH, i / WIDTH, 1, 1);
        clear_framebuffer(f, (unsigned)i);
    }
    glDisable(GL_SCISSOR_TEST);
}

void read_reference(const struct attachment_format *f, void *pixels)
{
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
    glReadPixels(0, 0, WIDTH, HEIGHT, f->transfer, f->type, pixels);
    glClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    assert_gl_clean();
    for (size_t i = 0; is_signed_normalized(f) && i < (size_t)WIDTH * HEIGHT * f->channels; i++)
        ((float *)pixels)[i] = (float)image_signed_fraction(((float *)pixels)[i], signed_bits(f));
}

/* OpenGL converts these integers to floats in several ways. */
static bool is_rounded(const struct attachment_format *f)
{
    return is_signed_normalized(f) ||
           (f->attachment == GL_DEPTH_ATTACHMENT && f->internal != GL_DEPTH_COMPONENT32F &&
            f->internal != GL_DEPTH32F_STENCIL8);
}

void assert_pixels(const struct attachment_format *f, size_t size)
{
    const float *a = (const void *)fetched, *b = (const void *)expected;
    if (!is_rounded(f))
        ck_assert_mem_eq(fetched, expected, size);
    /* NVIDIA's blit of signed normalized texels of 8 bits rounds to 16 bits */
    const bool by_nvidia = is_signed_normalized(f) && !gr_cuda_is_software();
    const float most = by_nvidia ? 0.5f / 32767 : 2.5f / (1 << 24);
    for (size_t i = 0; is_rounded(f) && i < size / sizeof(*a); i++)
        ck_assert_float_eq_tol(a[i], b[i], most);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

unsigned char expected[MOST_BYTES], fetched[MOST_BYTES];

gr_tensor *new_tensor(gr_dtype dtype, int64_t height, int64_t width, unsigned channels)
{
    const int64_t shape[] = {height, width, channels};
    memset(fetched, 0xee, sizeof(fetched));
    return tensor_of(dtype, GR_LAYOUT_SHAPE, channels > 1 ? 3 : 2, shape, fetched);
}

void download_tensor(gr_tensor *from)
{
    tensor_to_host(from, fetched, gr_tensor_get_info(from)->bytes);
}

/* Counts the framebuffers and renderbuffers, whose names drivers give from 1 on. */
static int count_framebuffers(void)
{
    int count = 0;
    for (GLuint name = 1; name < 256; name++)
        count += glIsFramebuffer(name) + glIsRenderbuffer(name);
    return count;
}

void must_fetch(GLuint framebuffer, gr_tensor *to, const gr_framebuffer_options *options)
{
    const int before = count_framebuffers();
    assert_ok(gr_fetch_framebuffer(framebuffer, to, options, fx.stream));
    ck_assert_int_eq(count_framebuffers(), before);
    assert_gl_clean();
    download_tensor(to);
}

gr_framebuffer_options options_for(const struct attachment_format *f)
{
    return GR_INIT(gr_framebuffer_options, .attachment = f->attachment);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static void teardown(void)
{
    tensors_end();
    unwatch_gl();
}

TCase *add_fetch_case(Suite *suite, const char *name)
{
    return with_fixture(with_sharing(add_case(suite, name)), watch_gl, teardown);
}

TCase *add_read_pixels_case(Suite *suite, const char *name)
{
    return with_fixture(with_sharing(add_case(suite, name)), watch_gl_without_shaders, teardown);
}
