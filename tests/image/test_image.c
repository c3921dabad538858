/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mapped images: their properties, and their life from register to close. image_bytes.c tests the
 * bytes, image_loops.c loops.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "tests/support/support_image.h"

#include <string.h>

GROUP("properties of a mapped image", add_image_case)

static void check_info(const char *format, const char *target, unsigned width, unsigned height)
{
    struct image image = image_make(format, target, width, height, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_uint_eq(info->width, width);
    ck_assert_uint_eq(info->height, height);
    ck_assert_uint_eq(info->depth, image.slices);
    ck_assert_uint_eq(info->levels, image.levels);
    ck_assert_uint_eq(info->layers, image.layers);
    ck_assert_uint_eq(info->cube, strcmp(target, "CUBE") == 0);
    ck_assert_uint_eq(info->srgb, image_is_srgb(image.format));
    ck_assert_uint_eq(info->normalized, image.format->kind == IMAGE_NORMALIZED);
    ck_assert_int_eq((int)info->format, (int)image_cuda_format(image.format));
    ck_assert_uint_eq(info->channels, image_channels(image.format));
    ck_assert_uint_eq(info->texel_bytes, image_texel_bytes(image.format));
    ck_assert_ptr_eq(gr_buffer_get_image_info(buffer), info);
}

TEST(info_describes_each_target)
{
    check_info("RGBA8", "2D", 13, 7);
    check_info("R16UI", "3D", 13, 7);
    check_info("RGBA32F", "RECT", 13, 7);
    check_info("SRGB8_ALPHA8", "CUBE", 7, 7);
    check_info("RGB8", "2D_ARRAY", 13, 7);
    check_info("RG16F", "RENDERBUFFER", 13, 7);
}

/*
 * A texture whose levels were specified one by one has only those levels, not the full chain that
 * CUDA counts.
 */
TEST(info_has_the_levels_that_opengl_allocated)
{
    static const unsigned char texels[8 * 8 * 4];
    GLuint names[2];
    glGenTextures(2, names);
    for (GLint level = 0; level < 4; level++) {
        glBindTexture(GL_TEXTURE_2D, names[0]);
        if (level == 0)
            glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glBindTexture(GL_TEXTURE_2D, names[1]);
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, 8 >> level, 8 >> level, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, texels);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    for (int i = 0; i < 2; i++) {
        GR_AUTO(gr_resource) *resource =
            must_make(gr_from_gl_image(names[i], GL_TEXTURE_2D, GR_READ_WRITE));
        GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
        unsigned levels = i == 0 ? 1 : 4;
        const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
        ck_assert_uint_eq(info->levels, levels);
        ck_assert_ptr_nonnull(gr_buffer_array(buffer, levels - 1, 0));
        assert_null_invalid(gr_buffer_array(buffer, levels, 0), "level");
    }
}

/* OpenGL chooses the bits of a format without a size, whatever the type of the data. */
TEST(descriptions_have_the_bits_of_a_format_without_a_size)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_FLOAT, NULL);
    GR_AUTO(gr_resource) *texture = must_make(gr_from_gl_image(name, GL_TEXTURE_2D, 0));
    assert_described(texture, "GL_RGBA of 8+8+8+8 bits, 8 x 8 x 1");
    name = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RG, 8, 8);
    GR_AUTO(gr_resource) *renderbuffer = must_make(gr_from_gl_image(name, GL_RENDERBUFFER, 0));
    assert_described(renderbuffer, "GL_RG of 8+8 bits, 8 x 8 x 1");
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *sized = must_register_image(&image, 0);
    assert_described(sized, "GL_RGBA8, 8 x 8 x 1");
    assert_gl_clean();
}

