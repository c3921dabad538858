/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Publishes one tensor with all layers to OpenGL images of each kind and transport, and back. */
#include "publish_support.h"

#include <string.h>

#include "tests/support/shader_calls.h"

#define MOST (12 * 13 * 11 * 4)

static unsigned char texels[IMAGE_MOST_BYTES], whole[IMAGE_MOST_BYTES], expected[MOST];
static unsigned char elements[4 * MOST], got[4 * MOST];

/* ---- Tensors --------------------------------------------------------------------------------- */

/* The size of a part of an image; `n` counts layers, or the slices of a 3D image. */
struct size {
    unsigned n, height, width, channels;
};

/* The place of an element whose place in (N,H,W,C) is i. */
static size_t place_of(const struct size *s, gr_layout layout, size_t i)
{
    const size_t pixels = (size_t)s->height * s->width;
    return layout == GR_LAYOUT_CHW
               ? (i / s->channels / pixels * s->channels + i % s->channels) * pixels +
                     i / s->channels % pixels
               : i;
}

static size_t count_of(const struct size *s)
{
    return (size_t)s->n * s->height * s->width * s->channels;
}

/* Fills `elements` and the bytes `expected` that a GL_RGBA8, GL_R8 or GL_R32F image then has. */
static gr_tensor *make_tensor(const struct size *s, gr_dtype dtype, gr_layout layout, unsigned seed)
{
    const int64_t hwc[] = {s->n, s->height, s->width, s->channels};
    const int64_t chw[] = {s->n, s->channels, s->height, s->width};
    const size_t count = count_of(s);
    for (size_t i = 0; i < count; i++) {
        const size_t at = place_of(s, layout, i);
        const unsigned char byte = pattern_byte(seed, i);
        const float value = (float)byte / 255;
        if (dtype == GR_DTYPE_U8)
            elements[at] = byte;
        else
            memcpy(elements + 4 * at, &value, sizeof(value));
        if (s->channels == 1 && dtype == GR_DTYPE_F32)
            memcpy(expected + 4 * i, &value, sizeof(value));
        else
            expected[i] = byte;
    }
    /* (N,H,W), if there is one channel */
    return tensor_of(dtype, layout, s->channels == 1 ? 3 : 4, layout == GR_LAYOUT_CHW ? chw : hwc,
                     elements);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static const gr_publish_options parts[] = {
    {.struct_size = sizeof(gr_publish_options), .layer = GR_ALL_LAYERS},
    {.struct_size = sizeof(gr_publish_options), .layer = GR_ALL_LAYERS, .level = 1},
    {.struct_size = sizeof(gr_publish_options), .layer = GR_ALL_LAYERS, .x = 1, .y = 2},
    {.struct_size = sizeof(gr_publish_options),
     .layer = GR_ALL_LAYERS,
     .level = 1,
     .x = 1,
     .width = 4,
     .height = 3},
    {.struct_size = sizeof(gr_publish_options), .layer = 1, .layers = 2},
    {.struct_size = sizeof(gr_publish_options), .layers = 1, .level = 1},
    {.struct_size = sizeof(gr_publish_options), .layer = 2, .layers = 1, .x = 3, .height = 2},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Of 3D images, which have five slices, or two at level 1. */
static const gr_publish_options ranges[] = {
    {.struct_size = sizeof(gr_publish_options), .layer = GR_ALL_LAYERS},
    {.struct_size = sizeof(gr_publish_options), .layer = GR_ALL_LAYERS, .level = 1, .x = 1},
    {.struct_size = sizeof(gr_publish_options), .z = 2},
    {.struct_size = sizeof(gr_publish_options), .z = 1, .depth = 3, .x = 1, .y = 2},
    {.struct_size = sizeof(gr_publish_options), .z = 4, .depth = 1, .width = 6, .height = 3},
    {.struct_size = sizeof(gr_publish_options), .level = 1, .z = 1},
    {.struct_size = sizeof(gr_publish_options), .level = 1, .depth = 1, .x = 1},
};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

static unsigned first_of(const gr_publish_options *o)
{
    return o->layer == GR_ALL_LAYERS ? 0 : o->layer;
}

static unsigned layers_of(const struct image *image, const gr_publish_options *o)
{
    return o->layer == GR_ALL_LAYERS ? image->layers : o->layers ? o->layers : 1;
}

static unsigned slices_of(const struct image *image, const gr_publish_options *o)
{
    return o->depth ? o->depth : image_slices(image, o->level) - o->z;
}

static struct size size_of(const struct image *image, const gr_publish_options *o)
{
    return (struct size){layers_of(image, o) * slices_of(image, o),
                         o->height ? o->height : image_height(image, o->level) - o->y,
                         o->width ? o->width : image_width(image, o->level) - o->x,
                         image_channels(image->format)};
}

/* Checks that OpenGL has `expected` in the part, and the pattern of image_fill(1) elsewhere. */
static void check_image(const struct image *image, const gr_publish_options *o)
{
    const struct size s = size_of(image, o);
    const size_t slices = slices_of(image, o), width = image_width(image, o->level);
    const size_t texel = image_texel_bytes(image->format), row_bytes = s.width * texel;
    const unsigned char *from = expected;
    for (unsigned layer = 0; layer < image->layers; layer++) {
        image_pattern(image->format, whole, image_bytes(image, o->level),
                      image_seed(1, o->level, layer));
        const bool inside = layer >= first_of(o) && layer - first_of(o) < layers_of(image, o);
        for (size_t row = 0; inside && row < slices * s.height; row++, from += row_bytes) {
            const size_t slice = o->z + row / s.height;
            const size_t y = slice * image_height(image, o->level) + row % s.height + o->y;
            memcpy(whole + texel * (y * width + o->x), from, row_bytes);
        }
        image_download(image, o->level, layer, texels);
        ck_assert_mem_eq(texels, whole, image_bytes(image, o->level));
        assert_no_difference(image_level_differs(image, !o->level, layer, 1));
    }
}

static void check_fetch(gr_resource *from, gr_tensor *tensor, const gr_publish_options *o,
                        size_t size)
{
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 0xee, size, fx.stream));
    assert_ok(gr_fetch(from, tensor, o, fx.stream));
    tensor_to_host(tensor, got, size);
    ck_assert_mem_eq(got, elements, size);
}

