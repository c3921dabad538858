/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Packed formats of Vulkan and OpenGL: the value of each bit pattern and the rounding of floats,
 * compared with a computation from the specifications, and with what OpenGL stores and reads.
 */
#include "publish_support.h"

#include <math.h>
#include <string.h>

#include "tests/support/support_vulkan_image.h"

#define SIDE   256
#define TEXELS (SIDE * SIDE)

/* A packed format. In OpenGL its texels are transferred unchanged. */
struct packed {
    VkFormat vulkan;
    unsigned image; /* what CUDA has */
    const char *noun;
    GLenum internal, transfer, type;
    unsigned bytes, channels;
    unsigned bits[4], shifts[4];
};

#define IN_10                                                                                      \
    {                                                                                              \
        10, 10, 10, 2                                                                              \
    }
static const struct packed formats[] = {
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32,
     GR_FORMAT_A2B10G10R10,
     "the 10:10:10:2 image",
     GL_RGB10_A2,
     GL_RGBA,
     GL_UNSIGNED_INT_2_10_10_10_REV,
     4,
     4,
     IN_10,
     {0, 10, 20, 30}},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32,
     GR_FORMAT_B10G11R11,
     "the 11:11:10 image",
     GL_R11F_G11F_B10F,
     GL_RGB,
     GL_UNSIGNED_INT_10F_11F_11F_REV,
     4,
     3,
     {11, 11, 10},
     {0, 11, 22}},
    {VK_FORMAT_E5B9G9R9_UFLOAT_PACK32,
     GR_FORMAT_E5B9G9R9,
     "the 9:9:9:5 image",
     GL_RGB9_E5,
     GL_RGB,
     GL_UNSIGNED_INT_5_9_9_9_REV,
     4,
     3,
     {9, 9, 9},
     {0, 9, 18}},
    {VK_FORMAT_R5G6B5_UNORM_PACK16,
     GR_FORMAT_R5G6B5,
     "the 5:6:5 image",
     GL_RGB565,
     GL_RGB,
     GL_UNSIGNED_SHORT_5_6_5,
     2,
     3,
     {5, 6, 5},
     {11, 5, 0}},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32,
     GR_FORMAT_A2R10G10B10,
     "the 10:10:10:2 image",
     0,
     0,
     0,
     4,
     4,
     IN_10,
     {20, 10, 0, 30}},
    {VK_FORMAT_B5G6R5_UNORM_PACK16,
     GR_FORMAT_B5G6R5,
     "the 5:6:5 image",
     0,
     0,
     0,
     2,
     3,
     {5, 6, 5},
     {0, 5, 11}},
};
#define FORMATS    (sizeof(formats) / sizeof(*formats))
#define OF_OPENGL  4 /* the formats that OpenGL has, too, come first */
#define STEP       EACH_NTH(3)
#define MOST_COUNT (TEXELS * 4)

#define IN_STEPS(count) (((count) + STEP - 1) / STEP)

/* ---- What the specifications say ------------------------------------------------------------- */

static bool is_shared_exponent(const struct packed *f)
{
    return f->image == GR_FORMAT_E5B9G9R9;
}

static bool has_small_floats(const struct packed *f)
{
    return f->image == GR_FORMAT_B10G11R11;
}

/* An unsigned float with 5 bits of exponent. */
static double small_float(unsigned pattern, unsigned bits)
{
    const unsigned m = bits - 5, exponent = pattern >> m, mantissa = pattern & ((1u << m) - 1);
    if (exponent == 31)
        return mantissa ? (double)NAN : (double)INFINITY;
    return exponent ? ldexp((1u << m) + mantissa, (int)exponent - 15 - (int)m)
                    : ldexp(mantissa, -14 - (int)m);
}

static double value_of(const struct packed *f, uint32_t texel, unsigned c)
{
    const unsigned most = (1u << f->bits[c]) - 1, part = texel >> f->shifts[c] & most;
    if (has_small_floats(f))
        return small_float(part, f->bits[c]);
    return is_shared_exponent(f) ? ldexp(part, (int)(texel >> 27) - 24) : (double)part / most;
}

