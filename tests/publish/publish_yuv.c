/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes luma and chroma planes: every layout, with the planes in one tensor or in two, every
 * matrix and range. The colours are compared with the definitions of the standards, computed in
 * double.
 */
#include "publish_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A picture in planes, and their layout in one block of memory. */
struct yuv {
    gr_layout layout;
    bool wide; /* each value has 16 bits */
    unsigned width, height;
    unsigned x_shift, y_shift;
};

static const struct yuv pictures[] = {
    {GR_LAYOUT_NV12, false, 32, 6, 1, 1},   {GR_LAYOUT_NV12, false, 14, 4, 1, 1},
    {GR_LAYOUT_NV12, false, 10, 5, 1, 1},   {GR_LAYOUT_P016, true, 32, 6, 1, 1},
    {GR_LAYOUT_P016, true, 6, 7, 1, 1},     {GR_LAYOUT_NV16, false, 32, 5, 1, 0},
    {GR_LAYOUT_NV16, false, 18, 3, 1, 0},   {GR_LAYOUT_YUV444, false, 32, 5, 0, 0},
    {GR_LAYOUT_YUV444, false, 13, 3, 0, 0}, {GR_LAYOUT_YUV444, true, 17, 4, 0, 0},
};
#define PICTURES (sizeof(pictures) / sizeof(pictures[0]))

static const struct yuv *of; /* the picture of the current case */
static unsigned char *bytes; /* all planes of `of` */

static unsigned colour_rows(void)
{
    return of->y_shift ? (of->height + 1) / 2 : of->height;
}

/* The number of rows in all planes together. */
static unsigned all_rows(void)
{
    return of->layout == GR_LAYOUT_YUV444 ? 3 * of->height : of->height + colour_rows();
}

static double sample(size_t element)
{
    if (!of->wide)
        return bytes[element];
    uint16_t value;
    memcpy(&value, bytes + 2 * element, sizeof(value));
    return value;
}

/* Luma, u and v at a pixel, as they are stored. */
static void samples_at(unsigned x, unsigned y, double out[3])
{
    const size_t width = of->width, plane = width * of->height;
    out[0] = sample(y * width + x);
    if (of->layout == GR_LAYOUT_YUV444) {
        out[1] = sample(plane + y * width + x);
        out[2] = sample(2 * plane + y * width + x);
        return;
    }
    const size_t pair = plane + (y >> of->y_shift) * width + x / 2 * 2;
    out[1] = sample(pair);
    out[2] = sample(pair + 1);
}

/* By definition: luma is a weighted sum, and each chroma value a difference from it. */
static void colour_at(unsigned x, unsigned y, const gr_publish_options *o, double rgb[3])
{
    static const double red[] = {0.2126, 0.299, 0.2627}, blue[] = {0.0722, 0.114, 0.0593};
    double s[3];
    samples_at(x, y, s);
    const double step = of->wide ? 256 : 1, most = of->wide ? 65535 : 255;
    const double luma = o->full_range ? s[0] / most : (s[0] - 16 * step) / (219 * step);
    const double range = o->full_range ? most : 224 * step;
    const double cb = (s[1] - 128 * step) / range, cr = (s[2] - 128 * step) / range;
    const double kr = red[o->matrix], kb = blue[o->matrix];
    rgb[0] = luma + cr * 2 * (1 - kr);
    rgb[2] = luma + cb * 2 * (1 - kb);
    rgb[1] = (luma - kr * rgb[0] - kb * rgb[2]) / (1 - kr - kb);
}

static const char *colours_differ(const struct elements *image, const gr_publish_options *o)
{
    static char text[160];
    for (unsigned y = 0; y < of->height; y++)
        for (unsigned x = 0; x < of->width; x++) {
            double rgb[4] = {0, 0, 0, 1};
            colour_at(x, o->flip ? of->height - 1 - y : y, o, rgb);
            for (unsigned c = 0; c < 4; c++) {
                const bool is_float = image->dtype == GR_DTYPE_F32;
                const double got = element_value(image, x, y, c);
                const double want = is_float ? rgb[c] : fmin(fmax(rgb[c], 0), 1);
                /* A value halfway between two integers may be rounded to either of them. */
                if (fabs(got - want) <= (is_float ? 2e-6 : 0.5 / 255 + 2e-6))
                    continue;
                snprintf(text, sizeof(text), "%u, %u, channel %u is %g, not %g", x, y, c, got,
                         want);
                return text;
            }
        }
    return NULL;
}

/* Returns the planes as one tensor, or as two with the second in `*chroma`. */
static gr_tensor *make_tensors(bool two, gr_tensor **chroma)
{
    const gr_dtype dtype = of->wide ? GR_DTYPE_U16 : GR_DTYPE_U8;
    const int64_t width = of->width, height = of->height, rows = all_rows();
    const int64_t one[] = {rows, width}, first[] = {height, width, 1};
    const int64_t second[] = {colour_rows(), width / 2, 2};
    *chroma = NULL;
    if (!two)
        return tensor_of(dtype, of->layout, 2, one, bytes);
    *chroma = tensor_of(dtype, GR_LAYOUT_SHAPE, 3, second,
                        bytes + (size_t)(width * height) * gr_dtype_get_info(dtype)->size);
    return tensor_of(dtype, GR_LAYOUT_SHAPE, 3, first, bytes);
}

