/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors of CUDA arrays: wrapped arrays, arrays of mapped images, and calls that refuse arrays. */
#include "tensor.h"

#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>

#include "tests/support/support_image.h"

enum { WIDTH = 13, HEIGHT = 7, CHANNELS = 4, BYTES = WIDTH * HEIGHT * CHANNELS };

static const int64_t shape[3] = {HEIGHT, WIDTH, CHANNELS};

static CUarray make_array(CUarray_format format, unsigned channels, size_t height, size_t depth)
{
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = WIDTH,
                                          .Height = height,
                                          .Depth = depth,
                                          .Format = format,
                                          .NumChannels = channels};
    CU(Array3DCreate(&array, &desc));
    return array;
}

static gr_tensor *must_wrap(CUarray array, bool read_only)
{
    return must_make(gr_tensor_from_memory(
        &GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY, .read_only = read_only), array,
        fx.stream, NULL, NULL));
}

/* Creates a host tensor whose byte i is seed + i. */
static gr_tensor *must_count(gr_memory memory, int seed)
{
    static unsigned char bytes[BYTES];
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, memory, 3, shape);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(seed + i);
    tensor_from_host(tensor, bytes, BYTES);
    return tensor;
}

static void assert_counts(const gr_tensor *tensor, int seed)
{
    unsigned char *bytes = must_read(tensor, fx.stream);
    for (int i = 0; i < BYTES; i++)
        ck_assert_uint_eq(bytes[i], (unsigned char)(seed + i));
    free(bytes);
}

GROUP("wrapped arrays", add_image_case)

TEST(a_wrapped_array_has_the_type_and_shape_of_the_driver)
{
    CUarray array = make_array(CU_AD_FORMAT_HALF, 2, HEIGHT, 0);
    gr_tensor *tensor = must_wrap(array, true);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    ck_assert(info->array == array && !info->ptr && !info->data);
    ck_assert(info->dtype == GR_DTYPE_F16 && info->memory == GR_MEMORY_ARRAY && info->read_only);
    ck_assert_uint_eq(info->ndim, 3);
    ck_assert(info->shape[0] == HEIGHT && info->shape[1] == WIDTH && info->shape[2] == 2);
    ck_assert_uint_eq(info->bytes, WIDTH * HEIGHT * 4);
    gr_tensor_free(tensor);
    CU(ArrayDestroy(array));
}

/* Copies from and to each kind of memory, and from array to array. */
TEST(arrays_are_copied_row_by_row, 4)
{
    CUarray arrays[2];
    gr_tensor *tensors[2];
    for (int i = 0; i < 2; i++) {
        arrays[i] = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
        tensors[i] = must_wrap(arrays[i], false);
    }
    gr_tensor *from = must_count(each_memory[_i], 5);
    gr_tensor *to = must_alloc(GR_DTYPE_U8, each_memory[_i], 3, shape);
    assert_ok(gr_tensor_copy(tensors[0], from, fx.stream));
    assert_ok(gr_tensor_copy(tensors[1], tensors[0], fx.stream));
    assert_ok(gr_tensor_copy(to, tensors[1], fx.stream));
    assert_counts(to, 5);
    gr_tensor *clone = must_make(gr_tensor_clone(tensors[1], each_memory[_i], fx.stream));
    assert_counts(clone, 5);
    assert_counts(tensors[0], 5);
    gr_tensor *const all[] = {from, to, clone, tensors[0], tensors[1]};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        gr_tensor_free(all[i]);
    for (int i = 0; i < 2; i++)
        CU(ArrayDestroy(arrays[i]));
}

