/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The values of every format that this OpenGL has, those of the compatibility profile included:
 * gr_fetch() must return what glGetTexImage() returns, and glGetTexImage() what gr_publish() wrote.
 */
#include "publish_support.h"

#include <math.h>

#include <grinterop/framebuffer.h>

#define WIDTH  5
#define HEIGHT 3
#define TEXELS (WIDTH * HEIGHT)

/* How OpenGL transfers the texels of a format as numbers: four per texel, or one. */
struct transfer {
    GLenum format, type;
    size_t numbers;
};

static const struct transfer transfers[] = {
    {GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1}, /* before GL_RGBA, which Mesa accepts, too */
    {GL_DEPTH_COMPONENT, GL_FLOAT, 1},
    {GL_RGBA, GL_FLOAT, 4},
    {GL_RGBA_INTEGER, GL_INT, 4},
};
#define TRANSFERS (sizeof(transfers) / sizeof(*transfers))

/* The texture, and what OpenGL reports about it. */
static struct {
    GLuint name;
    GLenum internal;
    const struct transfer *transfer;
    GLenum type;         /* of the components, such as GL_UNSIGNED_NORMALIZED */
    int bits;            /* of the smallest component */
    bool is_resolved;    /* fetches blit it from several samples */
    size_t component[4]; /* the position of each channel of CUDA in the transfer */
    unsigned components; /* in OpenGL */
    unsigned channels;   /* in CUDA */
} texture;

static gr_transport way;

#define note(...)                                                                                  \
    do {                                                                                           \
        char text_[200];                                                                           \
        snprintf(text_, sizeof(text_), __VA_ARGS__);                                               \
        note_difference("format 0x%04x, transport %d: %s", texture.internal, (int)way, text_);     \
    } while (0)

/* ---- Textures -------------------------------------------------------------------------------- */

/* Luminance and intensity are transferred as red. */
static void add_component(GLenum size, GLenum type, size_t position)
{
    GLint bits = 0;
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, size, &bits);
    if (bits == 0)
        return;
    texture.component[texture.components++] = position;
    texture.bits = bits < texture.bits ? bits : texture.bits;
    if (type)
        glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, type, (GLint *)&texture.type);
}

static void describe(void)
{
    texture.components = 0;
    texture.bits = 32;
    texture.type = GL_NONE;
    add_component(GL_TEXTURE_RED_SIZE, GL_TEXTURE_RED_TYPE, 0);
    add_component(GL_TEXTURE_LUMINANCE_SIZE, GL_TEXTURE_LUMINANCE_TYPE, 0);
    add_component(GL_TEXTURE_INTENSITY_SIZE, GL_TEXTURE_INTENSITY_TYPE, 0);
    add_component(GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_DEPTH_TYPE, 0);
    add_component(GL_TEXTURE_GREEN_SIZE, GL_TEXTURE_GREEN_TYPE, 1);
    add_component(GL_TEXTURE_BLUE_SIZE, GL_TEXTURE_BLUE_TYPE, 2);
    add_component(GL_TEXTURE_ALPHA_SIZE, GL_TEXTURE_ALPHA_TYPE, 3);
    if (texture.components == 0)
        add_component(GL_TEXTURE_STENCIL_SIZE, GL_NONE, 0);
    texture.channels = texture.components == 3 ? 4 : texture.components;
    texture.component[3] = 3; /* the channel that OpenGL lacks if CUDA has it */
}

/* The data choose the bits of a format without a size. False if OpenGL does not take them. */
static bool allocate_unsized(GLenum internal, GLenum format, GLenum type)
{
    texture.internal = internal;
    texture.transfer = &transfers[2];
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, WIDTH, HEIGHT, 0, format, type, NULL);
    describe();
    return glGetError() == GL_NO_ERROR;
}

/* False if OpenGL has no such format, or does not transfer it as numbers. */
static bool allocate(GLenum internal)
{
    texture.internal = internal;
    for (size_t i = 0; i < TRANSFERS; i++) {
        const struct transfer *t = texture.transfer = &transfers[i];
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, WIDTH, HEIGHT, 0, t->format, t->type, NULL);
        if (glGetError() == GL_NO_ERROR) {
            describe();
            return texture.components > 0;
        }
    }
    return false;
}

