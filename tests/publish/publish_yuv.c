/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes and fetches luma and chroma planes: every layout, with the planes in one tensor or in
 * several, every matrix, range and chroma position. The values are compared with the definitions of
 * the standards, computed in double.
 */
#include "publish_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A picture in planes. */
struct yuv {
    gr_layout layout;
    bool wide; /* each value has 16 bits, or `bits` in the low bits */
    unsigned width, height;
    unsigned x_shift, y_shift;
    const char *tensors; /* the numbers of tensors that may have the planes */
    unsigned bits;
    bool high_bits;
};

static const struct yuv pictures[] = {
    {GR_LAYOUT_NV12, false, 32, 6, 1, 1, "123", 0, false},
    {GR_LAYOUT_NV12, false, 14, 4, 1, 1, "123", 0, false},
    {GR_LAYOUT_NV12, false, 10, 5, 1, 1, "12", 0, false},
    {GR_LAYOUT_NV12, false, 13, 3, 1, 1, "23", 8, false},
    {GR_LAYOUT_P016, true, 32, 6, 1, 1, "123", 0, false},
    {GR_LAYOUT_P016, true, 6, 7, 1, 1, "12", 0, false},
    {GR_LAYOUT_P016, true, 20, 3, 1, 1, "3", 10, false},
    {GR_LAYOUT_P016, true, 32, 6, 1, 1, "12", 10, true},
    {GR_LAYOUT_P016, true, 16, 5, 1, 1, "2", 12, true},
    {GR_LAYOUT_YUV422, true, 19, 5, 1, 0, "3", 12, true},
    {GR_LAYOUT_NV16, false, 32, 5, 1, 0, "123", 0, false},
    {GR_LAYOUT_NV16, false, 18, 3, 1, 0, "12", 0, false},
    {GR_LAYOUT_YUV444, false, 32, 5, 0, 0, "13", 0, false},
    {GR_LAYOUT_YUV444, false, 13, 3, 0, 0, "13", 0, false},
    {GR_LAYOUT_YUV444, true, 17, 4, 0, 0, "13", 0, false},
    {GR_LAYOUT_YUV444, true, 12, 4, 0, 0, "13", 10, false},
    {GR_LAYOUT_YUV444, true, 11, 3, 0, 0, "3", 12, false},
    {GR_LAYOUT_YUV420, false, 32, 6, 1, 1, "3", 0, false},
    {GR_LAYOUT_YUV420, false, 13, 5, 1, 1, "3", 0, false},
    {GR_LAYOUT_YUV420, true, 22, 4, 1, 1, "3", 10, false},
    {GR_LAYOUT_YUV422, false, 32, 3, 1, 0, "3", 0, false},
    {GR_LAYOUT_YUV422, true, 19, 4, 1, 0, "3", 12, false},
    {GR_LAYOUT_YUV422, true, 22, 3, 1, 0, "3", 10, false},
    {GR_LAYOUT_YUYV, false, 32, 3, 1, 0, "1", 0, false},
    {GR_LAYOUT_YUYV, false, 10, 4, 1, 0, "1", 0, false},
    {GR_LAYOUT_UYVY, false, 32, 3, 1, 0, "1", 0, false},
    {GR_LAYOUT_UYVY, false, 14, 5, 1, 0, "1", 0, false},
};
#define PICTURES (sizeof(pictures) / sizeof(pictures[0]))

static const struct yuv *of; /* the picture of the current case */

/* Y, U and V in `bytes`: the offset of the first value, and of the next column and row. */
static struct part {
    size_t first;
    int64_t column, row;
} parts[3];
static unsigned char bytes[16384];
static size_t used;

static int64_t element(void)
{
    return of->wide ? 2 : 1;
}

static int64_t colour_columns(void)
{
    return (of->width + of->x_shift) >> of->x_shift;
}

static int64_t colour_rows(void)
{
    return (of->height + of->y_shift) >> of->y_shift;
}

