/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which tensors fit which images, and the messages with which a publish refuses the others. */
#include "publish_support.h"

#include <math.h>
#include <string.h>

#include "tests/support/shader_calls.h"

static unsigned char texels[IMAGE_MOST_BYTES], expected[IMAGE_MOST_BYTES];

static gr_tensor *picture(gr_dtype dtype, int64_t height, int64_t width, int64_t channels,
                          const void *bytes)
{
    return tensor_of(dtype, GR_LAYOUT_SHAPE, 3, (const int64_t[]){height, width, channels}, bytes);
}

static gr_resource *make_image(struct image *image, const char *format, unsigned width,
                               unsigned height, unsigned flags)
{
    *image = image_make(format, "2D", width, height, 1);
    return must_register_image(image, flags);
}

GROUP("copies", add_image_case)

#define maps() log_count(GR_LOG_DEBUG, "gr_publish: ")

/* Wraps the device memory of a tensor from tensor_of(), with these strides. */
static gr_tensor *on_device(gr_dtype dtype, unsigned ndim, const int64_t *shape,
                            const int64_t *strides)
{
    gr_tensor *memory = tensor_of(dtype, GR_LAYOUT_SHAPE, ndim, shape, expected);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim, .shape = shape, .strides = strides);
    return must_make(gr_tensor_from_memory(
        &desc, (void *)(uintptr_t)gr_tensor_get_info(memory)->ptr, GR_STREAM_NONE, NULL, NULL));
}

/* A uint8 tensor (2, 3, 4) with 4 bytes per pixel. The second one has rows 20 bytes apart. */
TEST(tensors_with_the_image_layout_are_copied_without_a_kernel)
{
    static const int64_t shape[] = {1, 1, 2, 3, 4}, apart[] = {0, 0, 20, 4, 1};
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_SURFACE_LOAD_STORE);
    pattern_fill(expected, 40, 1);
    for (int gap = 0; gap < 2; gap++) {
        GR_AUTO(gr_tensor) *tensor =
            tensor_on_host(GR_DTYPE_U8, 5, shape, gap ? apart : NULL, expected);
        assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
        image_download(&image, 0, 0, texels);
        ck_assert_mem_eq(texels, expected, 12);
        ck_assert_mem_eq(texels + 12, expected + (gap ? 20 : 12), 12);
        memset(expected + 24, 0, 16);
        memset(expected, 0, 12);
        assert_ok(gr_fetch(resource, tensor, NULL, fx.stream));
        CU(StreamSynchronize(fx.stream));
        ck_assert_mem_eq(expected, texels, 12);
        pattern_fill(expected, 40, 1);
    }
}

/* Strides of (2, 3, 3) bytes on the host: compact, reversed, with gaps, transposed, broadcast. */
static const int64_t host_strides[][3] = {{9, 3, 1},     {9, 3, -1},   {-9, -3, 1}, {40, 12, 3},
                                          {300, 100, 1}, {128, -9, 2}, {1, 2, 6},   {0, 3, 1}};