/* There may be a gap between rows, but not between texels. */
TEST(copying_an_array_needs_contiguous_rows)
{
    CUarray array = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
    gr_tensor *tensor = must_wrap(array, false), *linear = must_count(GR_MEMORY_DEVICE, 9);
    const int64_t wide[] = {HEIGHT, 2 * WIDTH, CHANNELS}, padded[] = {2 * WIDTH * CHANNELS, 4, 1};
    const int64_t apart[] = {2 * WIDTH * CHANNELS, 8, 1};
    gr_tensor *room = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, wide);
    gr_tensor *rows =
        must_make(gr_tensor_view(room, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                                .shape = shape, .strides = padded)));
    gr_tensor *gaps =
        must_make(gr_tensor_view(room, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                                .shape = shape, .strides = apart)));
    assert_ok(gr_tensor_copy(rows, linear, fx.stream));
    assert_ok(gr_tensor_copy(tensor, rows, fx.stream));
    assert_counts(tensor, 9);
    assert_fails(gr_tensor_copy(tensor, gaps, fx.stream), GR_ERR_UNSUPPORTED, 0, "whole rows");
    assert_fails(gr_tensor_copy(gaps, tensor, fx.stream), GR_ERR_UNSUPPORTED, 0, "whole rows");
    gr_tensor *const all[] = {rows, gaps, room, linear, tensor};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        gr_tensor_free(all[i]);
    CU(ArrayDestroy(array));
}

/* The stride of a dimension of size 1 does not matter. */
TEST(arrays_of_one_row_or_column_are_copied, 3)
{
    static const int64_t shapes[3][3] = {{1, WIDTH, 1}, {HEIGHT, 1, 1}, {1, 1, CHANNELS}};
    static const int64_t strides[3][3] = {{99, 1, 99}, {5, 99, 99}, {99, 99, 1}};
    const int64_t *extents = shapes[_i];
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = (size_t)extents[1],
                                          .Height = (size_t)extents[0],
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                          .NumChannels = (unsigned)extents[2]};
    CU(Array3DCreate(&array, &desc));
    gr_tensor *tensor = must_wrap(array, false), *room = must_count(GR_MEMORY_DEVICE, 40);
    gr_tensor *view =
        must_make(gr_tensor_view(room, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                                .shape = extents, .strides = strides[_i])));
    assert_ok(gr_tensor_copy(tensor, view, fx.stream));
    unsigned char *bytes = must_read(tensor, fx.stream);
    for (int i = 0; i < (int)gr_tensor_get_info(tensor)->bytes; i++)
        ck_assert_uint_eq(bytes[i], 40 + (_i == 1 ? 5 * i : i));
    free(bytes);
    gr_tensor *const all[] = {view, room, tensor};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        gr_tensor_free(all[i]);
    CU(ArrayDestroy(array));
}

TEST(calls_that_need_addresses_are_refused)
{
    CUarray array = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
    gr_tensor *tensor = must_wrap(array, false);
    const gr_tensor_desc view = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8);
    assert_null(gr_tensor_view(tensor, &view), GR_ERR_UNSUPPORTED, 0, "no views");
    assert_null(gr_tensor_array_interface(tensor, fx.stream), GR_ERR_UNSUPPORTED, 0, "interface");
    assert_null(gr_tensor_clone(tensor, GR_MEMORY_ARRAY, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "cuArrayCreate");
    gr_tensor_free(tensor);
    CU(ArrayDestroy(array));
}

TEST(arrays_that_are_not_2d_are_refused)
{
    CUarray volume = make_array(CU_AD_FORMAT_FLOAT, 1, HEIGHT, 3);
    CUarray line = make_array(CU_AD_FORMAT_FLOAT, 1, 0, 0);
    const gr_tensor_desc any = GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY);
    assert_null_invalid(gr_tensor_from_memory(&any, NULL, fx.stream, NULL, NULL), "NULL");
    assert_null(gr_tensor_from_memory(&any, volume, fx.stream, NULL, NULL), GR_ERR_UNSUPPORTED, 0,
                "2D");
    assert_null(gr_tensor_from_memory(&any, line, fx.stream, NULL, NULL), GR_ERR_UNSUPPORTED, 0,
                "2D");
    CU(ArrayDestroy(volume));
    CU(ArrayDestroy(line));
}