static bool is_woven(void)
{
    return of->layout == GR_LAYOUT_YUYV || of->layout == GR_LAYOUT_UYVY;
}

/* Reserves memory for rows that are `gap` values apart. */
static struct part reserve(int64_t columns, int64_t rows, int64_t gap)
{
    const struct part part = {used, element(), (columns + gap) * element()};
    used += (size_t)(rows * part.row + 15) / 16 * 16;
    ck_assert_uint_le(used, sizeof(bytes));
    return part;
}

/* Makes a part of every second value of `part`. */
static struct part every_second(struct part part, int64_t first)
{
    return (struct part){part.first + (size_t)(first * part.column), 2 * part.column, part.row};
}

/* Lays out one tensor, and fills in its rows and columns. */
static struct part place_joined(int64_t gap, int64_t shape[3])
{
    const int64_t width = of->width, height = of->height;
    const bool thirds = of->layout == GR_LAYOUT_YUV444, uyvy = of->layout == GR_LAYOUT_UYVY;
    shape[0] = is_woven() ? height : height + (thirds ? 2 : 1) * colour_rows();
    shape[1] = width;
    shape[2] = is_woven() ? 2 : 1;
    const struct part all = reserve(width * shape[2], shape[0], gap);
    struct part colour = all;
    parts[0] = all;
    if (is_woven()) {
        parts[0] = every_second(all, uyvy);
        parts[1] = every_second(every_second(all, !uyvy), 0);
        parts[2] = every_second(every_second(all, !uyvy), 1);
        return all;
    }
    colour.first += (size_t)(height * all.row);
    parts[1] = thirds ? colour : every_second(colour, 0);
    parts[2] = thirds ? colour : every_second(colour, 1);
    if (thirds)
        parts[2].first += (size_t)(height * all.row);
    return all;
}

/* Luma, u and v at a pixel, as they are stored. */
static void samples_at(unsigned x, unsigned y, double out[3])
{
    for (int i = 0; i < 3; i++) {
        const int64_t column = i ? x >> of->x_shift : x, row = i ? y >> of->y_shift : y;
        const unsigned char *at =
            bytes + parts[i].first + column * parts[i].column + row * parts[i].row;
        uint16_t value = *at;
        if (of->wide)
            memcpy(&value, at, sizeof(value));
        out[i] = ldexp(value, of->high_bits ? (int)of->bits - 16 : 0);
    }
}

