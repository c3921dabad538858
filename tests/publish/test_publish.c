/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes tensors to OpenGL images and fetches them back: each type, layout, number of channels
 * and format, with the options. A simple reference computes the expected values. publish_rules.c
 * tests the rules, publish_buffers.c buffers and rings, publish_yuv.c YUV, and publish_vulkan.c
 * Vulkan.
 */
#include "publish_support.h"

#include <string.h>

static const char *const formats[] = {"R8",     "RG8",     "RGBA8",  "SRGB8_ALPHA8", "R16",
                                      "RG16",   "RGBA16",  "R16F",   "RGBA16F",      "RG32F",
                                      "R32F",   "RGBA32F", "R8UI",   "RGBA8UI",      "RGBA16UI",
                                      "RGBA8I", "R16I",    "RG32UI", "RGBA32I"};

static const float scale[] = {0.5f, 0.25f, 1.5f, 0.75f}, bias[] = {0.125f, 0.5f, -0.25f, 0.0625f};
static const float alpha = 0.375f;

/* Numbers that float cannot represent. */
static const double scale_f64[] = {0.1, 1 / 3.0, 1.7, 0.7}, bias_f64[] = {0.1, 0.3, -0.2, 0.05};
static const double alpha_f64 = 0.7;

static const gr_publish_options options[] = {
    {.struct_size = sizeof(gr_publish_options)},
    {.struct_size = sizeof(gr_publish_options), .flip = true, .x = 8, .y = 1},
    {.struct_size = sizeof(gr_publish_options), .bgr = true, .alpha = &alpha},
    {.struct_size = sizeof(gr_publish_options),
     .scale_f64 = scale_f64,
     .bias_f64 = bias_f64,
     .alpha_f64 = &alpha_f64},
    {.struct_size = sizeof(gr_publish_options), .srgb = true},
    {.struct_size = sizeof(gr_publish_options),
     .bgr = true,
     .flip = true,
     .scale = scale,
     .bias = bias,
     .alpha = &alpha,
     .srgb = true,
     .x = 3,
     .y = 1,
     .width = 7,
     .height = 2},
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

/*
 * Sizes in texels: widths that are multiples of four and some that are not, with aligned and with
 * unaligned rows; and the memory of the tensor.
 */
static const struct {
    unsigned width, height;
    size_t gap;
    bool on_host;
} sizes[] = {
    {32, 5, 0, false}, {13, 4, 0, false}, {16, 3, 64, false}, {12, 3, 8, false}, {13, 3, 68, true}};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static unsigned char texels[IMAGE_MOST_BYTES];
static bool fetching;

/* The rectangle of the options. */
static struct elements part_of(const struct elements *e, const gr_publish_options *o)
{
    struct elements part = *e;
    part.width = o->width ? o->width : e->width - o->x;
    part.height = o->height ? o->height : e->height - o->y;
    part.bytes += (int64_t)o->x * e->pixel + (int64_t)o->y * e->row;
    return part;
}

/* Returns NULL, or that texels outside of the rectangle are not as `before`. */
static const char *rest_differs(const struct elements *whole, const struct elements *part,
                                unsigned char *before)
{
    const ptrdiff_t first = part->bytes - whole->bytes;
    for (unsigned y = 0; y < part->height; y++)
        memcpy(before + first + (int64_t)y * whole->row, part->bytes + (int64_t)y * whole->row,
               (size_t)part->pixel * part->width);
    return memcmp(before, whole->bytes, (size_t)whole->row * whole->height) == 0
               ? NULL
               : "texels outside of the rectangle changed";
}

static void check_one(const struct image *image, gr_resource *resource, gr_dtype dtype,
                      gr_layout layout, unsigned channels, size_t gap, const gr_publish_options *o)
{
    static unsigned char before[IMAGE_MOST_BYTES];
    const struct elements whole = image_elements(image, texels), there = part_of(&whole, o);
    struct device_tensor t = tensor_make(dtype, layout, there.width, there.height, channels, gap,
                                         there.is_number, channels + (unsigned)gap);
    elements_fill(&whole, 99);
    memcpy(before, texels, sizeof(before));
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    image_put(buffer, 0, 0, texels);
    const char *difference = NULL;
    const gr_status status = fetching ? gr_buffer_fetch(buffer, t.tensor, o, fx.stream)
                                      : gr_buffer_publish(buffer, t.tensor, o, fx.stream);
    if (status != GR_OK)
        difference = error_text();
    tensor_get(&t);
    image_get(buffer, 0, 0, texels);
    if (!difference)
        difference = transfer_differs(fetching ? &there : &t.elements,
                                      fetching ? &t.elements : &there, o, fetching);
    if (!difference)
        difference = rest_differs(&whole, &there, before);
    ck_assert_msg(!difference, "%s, %u x %u, flags 0x%x, %s %s x %u, gap %zu, options %zu: %s",
                  image->format->name, image->width, image->height,
                  gr_resource_get_info(resource)->flags, gr_dtype_get_info(dtype)->name,
                  layout == GR_LAYOUT_CHW ? "CHW" : "HWC", channels, gap, (size_t)(o - options),
                  difference);
    tensor_end(&t);
}

/* A bit mask of the channel counts that a tensor for the image may have. */
static unsigned channels_for(unsigned of_image)
{
    if (of_image == 4)
        return fetching ? 1u << 3 | 1u << 4 : 1u << 1 | 1u << 3 | 1u << 4;
    if (of_image == 1)
        return fetching ? 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 : 1u << 0 | 1u << 1;
    return 1u << of_image;
}

static bool makes_sense(const struct image *image, gr_dtype dtype, unsigned channels,
                        const gr_publish_options *o)
{
    const bool numbers = image_elements(image, texels).is_number;
    const bool fractions = !numbers && image->format->kind != IMAGE_FLOAT;
    return !(o->bgr && channels < 3) && !(o->srgb && numbers) &&
           !(fractions && is_number(dtype) && !o->scale);
}

static void check_options(const struct image *image, gr_resource *resource, gr_dtype dtype,
                          unsigned channels, size_t gap)
{
    /* The others share most code: half of the cases take half of the time. */
    const bool common = dtype <= GR_DTYPE_U16 || (dtype >= GR_DTYPE_F16 && dtype <= GR_DTYPE_F32);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!makes_sense(image, dtype, channels, &options[i]))
            continue;
        if (common || i % 2)
            check_one(image, resource, dtype, GR_LAYOUT_SHAPE, channels, gap, &options[i]);
        if (channels > 0 && (common || i % 2 == 0))
            check_one(image, resource, dtype, GR_LAYOUT_CHW, channels, gap, &options[i]);
    }
}

