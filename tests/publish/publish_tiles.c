/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Publishes and fetches pictures of tiles: images of each transport, linear memory and buffers. */
#include "publish_support.h"

#include <string.h>

#define WIDTH  40
#define HEIGHT 20
#define BYTES  (WIDTH * HEIGHT * 4)

/* Tiles that fill their rows, or not; with aligned rows, and with others; one tile, one column. */
static const struct tiles {
    unsigned n, columns, width, height;
} all_tiles[] = {{6, 3, 8, 3}, {7, 3, 8, 3}, {8, 3, 5, 4}, {1, 1, 8, 5},
                 {1, 2, 4, 6}, {5, 1, 7, 2}, {2, 2, 3, 1}};
#define TILES (sizeof(all_tiles) / sizeof(all_tiles[0]))

static unsigned char texels[BYTES], expected[BYTES], elements[4 * BYTES], got[4 * BYTES];

static unsigned rows_of(const struct tiles *t)
{
    return (t->n + t->columns - 1) / t->columns;
}

static size_t count_of(const struct tiles *t)
{
    return (size_t)t->n * t->height * t->width * 4;
}

/* The place of an element in the tensor. */
static size_t place_of(const struct tiles *t, gr_layout layout, unsigned tile, unsigned y,
                       unsigned x, unsigned c)
{
    return layout == GR_LAYOUT_CHW ? (((size_t)tile * 4 + c) * t->height + y) * t->width + x
                                   : (((size_t)tile * t->height + y) * t->width + x) * 4 + c;
}

/* Fills `elements`, and the tiles in `expected`, whose picture begins at x, y of WIDTH pixels. */
static gr_tensor *make_tensor(const struct tiles *t, gr_dtype dtype, gr_layout layout, bool flip,
                              unsigned left, unsigned top)
{
    const int64_t hwc[] = {t->n, t->height, t->width, 4}, chw[] = {t->n, 4, t->height, t->width};
    for (unsigned i = 0; i < count_of(t); i++) {
        const unsigned c = i % 4, x = i / 4 % t->width, y = i / 4 / t->width % t->height;
        const unsigned tile = i / 4 / t->width / t->height, row = tile / t->columns * t->height + y;
        const unsigned to = flip ? rows_of(t) * t->height - 1 - row : row;
        const size_t at = place_of(t, layout, tile, y, x, c);
        const unsigned char byte = pattern_byte(7, i);
        const float value = (float)byte / 255;
        if (dtype == GR_DTYPE_U8)
            elements[at] = byte;
        else
            memcpy(elements + 4 * at, &value, sizeof(value));
        expected[((top + to) * WIDTH + left + tile % t->columns * t->width + x) * 4 + c] = byte;
    }
    return tensor_of(dtype, layout, 4, layout == GR_LAYOUT_CHW ? chw : hwc, elements);
}

static void check_fetched(const struct tiles *t, gr_tensor *tensor)
{
    const size_t size = count_of(t) * gr_dtype_get_info(gr_tensor_get_info(tensor)->dtype)->size;
    tensor_to_host(tensor, got, size);
    ck_assert_mem_eq(got, elements, size);
}

static void check(const struct image *image, gr_resource *resource, const struct tiles *t,
                  gr_dtype dtype, gr_layout layout, bool flip)
{
    const unsigned layer = image->layers - 1;
    gr_publish_options o = GR_INIT(gr_publish_options, .layer = layer, .columns = t->columns,
                                   .flip = flip, .x = WIDTH - t->columns * t->width);
    o.y = HEIGHT - rows_of(t) * t->height;
    image_fill(image, 1);
    image_pattern(image->format, expected, BYTES, image_seed(1, 0, layer));
    gr_tensor *tensor = make_tensor(t, dtype, layout, flip, o.x, o.y);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    image_download(image, 0, layer, texels);
    ck_assert_mem_eq(texels, expected, BYTES);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, count_of(t), fx.stream));
    assert_ok(gr_fetch(resource, tensor, &o, fx.stream));
    check_fetched(t, tensor);
    tensors_end();
}