/* By definition: luma is a weighted sum, and each chroma value a difference from it. */
static void colour_at(unsigned x, unsigned y, const gr_publish_options *o, double rgb[3])
{
    static const double red[] = {0.2126, 0.299, 0.2627}, blue[] = {0.0722, 0.114, 0.0593};
    double s[3];
    samples_at(x, y, s);
    const int bits = of->bits ? (int)of->bits : of->wide ? 16 : 8;
    const double step = ldexp(1, bits - 8), most = ldexp(1, bits) - 1;
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
                const double exact = rgb[c < 3 && o->bgr ? 2 - c : c];
                const double want = is_float ? exact : fmin(fmax(exact, 0), 1);
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

/* Fills all values. Unused bits are 0, as decoders write them. */
static void fill_planes(void)
{
    pattern_fill(bytes, used, 7);
    for (size_t i = 1; of->bits > 8 && i < used; i += 2)
        if (of->high_bits)
            bytes[i - 1] &= (unsigned char)(0xff << (16 - of->bits));
        else
            bytes[i] &= (unsigned char)((1u << (of->bits - 8)) - 1);
}

static gr_tensor *on_device; /* the device memory of the tensors */

/* A view of the memory, which the caller frees. */
static gr_tensor *view_of(gr_tensor *memory, const struct part *part, const int64_t shape[3])
{
    const int64_t strides[] = {part->row, part->column * (shape[2] ? shape[2] : 1), element()};
    return must_make(gr_tensor_view(memory, &GR_INIT(gr_tensor_desc,
                                                     .dtype = of->wide ? GR_DTYPE_U16 : GR_DTYPE_U8,
                                                     .ndim = shape[2] ? 3 : 2, .shape = shape,
                                                     .strides = strides, .offset = part->first)));
}

/* Makes `count` tensors of the picture, in host memory from the tensor `on_host` on. */
static void make_tensors(unsigned count, int64_t gap, unsigned on_host, gr_tensor *tensors[3])
{
    const int64_t rows = colour_rows(), columns = colour_columns();
    int64_t shapes[3][3] = {{of->height, of->width}, {rows, columns}, {rows, columns}};
    struct part all[3];
    used = 0;
    if (count == 1)
        all[0] = place_joined(gap, shapes[0]);
    else
        all[0] = parts[0] = reserve(of->width, of->height, gap);
    if (count == 2) {
        /* (rows, columns, 2), or (rows, 2 * columns) */
        all[1] = reserve(2 * columns, rows, gap);
        parts[1] = every_second(all[1], 0);
        parts[2] = every_second(all[1], 1);
        shapes[1][gap ? 1 : 2] = gap ? 2 * columns : 2;
    }
    for (unsigned i = 1; count == 3 && i < 3; i++)
        all[i] = parts[i] = reserve(columns, rows, i * gap);
    fill_planes();
    const int64_t size = (int64_t)used;
    gr_tensor *memory = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 1, &size, bytes);
    GR_AUTO(gr_tensor) *host = tensor_on_host(GR_DTYPE_U8, 1, &size, NULL, bytes);
    for (unsigned i = 0; i < count; i++)
        tensors[i] = view_of(i < on_host ? memory : host, &all[i], shapes[i]);
    on_device = memory;
}

static unsigned char texels[IMAGE_MOST_BYTES], expected[16];

/* ---- Fetches --------------------------------------------------------------------------------- */

/* Gets what a fetch has written to the device and to `bytes`. `before` was in both. */
static void get_planes(const unsigned char *before)
{
    static unsigned char downloaded[sizeof(bytes)];
    tensor_to_host(on_device, downloaded, used);
    for (size_t i = 0; i < used; i++)
        if (downloaded[i] != before[i])
            bytes[i] = downloaded[i];
}

/* A colour of the image from 0 to 1, in red, green and blue; beyond the edges the last one. */
static void image_colour(const struct elements *image, int64_t x, int64_t y,
                         const gr_publish_options *o, double rgb[3])
{
    const int64_t right = of->width - 1, top = of->height - 1;
    x = x < 0 ? 0 : x > right ? right : x;
    y = y < 0 ? 0 : y > top ? top : y;
    if (o->flip)
        y = top - y;
    for (unsigned c = 0; c < 3; c++) {
        const double value =
            element_value(image, (unsigned)x, (unsigned)y, image->channels == 1 ? 0 : c);
        rgb[o->bgr ? 2 - c : c] = fmin(fmax(value, 0), 1);
    }
}

/* By definition: the mean around a sample, and its luma and differences from luma. */
static double component_of(const struct elements *image, unsigned x, unsigned y, int which,
                           const gr_publish_options *o)
{
    static const double red[] = {0.2126, 0.299, 0.2627}, blue[] = {0.0722, 0.114, 0.0593};
    static const double between[] = {0, 1, 1}, at[] = {1, 2, 1}, alone[] = {0, 1, 0};
    const unsigned x_shift = which ? of->x_shift : 0, y_shift = which ? of->y_shift : 0;
    const double *columns = !x_shift                                 ? alone
                            : o->chroma_position != GR_CHROMA_CENTER ? at
                                                                     : between;
    const double *rows = !y_shift ? alone : o->chroma_position == GR_CHROMA_TOP_LEFT ? at : between;
    double mean[3] = {0, 0, 0}, all = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            double rgb[3];
            const double weight = columns[i + 1] * rows[j + 1];
            image_colour(image, ((int64_t)x << x_shift) + i, ((int64_t)y << y_shift) + j, o, rgb);
            for (int c = 0; c < 3; c++)
                mean[c] += weight * rgb[c];
            all += weight;
        }
    const double r = mean[0] / all, g = mean[1] / all, b = mean[2] / all;
    const double kr = red[o->matrix], kb = blue[o->matrix];
    const double luma = kr * r + (1 - kr - kb) * g + kb * b;
    const int bits = of->bits ? (int)of->bits : of->wide ? 16 : 8;
    const double step = ldexp(1, bits - 8), most = ldexp(1, bits) - 1;
    const double difference = which == 1 ? (b - luma) / (2 - 2 * kb) : (r - luma) / (2 - 2 * kr);
    const double value = which ? 128 * step + difference * (o->full_range ? most : 224 * step)
                         : o->full_range ? luma * most
                                         : 16 * step + luma * 219 * step;
    return fmin(fmax(value, 0), most);
}