static bool keeps_part(const gr_resource *resource, const gr_publish_options *o)
{
    return !(gr_resource_get_info((gr_resource *)(uintptr_t)resource)->flags & GR_WRITE_DISCARD) ||
           !(o->x || o->y || o->level || o->z || o->depth || o->layers);
}

/* Publishes to one resource of the image, and fetches from one, which may be the same. */
static void check(const struct image *image, gr_resource *to, gr_resource *from, gr_dtype dtype,
                  gr_layout layout)
{
    const bool is_3d = !strcmp(image->target->name, "3D");
    for (size_t i = 0; i < (is_3d ? RANGES : PARTS); i++) {
        const gr_publish_options *o = is_3d ? &ranges[i] : &parts[i];
        if (!keeps_part(to, o) || (o->layers && first_of(o) + o->layers > image->layers))
            continue;
        const struct size s = size_of(image, o);
        gr_tensor *tensor = make_tensor(&s, dtype, layout, 10 + (unsigned)i);
        image_fill(image, 1);
        assert_ok(gr_publish(to, tensor, o, fx.stream));
        /* NVIDIA's OpenGL may return once what image_fill() has uploaded: docs/driver.md */
        image_download(image, o->level, 0, texels);
        check_image(image, o);
        check_fetch(from, tensor, o, count_of(&s) * gr_dtype_get_info(dtype)->size);
        tensors_end();
    }
}

/* The first pair is copied without a kernel. */
static void check_types(const struct image *image, gr_resource *to, gr_resource *from)
{
    if (image_channels(image->format) == 1) {
        const bool is_float = image_texel_bytes(image->format) == sizeof(float);
        check(image, to, from, is_float ? GR_DTYPE_F32 : GR_DTYPE_U8, GR_LAYOUT_SHAPE);
        return;
    }
    const bool is_3d = !strcmp(image->target->name, "3D"); /* whose CHW is (C,D,H,W) */
    check(image, to, from, GR_DTYPE_U8, GR_LAYOUT_SHAPE);
    check(image, to, from, GR_DTYPE_U8, is_3d ? GR_LAYOUT_HWC : GR_LAYOUT_CHW);
    check(image, to, from, GR_DTYPE_F32, GR_LAYOUT_HWC);
    check(image, to, from, GR_DTYPE_F32, is_3d ? GR_LAYOUT_SHAPE : GR_LAYOUT_CHW);
}

static void check_transport(const char *format, const char *target, unsigned flags,
                            const gr_gl_options *options)
{
    struct image image = image_filled(format, target, 13, strcmp(target, "CUBE") ? 11 : 13, 2, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, image.target->target, flags, options));
    check_types(&image, resource, resource);
    gr_resource_close(resource, fx.stream);
    image_delete(&image);
}

