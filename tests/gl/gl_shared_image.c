/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Textures in memory of the Vulkan device of grinterop: bytes of every target, format and level. */
#include "gl_shared.h"
#include "tests/support/support_image.h"
#include "tests/tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {
    "R8",       "RG8",     "RGBA8",   "R16",     "RG16",    "RGBA16",  "SRGB8_ALPHA8", "R16F",
    "RG16F",    "RGBA16F", "R32F",    "RG32F",   "RGBA32F", "R8I",     "RG8I",         "RGBA8I",
    "R8UI",     "RG8UI",   "RGBA8UI", "R16I",    "RG16I",   "RGBA16I", "R16UI",        "RG16UI",
    "RGBA16UI", "R32I",    "RG32I",   "RGBA32I", "R32UI",   "RG32UI",  "RGBA32UI",
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

static const struct {
    GLenum target;
    unsigned width, height, depth, levels;
} shapes[] = {
    {GL_TEXTURE_2D, 13, 7, 1, 1},       {GL_TEXTURE_2D, 37, 21, 1, 4},
    {GL_TEXTURE_3D, 9, 5, 3, 2},        {GL_TEXTURE_2D_ARRAY, 13, 7, 3, 3},
    {GL_TEXTURE_2D_ARRAY, 16, 8, 1, 1}, {GL_TEXTURE_CUBE_MAP, 12, 12, 1, 3},
};
#define SHAPES ((int)(sizeof(shapes) / sizeof(shapes[0])))

static const struct image_target *target_of(GLenum target)
{
    for (size_t i = 0; i < image_target_count; i++)
        if (image_targets[i].target == target)
            return &image_targets[i];
    ck_abort_msg("0x%x is no target", target);
    return NULL;
}

/* Describes a texture that grinterop created, as support_image.h needs it. */
static struct image image_of(const gr_resource *resource, const char *format, int shape)
{
    GLenum target = shapes[shape].target;
    unsigned depth = shapes[shape].depth;
    return (struct image){
        .name = gr_gl_name(resource),
        .format = image_format(format),
        .target = target_of(target),
        .width = shapes[shape].width,
        .height = shapes[shape].height,
        .slices = target == GL_TEXTURE_3D ? depth : 1,
        .layers = target == GL_TEXTURE_CUBE_MAP   ? 6
                  : target == GL_TEXTURE_2D_ARRAY ? depth
                                                  : 1,
        .levels = shapes[shape].levels,
    };
}

static const char *image_missing(void)
{
    return fx.device == 0 ? shared_missing() : "images are not shared between two devices";
}

#define IMAGE_TEST(...) TEST_UNLESS(image_missing(), __VA_ARGS__)

static gr_gl_image_desc info_of(const char *format, int shape)
{
    return GR_INIT(gr_gl_image_desc, shapes[shape].target, image_format(format)->internal,
                   shapes[shape].width, shapes[shape].height, shapes[shape].depth,
                   shapes[shape].levels);
}

static gr_resource *must_share_image(const char *format, int shape, unsigned flags)
{
    const gr_gl_image_desc info = info_of(format, shape);
    gr_resource *resource = gr_create_gl_image(&info, flags, &by_sharing);
    ck_assert_msg(resource, "%s, shape %d: %s", format, shape, error_text());
    return resource;
}

static void check_bytes(const char *format, int shape)
{
    gr_resource *resource = must_share_image(format, shape, GR_READ_WRITE);
    struct image image = image_of(resource, format, shape);
    image_fill(&image, 1);
    image_both_ways(must_map_image(resource), &image, 1);
    gr_resource_free(resource);
    ck_assert(!glIsTexture(image.name));
}

GROUP("images", add_shared_case)

IMAGE_TEST(every_format_passes_both_ways, SHAPES)
{
    for (int format = 0; format < FORMATS; format++)
        check_bytes(formats[format], _i);
    assert_gl_clean();
}