/* Compares all samples, and the bytes between them, which a fetch does not change. */
static const char *planes_differ(const struct elements *image, const gr_publish_options *o,
                                 unsigned char *before)
{
    static char text[160];
    for (int i = 0; i < 3; i++)
        for (int64_t row = 0; row < (i ? colour_rows() : of->height); row++)
            for (int64_t column = 0; column < (i ? colour_columns() : of->width); column++) {
                const size_t at =
                    parts[i].first + (size_t)(column * parts[i].column + row * parts[i].row);
                uint16_t stored = bytes[at];
                if (of->wide)
                    memcpy(&stored, bytes + at, sizeof(stored));
                const unsigned low = of->high_bits ? 16 - of->bits : 0;
                const double want = component_of(image, (unsigned)column, (unsigned)row, i, o);
                memcpy(before + at, bytes + at, (size_t)element());
                /* A value halfway between two integers may be rounded to either of them. */
                if (fabs((stored >> low) - want) <= 0.52 && !(stored & ((1u << low) - 1)))
                    continue;
                snprintf(text, sizeof(text), "plane %d, %d, %d is %u, not %g", i, (int)column,
                         (int)row, stored, ldexp(want, (int)low));
                return text;
            }
    return memcmp(before, bytes, used) == 0 ? NULL : "a byte between the samples changed";
}

/* ---- All pictures ---------------------------------------------------------------------------- */

/* Publishes or fetches one picture, and compares all colours or all samples. */
static void check(const struct image *image, gr_resource *resource, gr_publish_options o,
                  unsigned count, int64_t gap, bool fetches)
{
    static unsigned char before[sizeof(bytes)];
    const struct elements there = image_elements(image, texels);
    /* all tensors on the device, all on the host, or the third on the host */
    static const unsigned on_host[] = {3, 0, 2};
    gr_tensor *tensors[3] = {NULL, NULL, NULL};
    make_tensors(count, gap, on_host[o.matrix], tensors);
    memcpy(before, bytes, used);
    o.chroma = tensors[1];
    o.chroma_v = tensors[2];
    o.layout = of->layout;
    o.bits = of->bits;
    o.high_bits = of->high_bits;
    assert_ok(fetches ? gr_fetch(resource, tensors[0], &o, fx.stream)
                      : gr_publish(resource, tensors[0], &o, fx.stream));
    if (fetches) {
        get_planes(before);
    } else {
        gr_buffer *buffer = must_map_image(resource);
        image_get(buffer, 0, 0, texels);
        assert_ok(gr_buffer_release(buffer));
    }
    const char *difference =
        fetches ? planes_differ(&there, &o, before) : colours_differ(&there, &o);
    ck_assert_msg(!difference,
                  "layout %d, %u x %u, matrix %d, full %d, flip %d, bgr %d, position %d, %u bits, "
                  "%u tensors, gap %d, %s %s: %s",
                  of->layout, of->width, of->height, o.matrix, o.full_range, o.flip, o.bgr,
                  o.chroma_position, of->bits, count, (int)gap, fetches ? "from" : "to",
                  image->format->name, difference);
    for (unsigned i = 0; i < count; i++)
        gr_tensor_free(tensors[i]);
    tensors_end();
}

