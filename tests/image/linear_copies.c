/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies between an image and linear memory with pitches, on the device and on the host. */
#define _GNU_SOURCE
#include "tests/support/support_image.h"

#define GUARD 0xA5 /* fills the bytes that no copy may write */

static unsigned char texels[IMAGE_MOST_BYTES], got[IMAGE_MOST_BYTES], rows[2 * IMAGE_MOST_BYTES],
    copied[sizeof(rows)];

GROUP("copies", add_image_case)

/*
 * A part of a level: layers, or slices of a 3D image, from `first` on, where a count of 0 means one
 * layer or all slices, and a rectangle. Its rows and slices in memory have no gaps if `pitch` and
 * `slice` are 0.
 */
static const struct part {
    const char *format, *target;
    unsigned wide, high, level, first, count, x, y, width, height;
    size_t pitch, slice;
} parts[] = {
    {"RGBA8", "2D", 13, 7, .level = 0},
    {"RGBA8", "2D", 13, 7, .pitch = 13 * 4 + 12},
    {"RGBA8", "2D", 13, 7, .level = 1, .pitch = 512},
    {"RGBA8", "2D", 13, 7, .x = 3, .y = 2, .width = 5, .height = 4},
    {"R8", "2D", 13, 7, .x = 12, .pitch = 17},
    {"RG16", "3D", 13, 7, .pitch = 64},
    {"RG16", "3D", 13, 7, .pitch = 64, .slice = 64 * 9},
    {"RG16", "3D", 13, 7, .level = 1, .pitch = 32, .slice = 32 * 4},
    {"R8", "3D", 13, 7, .first = 1, .count = 2, .y = 5, .pitch = 64},
    {"RGBA16F", "2D_ARRAY", 13, 7, .first = 2, .pitch = 128},
    {"RGBA16F", "2D_ARRAY", 13, 7, .level = 1, .first = 1, .pitch = 128},
    {"RGBA8", "2D_ARRAY", 13, 7, .first = 1, .count = 2, .slice = 52 * 9},
    {"R32F", "CUBE", 7, 7, .first = 5, .width = 3, .pitch = 32},
    {"R32F", "CUBE", 7, 7, .level = 1, .first = 3, .height = 1},
    {"RG16", "CUBE", 7, 7, .first = 1, .count = 4, .x = 1, .width = 2},
};