static void check_format(const char *format, size_t size, unsigned flags)
{
    const struct image image = image_make(format, "2D", sizes[size].width, sizes[size].height, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, flags);
    const unsigned channels = channels_for(image_channels(image.format));
    for (gr_dtype d = GR_DTYPE_U8; d <= GR_DTYPE_BOOL; d++)
        for (unsigned c = 0; c <= 4; c++)
            if (channels & 1u << c)
                check_options(&image, resource, d, c, sizes[size].gap);
    gr_resource_close(resource, fx.stream);
    image_delete(&image);
}

static void check_all(size_t size)
{
    const size_t step = EACH_NTH(4);
    need_publish_kernels();
    tensors_on_host = sizes[size].on_host;
    for (size_t f = size % step; f < sizeof(formats) / sizeof(formats[0]); f += step) {
        check_format(formats[f], size, GR_SURFACE_LOAD_STORE);
        check_format(formats[f], size, GR_READ_WRITE);
    }
}

GROUP("table", add_image_case)
TAG("bytes")

TEST(every_type_can_be_published_to_every_format, SIZES)
{
    fetching = false;
    check_all((size_t)_i);
}

TEST(every_type_can_be_fetched_from_every_format, SIZES)
{
    fetching = true;
    check_all((size_t)_i);
}