/* Returns the nearest finite float, the even one of two. NaN and infinity are kept. */
static unsigned nearest_small_float(double value, unsigned bits)
{
    const unsigned infinite = 31u << (bits - 5);
    unsigned below = 0, above = infinite - 1;
    if (isnan(value))
        return infinite + 1;
    if (isinf(value))
        return value > 0 ? infinite : 0;
    while (above - below > 1) { /* a greater pattern has a greater value */
        const unsigned middle = (below + above) / 2;
        *(small_float(middle, bits) <= value ? &below : &above) = middle;
    }
    const double gain =
        fabs(value - small_float(below, bits)) - fabs(value - small_float(above, bits));
    return gain > 0 || (gain == 0 && above % 2 == 0) ? above : below;
}

static double clamped(double value, double most)
{
    return value > 0 ? fmin(value, most) : 0; /* a NaN becomes 0 */
}

/* The algorithm of EXT_texture_shared_exponent. */
static uint32_t shared_exponent(const double *colour)
{
    double parts[3], most = 0;
    for (int c = 0; c < 3; c++) {
        parts[c] = clamped(colour[c], 511.0 / 512 * 65536);
        most = fmax(most, parts[c]);
    }
    int exponent = 0;
    if (most > 0)
        exponent = (int)fmax(-16, floor(log2(most))) + 16;
    if (floor(ldexp(most, 24 - exponent) + 0.5) == 512)
        exponent++;
    uint32_t texel = (uint32_t)exponent << 27;
    for (int c = 0; c < 3; c++)
        texel |= (uint32_t)floor(ldexp(parts[c], 24 - exponent) + 0.5) << 9 * c;
    return texel;
}

static uint32_t texel_of(const struct packed *f, const double *colour)
{
    uint32_t texel = 0;
    if (is_shared_exponent(f))
        return shared_exponent(colour);
    for (unsigned c = 0; c < f->channels; c++) {
        const double most = (1u << f->bits[c]) - 1;
        texel |= (has_small_floats(f) ? nearest_small_float(colour[c], f->bits[c])
                                      : (uint32_t)rint(clamped(colour[c], 1) * most))
                 << f->shifts[c];
    }
    return texel;
}

/* ---- Texels ---------------------------------------------------------------------------------- */

static unsigned char texels[TEXELS * 4], got[TEXELS * 4];
static float values[MOST_COUNT], back[MOST_COUNT];

static uint32_t texel_at(const struct packed *f, const unsigned char *from, size_t i)
{
    uint32_t texel = 0;
    memcpy(&texel, from + i * f->bytes, f->bytes);
    return texel;
}

/* Each channel has all its patterns, with all exponents if they share one. */
static void fill_texels(const struct packed *f)
{
    for (uint32_t i = 0; i < TEXELS; i++) {
        uint32_t texel = is_shared_exponent(f) ? i / 512 << 27 : 0;
        for (unsigned c = 0; c < f->channels; c++) {
            const uint32_t most = (1u << f->bits[c]) - 1;
            texel |= ((f->bytes == 2 ? i >> f->shifts[c] : i * (2 * c + 1) + c) & most)
                     << f->shifts[c];
        }
        memcpy(texels + (size_t)i * f->bytes, &texel, f->bytes);
    }
}

/* Whether two texels have the same value or NaN in each channel. */
static bool same_value(const struct packed *f, uint32_t a, uint32_t b)
{
    for (unsigned c = 0; c < f->channels; c++) {
        const double x = value_of(f, a, c), y = value_of(f, b, c);
        if (!(x == y || (isnan(x) && isnan(y))))
            return false;
    }
    return true;
}

/* Mesa (22.3) stores subnormal small floats as 0. */
static uint32_t without_subnormals(const struct packed *f, uint32_t texel)
{
    for (unsigned c = 0; c < f->channels && has_small_floats(f); c++)
        if (value_of(f, texel, c) < 0x1p-14)
            texel &= ~(((1u << f->bits[c]) - 1) << f->shifts[c]);
    return texel;
}

static gr_tensor *tensor_for(const struct packed *f, gr_dtype dtype, const void *bytes)
{
    return tensor_of(dtype, GR_LAYOUT_HWC, 3, (const int64_t[]){SIDE, SIDE, f->channels}, bytes);
}

static void fetch_to(gr_buffer *buffer, gr_tensor *tensor, void *to)
{
    assert_ok(gr_buffer_fetch(buffer, tensor, NULL, fx.stream));
    tensor_to_host(tensor, to, gr_tensor_get_info(tensor)->bytes);
    tensors_end();
}