/* A fetch changes the elements and no other byte. */
TEST(tensors_in_host_memory_are_converted, sizeof(host_strides) / sizeof(host_strides[0]))
{
    need_publish_kernels();
    static const int64_t shape[] = {2, 3, 3};
    static unsigned char bytes[1024], before[1024];
    const int64_t *s = host_strides[_i];
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_SURFACE_LOAD_STORE);
    GR_AUTO(gr_tensor) *tensor = tensor_on_host(GR_DTYPE_U8, 3, shape, s, bytes + 513);
    pattern_fill(bytes, sizeof(bytes), 5);
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    image_download(&image, 0, 0, texels);
    for (int i = 0; i < 24; i++)
        ck_assert_int_eq(texels[i],
                         i % 4 == 3 ? 255
                                    : bytes[513 + i / 12 * s[0] + i / 4 % 3 * s[1] + i % 4 * s[2]]);
    memcpy(before, bytes, sizeof(bytes));
    if (s[0] == 0) {
        assert_invalid(gr_fetch(resource, tensor, NULL, fx.stream), "share bytes");
        return;
    }
    for (int i = 0; i < 24; i++)
        if (i % 4 != 3)
            bytes[513 + i / 12 * s[0] + i / 4 % 3 * s[1] + i % 4 * s[2]] ^= 0xff;
    assert_ok(gr_fetch(resource, tensor, NULL, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_mem_eq(bytes, before, sizeof(bytes));
}

/* Integers of 32 bits keep their values. The tensor is (2, 3, 4), or has its channels first. */
TEST(int32_tensors_are_copied_to_integer_images_unchanged)
{
    static const int64_t chw[] = {4, 2, 3};
    int32_t numbers[24], got[24];
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA32I", 3, 2, GR_SURFACE_LOAD_STORE);
    for (int i = 0; i < 24; i++)
        numbers[i] = i * 100003 - 1000000;
    assert_ok(gr_publish(resource, picture(GR_DTYPE_I32, 2, 3, 4, numbers), NULL, fx.stream));
    image_download(&image, 0, 0, got);
    ck_assert_mem_eq(got, numbers, sizeof(got));
    need_publish_kernels();
    gr_tensor *planes = tensor_of(GR_DTYPE_I32, GR_LAYOUT_CHW, 3, chw, numbers);
    assert_ok(gr_publish(resource, planes, NULL, fx.stream));
    image_download(&image, 0, 0, got);
    for (int i = 0; i < 24; i++)
        ck_assert_int_eq(got[i], numbers[i % 4 * 6 + i / 4]);
    assert_fails(gr_publish(resource, picture(GR_DTYPE_C64, 2, 3, 4, NULL), NULL, fx.stream),
                 GR_ERR_UNSUPPORTED, 0, "(2, 3, 4) of complex64");
    tensors_end();
}

/*
 * A float16 image stores alpha rounded to the nearest half float, or as infinity, a denormal, zero
 * or NaN.
 */
TEST(alpha_is_converted_to_float16)
{
    need_publish_kernels();
    static const struct {
        float alpha;
        uint16_t bits;
    } cases[] = {{1, 0x3c00},        {0.333333f, 0x3555}, {-2, 0xc000},    {65504, 0x7bff},
                 {65520, 0x7c00},    {1e9f, 0x7c00},      {-1e9f, 0xfc00}, {3e-5f, 0x01f7},
                 {5.9604645e-8f, 1}, {1e-9f, 0},          {NAN, 0x7fff}};
    const uint16_t half[] = {0x3c00, 0x4000, 0x4200};
    uint16_t got[4];
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA16F", 1, 1, GR_SURFACE_LOAD_STORE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_ok(gr_publish(resource, picture(GR_DTYPE_F16, 1, 1, 3, half),
                             &GR_INIT(gr_publish_options, .alpha = &cases[i].alpha), fx.stream));
        image_download(&image, 0, 0, got);
        ck_assert_mem_eq(got, half, sizeof(half));
        ck_assert_msg(got[3] == cases[i].bits, "%g: %#x, not %#x", (double)cases[i].alpha, got[3],
                      cases[i].bits);
        tensors_end();
    }
}

/* The tensor has no dimension for channels, and its batch has one picture. */
TEST(a_batch_of_one_grey_picture_is_published)
{
    static const int64_t shape[] = {1, 5, 7};
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "R8", 7, 5, GR_SURFACE_LOAD_STORE);
    pattern_fill(expected, 35, 4);
    assert_ok(gr_publish(resource, tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, shape, expected),
                         NULL, fx.stream));
    image_download(&image, 0, 0, texels);
    ck_assert_mem_eq(texels, expected, 35);
    tensors_end();
}

/*
 * If the image has a surface, a publish writes the bytes once. Otherwise it writes them to linear
 * memory and copies them to the image. The texels are the same.
 */
TEST(publish_to_an_image_without_surfaces_copies_twice)
{
    need_publish_kernels();
    static const unsigned flags[] = {GR_SURFACE_LOAD_STORE, GR_READ_WRITE,
                                     GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE, GR_WRITE_DISCARD};
    pattern_fill(expected, 5 * 7 * 3, 3);
    gr_tensor *tensor = picture(GR_DTYPE_U8, 5, 7, 3, expected);
    for (unsigned i = 0; i < 4; i++) {
        struct image image;
        GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 7, 5, flags[i]);
        assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
        image_download(&image, 0, 0, texels);
        for (int k = 0; k < 35; k++) {
            ck_assert_mem_eq(texels + 4 * k, expected + 3 * k, 3);
            ck_assert_int_eq(texels[4 * k + 3], 255);
        }
    }
    tensors_end();
}

GROUP("levels", add_image_case)

/*
 * A CHW float32 tensor whose values 8 bits represent exactly: a kernel must convert it to known
 * bytes.
 */
