/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Depth textures and renderbuffers, which only the copy transport accepts. */
#include "gl_copy_tests.h"

#include <math.h>
#include <string.h>

#include <grinterop/publish.h>

#include "tests/tensor/tensor.h"

#define REGISTER "cuGraphicsGLRegisterImage"
#define WIDTH    7
#define HEIGHT   5

/* The distance between two depths of a format; 0: all floats from 0 to 1. */
static const struct {
    const char *name;
    double step;
} formats[] = {{"DEPTH_COMPONENT16", 1.0 / 65535},
               {"DEPTH_COMPONENT24", 1.0 / 16777215},
               {"DEPTH_COMPONENT32F", 0}};
#define FORMAT_COUNT (int)(sizeof(formats) / sizeof(*formats))

static const char *const targets[] = {"2D", "RECT", "CUBE", "2D_ARRAY", "RENDERBUFFER"};
#define TARGET_COUNT (sizeof(targets) / sizeof(*targets))

static float got[IMAGE_MOST_BYTES / sizeof(float)], wanted[IMAGE_MOST_BYTES / sizeof(float)];

/* ---- Values ---------------------------------------------------------------------------------- */

/* Compares `got` with the pattern, to one step of the format. */
static void assert_depths(const struct image *image, unsigned level, unsigned layer,
                          unsigned number, double step, const char *where)
{
    size_t bytes = image_bytes(image, level);
    image_pattern(image->format, wanted, bytes, image_seed(number, level, layer));
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ck_assert_msg(fabs((double)got[i] - (double)wanted[i]) <= step,
                      "%s %s, level %u, layer %u: texel %zu is %.9g in %s, not %.9g",
                      image->format->name, image->target->name, level, layer, i, (double)got[i],
                      where, (double)wanted[i]);
}

static void check_both_ways(const struct image *image, double step)
{
    GR_AUTO(gr_resource) *resource = must_copy_image(image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_int_eq(info->format, CU_AD_FORMAT_FLOAT);
    ck_assert_uint_eq(info->channels, 1);
    ck_assert_uint_eq(info->levels, image->levels);
    ck_assert_uint_eq(info->layers, image->layers);
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++) {
            image_get(buffer, level, layer, got);
            assert_depths(image, level, layer, 1, step, "CUDA");
            image_pattern(image->format, wanted, image_bytes(image, level),
                          image_seed(2, level, layer));
            image_put(buffer, level, layer, wanted);
        }
    assert_ok(gr_buffer_release(buffer));
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++) {
            image_download(image, level, layer, got);
            assert_depths(image, level, layer, 2, step, "OpenGL");
        }
}

static bool without_kernels(const gr_resource *resource)
{
    char text[900];
    gr_resource_describe(resource, text, sizeof(text));
    return strstr(text, "publishing only copies");
}

GROUP("depth by copy", EVERY_COPY_GL)
TAG("bytes")

COPY_TEST(depth_passes_both_ways, FORMAT_COUNT)
{
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        unsigned height = image_target(targets[i])->target == GL_TEXTURE_CUBE_MAP ? WIDTH : HEIGHT;
        struct image image = image_make(formats[_i].name, targets[i], WIDTH, height, 3);
        image_fill(&image, 1);
        check_both_ways(&image, formats[_i].step);
        image_delete(&image);
    }
}

#define SIDE 256

/* All values of 16 bits, and as many of more bits. */
static void fill_depths(GLuint *values, bool all_bits)
{
    for (GLuint i = 0; i < SIDE * SIDE; i++)
        values[i] = i * 65537u + (all_bits ? i * 7919u % 65536u : 0);
}

static void read_depths(const struct image *image, float *values)
{
    GLint bound = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &bound);
    glBindTexture(GL_TEXTURE_2D_ARRAY, image->name);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_DEPTH_COMPONENT, GL_FLOAT, values);
    glBindTexture(GL_TEXTURE_2D_ARRAY, (GLuint)bound);
}