static void begin(GLuint name)
{
    texture.name = name;
    texture.is_resolved = false;
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_integer(void)
{
    return texture.type == GL_INT || texture.type == GL_UNSIGNED_INT || texture.type == GL_NONE;
}

static bool is_float(void)
{
    return texture.type == GL_FLOAT;
}

/* Floats of 9 to 11 bits, which have no sign. */
static bool is_small_float(void)
{
    return is_float() && texture.bits < 16;
}

/* Any value of the format. Most values are no multiple of its step. */
static double value_of(unsigned seed)
{
    const double fraction = seed * 37 % 101 / 100.0, sign = seed % 3 ? 1 : -1;
    switch (texture.type) {
    case GL_NONE:
    case GL_UNSIGNED_INT:
        return floor(fraction * 127);
    case GL_INT:
        return floor(fraction * 127) * sign;
    case GL_FLOAT:
        return texture.transfer->format == GL_DEPTH_COMPONENT ? fraction
               : is_small_float()                             ? 3 * fraction
                                                              : 3 * fraction * sign;
    case GL_SIGNED_NORMALIZED:
        return fraction * sign;
    default:
        return fraction;
    }
}

/* The numbers of a transfer, in its type. */
union numbers {
    GLfloat floats[TEXELS * 4];
    GLint integers[TEXELS * 4];
    GLubyte bytes[TEXELS * 4];
};

static void upload(unsigned seed)
{
    const struct transfer *t = texture.transfer;
    union numbers from;
    for (unsigned i = 0; i < TEXELS * t->numbers; i++) {
        if (t->type == GL_FLOAT)
            from.floats[i] = (GLfloat)value_of(i + seed);
        else if (t->type == GL_INT)
            from.integers[i] = (GLint)value_of(i + seed);
        else
            from.bytes[i] = (GLubyte)value_of(i + seed);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, t->format, t->type, &from);
    assert_gl_clean();
}

/* Reads the channels of CUDA by OpenGL, from the texture or the bound framebuffer. */
static void download(double to[TEXELS * 4], bool from_framebuffer)
{
    const struct transfer *t = texture.transfer;
    union numbers all;
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    if (from_framebuffer)
        glReadPixels(0, 0, WIDTH, HEIGHT, t->format, t->type, &all);
    else
        glGetTexImage(GL_TEXTURE_2D, 0, t->format, t->type, &all);
    assert_gl_clean();
    for (unsigned i = 0; i < TEXELS * texture.channels; i++) {
        const size_t from =
            i / texture.channels * t->numbers + texture.component[i % texture.channels];
        to[i] = t->type == GL_FLOAT ? (double)all.floats[from]
                : t->type == GL_INT ? all.integers[from]
                                    : all.bytes[from];
        if (texture.type == GL_SIGNED_NORMALIZED)
            to[i] = image_signed_fraction(to[i], texture.bits);
    }
}

/*
 * The largest error of a value that is transferred in more bits than it has. NVIDIA's blits of
 * multisampled texels with 8 signed bits round to 16 bits (docs/driver.md).
 */
static double widening(void)
{
    if (texture.is_resolved && texture.type == GL_SIGNED_NORMALIZED && !gr_cuda_is_software())
        return 0.5 / 32767;
    if (is_integer() || is_float() || texture.bits == 8 || texture.bits == 16)
        return 0;
    return texture.bits < 8 ? 1.0 / 255 : 1.0 / 65535;
}

/*
 * The largest error of a value that CUDA and OpenGL round to the format. OpenGL may round a value
 * that it narrows up or down, as NVIDIA's does.
 */
static double rounding(double value)
{
    const int sign = texture.type == GL_SIGNED_NORMALIZED;
    if (is_integer())
        return 0;
    if (is_small_float()) /* five or more bits of mantissa */
        return 3 * ldexp(1, -6);
    if (is_float())
        return texture.bits == 32 ? 0 : ldexp(fabs(value), -11);
    const double steps = widening() > 0 && !gr_cuda_is_software() ? 1 : 0.5;
    return steps / (ldexp(1, texture.bits - sign) - 1) + widening();
}

static void compare(const char *what, const float *got, const double *want, bool is_rounded)
{
    for (unsigned i = 0; i < TEXELS * texture.channels; i++) {
        const double tolerance =
            (is_rounded ? rounding(want[i]) : widening()) + 1e-6 * fmax(fabs(want[i]), 1);
        if (i % texture.channels >= texture.components ||
            fabs((double)got[i] - want[i]) <= tolerance)
            continue;
        note("%s: element %u is %g, not %g", what, i, (double)got[i], want[i]);
        return;
    }
}

/* ---- Transfers by grinterop ------------------------------------------------------------------ */

static gr_tensor *make_tensor(const float *values)
{
    const int64_t shape[] = {HEIGHT, WIDTH, texture.channels};
    return tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, texture.channels == 1 ? 2 : 3, shape, values);
}