static gr_tensor *make_floats(bool volume, unsigned slices, unsigned height, unsigned width,
                              unsigned seed)
{
    const size_t count = (size_t)slices * height * width;
    static float values[16384];
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 4; c++) {
            expected[4 * i + c] = pattern_byte(seed, 4 * i + c);
            values[c * count + i] = (float)expected[4 * i + c] / 255;
        }
    const int64_t flat[] = {4, height, width}, deep[] = {4, slices, height, width};
    return tensor_of(GR_DTYPE_F32, GR_LAYOUT_CHW, volume ? 4 : 3, volume ? deep : flat, values);
}

/* Fetches floats by a kernel, which must be those in `expected`. */
static void check_fetch(gr_resource *resource, gr_tensor *tensor, const gr_publish_options *o,
                        size_t size)
{
    static float values[16384];
    const size_t count = size / 4;
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, 4 * size, fx.stream));
    assert_ok(gr_fetch(resource, tensor, o, fx.stream));
    tensor_to_host(tensor, values, 4 * size);
    for (size_t i = 0; i < size; i++)
        ck_assert_float_eq(values[i % 4 * count + i / 4], (float)expected[i] / 255);
}

/*
 * Writes the texels of a level to `texels` that image_filled() wrote, with `expected` in the
 * rectangle from x, y to the edge.
 */
static void expect_rectangle(const struct image *image, const gr_publish_options *o,
                             unsigned char *whole)
{
    const size_t width = image_width(image, o->level), height = image_height(image, o->level);
    const unsigned char *from = expected;
    image_pattern(image->format, whole, image_bytes(image, o->level),
                  image_seed(1, o->level, o->layer));
    for (size_t z = 0; z < image_slices(image, o->level); z++)
        for (size_t y = o->y; y < height; y++, from += 4 * (width - o->x))
            memcpy(whole + 4 * ((z * height + y) * width + o->x), from, 4 * (width - o->x));
}

/*
 * Publishes different data to each level and layer, or to a rectangle of it, and fetches it. The
 * next level and layer, and the other texels, must not change.
 */
static void check_levels(const char *target, unsigned height, unsigned flags, bool part,
                         gr_transport transport)
{
    struct image image = image_filled("RGBA8", target, 12, height, 3, 1);
    GR_AUTO(gr_resource) *resource = must_make(
        gr_from_gl_image_with(image.name, image.target->target, flags,
                              &GR_INIT(gr_gl_options, .transports = (unsigned)transport)));
    for (unsigned level = 0; level < image.levels; level++)
        for (unsigned layer = 0; layer < image.layers; layer++) {
            static unsigned char whole[IMAGE_MOST_BYTES];
            const gr_publish_options o =
                GR_INIT(gr_publish_options, .level = level, .layer = layer, .x = part,
                        .y = part && image_height(&image, level) > 1);
            const unsigned slices = image_slices(&image, level);
            const unsigned rows = image_height(&image, level) - o.y;
            const unsigned columns = image_width(&image, level) - o.x;
            gr_tensor *tensor =
                make_floats(image.slices > 1, slices, rows, columns, level * 10 + layer);
            assert_ok(gr_publish(resource, tensor, &o, fx.stream));
            image_download(&image, level, layer, texels);
            expect_rectangle(&image, &o, whole);
            ck_assert_mem_eq(texels, whole, image_bytes(&image, level));
            check_fetch(resource, tensor, &o, (size_t)4 * slices * rows * columns);
            if (layer + 1 < image.layers)
                assert_no_difference(image_level_differs(&image, level, layer + 1, 1));
            if (level + 1 < image.levels)
                assert_no_difference(image_level_differs(&image, level + 1, layer, 1));
            tensors_end();
        }
    const gr_publish_options o = GR_INIT(gr_publish_options, .level = image.levels);
    assert_invalid(gr_publish(resource, make_floats(false, 1, 1, 1, 1), &o, fx.stream),
                   "There is no level");
    tensors_end();
    gr_resource_close(resource, fx.stream);
    image_delete(&image);
}