static void fill_elements(const struct image *image, gr_resource *resource)
{
    const struct elements there = image_elements(image, texels);
    elements_fill(&there, 5);
    gr_buffer *buffer = must_map_image(resource);
    image_put(buffer, 0, 0, texels);
    assert_ok(gr_buffer_release(buffer));
}

static void check_all(const char *format, unsigned flags, bool fetches)
{
    const struct image image = image_make(format, "2D", of->width, of->height, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, flags);
    static const int64_t gaps[] = {0, 4, 3}; /* rows are aligned for wide loads, or not */
    const bool flips = !(of->y_shift && of->height % 2);
    if (fetches)
        fill_elements(&image, resource);
    for (const char *count = of->tensors; *count; count++)
        for (int matrix = GR_YUV_BT709; matrix <= GR_YUV_BT2020; matrix++)
            for (int i = 0; i < (flips ? 4 : 2); i++) {
                const int position = fetches ? (matrix + i + (*count == '2')) % 3 : 0;
                const gr_publish_options o =
                    GR_INIT(gr_publish_options, .matrix = (gr_yuv_matrix)matrix, .bgr = matrix == i,
                            .full_range = i & 1, .flip = i & 2,
                            .chroma_position = (gr_chroma_position)position);
                check(&image, resource, o, (unsigned)(*count - '0'), gaps[(matrix + i) % 3],
                      fetches);
            }
}

GROUP("yuv", add_image_case)
TAG("bytes")

TEST(yuv_is_converted_as_the_standards_define, PICTURES)
{
    need_publish_kernels();
    of = &pictures[_i];
    check_all("RGBA8", GR_SURFACE_LOAD_STORE, false);
    check_all("RGBA32F", GR_SURFACE_LOAD_STORE, false);
}

GROUP("to_yuv", add_image_case)
TAG("bytes")

TEST(colours_become_yuv_as_the_standards_define, PICTURES)
{
    static const char *const formats[] = {"RGBA8", "RGBA16", "RGBA16F", "RGBA32F", "R8"};
    need_publish_kernels();
    of = &pictures[_i];
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        check_all(formats[i], GR_SURFACE_LOAD_STORE, true);
        check_all(formats[i], GR_READ_WRITE, true);
    }
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