/* ---- Both APIs ------------------------------------------------------------------------------- */

static void assert_image_info(const struct packed *f, gr_buffer *buffer)
{
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert(info->format == f->image || info->format == GR_FORMAT_UNORM_INT_101010_2);
    ck_assert_uint_eq(info->channels, f->channels);
    ck_assert_uint_eq(info->texel_bytes, f->bytes);
    ck_assert_int_eq(info->normalized, !has_small_floats(f) && !is_shared_exponent(f));
}

/* The image has the texels: floats have their values, and bytes those from 0 to 1. */
static void check_values(const struct packed *f, gr_buffer *buffer)
{
    static unsigned char bytes[MOST_COUNT];
    fetch_to(buffer, tensor_for(f, GR_DTYPE_F32, NULL), values);
    fetch_to(buffer, tensor_for(f, GR_DTYPE_U8, NULL), bytes);
    for (unsigned i = 0; i < TEXELS * f->channels; i++) {
        const uint32_t texel = texel_at(f, texels, i / f->channels);
        const double value = value_of(f, texel, i % f->channels);
        ck_assert_msg(isnan(value) ? isnan(values[i]) : values[i] == (float)value,
                      "%s: channel %u of 0x%x is %.9g, not %.9g", f->noun, i % f->channels, texel,
                      (double)values[i], value);
        ck_assert_msg(fabs(bytes[i] - clamped(value, 1) * 255) <= 0.5 + 1e-4,
                      "%s: channel %u of 0x%x is %u of 255", f->noun, i % f->channels, texel,
                      bytes[i]);
    }
}