/* The last image consists of slices with one row. */
TEST(publish_and_fetch_use_only_the_given_level_and_layer, 7)
{
    static const char *const targets[] = {"2D",           "2D_ARRAY", "CUBE", "RECT",
                                          "RENDERBUFFER", "3D",       "3D"};
    const unsigned height = _i == 6 ? 1 : 12;
    need_publish_kernels();
    const gr_transport_info *peer = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    for (int part = 0; part < 2; part++) {
        check_levels(targets[_i], height, GR_SURFACE_LOAD_STORE, part, GR_TRANSPORT_INTEROP);
        check_levels(targets[_i], height, GR_READ_WRITE, part, GR_TRANSPORT_INTEROP);
        check_levels(targets[_i], height, GR_SURFACE_LOAD_STORE, part, GR_TRANSPORT_COPY);
        watch_gl(); /* a shader copies, but not GL_TEXTURE_RECTANGLE */
        check_levels(targets[_i], height, GR_SURFACE_LOAD_STORE, part, GR_TRANSPORT_COPY);
        ck_assert_int_eq(dispatches > 0, has_shader && _i != 3 && _i != 4);
        unwatch_gl();
        if (peer->usable)
            check_levels(targets[_i], height, GR_SURFACE_LOAD_STORE, part, GR_TRANSPORT_PEER);
    }
}

/* The memory of CUDA keeps its texels outside of the rectangle, and so does the image. */
TEST(the_copy_transport_moves_only_the_rectangle)
{
    static unsigned char whole[12 * 12 * 4], in_cuda[12 * 12 * 4];
    struct image image = image_filled("RGBA8", "2D", 12, 12, 1, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE,
                                        &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY)));
    const gr_publish_options o = GR_INIT(gr_publish_options, .x = 5, .y = 3);
    assert_ok(gr_buffer_release(must_map_image(resource)));
    image_fill(&image, 2);
    pattern_fill(expected, 9 * 7 * 4, 3);
    assert_ok(gr_publish(resource, picture(GR_DTYPE_U8, 9, 7, 4, expected), &o, fx.stream));
    image_download(&image, 0, 0, texels);
    gr_buffer *buffer = must_make(
        gr_map_with(resource, fx.stream, &GR_INIT(gr_map_options, .access = GR_MAP_WRITE_DISCARD)));
    image_get(buffer, 0, 0, in_cuda);
    assert_ok(gr_buffer_release(buffer));
    expect_rectangle(&image, &o, whole);
    ck_assert_mem_eq(in_cuda, whole, sizeof(whole));
    image_pattern(image.format, whole, sizeof(whole), image_seed(2, 0, 0));
    for (size_t y = 0; y < 9; y++)
        memcpy(whole + 4 * ((y + 3) * 12 + 5), expected + y * 28, 28);
    ck_assert_mem_eq(texels, whole, sizeof(whole));
    tensors_end();
}

/* ---- Queries of the storage ------------------------------------------------------------------ */

static unsigned queries;
static __typeof__(epoxy_glGetTexLevelParameteriv) real_query;
static __typeof__(epoxy_glGetTextureLevelParameteriv) real_direct;

static void EPOXY_CALLSPEC count_query(GLenum target, GLint level, GLenum what, GLint *value)
{
    queries += what == GL_TEXTURE_WIDTH && level == 0;
    real_query(target, level, what, value);
}

static void EPOXY_CALLSPEC count_direct(GLuint name, GLint level, GLenum what, GLint *value)
{
    queries += what == GL_TEXTURE_WIDTH && level == 0;
    real_direct(name, level, what, value);
}

/* Immutable storage cannot change while the object has the label of grinterop. */
TEST(a_publish_queries_mutable_storage_once_before_and_once_after_the_work, 2)
{
    struct image image = image_filled("RGBA8", "2D", 9, 7, 1, 1);
    GLuint name = image.name;
    if (_i) {
        name = bound_texture(GL_TEXTURE_2D);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 9, 7, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    }
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE,
                                        &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY)));
    gr_tensor *tensor = picture(GR_DTYPE_U8, 7, 9, 4, texels);
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream)); /* epoxy resolves the functions */
    real_query = epoxy_glGetTexLevelParameteriv;
    real_direct = epoxy_glGetTextureLevelParameteriv;
    epoxy_glGetTexLevelParameteriv = count_query;
    epoxy_glGetTextureLevelParameteriv = count_direct;
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    epoxy_glGetTexLevelParameteriv = real_query;
    epoxy_glGetTextureLevelParameteriv = real_direct;
    ck_assert_uint_eq(queries, _i ? 2 : 0);
    tensors_end();
}