/* With frames in flight, a resource only reads or only writes. */
static void check_in_flight(const char *format, const char *target, const gr_gl_options *options)
{
    struct image image = image_filled(format, target, 13, strcmp(target, "CUBE") ? 11 : 13, 2, 1);
    GR_AUTO(gr_resource) *to = must_make(
        gr_from_gl_image_with(image.name, image.target->target, GR_WRITE_DISCARD, options));
    GR_AUTO(gr_resource) *from =
        must_make(gr_from_gl_image_with(image.name, image.target->target, GR_READ_ONLY, options));
    check_types(&image, to, from);
    gr_resource_close(to, fx.stream);
    gr_resource_close(from, fx.stream);
    image_delete(&image);
}

static void check_shared(const char *format, const char *target, unsigned flags)
{
    const bool cube = !strcmp(target, "CUBE");
    struct image image = {.format = image_format(format),
                          .target = image_target(target),
                          .width = 13,
                          .height = cube ? 13 : 11,
                          .slices = strcmp(target, "3D") ? 1 : 5,
                          .layers = cube                         ? 6
                                    : strcmp(target, "2D_ARRAY") ? 1
                                                                 : 3,
                          .levels = 2};
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, image.target->target, image.format->internal, image.width,
                image.height, cube ? 0 : image.slices * image.layers, image.levels);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_image(&desc, flags, &by_sharing));
    image.name = gr_gl_name(resource);
    check_types(&image, resource, resource);
}

/* The faces of the cubes are the layers of the view. */
static void check_views(const struct image *view, GLuint cubes, const gr_gl_options *options)
{
    const struct size s = size_of(view, &parts[0]);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(view->name, view->target->target, GR_READ_WRITE, options));
    check(view, resource, resource, GR_DTYPE_U8, GR_LAYOUT_SHAPE);
    image_fill(view, 1);
    assert_ok(gr_publish(resource, make_tensor(&s, GR_DTYPE_F32, GR_LAYOUT_CHW, 3), &parts[0],
                         fx.stream));
    glGetTextureImage(cubes, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof(got), got);
    ck_assert_mem_eq(got, expected, count_of(&s));
    tensors_end();
    gr_resource_close(resource, fx.stream);
}

static const char *const targets[] = {"2D_ARRAY", "CUBE", "2D", "3D"};
/* OpenGL's calls copy the layers of GL_R8, which are no whole words. */
static const char *const formats[] = {"RGBA8", "R32F", "R8"};

GROUP("layers", add_image_case)

TEST(a_tensor_of_all_layers_is_published_and_fetched, 12)
{
    const char *format = formats[_i % 3], *target = targets[_i / 3];
    const gr_gl_options in_flight = GR_INIT(gr_gl_options, .in_flight = 2);
    need_publish_kernels();
    check_transport(format, target, GR_SURFACE_LOAD_STORE, &by_interop);
    check_transport(format, target, GR_READ_WRITE, &by_interop);
    check_transport(format, target, GR_SURFACE_LOAD_STORE, &by_copy);
    check_transport(format, target, GR_READ_WRITE, &by_copy);
    const gr_gl_options by_peer = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER);
    if (must_make(gr_gl_probe(GR_TRANSPORT_PEER))->usable)
        check_transport(format, target, GR_READ_WRITE, &by_peer);
    watch_gl(); /* a shader copies */
    check_transport(format, target, GR_READ_WRITE, &by_copy);
    ck_assert_int_eq(dispatches > 0, has_shader && (_i % 3 < 2 || !strcmp(target, "2D")));
    check_in_flight(format, target, &in_flight);
    unwatch_gl();
}

TEST(a_tensor_of_all_layers_is_published_to_a_shared_image, 8)
{
    const char *format = formats[_i % 2], *target = targets[_i / 2];
    need_publish_kernels();
    if (!must_make(gr_gl_probe(GR_TRANSPORT_SHARED))->usable || fx.device > 0)
        return;
    check_shared(format, target, GR_SURFACE_LOAD_STORE);
    check_shared(format, target, GR_READ_WRITE);
}