TEST(descriptions_that_differ_from_the_array_are_refused)
{
    static const int64_t same[] = {HEIGHT, WIDTH, 1}, other[] = {HEIGHT, WIDTH + 1};
#define AS_ARRAY(...) GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY, __VA_ARGS__)
    const gr_tensor_desc right[] = {
        AS_ARRAY(.dtype = GR_DTYPE_F32),
        AS_ARRAY(.ndim = 2, .shape = same),
        AS_ARRAY(.dtype = GR_DTYPE_F32, .ndim = 3, .shape = same),
    };
    const gr_tensor_desc wrong[] = {
        AS_ARRAY(.dtype = GR_DTYPE_U8),     AS_ARRAY(.ndim = 2, .shape = other),
        AS_ARRAY(.ndim = 1, .shape = same), AS_ARRAY(.ndim = 2),
        AS_ARRAY(.strides = same),          AS_ARRAY(.offset = 4),
    };
#undef AS_ARRAY
    CUarray array = make_array(CU_AD_FORMAT_FLOAT, 1, HEIGHT, 0);
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        GR_AUTO(gr_tensor) *tensor =
            must_make(gr_tensor_from_memory(&right[i], array, fx.stream, NULL, NULL));
        ck_assert_uint_eq(gr_tensor_get_info(tensor)->ndim, 3);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null_invalid(gr_tensor_from_memory(&wrong[i], array, fx.stream, NULL, NULL),
                            "(7, 13, 1) of float32");
    CU(ArrayDestroy(array));
}

GROUP("images and arrays", add_image_case)

/* The array of a renderer is copied to a texture and back, without linear memory. */
TEST(an_array_is_published_to_a_texture_and_fetched_back)
{
    struct image image = image_make("RGBA8", "2D", WIDTH, HEIGHT, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    CUarray arrays[2];
    gr_tensor *tensors[2], *from = must_count(GR_MEMORY_DEVICE, 33);
    for (int i = 0; i < 2; i++) {
        arrays[i] = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
        tensors[i] = must_wrap(arrays[i], false);
    }
    assert_ok(gr_tensor_copy(tensors[0], from, fx.stream));
    assert_ok(gr_publish(resource, tensors[0], NULL, fx.stream));
    assert_ok(gr_fetch(resource, tensors[1], NULL, fx.stream));
    assert_counts(tensors[1], 33);
    const gr_publish_options chroma = GR_INIT(gr_publish_options, .chroma = tensors[1]);
    assert_fails(gr_publish(resource, from, &chroma, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "cannot be a chroma plane");
    gr_tensor_free(from);
    for (int i = 0; i < 2; i++) {
        gr_tensor_free(tensors[i]);
        CU(ArrayDestroy(arrays[i]));
    }
    image_delete(&image);
}

/* Converts an array as its clone in linear memory, in both directions. */
static void check_converted(struct image *image, CUarray_format format, size_t height,
                            const gr_publish_options *options)
{
    static unsigned char bytes[2][BYTES * 4], texels[2][BYTES];
    GR_AUTO(gr_resource) *resource = must_register_image(image, GR_READ_WRITE);
    CUarray array = make_array(format, CHANNELS, height, 0);
    gr_tensor *tensors[2] = {must_wrap(array, false)};
    const size_t size = gr_tensor_get_info(tensors[0])->bytes;
    for (size_t i = 0; i < size / 4; i++)
        ((float *)bytes[0])[i] = format == CU_AD_FORMAT_FLOAT ? (float)i / 363 : 0;
    if (format != CU_AD_FORMAT_FLOAT)
        pattern_fill(bytes[0], size, 9);
    assert_ok(gr_tensor_copy_from_host(tensors[0], bytes[0], size, fx.stream));
    tensors[1] = must_make(gr_tensor_clone(tensors[0], GR_MEMORY_DEVICE, fx.stream));
    if (gr_publish(resource, tensors[1], options, fx.stream) == GR_ERR_UNSUPPORTED)
        skip("%s", error_text()); /* as tests/publish does without kernels */
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_publish(resource, tensors[i], options, fx.stream));
        image_download(image, 0, 0, texels[i]);
    }
    ck_assert_mem_eq(texels[0], texels[1], image_bytes(image, 0));
    ck_assert(memcmp(texels[0], bytes[0], image_bytes(image, 0)) != 0 || height == 1);
    for (int i = 0; i < 2; i++) {
        tensor_from_host(tensors[i], bytes[0] + 1, size);
        assert_ok(gr_fetch(resource, tensors[i], options, fx.stream));
        tensor_to_host(tensors[i], bytes[i], size);
        gr_tensor_free(tensors[i]);
    }
    ck_assert_mem_eq(bytes[0], bytes[1], size);
    CU(ArrayDestroy(array));
}