TEST(yuv_is_published_to_a_rectangle)
{
    need_publish_kernels();
    static const int64_t shape[] = {3, 1, 1};
    static const unsigned char grey[] = {126, 128, 128};
    struct image image = image_filled("RGBA8", "2D", 4, 4, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, shape, grey);
    const gr_publish_options o = GR_INIT(gr_publish_options, .x = 1, .y = 2, .width = 1,
                                         .height = 1, .matrix = GR_YUV_BT601);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    image_pattern(image.format, expected, 64, image_seed(1, 0, 0));
    memcpy(expected + 4 * (2 * 4 + 1), (unsigned char[]){128, 128, 128, 255}, 4);
    image_download(&image, 0, 0, texels);
    ck_assert_mem_eq(texels, expected, 64);
    tensors_end();
}

GROUP("linear", add_image_case)

TEST(publish_to_linear_memory_must_name_the_mapped_level)
{
    need_publish_kernels();
    struct image image = image_filled("RGBA8", "2D", 12, 12, 2, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    const gr_publish_options second = GR_INIT(gr_publish_options, .level = 1);
    const gr_publish_options part = GR_INIT(gr_publish_options, .level = 1, .x = 2, .y = 3);
    gr_tensor *small = make_floats(false, 1, 3, 4, 9);
    static unsigned char corner[3 * 4 * 4];
    memcpy(corner, expected, sizeof(corner));
    gr_tensor *tensor = make_floats(false, 1, 6, 6, 4);
    gr_buffer *buffer = must_make(gr_map_linear(resource, 1, 0, fx.stream));
    assert_invalid(gr_buffer_publish(buffer, tensor, NULL, fx.stream), "mapped level 1, layer 0");
    assert_ok(gr_buffer_publish(buffer, tensor, &second, GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_publish(buffer, small, &part, GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release(buffer));
    for (size_t y = 0; y < 3; y++)
        memcpy(expected + 4 * ((y + 3) * 6 + 2), corner + y * 16, 16);
    image_download(&image, 1, 0, texels);
    ck_assert_mem_eq(texels, expected, 6 * 6 * 4);
    tensors_end();
}

GROUP("refusals", add_image_case)

static gr_status publish_shape(gr_resource *resource, gr_dtype dtype, gr_layout layout,
                               unsigned ndim, const int64_t *shape)
{
    return gr_publish(resource, tensor_of(dtype, layout, ndim, shape, NULL), NULL, fx.stream);
}

TEST(the_message_for_a_wrong_shape_names_both_shapes)
{
    static const int64_t swapped[] = {3, 2, 4}, five[] = {2, 3, 5}, two[] = {2, 3, 2};
    static const int64_t chw[] = {3, 20, 30}, batch[] = {2, 2, 3, 4}, none[] = {0, 3, 4};
    struct image image, grey;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_READ_WRITE);
    GR_AUTO(gr_resource) *one = make_image(&grey, "R8", 3, 2, GR_READ_WRITE);
#define REFUSED(resource, layout, ndim, shape, text)                                               \
    assert_fails(publish_shape(resource, GR_DTYPE_U8, GR_LAYOUT_##layout, ndim, shape),            \
                 GR_ERR_INVALID_VALUE, 0, text)
    REFUSED(resource, SHAPE, 3, swapped,
            "The tensor is (3, 2, 4) of uint8, and the image is "
            "(2, 3, 4) of uint8");
    REFUSED(resource, SHAPE, 3, two, "2 stays 2");
    REFUSED(resource, SHAPE, 3, five, "channels");
    REFUSED(resource, HWC, 3, five, "1 to 4 channels");
    REFUSED(resource, SHAPE, 3, chw, "GR_LAYOUT_CHW");
    REFUSED(resource, SHAPE, 4, batch, "batch");
    REFUSED(resource, SHAPE, 3, none, "(0, 3, 4)");
    REFUSED(one, SHAPE, 3, swapped, "(3, 2, 4)");
    const int64_t four[] = {2, 3, 4};
    REFUSED(one, SHAPE, 3, four, "The tensor is (2, 3, 4) of uint8, and the image is (2, 3, 1)");
#undef REFUSED
    tensors_end();
}

TEST(meaningless_options_are_refused)
{
    struct image image, integers;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_READ_WRITE);
    GR_AUTO(gr_resource) *numbers = make_image(&integers, "RGBA8UI", 3, 2, GR_READ_WRITE);
    GR_AUTO(gr_resource) *buffer = must_register(gl_buffer_filled(64, 1));
    gr_tensor *tensor = picture(GR_DTYPE_U8, 2, 3, 4, NULL);
    gr_tensor *grey = picture(GR_DTYPE_U8, 2, 3, 1, NULL);
    const int64_t shape[] = {24};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape);
    const gr_tensor_desc untyped = GR_INIT(gr_tensor_desc, .ndim = 1, .shape = shape);
#define REFUSED(resource, tensor, text, ...)                                                       \
    assert_fails(                                                                                  \
        gr_publish(resource, tensor, &GR_INIT(gr_publish_options, __VA_ARGS__), fx.stream),        \
        GR_ERR_INVALID_VALUE, 0, text)
    REFUSED(resource, tensor, "for buffers", .offset = 4);
    REFUSED(resource, tensor, "for buffers", .target = &desc);
    REFUSED(resource, tensor, "`layout` is 11", .layout = (gr_layout)11);
    REFUSED(resource, tensor, "1 level", .level = 1);
    REFUSED(resource, tensor, "1 layer", .layer = 1);
    REFUSED(resource, tensor, "at x 3, y 0 with width 0 and height 0 is not within level 0",
            .x = 3);
    REFUSED(resource, tensor, "which has 3 x 2 texels", .x = 1, .width = UINT32_MAX);
    REFUSED(resource, tensor, "which has 3 x 2 texels", .y = 1, .height = 2);
    REFUSED(resource, tensor, "and the rectangle of the image is (1, 3, 4)", .y = 1);
    REFUSED(buffer, tensor, "`x`, `y`, `width` and `height` are for images", .height = 1);
    REFUSED(buffer, tensor, "`z` and `depth` 0", .z = 1);
    REFUSED(buffer, tensor, "leave them and `layers` 0", .layers = 1);
    REFUSED(resource, tensor, "`z` and `depth` are for 3D images", .z = 1);
    REFUSED(resource, tensor, "`z` and `depth` are for 3D images", .depth = 1);
    REFUSED(resource, tensor, "There are no 2 layers from 0 on: the image has 1 layer,",
            .layers = 2);
    REFUSED(resource, grey, "`bgr`", .bgr = true);
    REFUSED(numbers, tensor, "read as integers", .srgb = true);
    REFUSED(buffer, tensor, "for images", .level = 1);
    REFUSED(buffer, tensor, "`bias` and `bias_f64` are set", .bias = (float[4]){0},
            .bias_f64 = (double[4]){0});
    REFUSED(buffer, tensor, "64", .offset = 41);
    REFUSED(buffer, tensor, "too large", .offset = SIZE_MAX,
            .target = &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape,
                               .offset = 8));
    REFUSED(buffer, tensor, "dtype", .target = &untyped);
#undef REFUSED
    gr_publish_options unsized = {.struct_size = 0};
    assert_invalid(gr_publish(resource, tensor, &unsized, fx.stream), "struct_size");
    assert_invalid(gr_publish(resource, tensor, NULL, GR_STREAM_OF_MAP), "GR_STREAM_OF_MAP");
    assert_not_mapped(resource);
    tensors_end();
}