TEST(planes_whose_shape_does_not_fit_the_image_are_refused)
{
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const int64_t right[] = {6, 8}, rows[] = {7, 8}, wide[] = {6, 9}, deep[] = {2, 6, 8};
    const int64_t luma[] = {4, 8}, three[] = {3, 4, 8}, four[] = {4, 4, 8}, odd[] = {4, 7, 2};
    const int64_t colour[] = {2, 4, 2}, high[] = {4, 4, 2}, thirds[] = {13, 8}, one[] = {2, 4};
    const int64_t woven[] = {4, 8, 2};
    gr_tensor *pairs = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, colour, NULL);
    gr_tensor *tall = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, high, NULL);
    gr_tensor *other = tensor_of(GR_DTYPE_U16, GR_LAYOUT_SHAPE, 3, colour, NULL);
    gr_tensor *u = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 2, one, NULL);
    const struct {
        gr_layout layout;
        gr_dtype dtype;
        unsigned ndim;
        const int64_t *shape;
        const char *text;
        const gr_tensor *chroma, *chroma_v;
        unsigned bits;
    } refused[] = {
#define REFUSED(layout, dtype, ...) {GR_LAYOUT_##layout, GR_DTYPE_##dtype, __VA_ARGS__}
        REFUSED(NV12, U16, 2, right, "(6, 8) of uint16 (NV12)", NULL, NULL, 0),
        REFUSED(P016, U8, 2, right, "P016 is uint16", NULL, NULL, 0),
        REFUSED(NV12, U8, 2, rows, "(H*3/2, W)", NULL, NULL, 0),
        REFUSED(NV12, U8, 2, wide, "even W", NULL, NULL, 0),
        REFUSED(NV12, U8, 3, deep, "(2, 6, 8)", NULL, NULL, 0),
        REFUSED(NV16, U8, 3, high, "is GR_LAYOUT_YUYV", NULL, NULL, 0),
        REFUSED(SHAPE, U8, 3, woven, "set `layout`, such as GR_LAYOUT_YUYV", NULL, NULL, 0),
        REFUSED(NV12, U8, 2, luma, "the UV plane must be (2, 4, 2) or (2, 8) of uint8", tall, NULL,
                0),
        REFUSED(NV16, U8, 2, luma, "(4, 4, 2) or (4, 8)", pairs, NULL, 0),
        REFUSED(NV12, U8, 2, luma, "(2, 4, 2) of uint16", other, NULL, 0),
        REFUSED(HWC, U8, 2, luma, "`chroma` is set", pairs, NULL, 0),
        REFUSED(YUYV, U8, 2, luma, "`chroma` is set", pairs, NULL, 0),
        REFUSED(YUV444, U8, 3, three, "`chroma` is set", pairs, NULL, 0),
        REFUSED(YUV444, U8, 3, four, "(3, H, W)", NULL, NULL, 0),
        REFUSED(YUV444, F32, 3, three, "YUV444 are either", NULL, NULL, 0),
        REFUSED(YUV444, U8, 2, thirds, "(H*3, W)", NULL, NULL, 0),
        REFUSED(NV12, U8, 3, three, "with `chroma` set, the tensor must be the luma plane", pairs,
                NULL, 0),
        REFUSED(YUV420, U8, 2, right, "pass Y, U as `chroma` and V as `chroma_v`", NULL, NULL, 0),
        REFUSED(YUV420, U8, 2, luma,
                "`chroma` is (2, 4, 2) of uint8: the U plane must be (2, 4) of uint8", pairs, u, 0),
        REFUSED(YUV422, U8, 2, luma,
                "`chroma` is (2, 4) of uint8: the U plane must be (4, 4) of uint8", u, u, 0),
        REFUSED(YUV420, U8, 2, luma,
                "`chroma_v` is (4, 4, 2) of uint8: the V plane must be (2, 4) of uint8", u, tall,
                0),
        REFUSED(HWC, U8, 2, luma, "`chroma_v` is set", u, u, 0),
        REFUSED(YUV420, U8, 2, luma, "`chroma` is NULL", NULL, u, 0),
        REFUSED(YUYV, U8, 3, odd, "(H, W, 2), with an even W", NULL, NULL, 0),
        REFUSED(UYVY, U8, 2, luma, "(H, W, 2), with an even W", NULL, NULL, 0),
        REFUSED(NV12, U8, 2, right, "leave `bits` 0", NULL, NULL, 10),
        REFUSED(P016, U16, 2, right, "set 8 to 16, or 0 for 16", NULL, NULL, 17),
        REFUSED(SHAPE, U16, 2, luma, "`bits` is for YUV", NULL, NULL, 10),
#undef REFUSED
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        gr_tensor *tensor =
            tensor_of(refused[i].dtype, GR_LAYOUT_SHAPE, refused[i].ndim, refused[i].shape, NULL);
        const gr_publish_options o =
            GR_INIT(gr_publish_options, .layout = refused[i].layout, .chroma = refused[i].chroma,
                    .chroma_v = refused[i].chroma_v, .bits = refused[i].bits);
        assert_fails(gr_publish(resource, tensor, &o, fx.stream), GR_ERR_INVALID_VALUE, 0,
                     refused[i].text);
    }
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