static unsigned char texels[IMAGE_MOST_BYTES], expected[16];

static void check(const struct image *image, gr_resource *resource, gr_publish_options o, bool two)
{
    const struct elements there = image_elements(image, texels);
    gr_tensor *chroma;
    gr_tensor *tensor = make_tensors(two, &chroma);
    o.chroma = chroma;
    o.layout = two ? of->layout : GR_LAYOUT_SHAPE;
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gr_buffer *buffer = must_map_image(resource);
    image_get(buffer, 0, 0, texels);
    assert_ok(gr_buffer_release(buffer));
    const char *difference = colours_differ(&there, &o);
    ck_assert_msg(!difference, "layout %d, %u x %u, matrix %d, full %d, flip %d, %s, to %s: %s",
                  of->layout, of->width, of->height, o.matrix, o.full_range, o.flip,
                  two ? "two tensors" : "one", image->format->name, difference);
    tensors_end();
}

static void check_all(const char *format)
{
    const struct image image = image_make(format, "2D", of->width, of->height, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    const bool pairs = of->layout != GR_LAYOUT_YUV444;
    const bool flips = !(of->y_shift && of->height % 2);
    for (int matrix = GR_YUV_BT709; matrix <= GR_YUV_BT2020; matrix++)
        for (int i = 0; i < 8; i++) {
            const gr_publish_options o =
                GR_INIT(gr_publish_options, .matrix = (gr_yuv_matrix)matrix, .full_range = i & 1,
                        .flip = i & 2);
            if ((!(i & 4) || pairs) && (!o.flip || flips))
                check(&image, resource, o, i & 4);
        }
}

GROUP("yuv", add_image_case)

TEST(yuv_is_converted_as_the_standards_define, PICTURES)
{
    need_publish_kernels();
    of = &pictures[_i];
    const size_t size = (size_t)all_rows() * of->width * (of->wide ? 2 : 1);
    bytes = must_allocate(size);
    pattern_fill(bytes, size, 7);
    check_all("RGBA8");
    check_all("RGBA32F");
    free(bytes);
}

GROUP("yuv_rules", add_image_case)

/* Well-known values: black, white, and the three primaries of BT.601. */
TEST(known_yuv_values_give_exact_rgb)
{
    static const struct {
        unsigned char yuv[3], rgb[3];
    } known[] = {{{16, 128, 128}, {0, 0, 0}},   {{235, 128, 128}, {255, 255, 255}},
                 {{81, 90, 240}, {254, 0, 0}},  {{145, 54, 34}, {0, 255, 1}},
                 {{41, 240, 110}, {0, 0, 255}}, {{126, 128, 128}, {128, 128, 128}},
                 {{0, 128, 128}, {0, 0, 0}},    {{255, 128, 128}, {255, 255, 255}}};
    need_publish_kernels();
    const struct image image = image_make("RGBA8", "2D", 1, 1, 1);
    const struct image block = image_make("RGBA8", "2D", 2, 2, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    GR_AUTO(gr_resource) *discarded =
        must_register_image(&block, GR_SURFACE_LOAD_STORE | GR_WRITE_DISCARD);
    const int64_t shape[] = {3, 1, 1}, luma[] = {2, 2, 1}, pair[] = {1, 1, 2};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, shape, known[i].yuv);
        assert_ok(gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .matrix = GR_YUV_BT601),
                             fx.stream));
        image_download(&image, 0, 0, texels);
        for (int c = 0; c < 3; c++)
            ck_assert_int_eq(texels[c], known[i].rgb[c]);
        ck_assert_int_eq(texels[3], 255);
        const unsigned char y = known[i].yuv[0], four[] = {y, y, y, y};
        gr_tensor *chroma = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, pair, known[i].yuv + 1);
        tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 3, luma, four);
        assert_ok(gr_publish(discarded, tensor,
                             &GR_INIT(gr_publish_options, .matrix = GR_YUV_BT601, .chroma = chroma),
                             fx.stream));
        image_download(&block, 0, 0, texels);
        for (int c = 0; c < 16; c++)
            ck_assert_int_eq(texels[c], c % 4 == 3 ? 255 : known[i].rgb[c % 4]);
        GR_AUTO(gr_tensor) *near = tensor_on_host(GR_DTYPE_U8, 3, luma, NULL, four);
        GR_AUTO(gr_tensor) *colours = tensor_on_host(GR_DTYPE_U8, 3, pair, NULL, known[i].yuv + 1);
        const gr_publish_options o = GR_INIT(gr_publish_options, .layout = GR_LAYOUT_NV12,
                                             .matrix = GR_YUV_BT601, .chroma = colours);
        memcpy(expected, texels, 16);
        image_fill(&block, 1);
        assert_ok(gr_publish(discarded, near, &o, fx.stream));
        image_download(&block, 0, 0, texels);
        ck_assert_mem_eq(texels, expected, 16);
        tensors_end();
    }
}