/* Maps three layers, writes texel 0 of the second one, and expects no other texel to change. */
COPY_TEST(depth_that_cuda_does_not_write_keeps_its_bits, FORMAT_COUNT)
{
    enum { LAYERS = 3, ALL = LAYERS * SIDE * SIDE };
    GLuint *values = must_allocate(ALL * sizeof(*values));
    float *before = must_allocate(ALL * sizeof(*before)),
          *after = must_allocate(ALL * sizeof(*after));
    struct image image = image_make(formats[_i].name, "2D_ARRAY", SIDE, SIDE, 1);
    const gr_linear_desc first = GR_INIT(gr_linear_desc, .host = after);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    if (without_kernels(resource))
        skip("OpenGL converts the floats");
    for (int layer = 0; layer < LAYERS; layer++)
        fill_depths(values + layer * SIDE * SIDE, formats[_i].step < 1e-6);
    glBindTexture(GL_TEXTURE_2D_ARRAY, image.name);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, SIDE, SIDE, LAYERS, GL_DEPTH_COMPONENT,
                    GL_UNSIGNED_INT, values);
    read_depths(&image, before);
    for (int turn = 0; turn < 8; turn++) {
        gr_buffer *buffer = must_map_image(resource);
        assert_ok(gr_buffer_copy_to_linear(buffer, 0, 1, &first, fx.stream));
        CU(StreamSynchronize(fx.stream));
        after[0] = (float)turn / 8;
        assert_ok(gr_buffer_copy_from_linear(buffer, 0, 1, &first, fx.stream));
        assert_ok(gr_buffer_release(buffer));
    }
    read_depths(&image, after);
    before[SIDE * SIDE] = after[SIDE * SIDE];
    for (int i = 0; i < ALL; i++)
        ck_assert_msg(after[i] == before[i], "%s: texel %d is %.9g, not %.9g", formats[_i].name, i,
                      (double)after[i], (double)before[i]);
    ck_assert_double_le(fabs((double)after[SIDE * SIDE] - 0.875), formats[_i].step);
    free(values);
    free(before);
    free(after);
    image_delete(&image);
}

COPY_TEST(opengl_clamps_depth_to_0_and_1, FORMAT_COUNT)
{
    static const float written[4] = {-0.5f, 2, 0, 1};
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        struct image image = image_make(formats[_i].name, targets[i], 2, 2, 1);
        GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_WRITE_DISCARD);
        gr_buffer *buffer = must_map_image(resource);
        for (unsigned layer = 0; layer < image.layers; layer++)
            image_put(buffer, 0, layer, written);
        assert_ok(gr_buffer_release(buffer));
        for (unsigned layer = 0; layer < image.layers; layer++) {
            image_download(&image, 0, layer, got);
            for (size_t k = 0; k < 4; k++)
                ck_assert_msg(got[k] == (float)(k % 2), "%s %s: %g became %g", formats[_i].name,
                              targets[i], (double)written[k], (double)got[k]);
        }
        image_delete(&image);
    }
}

static GLuint make_unsized_texture(void)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT, 2, 2, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
    glBindTexture(GL_TEXTURE_2D, 0);
    return name;
}

static GLuint make_unsized_renderbuffer(void)
{
    GLuint name = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT, 2, 2);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    return name;
}

/* The unsized format has at least 16 bits. */
COPY_TEST(depth_of_the_unsized_format_is_copied, 2)
{
    static const float texels[4] = {0, 0.3f, 0.7f, 1};
    float first[4];
    GLuint name = _i ? make_unsized_renderbuffer() : make_unsized_texture();
    GR_AUTO(gr_resource) *resource = must_make(gr_from_gl_image_with(
        name, _i ? GL_RENDERBUFFER : GL_TEXTURE_2D, GR_READ_WRITE, image_options()));
    gr_buffer *buffer = must_map_image(resource);
    image_put(buffer, 0, 0, texels);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_map_image(resource);
    image_get(buffer, 0, 0, got);
    assert_ok(gr_buffer_release(buffer));
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_le(fabs((double)got[i] - (double)texels[i]), formats[0].step);
    memcpy(first, got, sizeof(first));
    for (int turn = 0; turn < 8; turn++)
        assert_ok(gr_buffer_release(must_map_image(resource)));
    buffer = must_map_image(resource);
    image_get(buffer, 0, 0, got);
    assert_ok(gr_buffer_release(buffer));
    if (!without_kernels(resource))
        ck_assert_mem_eq(got, first, sizeof(first));
}

/* ---- Mappings and tensors -------------------------------------------------------------------- */

COPY_TEST(mapped_depth_has_surfaces_textures_and_linear_maps)
{
    struct image image = image_filled("DEPTH_COMPONENT32F", "2D_ARRAY", WIDTH, HEIGHT, 2, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 1, 2), 0);
    ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
    assert_ok(gr_buffer_release(buffer));
    assert_image(&image, 1);

    const float half = 0.5f;
    unsigned bits = 0;
    memcpy(&bits, &half, sizeof(bits));
    buffer = must_make(gr_map_linear(resource, 1, 2, fx.stream));
    CU(MemsetD32Async(gr_buffer_ptr(buffer), bits, gr_buffer_size(buffer) / sizeof(float),
                      fx.stream));
    assert_ok(gr_buffer_release(buffer));
    image_download(&image, 1, 2, got);
    for (size_t i = 0; i < image_bytes(&image, 1) / sizeof(float); i++)
        ck_assert(got[i] == half);
    assert_no_difference(image_level_differs(&image, 1, 1, 1));
    assert_no_difference(image_level_differs(&image, 0, 2, 1));
}