/* The channels of a 3D image are not between its slices and rows. */
TEST(all_layers_of_a_3d_image_are_its_slices)
{
    need_publish_kernels();
    struct image image = image_filled("RGBA8", "3D", 13, 11, 2, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    check(&image, resource, resource, GR_DTYPE_U8, GR_LAYOUT_HWC);
}

TEST(slices_are_published_to_linear_memory)
{
    const gr_publish_options o = ranges[3];
    struct image image = image_filled("RGBA8", "3D", 13, 11, 2, 1);
    const struct size s = size_of(&image, &o);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_tensor *tensor = make_tensor(&s, GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3);
    gr_buffer *linear = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    assert_ok(gr_buffer_publish(linear, tensor, &o, fx.stream));
    assert_ok(gr_buffer_release(linear));
    check_image(&image, &o);
    tensors_end();
}

/* CUDA does not register cube arrays, but their views as arrays. */
TEST(cube_arrays_are_published_through_a_view)
{
    const GLsizei layers = 12, side = 11;
    struct image view = {.format = image_format("RGBA8"),
                         .target = image_target("2D_ARRAY"),
                         .width = side,
                         .height = side,
                         .slices = 1,
                         .layers = layers,
                         .levels = 2};
    GLuint cubes;
    need_publish_kernels();
    glCreateTextures(GL_TEXTURE_CUBE_MAP_ARRAY, 1, &cubes);
    glTextureStorage3D(cubes, 2, GL_RGBA8, side, side, layers);
    assert_null(gr_from_gl_image(cubes, GL_TEXTURE_CUBE_MAP_ARRAY, GR_READ_WRITE),
                GR_ERR_UNSUPPORTED, 0, "glTextureView()");
    glGenTextures(1, &view.name);
    glTextureView(view.name, GL_TEXTURE_2D_ARRAY, cubes, GL_RGBA8, 0, 2, 0, layers);
    check_views(&view, cubes, &by_interop);
    check_views(&view, cubes, &by_copy);
    glDeleteTextures(1, &view.name);
    glDeleteTextures(1, &cubes);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(a_tensor_with_other_layers_is_refused)
{
    static const int64_t two[] = {2, 5, 7, 4}, one[] = {5, 7, 4}, chw[] = {3, 4, 5, 7},
                         three[] = {3, 5, 7, 4}, yuv[] = {3, 5, 7}, many[] = {2, 3, 5, 7, 4};
    const gr_publish_options all = GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS);
    const gr_publish_options first = GR_INIT(gr_publish_options, .layer = 0);
    const gr_publish_options wide = GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS, .width = 8);
    const gr_publish_options beyond =
        GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS, .level = 1);
    const gr_publish_options both =
        GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS, .layers = 2);
    const gr_publish_options pair = GR_INIT(gr_publish_options, .layers = 2);
    const gr_publish_options beside = GR_INIT(gr_publish_options, .layer = 2, .layers = 2);
    const gr_publish_options above = GR_INIT(gr_publish_options, .z = 5);
    const gr_publish_options deep = GR_INIT(gr_publish_options, .z = 1, .depth = 5);
    struct image image = image_filled("RGBA8", "2D_ARRAY", 7, 5, 1, 1);
    struct image slices = image_filled("RGBA8", "3D", 7, 5, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_resource) *volume = must_register_image(&slices, GR_READ_WRITE);
    GR_AUTO(gr_resource) *buffer = must_register(gl_buffer_filled(420, 1));