TEST(arrays_are_converted_as_linear_memory_is)
{
    const gr_publish_options plain = GR_INIT(gr_publish_options, .flip = false),
                             flip = GR_INIT(gr_publish_options, .flip = true, .srgb = true),
                             bgr = GR_INIT(gr_publish_options, .bgr = true);
    struct image image = image_make("RGBA8", "2D", WIDTH, HEIGHT, 1);
    struct image row = image_make("RGBA8", "2D", WIDTH, 1, 1);
    check_converted(&image, CU_AD_FORMAT_FLOAT, HEIGHT, &plain);
    check_converted(&image, CU_AD_FORMAT_FLOAT, HEIGHT, &flip);
    check_converted(&image, CU_AD_FORMAT_HALF, HEIGHT, &bgr);
    check_converted(&image, CU_AD_FORMAT_UNSIGNED_INT8, HEIGHT,
                    &GR_INIT(gr_publish_options, .flip = true));
    check_converted(&row, CU_AD_FORMAT_UNSIGNED_INT8, 1,
                    &GR_INIT(gr_publish_options, .flip = true));
}

TEST(an_array_is_published_to_a_buffer)
{
    GLuint name = gl_buffer_filled(BYTES, 1);
    GR_AUTO(gr_resource) *resource = must_register_as(name, GR_WRITE_DISCARD);
    CUarray array = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
    gr_tensor *tensor = must_wrap(array, false), *from = must_count(GR_MEMORY_DEVICE, 3);
    unsigned char read[BYTES];
    assert_ok(gr_tensor_copy(tensor, from, fx.stream));
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    gl_read(name, read, BYTES);
    for (int i = 0; i < BYTES; i++)
        ck_assert_uint_eq(read[i], (unsigned char)(3 + i));
    const gr_tensor_desc as_array = GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_null_invalid(gr_buffer_tensor(buffer, &as_array), "not an image");
    assert_ok(gr_buffer_release(buffer));
    gr_tensor_free(from);
    gr_tensor_free(tensor);
    CU(ArrayDestroy(array));
}

/* The shape of the array is that of a 3D image with one channel. */
TEST(arrays_are_not_copied_to_or_from_3d_images)
{
    struct image image =
        image_make_of(image_format("R8"), image_target("3D"), CHANNELS, WIDTH, HEIGHT, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    CUarray array = make_array(CU_AD_FORMAT_UNSIGNED_INT8, CHANNELS, HEIGHT, 0);
    gr_tensor *tensor = must_wrap(array, false);
    assert_fails(gr_publish(resource, tensor, NULL, fx.stream), GR_ERR_UNSUPPORTED, 0, "3D image");
    assert_fails(gr_fetch(resource, tensor, NULL, fx.stream), GR_ERR_UNSUPPORTED, 0, "3D image");
    gr_tensor_free(tensor);
    CU(ArrayDestroy(array));
}

/* The tensor of a mapped image is zero-copy, and is revoked with the mapping. */
TEST(the_tensor_of_a_mapped_image_is_an_array)
{
    struct image image = image_make("RGBA8", "2D", WIDTH, HEIGHT, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const gr_tensor_desc as_array = GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY);
    gr_tensor *from = must_count(GR_MEMORY_DEVICE, 77);
    gr_buffer *buffer = must_map_image(resource);
    gr_tensor *tensor = must_make(gr_buffer_tensor(buffer, &as_array));
    ck_assert_ptr_eq(gr_tensor_get_info(tensor)->array, gr_buffer_array(buffer, 0, 0));
    assert_ok(gr_tensor_copy(tensor, from, fx.stream));
    ck_assert_uint_eq(gr_buffer_get_info(buffer)->tensors, 1);
    assert_ok(gr_buffer_release(buffer));
    ck_assert_ptr_null(gr_tensor_get_info(tensor)->array);
    assert_fails(gr_tensor_copy(from, tensor, fx.stream), GR_ERR_STATE, 0, "mapping has ended");
    gr_tensor_free(tensor);
    buffer = must_map_image(resource);
    tensor = gr_buffer_tensor(buffer, &as_array);
    assert_counts(tensor, 77);
    gr_tensor_free(tensor);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    assert_null_invalid(gr_buffer_tensor(buffer, &as_array), "gr_map()");
    assert_ok(gr_buffer_release(buffer));
    gr_tensor_free(from);
    image_delete(&image);
}