COPY_TEST(tensors_are_published_to_and_fetched_from_depth, FORMAT_COUNT)
{
    const int64_t shape[] = {HEIGHT, WIDTH};
    const size_t bytes = WIDTH * HEIGHT * sizeof(float);
    struct image image = image_make(formats[_i].name, "2D", WIDTH, HEIGHT, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_tensor) *from = must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 2, shape);
    GR_AUTO(gr_tensor) *to = must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 2, shape);
    image_pattern(image.format, wanted, bytes, image_seed(1, 0, 0));
    tensor_from_host(from, wanted, bytes);
    assert_ok(gr_publish(resource, from, NULL, fx.stream));
    image_download(&image, 0, 0, got);
    assert_depths(&image, 0, 0, 1, formats[_i].step, "OpenGL");
    assert_ok(gr_fetch(resource, to, NULL, fx.stream));
    tensor_to_host(to, got, bytes);
    assert_depths(&image, 0, 0, 1, formats[_i].step, "the tensor");

    static float corner[(HEIGHT - 1) * (WIDTH - 2)], before[WIDTH * HEIGHT];
    const int64_t smaller[] = {HEIGHT - 1, WIDTH - 2};
    GR_AUTO(gr_tensor) *quarter = must_alloc(GR_DTYPE_F32, GR_MEMORY_DEVICE, 2, smaller);
    for (size_t i = 0; i < sizeof(corner) / sizeof(corner[0]); i++)
        corner[i] = 0.25f;
    tensor_from_host(quarter, corner, sizeof(corner));
    image_download(&image, 0, 0, before);
    assert_ok(
        gr_publish(resource, quarter, &GR_INIT(gr_publish_options, .x = 2, .y = 1), fx.stream));
    image_download(&image, 0, 0, got);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        if (i % WIDTH < 2 || i < WIDTH)
            ck_assert(got[i] == before[i]);
        else
            ck_assert_double_le(fabs((double)got[i] - 0.25), formats[_i].step);
}

/* ---- The choice of the transport ------------------------------------------------------------- */

COPY_TEST(depth_is_refused_with_advice_unless_copying_is_allowed, FORMAT_COUNT)
{
    const gr_gl_options uncopied =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY & ~(unsigned)GR_TRANSPORT_COPY);
    const gr_gl_options *const refused[] = {NULL, &by_interop, &uncopied};
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        struct image image = image_make(formats[_i].name, targets[i], 8, 8, 1);
        GLenum target = image.target->target;
        fault->reset();
        for (size_t k = 0; k < 3; k++)
            assert_null(gr_from_gl_image_with(image.name, target, GR_READ_WRITE, refused[k]),
                        GR_ERR_UNSUPPORTED, 0,
                        "gr_fetch_framebuffer() to read the depth into a tensor, or "
                        "GR_TRANSPORT_COPY in gr_gl_options.transports");
        GR_AUTO(gr_resource) *resource =
            must_make(gr_from_gl_image_with(image.name, target, GR_READ_WRITE, &by_any));
        assert_image_transport(resource);
        assert_described(resource,
                         devices_differ() ? "peer was not chosen: " : "interop was not chosen: ");
        assert_calls(REGISTER, 0);
    }
}

COPY_TEST(depth_with_stencil_is_refused_with_advice)
{
    static const char *const names[][2] = {
        {"DEPTH24_STENCIL8", "a tensor, or GL_DEPTH_COMPONENT24, and GR_TRANSPORT_COPY"},
        {"DEPTH32F_STENCIL8", "a tensor, or GL_DEPTH_COMPONENT32F, and GR_TRANSPORT_COPY"}};
    for (size_t i = 0; i < 2; i++) {
        struct image image = image_make(names[i][0], "2D", 8, 8, 1);
        assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_ONLY, image_options()),
                    GR_ERR_UNSUPPORTED, 0, names[i][1]);
    }
}

COPY_TEST(depth_is_created_if_copying_is_allowed)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_DEPTH_COMPONENT32F,
                .width = WIDTH, .height = HEIGHT);
    assert_null(gr_create_gl_image(&desc, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "GR_TRANSPORT_COPY");
    ck_assert_ptr_null(gr_create_gl_image(&desc, GR_READ_WRITE, NULL));
    ck_assert_str_eq(gr_last_error()->call, "gr_create_gl_image");
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_image(&desc, GR_READ_WRITE, &by_any));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    assert_ok(gr_buffer_release(must_map_image(resource)));
}