/* The planes of NV12 are two pictures. Catches: the message advised to set a layout. */
TEST(nv12_to_an_image_of_one_channel_is_refused)
{
    const struct image image = image_make("R8", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, (const int64_t[]){6, 8}, NULL);
    assert_invalid(gr_publish(resource, tensor, NULL, fx.stream),
                   "YUV is converted from and to 3 or 4 channels");
    tensors_end();
}

TEST(nv12_of_an_odd_height_cannot_be_flipped)
{
    const struct image image = image_make("RGBA8", "2D", 8, 3, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, (const int64_t[]){5, 8}, NULL);
    assert_invalid(
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, .flip = true), fx.stream),
        "The tensor is (5, 8) of uint8 (NV12) with an odd height, 3: its chroma rows can't be "
        "flipped. Omit `flip`");
    tensors_end();
}

TEST(yuv_is_only_converted_from_and_to_colours)
{
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    const struct image integers = image_make("RGBA8UI", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_resource) *numbers = must_register_image(&integers, GR_READ_WRITE);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, (const int64_t[]){6, 8}, NULL);
    assert_invalid(gr_publish(numbers, tensor, NULL, fx.stream), "read as integers");
    assert_invalid(gr_fetch(numbers, tensor, NULL, fx.stream), "only be converted from colours");
    assert_invalid(gr_publish(resource, tensor,
                              &GR_INIT(gr_publish_options, .matrix = (gr_yuv_matrix)3), fx.stream),
                   "`matrix` is 3");
    tensors_end();
}

/* A layered surface, whose texels are read one by one, gives the bytes of linear memory. */
TEST(yuv_of_a_rectangle_of_a_layer_is_fetched)
{
    need_publish_kernels();
    static const int64_t luma[] = {7, 9}, chroma[] = {4, 5, 2};
    static unsigned char got[2][103], before[103];
    memset(before, 0xee, sizeof(before));
    for (int i = 0; i < 2; i++) {
        const struct image image = image_filled("RGBA8", "2D_ARRAY", 12, 12, 1, 1);
        GR_AUTO(gr_resource) *resource =
            must_register_image(&image, i ? GR_SURFACE_LOAD_STORE : GR_READ_WRITE);
        gr_tensor *y = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, luma, before);
        gr_tensor *uv = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, chroma, before);
        const gr_publish_options o =
            GR_INIT(gr_publish_options, .chroma = uv, .layer = 1, .x = 3, .y = 1, .width = 9,
                    .height = 7, .chroma_position = GR_CHROMA_TOP_LEFT);
        assert_ok(gr_fetch(resource, y, &o, fx.stream));
        assert_ok(gr_tensor_copy_to_host(y, got[i], 63, fx.stream));
        tensor_to_host(uv, got[i] + 63, 40);
        tensors_end();
    }
    ck_assert_mem_eq(got[0], got[1], sizeof(got[0]));
    ck_assert_int_ne(memcmp(got[0], before, sizeof(before)), 0);
}

/* A refused fetch changes no byte. */
TEST(a_fetch_to_yuv_with_options_that_do_not_fit_is_refused)
{
    static const gr_publish_options refused[] = {
        {.high_bits = true}, {.bits = 7}, {.bits = 10}, {.chroma_position = (gr_chroma_position)3}};
    static const char *const texts[] = {"`bits` is 0", "set 8 to 16", "set `high_bits`",
                                        "`chroma_position` is 3"};
    const struct image image = image_make("RGBA8", "2D", 8, 4, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const int64_t shape[] = {6, 8}, luma[] = {4, 8}, half[] = {2, 4};
    pattern_fill(expected, sizeof(expected), 1);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U16, GR_LAYOUT_P016, 2, shape, NULL);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, 96, fx.stream));
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        gr_publish_options o = refused[i];
        o.struct_size = sizeof(o);
        assert_invalid(gr_fetch(resource, tensor, &o, fx.stream), texts[i]);
    }
    assert_invalid(gr_publish(resource, tensor,
                              &GR_INIT(gr_publish_options, .chroma_position = GR_CHROMA_LEFT),
                              fx.stream),
                   "`chroma_position` is GR_CHROMA_LEFT");
    gr_tensor *y = tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV420, 2, luma, NULL);
    gr_tensor *u = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 2, half, NULL);
    gr_publish_options o = GR_INIT(gr_publish_options, .chroma = u, .chroma_v = u);
    assert_invalid(gr_fetch(resource, y, &o, fx.stream), "U and V share bytes");
    GR_AUTO(gr_tensor) *constant = must_make(gr_tensor_from_memory(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = half, .read_only = true),
        (void *)(uintptr_t)gr_tensor_get_info(u)->ptr, GR_STREAM_NONE, NULL, NULL));
    o.chroma_v = constant;
    assert_fails(gr_fetch(resource, y, &o, fx.stream), GR_ERR_STATE, 0,
                 "The chroma plane is read-only");
    tensor_to_host(tensor, texels, 96);
    for (int i = 0; i < 96; i++)
        ck_assert_int_eq(texels[i], 0xee);
    tensors_end();
}