IMAGE_TEST(large_images_pass_both_ways)
{
    const unsigned width = 401, height = 203, texel = 4;
    const gr_gl_image_desc info =
        GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, width, height, 1, 9);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing));
    for (unsigned level = 0; level < info.levels; level++) {
        unsigned w = width >> level ? width >> level : 1, h = height >> level ? height >> level : 1;
        size_t bytes = (size_t)w * h * texel;
        unsigned char *texels = malloc(bytes);
        gr_buffer *buffer = must_map_image(resource);
        pattern_fill(texels, bytes, level);
        image_put(buffer, level, 0, texels);
        assert_ok(gr_buffer_release(buffer));
        memset(texels, 0, bytes);
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glGetTextureImage(gr_gl_name(resource), (GLint)level, GL_RGBA, GL_UNSIGNED_BYTE,
                          (GLsizei)bytes, texels);
        assert_pattern(texels, bytes, level);
        free(texels);
    }
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

IMAGE_TEST(a_shared_image_reports_its_properties, SHAPES)
{
    GR_AUTO(gr_resource) *resource = must_share_image("RGBA16F", _i, GR_SURFACE_LOAD_STORE);
    struct image image = image_of(resource, "RGBA16F", _i);
    ck_assert(glIsTexture(image.name));
    ck_assert_uint_eq(gr_gl_target(resource), shapes[_i].target);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    assert_described(resource, "GL_RGBA16F", image.target->gl_name, "transport shared");
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_uint_eq(info->width, image.width);
    ck_assert_uint_eq(info->height, image.height);
    ck_assert_uint_eq(info->levels, image.levels);
    ck_assert_uint_eq(info->layers, image.layers);
    ck_assert_int_eq(info->layered, shapes[_i].target == GL_TEXTURE_2D_ARRAY ||
                                        shapes[_i].target == GL_TEXTURE_CUBE_MAP);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    gr_clear_error();
    assert_ok(gr_buffer_release(buffer));
}

IMAGE_TEST(opengl_draws_into_a_shared_image)
{
    GR_AUTO(gr_resource) *resource = must_share_image("RGBA8", 1, GR_READ_WRITE);
    GLuint framebuffer = 0;
    unsigned char seen[37 * 21 * 4];
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, gr_gl_name(resource), 0);
    ck_assert_uint_eq(glCheckNamedFramebufferStatus(framebuffer, GL_FRAMEBUFFER),
                      GL_FRAMEBUFFER_COMPLETE);
    for (int i = 1; i <= 5; i++) {
        const GLfloat colour[] = {(float)i / 255, (float)i / 255, (float)i / 255, (float)i / 255};
        glClearNamedFramebufferfv(framebuffer, GL_COLOR, 0, colour);
        gr_buffer *buffer = must_map_image(resource);
        image_get(buffer, 0, 0, seen);
        assert_bytes(seen, sizeof(seen), i);
        memset(seen, 0, sizeof(seen));
        image_put(buffer, 0, 0, seen);
        assert_ok(gr_buffer_release(buffer));
    }
    glDeleteFramebuffers(1, &framebuffer);
}

IMAGE_TEST(map_many_maps_shared_buffers_and_images)
{
    gr_resource *resources[3] = {must_share(4096, GR_READ_WRITE),
                                 must_share_image("RGBA8", 0, GR_READ_WRITE),
                                 must_share_image("R32F", 3, GR_READ_WRITE)};
    gr_buffer *buffers[3];
    struct image images[3] = {
        {0}, image_of(resources[1], "RGBA8", 0), image_of(resources[2], "R32F", 3)};
    for (unsigned round = 1; round < 4; round++) {
        assert_ok(gr_map_many(resources, 3, fx.stream, NULL, buffers));
        cuda_fill(buffers[0], (int)round);
        mapped_image_write(buffers[1], &images[1], round);
        mapped_image_write(buffers[2], &images[2], round + 1);
        assert_ok(gr_buffer_release_many(buffers, 3, fx.stream, NULL));
        assert_gl_bytes(gr_gl_name(resources[0]), 4096, (int)round);
        assert_image(&images[1], round);
        assert_image(&images[2], round + 1);
    }
    free_resources(resources, 3);
}