static void check_image(const char *target, unsigned flags, const gr_gl_options *options)
{
    struct image image = image_filled("RGBA8", target, WIDTH, HEIGHT, 1, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, image.target->target, flags, options));
    for (unsigned i = 0; i < 2 * TILES; i++) {
        check(&image, resource, &all_tiles[i / 2], GR_DTYPE_U8, GR_LAYOUT_SHAPE, i % 2);
        check(&image, resource, &all_tiles[i / 2], GR_DTYPE_F32, GR_LAYOUT_CHW, i % 2);
        check(&image, resource, &all_tiles[i / 2], GR_DTYPE_F32, GR_LAYOUT_SHAPE, i % 2);
    }
    gr_resource_close(resource, fx.stream);
    image_delete(&image);
}

GROUP("tiles", add_image_case)

TEST(tiles_are_published_to_an_image_and_fetched, 2)
{
    const char *target = _i ? "2D_ARRAY" : "2D";
    const gr_gl_options by_peer = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER);
    need_publish_kernels();
    check_image(target, GR_SURFACE_LOAD_STORE, &by_interop);
    check_image(target, GR_READ_WRITE, &by_interop);
    check_image(target, GR_READ_WRITE, &by_copy);
    if (must_make(gr_gl_probe(GR_TRANSPORT_PEER))->usable)
        check_image(target, GR_READ_WRITE, &by_peer);
}

TEST(tiles_are_published_to_a_buffer_and_fetched, 2 * TILES)
{
    const struct tiles *t = &all_tiles[_i / 2];
    const int64_t shape[] = {rows_of(t) * t->height, t->columns * t->width, 4};
    const int64_t strides[] = {WIDTH * 4, 4, 1};
    const gr_tensor_desc whole = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                         .shape = shape, .strides = strides);
    const gr_publish_options o = GR_INIT(gr_publish_options, .columns = t->columns, .flip = _i % 2,
                                         .target = &whole, .offset = 16);
    need_publish_kernels();
    const GLuint name = gl_buffer_filled(BYTES, 9);
    GR_AUTO(gr_resource) *resource = must_register(name);
    memset(expected, 9, BYTES);
    gr_tensor *tensor = make_tensor(t, GR_DTYPE_F32, GR_LAYOUT_CHW, o.flip, 4, 0);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gl_read(name, texels, BYTES);
    ck_assert_mem_eq(texels, expected, BYTES);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, count_of(t), fx.stream));
    assert_ok(gr_fetch(resource, tensor, &o, fx.stream));
    check_fetched(t, tensor);
    tensors_end();
}

/* Four tiles of 1 x 2 in two columns are no copy of the elements, though both sides are (4,2,1). */
TEST(tiles_in_a_buffer_of_the_same_shape_are_moved)
{
    static const int64_t shape[] = {4, 2, 1};
    static const unsigned char tiles[] = {1, 2, 3, 4, 5, 6, 7, 8},
                               rows[] = {1, 3, 2, 4, 5, 7, 6, 8};
    const gr_tensor_desc whole =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape);
    const gr_publish_options o = GR_INIT(gr_publish_options, .columns = 2, .target = &whole);
    need_publish_kernels();
    const GLuint name = gl_buffer_filled(sizeof(rows), 9);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, shape, tiles);
    assert_ok(gr_publish(resource, tensor, &o, fx.stream));
    gl_read(name, texels, sizeof(rows));
    ck_assert_mem_eq(texels, rows, sizeof(rows));
    tensors_end();
}