#define REFUSED(resource, layout, ndim, shape, o, text)                                            \
    do {                                                                                           \
        gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_##layout, ndim, shape, NULL);         \
        assert_invalid(gr_publish(resource, tensor, o, fx.stream), text);                          \
        assert_invalid(gr_fetch(resource, tensor, o, fx.stream), text);                            \
    } while (0)
    REFUSED(resource, SHAPE, 4, two, &all, "layers must be equal, but are 7 x 5 x ");
    REFUSED(resource, SHAPE, 4, two, &all, "mage is (3, 5, 7, 4) of uint8");
    REFUSED(resource, SHAPE, 3, one, &all, "must be equal");
    REFUSED(resource, SHAPE, 4, chw, &all, "GR_LAYOUT_CHW");
    REFUSED(resource, SHAPE, 5, many, &all, "(2, 3, 5, 7, 4)");
    REFUSED(resource, YUV444, 3, yuv, &all, "YUV has no layers");
    REFUSED(resource, SHAPE, 4, three, &first, "GR_ALL_LAYERS");
    REFUSED(resource, SHAPE, 4, three, &wide, "is not within level 0");
    REFUSED(resource, SHAPE, 4, three, &beyond, "There is no level 1");
    REFUSED(resource, SHAPE, 4, two, &beside, "There are no 2 layers from 2 on: the image has 3");
    REFUSED(resource, SHAPE, 4, three, &both, "GR_ALL_LAYERS, but `layers` is 2");
    REFUSED(resource, SHAPE, 4, three, &pair, "mage is (2, 5, 7, 4) of uint8");
    REFUSED(volume, SHAPE, 4, two, &pair, "`layers` is 2, but a 3D image has slices");
    REFUSED(volume, SHAPE, 4, two, &above,
            "from `z` 5 on with a `depth` of 0: level 0 has 5 slices");
    REFUSED(volume, SHAPE, 4, two, &deep, "from `z` 1 on with a `depth` of 5");
    REFUSED(buffer, SHAPE, 4, three, &all, "`level` and `layer` are for images");
    gr_tensor *tensor = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, three, NULL);
    gr_buffer *linear = must_make(gr_map_linear(resource, 0, 1, fx.stream));
    assert_invalid(gr_buffer_publish(linear, tensor, &all, fx.stream), "3 layers from 0 on");
    assert_ok(gr_buffer_release(linear));
    gr_buffer *mapped = must_map_image(resource);
    ck_assert(!gr_buffer_array(mapped, 0, GR_ALL_LAYERS));
    assert_error(GR_ERR_INVALID_VALUE, 0, "for gr_publish() and gr_fetch() only: pass one");
    assert_ok(gr_buffer_release(mapped));
    assert_image(&image, 1);
    tensors_end();
#undef REFUSED
}

TEST(a_rectangle_of_all_layers_of_a_write_discard_image_is_refused)
{
    static const int64_t shape[] = {3, 4, 7, 4};
    const gr_publish_options part = GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS, .y = 1);
    struct image image = image_filled("RGBA8", "2D_ARRAY", 7, 5, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_WRITE_DISCARD);
    assert_fails(gr_publish(resource, tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, shape, NULL),
                            &part, fx.stream),
                 GR_ERR_STATE, 0, "write_discard");
    assert_image(&image, 1);
    tensors_end();
}

static void assert_layer(GLuint name, GLint level, GLint layer, unsigned char value)
{
    static unsigned char is[2 * 62 * 26 * 4];
    const size_t size = (size_t)(62 >> level) * (size_t)(26 >> level) * 4;
    glBindTexture(GL_TEXTURE_2D_ARRAY, name);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, level, GL_RGBA, GL_UNSIGNED_BYTE, is);
    assert_bytes(is + (size_t)layer * size, size, value);
}

/*
 * The texture has never been used by the GPU. Catches: with the NVIDIA driver (580) an upload to
 * one level from a pixel buffer lost the others.
 */
TEST(a_publish_keeps_the_other_levels_of_a_mutable_texture, 2)
{
    static const int64_t shape[] = {26, 62, 4};
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = _i ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY);
    GLuint name = bound_texture(GL_TEXTURE_2D_ARRAY);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 2);
    for (int level = 0; level < 3; level++)
        glTexImage3D(GL_TEXTURE_2D_ARRAY, level, GL_RGBA8, 62 >> level, 26 >> level, 2, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, NULL);
    for (int level = 0; level < 3; level++) {
        memset(whole, level + 1, sizeof(whole));
        glTexSubImage3D(GL_TEXTURE_2D_ARRAY, level, 0, 0, 0, 62 >> level, 26 >> level, 2, GL_RGBA,
                        GL_UNSIGNED_BYTE, whole);
    }
    GR_AUTO(gr_resource) *resource =
        gr_from_gl_image_with(name, GL_TEXTURE_2D_ARRAY, GR_READ_WRITE, &options);
    if (!resource)
        skip("%s", error_text());
    memset(whole, 7, sizeof(whole));
    assert_ok(gr_publish(resource, tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 3, shape, whole),
                         &GR_INIT(gr_publish_options, .layer = 1), fx.stream));
    memset(whole, 8, sizeof(whole));
    glBindTexture(GL_TEXTURE_2D_ARRAY, name);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 1, 0, 0, 1, 31, 13, 1, GL_RGBA, GL_UNSIGNED_BYTE, whole);
    assert_ok(gr_buffer_release(must_map_image(resource)));
    static const unsigned char values[3][2] = {{1, 7}, {2, 8}, {3, 3}};
    for (int i = 0; i < 6; i++)
        assert_layer(name, i / 2, i % 2, values[i / 2][i % 2]);
    tensors_end();
    glDeleteTextures(1, &name);
}