/* A publish of the fetched values gives the same texels. */
static void check_return(const struct packed *f, gr_buffer *buffer)
{
    memset(got, 0x5a, sizeof(got));
    image_put(buffer, 0, 0, got);
    assert_ok(gr_buffer_publish(buffer, tensor_for(f, GR_DTYPE_F32, values), NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    tensors_end();
    for (unsigned i = 0; i < TEXELS; i++) {
        const uint32_t texel = texel_at(f, texels, i), now = texel_at(f, got, i);
        ck_assert_msg(now == texel || ((is_shared_exponent(f) || has_small_floats(f)) &&
                                       same_value(f, now, texel)),
                      "%s: 0x%x came back as 0x%x", f->noun, texel, now);
    }
}

/* Floats at and beside the places where rounding changes, and others that are not finite. */
static float hard_value(const struct packed *f, unsigned i)
{
    static const float some[] = {
        NAN,      INFINITY,    -INFINITY, -1,    -0.0f,       0,        65024,    65025,
        65279,    65280,       65408,     65535, 65536,       1e30f,    64512,    64513,
        65023,    -1e-30f,     1e-30f,    0.5f,  0x1p-20f,    0x1p-21f, 0x1p-25f, 0x1.8p-21f,
        0x1p-24f, 0x1.ffp-15f, 1.5f,      1,     511.5f / 512};
    const unsigned step = i / 3 % 2048, beside = i % 3;
    double middle;
    if (i < sizeof(some) / sizeof(*some))
        return some[i];
    if (has_small_floats(f))
        middle =
            (small_float(step % 1983, 11 - i % 2) + small_float(step % 1983 + 1, 11 - i % 2)) / 2;
    else if (is_shared_exponent(f))
        middle = ldexp(step % 1024 + 0.5, (int)(i / 5 % 34) - 26);
    else
        middle = (step % 1023 + 0.5) / (step % 2 ? 1023 : step % 3 ? 31 : 63);
    const float near = (float)middle;
    return beside == 0 ? near : nextafterf(near, beside == 1 ? 0 : INFINITY);
}

static void fill_hard_values(const struct packed *f)
{
    for (unsigned i = 0; i < TEXELS * f->channels; i++)
        values[i] = hard_value(f, i < 7000 ? i : i * 7919u % 6999991u);
}

static void assert_rounded(const struct packed *f, const char *what, unsigned step)
{
    for (unsigned i = 0; i < TEXELS; i += step) {
        double colour[4];
        for (unsigned c = 0; c < f->channels; c++)
            colour[c] = (double)values[i * f->channels + c];
        const uint32_t want = texel_of(f, colour), now = texel_at(f, got, i);
        ck_assert_msg(now == want || (has_small_floats(f) && same_value(f, now, want)),
                      "%s of %s: (%.9g, %.9g, %.9g) became 0x%x, not 0x%x", what, f->noun,
                      colour[0], colour[1], colour[2], now, want);
    }
}

static void check_rounding(const struct packed *f, gr_buffer *buffer)
{
    /* the search for the nearest small float takes long */
    const unsigned step = has_small_floats(f) ? 13 : 1;
    static double doubles[MOST_COUNT];
    static unsigned char bytes[MOST_COUNT];
    fill_hard_values(f);
    assert_ok(gr_buffer_publish(buffer, tensor_for(f, GR_DTYPE_F32, values), NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    assert_rounded(f, "float32", step);
    for (unsigned i = 0; i < TEXELS * f->channels; i++)
        doubles[i] = (double)values[i];
    assert_ok(gr_buffer_publish(buffer, tensor_for(f, GR_DTYPE_F64, doubles), NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    assert_rounded(f, "float64", 16 * step);
    for (unsigned i = 0; i < TEXELS * f->channels; i++)
        values[i] = (float)(bytes[i] = (unsigned char)(i * 31 + i / 256)) / 255;
    assert_ok(gr_buffer_publish(buffer, tensor_for(f, GR_DTYPE_U8, bytes), NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    assert_rounded(f, "uint8", 16 * step);
    tensors_end();
}

static void check_steps(const struct packed *f, gr_buffer *buffer)
{
    static const int64_t small[] = {2, 3, 4}, grey[] = {SIDE, SIDE};
    static const float rgba[24] = {0.25f, 0.5f, 1, 0, 0, 1, 0.25f, 1}, scale[] = {2, 2, 2, 1};
    const gr_publish_options part = GR_INIT(gr_publish_options, .x = 5, .y = 254, .width = 3,
                                            .height = 2, .bgr = true, .flip = true, .scale = scale);
    memset(got, 0, sizeof(got));
    image_put(buffer, 0, 0, got);
    assert_ok(gr_buffer_publish(buffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_HWC, 3, small, rgba),
                                &part, fx.stream));
    image_get(buffer, 0, 0, got);
    for (unsigned i = 0; i < TEXELS; i++) {
        const double first[] = {2, 1, 0.5, 0}, second[] = {0.5, 2, 0, 1}, none[4] = {0};
        const uint32_t want = texel_of(f, i == 255 * SIDE + 5   ? first
                                          : i == 255 * SIDE + 6 ? second
                                                                : none);
        ck_assert_uint_eq(texel_at(f, got, i), want);
    }
    for (int i = 0; i < TEXELS; i++)
        values[i] = 0.25f;
    assert_ok(gr_buffer_publish(buffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, grey, values),
                                NULL, fx.stream));
    image_get(buffer, 0, 0, got);
    const double quarter[] = {0.25, 0.25, 0.25, 1};
    for (unsigned i = 0; i < TEXELS; i++)
        ck_assert_uint_eq(texel_at(f, got, i), texel_of(f, quarter));
    tensors_end();
}

/* The image has the grey 0.25. */
static void check_yuv(const struct packed *f, gr_buffer *buffer)
{
    static const int64_t shape[] = {SIDE * 3 / 2, SIDE};
    static unsigned char yuv[TEXELS * 3 / 2];
    const gr_publish_options full = GR_INIT(gr_publish_options, .full_range = true);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, shape, NULL);
    const double quarter[] = {0.25, 0.25, 0.25, 1};
    assert_ok(gr_buffer_fetch(buffer, tensor, &full, fx.stream));
    tensor_to_host(tensor, yuv, sizeof(yuv));
    const double wanted = value_of(f, texel_of(f, quarter), 1) * 255;
    for (unsigned i = 0; i < sizeof(yuv); i++)
        ck_assert_double_le(fabs(yuv[i] - (i < TEXELS ? wanted : 128)), 1.5);
    assert_fails(gr_buffer_publish(buffer, tensor, &full, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 f->noun);
    assert_fails(gr_buffer_publish(buffer, tensor, &full, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "Publish RGB");
    tensors_end();
}

/* Integers of 32 bits might be the packed texels themselves. */
static void check_refusals(const struct packed *f, gr_buffer *buffer)
{
    static const int64_t plane[] = {SIDE, SIDE}, two[] = {SIDE, SIDE, 2}, wide[] = {SIDE, 8, 4};
    static const float ones[] = {1, 1, 1, 1};
    gr_tensor *words = tensor_of(GR_DTYPE_U32, GR_LAYOUT_SHAPE, 2, plane, texels);
    assert_fails(gr_buffer_publish(buffer, words, NULL, fx.stream), GR_ERR_INVALID_VALUE, 0,
                 "gr_map_linear()");
    assert_fails(gr_buffer_publish(buffer, words, NULL, fx.stream), GR_ERR_INVALID_VALUE, 0,
                 f->noun);
    assert_fails(gr_buffer_publish(buffer, words, NULL, fx.stream), GR_ERR_INVALID_VALUE, 0,
                 "whose values are floats");
    assert_ok(
        gr_buffer_publish(buffer, words, &GR_INIT(gr_publish_options, .scale = ones), fx.stream));
    assert_invalid(gr_buffer_fetch(buffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 3, two, NULL),
                                   NULL, fx.stream),
                   f->noun + strlen("the "));
    assert_invalid(gr_buffer_fetch(buffer, tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 3, wide, NULL),
                                   NULL, fx.stream),
                   "widths");
    tensors_end();
}

/* The words, and a conversion of linear memory. */
static void check_linear(const struct packed *f, gr_resource *resource)
{
    gr_buffer *buffer = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    GR_AUTO(gr_tensor) *words = must_make(gr_buffer_tensor(buffer, NULL));
    const gr_tensor_info *info = gr_tensor_get_info(words);
    ck_assert_int_eq(info->dtype, f->bytes == 2 ? GR_DTYPE_U16 : GR_DTYPE_U32);
    ck_assert_uint_eq(info->ndim, 2);
    ck_assert(info->shape[0] == SIDE && info->shape[1] == SIDE);
    ck_assert_uint_eq((size_t)info->strides[0], gr_buffer_get_info(buffer)->pitch);
    tensor_from_host(words, texels, (size_t)TEXELS * f->bytes);
    check_values(f, buffer);
    assert_ok(gr_buffer_publish(buffer, tensor_for(f, GR_DTYPE_F32, values), NULL, fx.stream));
    fetch_to(buffer, tensor_for(f, GR_DTYPE_F32, NULL), back);
    for (unsigned i = 0; i < TEXELS * f->channels; i++)
        ck_assert(back[i] == values[i] || isnan(values[i]));
    must_release(buffer);
}

static void check_format(const struct packed *f, gr_resource *resource)
{
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_image_info(f, buffer);
    fill_texels(f);
    image_put(buffer, 0, 0, texels);
    check_values(f, buffer);
    check_return(f, buffer);
    check_rounding(f, buffer);
    check_steps(f, buffer);
    check_yuv(f, buffer);
    check_refusals(f, buffer);
    must_release(buffer);
    check_linear(f, resource);
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

GROUP("packed Vulkan formats", add_vulkan_case, add_copied_vulkan_case)
TAG("bytes")

VULKAN_TEST(packed_vulkan_images_are_converted_as_specified, IN_STEPS(FORMATS))
{
    need_publish_kernels();
    const struct packed *f = &formats[_i * STEP];
    const VkImageCreateInfo info = vulkan_image_info(vulkan_format(f->vulkan), vulkan_shape("2D"),
                                                     SIDE, SIDE, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
    if (!vulkan_image_possible(&info))
        skip("Vulkan does not share %s", vulkan_format(f->vulkan)->name);
    struct vulkan_image image =
        vulkan_image(f->vulkan, "2D", SIDE, SIDE, 1, VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    must_release(must_hand_over(&image));
    check_format(f, image.resource);
    gr_resource_free(image.resource);
}

/* CUDA has one integer per texel, and no fractions of the largest one. */
VULKAN_TEST(packed_vulkan_images_are_sampled_as_integers)
{
    struct vulkan_image image = vulkan_image(VK_FORMAT_R5G6B5_UNORM_PACK16, "2D", 8, 8, 1,
                                             VK_IMAGE_USAGE_SAMPLED_BIT, GR_READ_WRITE);
    gr_buffer *buffer = must_hand_over(&image);
    ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
    ck_assert_uint_eq(
        gr_buffer_texture(buffer, &GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR)), 0);
    assert_error(GR_ERR_INVALID_VALUE, 0, "integers");
    ck_assert_uint_eq(
        gr_buffer_texture(buffer, &GR_INIT(gr_texture_options, .as_float = GR_CHOICE_YES)), 0);
    assert_error(GR_ERR_INVALID_VALUE, 0, "only as integers");
    vulkan_image_end(&image, buffer);
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static GLuint make_texture(const struct packed *f)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, f->internal, SIDE, SIDE);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    assert_gl_clean();
    return name;
}

GROUP("packed OpenGL formats", add_image_case)
TAG("bytes")

TEST(packed_opengl_images_are_converted_as_specified, IN_STEPS(OF_OPENGL))
{
    need_publish_kernels();
    const struct packed *f = &formats[_i * STEP];
    const GLuint name = make_texture(f);
    gr_resource *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &by_copy));
    check_format(f, resource);
    gr_resource_free(resource);
    glDeleteTextures(1, &name);
}

/* OpenGL reads each bit pattern as the same value, and stores each value in the same bits. */
TEST(opengl_has_the_same_values, IN_STEPS(OF_OPENGL))
{
    need_publish_kernels();
    const struct packed *f = &formats[_i * STEP];
    const GLuint name = make_texture(f);
    gr_resource *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &by_copy));
    fill_texels(f);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, f->transfer, f->type, texels);
    glGetTexImage(GL_TEXTURE_2D, 0, f->transfer, GL_FLOAT, back);
    assert_ok(gr_fetch(resource, tensor_for(f, GR_DTYPE_F32, NULL), NULL, fx.stream));
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    check_values(f, buffer);
    must_release(buffer);
    for (unsigned i = 0; i < TEXELS * f->channels; i++)
        ck_assert_msg(isnan(values[i]) ? isnan(back[i])
                                       : values[i] == back[i] ||
                                             fabs((double)values[i] - (double)back[i]) <= 1e-7,
                      "%s: channel %u of 0x%x is %.9g in OpenGL, not %.9g", f->noun,
                      i % f->channels, texel_at(f, texels, i / f->channels), (double)back[i],
                      (double)values[i]);
    memset(got, 0, sizeof(got));
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, f->transfer, f->type, got);
    assert_ok(gr_publish(resource, tensor_for(f, GR_DTYPE_F32, values), NULL, fx.stream));
    glGetTexImage(GL_TEXTURE_2D, 0, f->transfer, f->type, texels);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, f->transfer, GL_FLOAT, values);
    glGetTexImage(GL_TEXTURE_2D, 0, f->transfer, f->type, got);
    for (unsigned i = 0; i < TEXELS; i++) {
        const uint32_t ours = texel_at(f, texels, i), theirs = texel_at(f, got, i);
        ck_assert_msg(same_value(f, ours, theirs) ||
                          same_value(f, without_subnormals(f, ours), theirs),
                      "%s: 0x%x, but 0x%x in OpenGL", f->noun, ours, theirs);
    }
    assert_gl_clean();
    tensors_end();
    gr_resource_free(resource);
    glDeleteTextures(1, &name);
}