TEST(gr_buffer_array_returns_the_arrays_of_the_driver)
{
    struct image image = image_make("RGBA16", "CUBE", 8, 8, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    PFN_cuGraphicsSubResourceGetMappedArray_v3000 get_array;
    PFN_cuArray3DGetDescriptor_v3020 describe;
    void *symbol = cuda_symbol("cuGraphicsSubResourceGetMappedArray", 3000);
    memcpy(&get_array, &symbol, sizeof(symbol));
    symbol = cuda_symbol("cuArray3DGetDescriptor", 3020);
    memcpy(&describe, &symbol, sizeof(symbol));
    for (unsigned level = 0; level < 2; level++)
        for (unsigned layer = 0; layer < 6; layer++) {
            CUarray array = NULL;
            CUDA_ARRAY3D_DESCRIPTOR d = {0};
            assert_result(CUDA_SUCCESS, get_array(&array, driver_handle(resource), layer, level),
                          "cuGraphicsSubResourceGetMappedArray");
            ck_assert_ptr_eq(gr_buffer_array(buffer, level, layer), array);
            assert_result(CUDA_SUCCESS, describe(&d, array), "cuArray3DGetDescriptor");
            ck_assert_uint_eq(d.Width, 8u >> level);
        }
}

TEST(a_level_or_layer_out_of_range_is_refused)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", 8, 8, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    unsigned char bytes[8 * 8 * 4];
    const gr_linear_desc host = GR_INIT(gr_linear_desc, .host = bytes);
    static const unsigned wrong[][2] = {{2, 0}, {0, 3}, {2, 3}, {~0u, 0}, {0, ~0u}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        unsigned level = wrong[i][0], layer = wrong[i][1];
        const gr_texture_options options =
            GR_INIT(gr_texture_options, .level = level, .layer = layer);
        assert_null_invalid(gr_buffer_array(buffer, level, layer), "2 levels");
        ck_assert_uint_eq(gr_buffer_surface(buffer, level, layer), 0);
        assert_error(GR_ERR_INVALID_VALUE, 0, "3 layers");
        ck_assert_uint_eq(gr_buffer_texture(buffer, &options), 0);
        assert_error(GR_ERR_INVALID_VALUE, 0, "2 levels");
        assert_invalid(gr_buffer_copy_to_linear(buffer, level, layer, &host, fx.stream),
                       "2 levels");
        assert_invalid(gr_buffer_copy_from_linear(buffer, level, layer, &host, fx.stream),
                       "3 layers");
    }
}

TEST(a_mapped_image_has_arrays_but_no_pointer)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    gr_clear_error();
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    assert_error(GR_ERR_STATE, 0, "gr_buffer_array");
    gr_buffer_ptr(buffer);
    assert_error(GR_ERR_STATE, 0, "gr_map_linear");
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
    ck_assert_uint_eq(gr_buffer_get_info(buffer)->pitch, 0);
    ck_assert_ptr_eq(gr_buffer_get_info(buffer)->stream, fx.stream);
}

/* Every query about the arrays of an image must fail with this text. */
static void assert_no_image(gr_buffer *buffer, const char *text)
{
    unsigned char bytes[256];
    const gr_linear_desc host = GR_INIT(gr_linear_desc, .host = bytes);
    assert_null(gr_buffer_get_image_info(buffer), GR_ERR_STATE, 0, text);
    assert_null(gr_buffer_array(buffer, 0, 0), GR_ERR_STATE, 0, text);
    assert_null(gr_buffer_mipmapped_array(buffer), GR_ERR_STATE, 0, text);
    ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 0), 0);
    assert_error(GR_ERR_STATE, 0, text);
    ck_assert_uint_eq(gr_buffer_texture(buffer, NULL), 0);
    assert_error(GR_ERR_STATE, 0, text);
    assert_fails(gr_buffer_copy_to_linear(buffer, 0, 0, &host, fx.stream), GR_ERR_STATE, 0, text);
    assert_fails(gr_buffer_copy_from_linear(buffer, 0, 0, &host, fx.stream), GR_ERR_STATE, 0, text);
}

TEST(image_queries_for_a_buffer_are_refused)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(256, 1));
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    assert_no_image(buffer, "gr_buffer_ptr");
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
}