static gr_status publish_yuv(gr_resource *resource, gr_layout layout, gr_dtype dtype, unsigned ndim,
                             const int64_t *shape, const gr_tensor *chroma)
{
    gr_tensor *tensor = tensor_of(dtype, GR_LAYOUT_SHAPE, ndim, shape, NULL);
    return gr_publish(resource, tensor,
                      &GR_INIT(gr_publish_options, .layout = layout, .chroma = chroma), fx.stream);
}

TEST(planes_whose_shape_does_not_fit_the_image_are_refused)
{
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const int64_t right[] = {6, 8}, rows[] = {7, 8}, wide[] = {6, 9}, deep[] = {2, 6, 8};
    const int64_t luma[] = {4, 8}, three[] = {3, 4, 8}, four[] = {4, 4, 8};
    const int64_t colour[] = {2, 4, 2}, high[] = {4, 4, 2}, thirds[] = {13, 8};
    gr_tensor *chroma = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, colour, NULL);
    gr_tensor *tall = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, high, NULL);
    gr_tensor *other = tensor_of(GR_DTYPE_U16, GR_LAYOUT_SHAPE, 3, colour, NULL);
#define REFUSED(layout, dtype, ndim, shape, chroma, text)                                          \
    assert_fails(publish_yuv(resource, GR_LAYOUT_##layout, GR_DTYPE_##dtype, ndim, shape, chroma), \
                 GR_ERR_INVALID_VALUE, 0, text)
    REFUSED(NV12, U16, 2, right, NULL, "(6, 8) of uint16 (NV12)");
    REFUSED(P016, U8, 2, right, NULL, "P016 is uint16");
    REFUSED(NV12, U8, 2, rows, NULL, "(H*3/2, W)");
    REFUSED(NV12, U8, 2, wide, NULL, "even W");
    REFUSED(NV12, U8, 3, deep, NULL, "(2, 6, 8)");
    REFUSED(NV12, U8, 2, luma, tall, "(2, 4, 2) or (2, 8)");
    REFUSED(NV16, U8, 2, luma, chroma, "(4, 4, 2) or (4, 8)");
    REFUSED(NV12, U8, 2, luma, other, "(2, 4, 2) of uint16");
    REFUSED(HWC, U8, 2, luma, chroma, "`chroma` is set");
    REFUSED(YUV444, U8, 3, three, chroma, "`chroma` is set");
    REFUSED(YUV444, U8, 3, four, NULL, "(3, H, W)");
    REFUSED(YUV444, F32, 3, three, NULL, "YUV444 is either");
    REFUSED(YUV444, U8, 2, thirds, NULL, "(H*3, W)");
    REFUSED(NV12, U8, 3, three, chroma, "with `chroma` set, the tensor must be the luma plane");
#undef REFUSED
    tensors_end();
}

/* (12, 8), also with added dimensions of size 1, and (1, 3, 4, 8) describe the same planes. */
TEST(yuv_dimensions_of_size_one_are_ignored)
{
    need_publish_kernels();
    static const int64_t shapes[][4] = {{12, 8}, {12, 8, 1}, {1, 12, 8, 1}, {1, 3, 4, 8}};
    static const unsigned dimensions[] = {2, 3, 4, 4};
    static unsigned char planes[3 * 4 * 8], first[4 * 8 * 4];
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    pattern_fill(planes, sizeof(planes), 7);
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(*dimensions); i++) {
        gr_tensor *tensor =
            tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, dimensions[i], shapes[i], planes);
        assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
        image_download(&image, 0, 0, i == 0 ? first : texels);
        if (i > 0)
            ck_assert_mem_eq(texels, first, sizeof(first));
        image_fill(&image, 9);
        tensors_end();
    }
}

TEST(nv12_of_an_odd_height_cannot_be_flipped)
{
    const struct image image = image_make("RGBA8", "2D", 8, 3, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const int64_t shape[] = {5, 8};
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, shape, NULL);
    assert_invalid(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .flip = true), fx.stream),
        "with an odd height, 3");
    tensors_end();
}

TEST(yuv_is_published_only_to_colour_images_and_not_fetched)
{
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    const struct image integers = image_make("RGBA8UI", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_resource) *numbers = must_register_image(&integers, GR_READ_WRITE);
    const int64_t shape[] = {6, 8};
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, shape, NULL);
    assert_fails(gr_fetch(resource, tensor, NULL, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "conversion to YUV is not supported");
    assert_invalid(gr_publish(numbers, tensor, NULL, fx.stream), "read as integers");
    assert_invalid(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .bgr = true), fx.stream),
        "`bgr`");
    assert_invalid(gr_publish(resource, tensor,
                              &GR_INIT(gr_publish_options, .matrix = (gr_yuv_matrix)3), fx.stream),
                   "`matrix` is 3");
    tensors_end();
}