static void compare_tensor(const char *what, gr_status fetched, gr_tensor *tensor,
                           const double *want)
{
    float got[TEXELS * 4] = {0};
    if (fetched != GR_OK) {
        note("%s: %s", what, error_text());
        return;
    }
    tensor_to_host(tensor, got, gr_tensor_get_info(tensor)->bytes);
    compare(what, got, want, false);
}

static void check_fetch(gr_resource *resource, const char *what)
{
    double want[TEXELS * 4];
    gr_tensor *tensor = make_tensor(NULL);
    download(want, false);
    compare_tensor(what, gr_fetch(resource, tensor, NULL, fx.stream), tensor, want);
}

static void check_publish(gr_resource *resource)
{
    float values[TEXELS * 4], stored[TEXELS * 4];
    double want[TEXELS * 4], got[TEXELS * 4];
    for (unsigned i = 0; i < TEXELS * 4; i++)
        want[i] = values[i] = (float)value_of(i + 50);
    if (gr_publish(resource, make_tensor(values), NULL, fx.stream) != GR_OK) {
        note("publish: %s", error_text());
        return;
    }
    download(got, false);
    for (unsigned i = 0; i < TEXELS * 4; i++)
        stored[i] = (float)got[i];
    compare("publish", stored, want, true);
    check_fetch(resource, "fetch after publish");
}

static void check(gr_resource *resource)
{
    upload(1);
    check_fetch(resource, "fetch");
    check_publish(resource);
    tensors_end();
}

/* ---- The ways -------------------------------------------------------------------------------- */

/* NULL if the transport does not accept the format, for which the error must say so. */
static gr_resource *share(const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, texture.internal, WIDTH, HEIGHT, 1, 1);
    const bool creates = options->transports == GR_TRANSPORT_SHARED;
    gr_resource *resource =
        creates ? gr_create_gl_image(&desc, GR_READ_WRITE, options)
                : gr_from_gl_image_with(texture.name, GL_TEXTURE_2D, GR_READ_WRITE, options);
    if (resource && creates)
        begin(gr_gl_name(resource));
    else if (!resource && gr_last_error()->status != GR_ERR_UNSUPPORTED && !creates)
        note("refused: %s", error_text());
    return resource;
}

/* Tests the bound texture. False if the transport does not accept its format. */
static bool check_texture(const void *options)
{
    GR_AUTO(gr_resource) *resource = share(options);
    if (!resource)
        return false;
    check(resource);
    return true;
}

/* ---- Framebuffers ---------------------------------------------------------------------------- */

static void clear_attachment(void)
{
    GLfloat floats[4];
    GLint integers[4];
    for (unsigned i = 0; i < 4; i++) {
        floats[i] = (GLfloat)value_of(i + 1);
        integers[i] = (GLint)value_of(i + 1);
    }
    if (texture.type == GL_INT)
        glClearBufferiv(GL_COLOR, 0, integers);
    else if (texture.type == GL_UNSIGNED_INT)
        glClearBufferuiv(GL_COLOR, 0, (const GLuint *)integers);
    else
        glClearBufferfv(GL_COLOR, 0, floats);
}

/* Binds a framebuffer with a cleared renderbuffer. False if OpenGL cannot draw to the format. */
static bool make_framebuffer(GLsizei samples, GLuint names[2])
{
    GLint red = 0;
    glGenFramebuffers(1, &names[0]);
    glGenRenderbuffers(1, &names[1]);
    glBindFramebuffer(GL_FRAMEBUFFER, names[0]);
    glBindRenderbuffer(GL_RENDERBUFFER, names[1]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, texture.internal, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[1]);
    if (glGetError() != GL_NO_ERROR ||
        glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return false;
    clear_attachment();
    /* luminance and alpha have no red */
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                                          GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE, &red);
    assert_gl_clean();
    return red > 0;
}