TEST(publish_and_fetch_in_an_invalid_state_are_refused)
{
    struct image image;
    gr_resource *read = make_image(&image, "RGBA8", 3, 2, GR_READ_ONLY);
    gr_resource *write = must_register_image(&image, GR_WRITE_DISCARD);
    gr_tensor *tensor = picture(GR_DTYPE_U8, 2, 3, 4, NULL);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                .shape = gr_tensor_get_info(tensor)->shape, .read_only = true);
    GR_AUTO(gr_tensor) *locked = must_make(gr_tensor_from_memory(
        &desc, (void *)(uintptr_t)gr_tensor_get_info(tensor)->ptr, GR_STREAM_NONE, NULL, NULL));
    assert_fails(gr_publish(read, tensor, NULL, fx.stream), GR_ERR_STATE, 0, "read_only");
    assert_fails(gr_fetch(write, tensor, NULL, fx.stream), GR_ERR_STATE, 0, "write_discard");
    assert_fails(gr_fetch(read, locked, NULL, fx.stream), GR_ERR_STATE, 0, "read-only");
    const gr_publish_options whole = GR_INIT(gr_publish_options, .width = 3, .height = 2);
    assert_ok(gr_publish(write, locked, &whole, fx.stream));
    assert_ok(gr_fetch(read, tensor, NULL, fx.stream));
    gr_buffer *buffer = must_map_image(write);
    ck_assert_int_eq(gr_publish(write, tensor, NULL, fx.stream), GR_ERR_STATE);
    ck_assert_str_eq(gr_last_error()->call, "gr_publish");
    assert_error(GR_ERR_STATE, 0, "gr_buffer_publish()");
    assert_ok(gr_resource_unmap(write, fx.stream));
    assert_fails(gr_buffer_publish(buffer, tensor, NULL, fx.stream), GR_ERR_STATE, 0,
                 "no longer mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(write, fx.stream));
    assert_fails(gr_publish(write, tensor, NULL, fx.stream), GR_ERR_STATE, 0, "closed");
    gr_resource_free(write);
    gr_resource_free(read);
    tensors_end();
}