/* Whether each channel is at most one unit of the exponent of `want` away. */
static bool is_next_to(const struct packed *f, uint32_t now, uint32_t want)
{
    bool near = true;
    for (unsigned c = 0; c < 3; c++)
        near = near &&
               fabs(value_of(f, now, c) - value_of(f, want, c)) <= ldexp(1, (int)(want >> 27) - 24);
    return near;
}

/*
 * The specification leaves OpenGL no choice with a shared exponent, but NVIDIA's (580) rounds
 * halves down.
 */
TEST(opengl_rounds_shared_exponents_in_the_same_way)
{
    need_publish_kernels();
    const struct packed *f = &formats[2];
    const GLuint name = make_texture(f);
    fill_hard_values(f);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, f->transfer, GL_FLOAT, values);
    glGetTexImage(GL_TEXTURE_2D, 0, f->transfer, f->type, got);
    if (gr_cuda_is_software())
        assert_rounded(f, "OpenGL's float32", 1);
    for (unsigned i = 0; i < TEXELS && !gr_cuda_is_software(); i++) {
        const float *v = values + 3 * (size_t)i;
        const double colour[4] = {(double)v[0], (double)v[1], (double)v[2]};
        ck_assert(is_next_to(f, texel_at(f, got, i), texel_of(f, colour)));
    }
    assert_gl_clean();
    glDeleteTextures(1, &name);
}