static void delete_framebuffer(const GLuint names[2])
{
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &names[0]);
    glDeleteRenderbuffers(1, &names[1]);
}

/* All samples of a pixel have the same value. */
static bool check_framebuffer(const void *samples)
{
    double want[TEXELS * 4];
    GLuint single[2], names[2];
    texture.components = texture.channels; /* the fourth is 1 */
    const bool is_readable = make_framebuffer(0, single);
    if (is_readable) {
        gr_tensor *tensor = make_tensor(NULL);
        download(want, true);
        texture.is_resolved = *(const GLsizei *)samples > 0;
        if (make_framebuffer(*(const GLsizei *)samples, names))
            compare_tensor("fetch", gr_fetch_framebuffer(names[0], tensor, NULL, fx.stream), tensor,
                           want);
        delete_framebuffer(names);
    }
    delete_framebuffer(single);
    tensors_end();
    return is_readable;
}

/* ---- All formats ----------------------------------------------------------------------------- */

/* Calls `visit` with each format as the bound texture. Returns how often it returned true. */
static unsigned visit_formats(bool (*visit)(const void *), const void *argument)
{
    unsigned accepted = 0;
    /* the numbers of all formats are in two ranges */
    for (GLenum internal = 0; internal < 0xA000; internal += internal == 0x2FFF ? 0x5001 : 1) {
        GLuint name;
        glGenTextures(1, &name);
        begin(name);
        accepted += allocate(internal) && visit(argument);
        glDeleteTextures(1, &name);
    }
    return accepted;
}

static gr_egl *egl;

static void open_compatibility(void)
{
    egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true)));
}

static void close_compatibility(void)
{
    gr_egl_free(egl);
}

static TCase *add_compatibility_case(Suite *suite, const char *name)
{
    return with_fixture(add_image_case(suite, name), open_compatibility, close_compatibility);
}

GROUP("formats", add_compatibility_case)
TAG("bytes")

TEST(every_format_has_the_values_of_opengl, 3)
{
    static const unsigned fewest[] = {80, 80, 20};
    const gr_gl_options *ways[] = {&by_interop, &by_copy, &by_sharing};
    need_publish_kernels();
    way = (gr_transport)ways[_i]->transports;
    const unsigned found = visit_formats(check_texture, ways[_i]);
    if (ways[_i] == &by_sharing && fixture_cuda_device() != fixture_drawing_device())
        ck_assert_uint_eq(found, 0); /* images of another GPU cannot be shared */
    else
        ck_assert_uint_ge(found, fewest[_i]);
}

TEST(every_attachment_has_the_values_of_opengl, 2)
{
    const GLsizei samples = 4 * _i;
    need_publish_kernels();
    glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
    ck_assert_uint_ge(visit_formats(check_framebuffer, &samples), 50);
}

/* Data of some types make OpenGL choose fewer or more than 8 bits. */
TEST(every_format_without_a_size_has_the_values_of_opengl, 2)
{
    /* clang-format off */
    static const GLenum formats[] = {1, 2, 3, 4, GL_RED, GL_RG, GL_RGB, GL_RGBA, GL_ALPHA, GL_SRGB,
                                     GL_INTENSITY, GL_LUMINANCE, GL_LUMINANCE_ALPHA, GL_SRGB_ALPHA};
    /* clang-format on */
    static const GLenum types[][2] = {{GL_RGBA, GL_UNSIGNED_SHORT},
                                      {GL_RGBA, GL_HALF_FLOAT},
                                      {GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1},
                                      {GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4},
                                      {GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV},
                                      {GL_RGB, GL_UNSIGNED_SHORT_5_6_5},
                                      {GL_RGB, GL_UNSIGNED_BYTE_3_3_2}};
    const gr_gl_options *options = _i ? &by_copy : &by_interop;
    need_publish_kernels();
    way = (gr_transport)options->transports;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++) {
            GLuint name;
            glGenTextures(1, &name);
            begin(name);
            if (allocate_unsized(formats[i], types[k][0], types[k][1]))
                check_texture(options);
            glDeleteTextures(1, &name);
        }
}