GROUP("contract", add_image_case)

static void assert_ended(gr_buffer *buffer)
{
    assert_no_image(buffer, "no longer mapped");
    gr_clear_error();
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    ck_assert_uint_eq(gr_buffer_size(buffer), 0);
}

TEST(an_image_can_be_mapped_again_after_its_release)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    ck_assert_ptr_nonnull(driver_handle(resource));
    ck_assert(!gr_resource_get_info(resource)->mapped);
    for (int i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map_image(resource);
        ck_assert(gr_resource_get_info(resource)->mapped);
        ck_assert_ptr_nonnull(gr_buffer_array(buffer, 0, 0));
        assert_ok(i == 1 ? release_on(buffer, fx.other) : gr_buffer_release(buffer));
        ck_assert(!gr_resource_get_info(resource)->mapped);
    }
    assert_image(&image, 1);
}

TEST(a_second_map_is_refused_and_keeps_the_first)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    CUarray array = gr_buffer_array(buffer, 0, 0);
    assert_null(gr_map(resource, fx.other), GR_ERR_STATE, 0, "already mapped");
    assert_null(gr_map_linear(resource, 0, 0, fx.stream), GR_ERR_STATE, 0, "already mapped");
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_ptr_eq(gr_buffer_array(buffer, 0, 0), array);
}

TEST(unmap_ends_the_mapping_but_does_not_release_the_buffer)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
    assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    assert_ended(buffer);
    gr_buffer *second = must_map_image(resource);
    assert_ended(buffer);
    ck_assert_ptr_nonnull(gr_buffer_array(second, 0, 0));
    assert_ok(gr_buffer_release(buffer));
    ck_assert(gr_resource_get_info(resource)->mapped);
    assert_ok(gr_buffer_release(second));
}

TEST(close_while_mapped_keeps_the_bytes)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
    ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
    mapped_level_write(buffer, &image, 0, 0, 4);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_get_info(resource)->closed);
    ck_assert_ptr_null(driver_handle(resource));
    assert_ended(buffer);
    assert_image(&image, 4);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "closed");
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(resource, fx.stream));
}

TEST(a_closed_image_can_be_registered_again)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    for (int i = 0; i < 3; i++) {
        GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
        assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
        ck_assert(gr_resource_get_info(resource)->closed);
    }
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    ck_assert_ptr_nonnull(gr_buffer_array(buffer, 0, 0));
}

/*
 * The resource is freed right after the map, as in programs that keep only the buffer. Releasing
 * the buffer then ends the mapping and the resource.
 */
TEST(a_mapping_keeps_a_freed_image_alive_until_its_release)
{
    struct image image = image_filled("R32F", "2D", 8, 8, 1, 6);
    for (unsigned i = 6; i < 9; i++) {
        gr_resource *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
        gr_buffer *buffer = must_map_image(resource);
        gr_resource_free(resource);
        ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
        image_both_ways(buffer, &image, i);
    }
    GR_AUTO(gr_resource) *again = must_register_image(&image, GR_READ_WRITE);
    ck_assert(!gr_resource_get_info(again)->mapped);
}

TEST(describe_names_the_image)
{
    struct image image = image_make("RGBA16F", "2D_ARRAY", 13, 7, 1);
    struct image buffer = image_make("R8", "RENDERBUFFER", 5, 3, 1);
    GR_AUTO(gr_resource) *texture = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    GR_AUTO(gr_resource) *renderbuffer = must_register_image(&buffer, GR_READ_WRITE);
    assert_described(texture, "GL_RGBA16F", "13", "texture", "surface_load_store");
    assert_described(renderbuffer, "GL_R8", "renderbuffer");
    gr_buffer *mapped = must_map_image(texture);
    assert_described(texture, "mapped");
    assert_ok(gr_buffer_release(mapped));
    assert_ok(gr_resource_close(texture, fx.stream));
    assert_described(texture, "closed", "GL_RGBA16F");
}
