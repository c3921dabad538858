/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies between an image and linear memory with pitches, on the device and on the host. */
#define _GNU_SOURCE
#include "tests/support/support_image.h"

#define GUARD 0xA5 /* fills the bytes that no copy may write */

static unsigned char texels[IMAGE_MOST_BYTES], got[IMAGE_MOST_BYTES], rows[2 * IMAGE_MOST_BYTES];

GROUP("copies", add_image_case)

/* Copies the texels of an image to memory with a pitch. GUARD fills the gaps between the rows. */
static void spread(const struct image *image, unsigned level, size_t pitch, size_t slice,
                   const unsigned char *from, unsigned char *to, size_t size)
{
    size_t row = (size_t)image_width(image, level) * image_texel_bytes(image->format);
    unsigned height = image_height(image, level);
    memset(to, GUARD, size);
    for (unsigned z = 0; z < image_slices(image, level); z++)
        for (unsigned y = 0; y < height; y++)
            memcpy(to + z * slice + y * pitch, from + (z * height + y) * row, row);
}

static void check_pitches(const struct image *image, unsigned level, unsigned layer, size_t pitch,
                          size_t slice, bool on_device)
{
    size_t size = slice * image_slices(image, level);
    static unsigned char wanted[2 * IMAGE_MOST_BYTES];
    ck_assert_uint_le(size, sizeof(wanted));
    CUdeviceptr device = 0;
    CU(MemAlloc(&device, size));
    CU(MemsetD8Async(device, GUARD, size, fx.stream));
    memset(rows, GUARD, sizeof(rows));
    image_fill(image, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    const gr_linear_desc memory =
        GR_INIT(gr_linear_desc, .device = on_device ? device : 0, .host = on_device ? NULL : rows,
                .pitch = pitch, .slice = slice);
    assert_ok(gr_buffer_copy_to_linear(buffer, level, layer, &memory, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(fx.stream));
    if (on_device)
        CU(MemcpyDtoH(rows, device, size));
    image_pattern(image->format, texels, image_bytes(image, level), image_seed(1, level, layer));
    spread(image, level, pitch, slice, texels, wanted, size);
    ck_assert_mem_eq(rows, wanted, size);

    image_pattern(image->format, texels, image_bytes(image, level), image_seed(2, level, layer));
    spread(image, level, pitch, slice, texels, rows, size);
    if (on_device)
        CU(MemcpyHtoDAsync(device, rows, size, fx.stream));
    assert_ok(gr_buffer_copy_from_linear(buffer, level, layer, &memory, GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release(buffer));
    assert_no_difference(image_level_differs(image, level, layer, 2));
    CU(MemFree(device));
}

/* Checks copies to and from host memory, and to and from device memory. */
static void check_both(const struct image *image, unsigned level, size_t pitch, size_t slice)
{
    check_pitches(image, level, 0, pitch, slice, false);
    check_pitches(image, level, 0, pitch, slice, true);
}

TEST(images_are_copied_with_a_pitch)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 2);
    check_both(&image, 0, 13 * 4, 13 * 4 * 7);
    check_both(&image, 0, 13 * 4 + 12, (13 * 4 + 12) * 7);
    check_both(&image, 1, 512, 512 * 3);
    struct image narrow = image_make("R8", "2D", 13, 7, 1);
    check_both(&narrow, 0, 17, 17 * 7);
}

TEST(slices_are_copied_with_a_pitch)
{
    struct image image = image_make("RG16", "3D", 13, 7, 2);
    check_both(&image, 0, 64, 64 * 7);
    check_both(&image, 0, 64, 64 * 9);
    check_both(&image, 1, 32, 32 * 4);
}

TEST(layers_and_faces_are_copied_with_a_pitch)
{
    struct image array = image_make("RGBA16F", "2D_ARRAY", 13, 7, 2);
    struct image cube = image_make("R32F", "CUBE", 7, 7, 2);
    check_pitches(&array, 0, 2, 128, 128 * 7, true);
    check_pitches(&array, 1, 1, 128, 128 * 3, false);
    check_pitches(&cube, 0, 5, 32, 32 * 7, true);
    check_pitches(&cube, 1, 3, 32, 32 * 3, false);
}

/* Two of the layers or slices, from 1 on, in memory of the host or the device. */
TEST(ranges_of_layers_and_slices_are_copied, 6)
{
    static const char *const targets[] = {"2D_ARRAY", "CUBE", "3D"};
    const gr_gl_options *const transports[] = {&by_interop, &by_copy};
    const bool is_3d = _i / 2 == 2;
    const size_t pitch = 64, slice = pitch * 13, row = 13 * 4, one = row * 13;
    struct image image = image_filled("RGBA8", targets[_i / 2], 13, 13, 1, 1);
    GR_AUTO(gr_resource) *resource = must_make(
        gr_from_gl_image_with(image.name, image.target->target, GR_READ_WRITE, transports[_i % 2]));
    gr_linear_desc memory = GR_INIT(gr_linear_desc, .host = rows, .pitch = pitch, .slice = slice,
                                    .z = is_3d, .depth = is_3d ? 2 : 0, .layers = is_3d ? 0 : 2);
    gr_buffer *mapped = must_map_image(resource);
    memset(rows, GUARD, sizeof(rows));
    assert_ok(gr_buffer_copy_to_linear(mapped, 0, !is_3d, &memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    for (unsigned i = 0; i < 2; i++) {
        image_pattern(image.format, texels, image_bytes(&image, 0),
                      image_seed(1, 0, is_3d ? 0 : 1 + i));
        const unsigned char *from = is_3d ? texels + (1 + i) * one : texels;
        for (size_t y = 0; y < 13; y++) {
            ck_assert_mem_eq(rows + i * slice + y * pitch, from + y * row, row);
            assert_bytes(rows + i * slice + y * pitch + row, pitch - row, GUARD);
        }
    }
    assert_bytes(rows + 2 * slice, slice, GUARD);
    CUdeviceptr device;
    CU(MemAlloc(&device, 2 * one));
    CU(MemsetD8Async(device, 7, 2 * one, fx.stream));
    memory = GR_INIT(gr_linear_desc, .device = device, .z = memory.z, .depth = memory.depth,
                     .layers = memory.layers);
    assert_ok(gr_buffer_copy_from_linear(mapped, 0, !is_3d, &memory, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_buffer_release(mapped));
    for (unsigned layer = 0; layer < (is_3d ? 1 : image.layers); layer++) {
        image_pattern(image.format, texels, image_bytes(&image, 0), image_seed(1, 0, layer));
        if (is_3d || layer == 1 || layer == 2)
            memset(texels + is_3d * one, 7, one * (is_3d ? 2 : 1));
        image_download(&image, 0, layer, got);
        ck_assert_mem_eq(got, texels, image_bytes(&image, 0));
    }
    CU(MemFree(device));
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
    assert_ok(gr_buffer_release(buffer));
    CU(MemFree(device));
}