/*
 * Planes of float32 in a buffer: red, white, black and blue, each of 2 x 2 pixels. In the buffer of
 * another call they become NV12 again, of which a fetch is a copy.
 */
TEST(colours_in_a_buffer_become_yuv_and_yuv_in_a_buffer_colours)
{
    need_publish_kernels();
    static const unsigned char rgb[4][3] = {{1, 0, 0}, {1, 1, 1}, {0, 0, 0}, {0, 0, 1}};
    static const unsigned char yuv[4][3] = {
        {81, 90, 240}, {235, 128, 128}, {16, 128, 128}, {41, 240, 110}};
    static const int64_t planes[] = {3, 4, 4}, joined[] = {6, 4};
    float colours[48];
    unsigned char got[24], again[24];
    for (int i = 0; i < 48; i++)
        colours[i] = rgb[i % 16 / 8 * 2 + i % 4 / 2][i / 16];
    const GLuint source = gl_buffer_filled(sizeof(colours), 1), nv12 = gl_buffer_filled(24, 1);
    GR_AUTO(gr_resource) *from = must_register_as(source, GR_READ_WRITE);
    GR_AUTO(gr_resource) *to = must_register_as(nv12, GR_READ_WRITE);
    gr_tensor *all = tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, 3, planes, colours);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, joined, NULL);
    const gr_tensor_desc described = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3,
                                             .shape = planes, .layout = GR_LAYOUT_CHW);
    const gr_tensor_desc as_yuv = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2,
                                          .shape = joined, .layout = GR_LAYOUT_NV12);
    gr_publish_options o =
        GR_INIT(gr_publish_options, .matrix = GR_YUV_BT601, .target = &described);
    assert_ok(gr_publish(from, all, NULL, fx.stream));
    assert_ok(gr_fetch(from, tensor, &o, fx.stream));
    tensor_to_host(tensor, got, sizeof(got));
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(got[i], yuv[i / 8 * 2 + i % 4 / 2][0]);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(got[16 + i], yuv[i / 2][1 + i % 2]);
    o.target = &as_yuv;
    assert_ok(gr_publish(to, all, &o, fx.stream));
    assert_ok(gr_fetch(to, tensor, NULL, fx.stream));
    tensor_to_host(tensor, again, sizeof(again));
    ck_assert_mem_eq(again, got, sizeof(got));
    o.layout = GR_LAYOUT_YUV444;
    const int64_t thirds[] = {12, 4};
    assert_fails(
        gr_fetch(to, tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, 2, thirds, NULL), &o, fx.stream),
        GR_ERR_UNSUPPORTED, 0, "YUV is converted from and to RGB only");
    o = GR_INIT(gr_publish_options,
                .target = &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_I8, .ndim = 3, .shape = planes,
                                   .layout = GR_LAYOUT_CHW));
    assert_fails(gr_fetch(from, tensor, &o, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "YUV is converted from and to uint8");
    tensors_end();
}