/* Copies the part to memory filled with GUARD, and back from other bytes. */
static void check_part(const struct part *p, const gr_gl_options *by, bool on_device)
{
    struct image image = image_filled(p->format, p->target, p->wide, p->high, 2, 1);
    const bool is_3d = image.slices > 1;
    const size_t texel = image_texel_bytes(image.format), across = image_width(&image, p->level);
    const size_t rows_all = image_height(&image, p->level);
    const size_t row = (p->width ? p->width : across - p->x) * texel;
    const size_t height = p->height ? p->height : rows_all - p->y;
    const size_t pitch = p->pitch ? p->pitch : row, slice = p->slice ? p->slice : pitch * height;
    const size_t count = p->count ? p->count : image_slices(&image, p->level);
    const size_t size = slice * count;
    CUdeviceptr device;
    CU(MemAlloc(&device, size));
    const gr_linear_desc memory =
        GR_INIT(gr_linear_desc, .device = on_device ? device : 0, .host = on_device ? NULL : rows,
                .pitch = p->pitch, .slice = p->slice, .x = p->x, .y = p->y, .width = p->width,
                .height = p->height, .z = is_3d ? p->first : 0, .depth = is_3d ? p->count : 0,
                .layers = is_3d ? 0 : p->count);
    const unsigned layer = is_3d ? 0 : p->first;
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, image.target->target, GR_READ_WRITE, by));
    gr_buffer *mapped = must_map_image(resource);
    memset(rows, GUARD, sizeof(rows));
    CU(MemcpyHtoDAsync(device, rows, size, fx.stream));
    assert_ok(gr_buffer_copy_to_linear(mapped, p->level, layer, &memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    if (on_device)
        CU(MemcpyDtoH(rows, device, size));
    memcpy(copied, rows, sizeof(rows));
    image_pattern(image.format, rows, size, 2);
    CU(MemcpyHtoDAsync(device, rows, size, fx.stream));
    assert_ok(gr_buffer_copy_from_linear(mapped, p->level, layer, &memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_buffer_release(mapped));
    for (unsigned i = 0; i < image.layers; i++) {
        const size_t bytes = image_bytes(&image, p->level);
        const size_t before = is_3d ? p->first : 0;
        const bool has = is_3d || (i >= p->first && i < p->first + count);
        image_pattern(image.format, texels, bytes, image_seed(1, p->level, i));
        for (size_t n = 0; has && n < (is_3d ? count : 1) * height; n++) {
            const size_t y = (before + n / height) * rows_all + p->y + n % height;
            const size_t at = (is_3d ? n / height : i - p->first) * slice + n % height * pitch;
            ck_assert_mem_eq(copied + at, texels + (y * across + p->x) * texel, row);
            memset(copied + at, GUARD, row);
            memcpy(texels + (y * across + p->x) * texel, rows + at, row);
        }
        image_download(&image, p->level, i, got);
        ck_assert_mem_eq(got, texels, bytes);
    }
    assert_bytes(copied, sizeof(copied), GUARD);
    CU(MemFree(device));
    image_delete(&image);
}

TEST(parts_are_copied, 4)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        check_part(&parts[i], _i / 2 ? &by_copy : &by_interop, _i % 2);
}

/* Copies in both directions on a stream other than that of the map run in stream order. */
TEST(copies_are_ordered_on_their_stream)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    CU(StreamSynchronize(fx.stream));
    size_t bytes = image_bytes(&image, 0);
    CUdeviceptr device = 0;
    CU(MemAlloc(&device, bytes));
    const gr_linear_desc memory = GR_INIT(gr_linear_desc, .device = device);
    gate_open_after(gate_put(fx.other), 30);
    CU(MemsetD8Async(device, 7, bytes, fx.other));
    assert_ok(gr_buffer_copy_from_linear(buffer, 0, 0, &memory, fx.other));
    CU(MemsetD8Async(device, 8, bytes, fx.other));
    assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &memory, fx.other));
    CU(StreamSynchronize(fx.other));
    CU(MemcpyDtoH(got, device, bytes));
    assert_bytes(got, bytes, 7);
    assert_ok(gr_buffer_release(buffer));
    image_download(&image, 0, 0, got);
    assert_bytes(got, bytes, 7);
    CU(MemFree(device));
}

static gr_buffer *buffer;

static void both_fail(gr_linear_desc memory, const char *text)
{
    assert_invalid(gr_buffer_copy_to_linear(buffer, 0, 0, &memory, fx.stream), text);
    assert_invalid(gr_buffer_copy_from_linear(buffer, 0, 0, &memory, fx.stream), text);
}

TEST(linear_memory_that_does_not_fit_is_refused)
{
    struct image image = image_make("RGBA8", "3D", 13, 7, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    CUdeviceptr device = 0;
    CU(MemAlloc(&device, 4096));
    buffer = must_map_image(resource);
    both_fail(GR_INIT(gr_linear_desc, .host = NULL), "host");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .device = device), "device");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .pitch = 13 * 4 - 1), "pitch");
    both_fail(GR_INIT(gr_linear_desc, .device = device, .pitch = 1), "52");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .pitch = 64, .slice = 64 * 6), "slice");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .pitch = 64, .slice = 64 * 7 + 1), "slice");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .slice = 13 * 4 * 7 - 4), "slice");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .z = 5), "level 0 has 5 slices");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .z = 3, .depth = 3), "`depth` of 3");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .layers = 1), "a 3D image has slices");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .x = 13), "13 x 7 texels");
    both_fail(GR_INIT(gr_linear_desc, .host = rows, .y = 2, .height = 6), "13 x 7 texels");
    assert_ok(gr_buffer_release(buffer));
    CU(MemFree(device));
}