TEST(created_images_can_use_interop)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        const gr_gl_image_desc info = info_of("RGBA8", shape);
        gr_resource *resource = must_make(gr_create_gl_image(&info, GR_READ_WRITE, &by_interop));
        struct image image = image_of(resource, "RGBA8", shape);
        ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_INTEROP);
        ck_assert_uint_eq(gr_gl_target(resource), shapes[shape].target);
        write_mapped_image(resource, &image, 5);
        assert_image(&image, 5);
        gr_resource_free(resource);
        ck_assert(!glIsTexture(image.name));
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

#define SIZED sizeof(gr_gl_image_desc)

static const struct {
    gr_gl_image_desc info;
    gr_status status;
    const char *text;
} wrong[] = {
    {{SIZED, GL_TEXTURE_1D, GL_RGBA8, 4, 1, 1, 1}, GR_ERR_INVALID_VALUE, "target"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA8, 0, 4, 1, 1}, GR_ERR_INVALID_VALUE, "size"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA8, 4, 0, 1, 1}, GR_ERR_INVALID_VALUE, "size"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 2, 1}, GR_ERR_INVALID_VALUE, "depth"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 4}, GR_ERR_INVALID_VALUE, "levels"},
    {{SIZED, GL_TEXTURE_CUBE_MAP, GL_RGBA8, 4, 8, 1, 1}, GR_ERR_INVALID_VALUE, "square"},
    {{SIZED, GL_TEXTURE_2D, GL_RGB8, 4, 4, 1, 1}, GR_ERR_UNSUPPORTED, "GL_RGBA8"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA, 4, 4, 1, 1}, GR_ERR_INVALID_VALUE, "pass a sized format"},
    {{SIZED, GL_TEXTURE_2D, GL_RGB10_A2, 4, 4, 1, 1}, GR_ERR_UNSUPPORTED, "GL_RGBA16"},
    {{SIZED, GL_TEXTURE_2D, GL_DEPTH_COMPONENT24, 4, 4, 1, 1}, GR_ERR_UNSUPPORTED, "depth"},
    {{SIZED, GL_TEXTURE_2D, 0x1234, 4, 4, 1, 1}, GR_ERR_UNSUPPORTED, "0x1234"},
    {{SIZED, GL_TEXTURE_2D, GL_RGBA8, 1 << 20, 4, 1, 1}, GR_ERR_INVALID_VALUE, "1048576"},
};

IMAGE_TEST(wrong_descriptions_are_refused, sizeof(wrong) / sizeof(wrong[0]))
{
    assert_null(gr_create_gl_image(&wrong[_i].info, GR_READ_WRITE, &by_sharing), wrong[_i].status,
                -1, wrong[_i].text);
    assert_gl_clean();
}

/*
 * The call frees the Vulkan device that it wrapped. Catches: it waited forever for the tensor,
 * which ends after the capture.
 */
IMAGE_TEST(a_failing_creation_returns_during_a_capture)
{
    const size_t last = sizeof(wrong) / sizeof(wrong[0]) - 1;
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){16});
    capture_graph_relaxed(fx.stream);
    gr_tensor_free(tensor);
    assert_null(gr_create_gl_image(&wrong[last].info, GR_READ_WRITE, &by_sharing),
                wrong[last].status, -1, wrong[last].text);
    capture_graph(NULL);
    assert_ok(gr_tensor_collect(1000));
}

TEST(a_missing_description_or_context_is_refused)
{
    const gr_gl_image_desc good = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 0, 0);
    const gr_gl_image_desc unsized = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA, 4, 4, 0, 0);
    assert_null_invalid(gr_create_gl_image(&unsized, GR_READ_WRITE, NULL),
                        "`internal_format` is GL_RGBA, which has no size");
    assert_null_invalid(gr_create_gl_image(&good, 0x100, NULL), "");
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_create_gl_image(&good, GR_READ_WRITE, NULL), GR_ERR_GL, 0,
                "No OpenGL context is current");
    assert_ok(gr_egl_make_current(fx.egl));
    GR_AUTO(gr_resource) *resource = gr_create_gl_image(&good, GR_READ_WRITE, NULL);
    assert_made(resource);
}