/* In linear memory, and from memory of the host. */
TEST(tiles_of_the_host_are_published_to_linear_memory)
{
    const struct tiles *t = &all_tiles[1];
    const int64_t shape[] = {t->n, t->height, t->width, 4};
    const gr_publish_options o =
        GR_INIT(gr_publish_options, .columns = t->columns, .x = WIDTH - t->columns * t->width,
                .y = HEIGHT - rows_of(t) * t->height);
    need_publish_kernels();
    struct image image = image_filled("RGBA8", "2D", WIDTH, HEIGHT, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    image_pattern(image.format, expected, BYTES, image_seed(1, 0, 0));
    make_tensor(t, GR_DTYPE_U8, GR_LAYOUT_SHAPE, false, o.x, o.y);
    gr_tensor *host = tensor_on_host(GR_DTYPE_U8, 4, shape, NULL, elements);
    gr_buffer *linear = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    assert_ok(gr_buffer_publish(linear, host, &o, fx.stream));
    assert_ok(gr_buffer_release(linear));
    image_download(&image, 0, 0, texels);
    ck_assert_mem_eq(texels, expected, BYTES);
    gr_tensor_free(host);
    tensors_end();
    image_delete(&image);
}

TEST(wrong_tiles_are_refused)
{
    static const int64_t six[] = {6, 5, 7, 4}, picture[] = {10, 21, 4}, yuv[] = {15, 22},
                         none[] = {0, 5, 7, 4}, luma[] = {6, 5, 7}, batch[] = {2, 6, 5, 7, 4};
    const gr_tensor_desc nv12 = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2,
                                        .shape = yuv, .layout = GR_LAYOUT_NV12);
    const struct {
        const char *target;
        unsigned ndim;
        const int64_t *shape;
        gr_publish_options o;
        const char *text;
    } rows[] = {
        {"2D",
         4,
         six,
         {.columns = 2},
         "6 tiles of 7 x 5 in 2 columns need 14 x 15, but there are 2"},
        {"2D", 4, six, {.columns = 7}, "need 49 x 5, but there are 21 x 10. Choose another number"},
        {"2D", 4, six, {.columns = 0xffffffff}, "in 4294967295 columns need 30064771065 x 5"},
        {"2D", 4, six, {.columns = 3, .x = 1}, "or a rectangle"},
        {"2D", 4, none, {.columns = 3}, "0 tiles"},
        {"2D", 3, picture, {.columns = 3}, "10 tiles of 4 x 21"},
        {"2D", 5, batch, {.columns = 3}, "(2, 6, 5, 7, 4)"},
        {"2D", 3, luma, {.columns = 3, .layout = GR_LAYOUT_NV12}, "no layers and no tiles"},
        {"2D_ARRAY", 4, six, {.columns = 3, .layer = GR_ALL_LAYERS}, "in one layer or slice"},
        {"2D_ARRAY", 4, six, {.columns = 3, .layers = 1}, "choose the layer by `layer` alone"},
        {"3D", 4, six, {.columns = 3}, "the slice by `z` and a `depth` of 1"},
        {NULL, 4, six, {.columns = 3}, "`target` is NULL: describe the whole picture"},
        {NULL, 4, six, {.columns = 3, .target = &nv12}, "(NV12), which has no tiles"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct image image =
            image_filled("RGBA8", rows[i].target ? rows[i].target : "2D", 21, 10, 1, 1);
        GR_AUTO(gr_resource) *resource = rows[i].target ? must_register_image(&image, GR_READ_WRITE)
                                                        : must_register(gl_buffer_filled(900, 1));
        gr_publish_options o = rows[i].o;
        o.struct_size = sizeof(o);
        gr_tensor *tensor =
            tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, rows[i].ndim, rows[i].shape, NULL);
        assert_invalid(gr_publish(resource, tensor, &o, fx.stream), rows[i].text);
        assert_invalid(gr_fetch(resource, tensor, &o, fx.stream), rows[i].text);
        tensors_end();
        gr_resource_close(resource, fx.stream);
        image_delete(&image);
    }
}

TEST(tiles_with_gaps_in_a_write_discard_image_are_refused)
{
    static const int64_t shapes[][4] = {{5, 5, 7, 4}, {6, 5, 7, 4}};
    const gr_publish_options o = GR_INIT(gr_publish_options, .columns = 3);
    need_publish_kernels();
    struct image image = image_filled("RGBA8", "2D", 21, 10, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_WRITE_DISCARD);
    gr_tensor *five = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, shapes[0], NULL);
    gr_tensor *six = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, shapes[1], NULL);
    assert_fails(gr_publish(resource, five, &o, fx.stream), GR_ERR_STATE, 0, "slices or tiles");
    assert_ok(gr_publish(resource, six, &o, fx.stream));
    tensors_end();
}