/* Errors of a publish to a write_discard resource that must be detected before the map. */
static const struct {
    const char *text;
    int64_t shape[4];
    gr_publish_options options;
    gr_status status;
    unsigned ndim;
    gr_dtype dtype;
    bool odd;
} foreseen[] = {
    {"Choose a rectangle, another level",
     {3, 2, 4},
     {0},
     GR_ERR_INVALID_VALUE,
     3,
     GR_DTYPE_U8,
     false},
    {"channels don't match", {2, 3, 2}, {0}, GR_ERR_INVALID_VALUE, 3, GR_DTYPE_U8, false},
    {"not a picture", {2, 2, 3, 4}, {0}, GR_ERR_INVALID_VALUE, 4, GR_DTYPE_U8, false},
    {"outside of the rectangle", {1, 3, 4}, {.y = 1}, GR_ERR_STATE, 3, GR_DTYPE_U8, false},
    {"no level 1", {2, 3, 4}, {.level = 1}, GR_ERR_INVALID_VALUE, 3, GR_DTYPE_U8, false},
    {"`offset`", {2, 3, 4}, {.offset = 4}, GR_ERR_INVALID_VALUE, 3, GR_DTYPE_U8, false},
    {"`bgr`", {2, 3}, {.bgr = true}, GR_ERR_INVALID_VALUE, 2, GR_DTYPE_U8, false},
    {"complex numbers", {2, 3, 4}, {0}, GR_ERR_UNSUPPORTED, 3, GR_DTYPE_C64, false},
    {"complex numbers", {2, 3, 2}, {0}, GR_ERR_UNSUPPORTED, 3, GR_DTYPE_C64, false},
    {"set `scale`", {2, 3, 4}, {0}, GR_ERR_INVALID_VALUE, 3, GR_DTYPE_I32, false},
    {"multiples of the element size", {2, 3, 4}, {0}, GR_ERR_UNSUPPORTED, 3, GR_DTYPE_F32, true},
};

static void end_memory(void *tensor)
{
    gr_tensor_free(tensor);
}

static gr_tensor *foreseen_tensor(int which)
{
    static const int64_t size = 16 * 16 + 16;
    gr_tensor *memory =
        must_make(gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                            .shape = &size, .memory = GR_MEMORY_PINNED),
                                   GR_STREAM_NONE));
    unsigned char *bytes = gr_tensor_get_info(memory)->data;
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = foreseen[which].dtype, .ndim = foreseen[which].ndim,
                .shape = foreseen[which].shape, .memory = GR_MEMORY_PINNED);
    return must_make(gr_tensor_from_memory(&desc, bytes + foreseen[which].odd, GR_STREAM_NONE,
                                           end_memory, memory));
}

GROUP("before the map", add_image_case)

/* Catches: the map had discarded the contents before the publish was refused. */
TEST(publish_is_refused_before_the_map, sizeof(foreseen) / sizeof(foreseen[0]))
{
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_WRITE_DISCARD);
    GR_AUTO(gr_tensor) *tensor = foreseen_tensor(_i);
    gr_publish_options o = foreseen[_i].options;
    o.struct_size = sizeof(o);
    log_begin(GR_LOG_DEBUG);
    assert_fails(gr_publish(resource, tensor, &o, fx.stream), foreseen[_i].status, 0,
                 foreseen[_i].text);
    ck_assert_int_eq(maps(), 0);
}

TEST(a_refused_publish_keeps_the_bytes_of_the_buffer)
{
    const GLuint name = gl_buffer_filled(100, 9);
    GR_AUTO(gr_resource) *resource = must_register_as(name, GR_WRITE_DISCARD);
    gr_tensor *tensor = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 1, (const int64_t[]){25}, NULL);
    gr_publish_options o = GR_INIT(gr_publish_options, .offset = 4);
    log_begin(GR_LOG_DEBUG);
    assert_invalid(gr_publish(resource, tensor, &o, fx.stream), "buffer");
    o.offset = 0;
    o.wait_event = (CUevent)(uintptr_t)&o;
    if (gr_cuda_is_software())
        assert_fails(gr_publish(resource, tensor, &o, fx.stream), GR_ERR_CUDA,
                     CUDA_ERROR_INVALID_HANDLE, "`wait_event`");
    ck_assert_int_eq(maps(), 0);
    o.wait_event = NULL;
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    ck_assert_int_gt(maps(), 0);
    tensor = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 2, (int64_t[]){0, 3}, NULL);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    tensors_end();
}

/* The tensor fits the new storage, but the registration is that of the old one. */
TEST(publish_to_replaced_storage_names_it, 2)
{
    static const int64_t shape[] = {50};
    const GLuint name = gl_buffer_filled(100, 9);
    GR_AUTO(gr_resource) *resource = must_register_as(name, _i ? GR_WRITE_DISCARD : 0);
    gr_buffer *buffer = NULL;
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, 200, NULL, GL_STATIC_DRAW);
    assert_fails(gr_publish(resource, tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 1, shape, NULL),
                            NULL, fx.stream),
                 GR_ERR_STATE, 0, "replaced by one of 200 bytes");
    assert_fails(
        gr_map_many(&resource, 1, fx.stream, &GR_INIT(gr_map_options, .offset = 150), &buffer),
        GR_ERR_STATE, 0, "replaced by one of 200 bytes");
    tensors_end();
}

GROUP("strides", add_image_case)

/* A dimension of size 1 never uses its stride, so any stride is accepted. */
TEST(strides_of_dimensions_of_size_one_are_ignored, 3)
{
    static const int64_t nowhere[] = {INT64_MIN, INT64_MAX, 3};
    static const int64_t plane[] = {2, 2}, colour[] = {1, 1, 2}, pixel[] = {1, 1, 1, 4};
    const int64_t step = nowhere[_i], colour_strides[] = {step, step, 1};
    const int64_t strides[] = {step, step, step, 1};
    struct image image, small;
    GR_AUTO(gr_resource) *one = make_image(&small, "RGBA8", 1, 1, GR_READ_WRITE);
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 2, 2, GR_READ_WRITE);
    memset(expected, 128, 16);
    GR_AUTO(gr_tensor) *tensor = tensor_on_host(GR_DTYPE_U8, 4, pixel, strides, expected);
    gr_publish_options o = GR_INIT(gr_publish_options, .flip = true);
    assert_ok(gr_publish(one, tensor, &o, fx.stream));
    CU(StreamSynchronize(fx.stream));
    image_download(&small, 0, 0, texels);
    ck_assert_mem_eq(texels, expected, 4);
    GR_AUTO(gr_tensor) *pair = on_device(GR_DTYPE_U8, 3, colour, colour_strides);
    gr_tensor *brightness = tensor_of(GR_DTYPE_U8, GR_LAYOUT_NV12, 2, plane, expected);
    o.chroma = pair;
    if (!publish_kernels_missing())
        assert_ok(gr_publish(resource, brightness, &o, fx.stream));
    tensors_end();
}

GROUP("refusals", add_image_case)

/* A GPU faults at an address that is not a multiple of the element size. */
TEST(tensors_with_misaligned_elements_are_refused)
{
    static const int64_t shape[] = {2, 3, 3};
    struct image image;
    GR_AUTO(gr_resource) *resource = make_image(&image, "RGBA8", 3, 2, GR_READ_WRITE);
    gr_tensor *memory = tensor_of(GR_DTYPE_F32, GR_LAYOUT_SHAPE, 3, (int64_t[]){3, 3, 3}, NULL);
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3, .shape = shape);
    GR_AUTO(gr_tensor) *odd = must_make(
        gr_tensor_from_memory(&desc, (void *)(uintptr_t)(gr_tensor_get_info(memory)->ptr + 2),
                              GR_STREAM_NONE, NULL, NULL));
    assert_fails(gr_publish(resource, odd, NULL, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "multiples of the element size");
    tensors_end();
}
