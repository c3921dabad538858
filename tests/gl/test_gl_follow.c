/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gr_gl_options.follow_storage: a map registers the object again if its storage was replaced, by
 * interop and by copy.
 */
#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"
#include "tests/support/usable.h"
#include "tests/tensor/tensor.h"

#include <stdlib.h>

#include <grinterop/publish.h>
#include <grinterop/ring.h>

START(fault_control_start())

static const gr_gl_options follow[] = {
    {.struct_size = sizeof(gr_gl_options),
     .transports = GR_TRANSPORT_INTEROP,
     .follow_storage = true},
    {.struct_size = sizeof(gr_gl_options), .transports = GR_TRANSPORT_COPY, .follow_storage = true},
};
#define WAYS 2

static const char *const registrations[][WAYS] = {
    {"cuGraphicsGLRegisterBuffer", "cuMemAlloc"},
    {"cuGraphicsGLRegisterImage", "cuMipmappedArrayCreate"},
};

GROUP("buffers", add_image_case)

static void resize(GLuint name, size_t size)
{
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

static void resize_to_pattern(GLuint name, size_t size, unsigned seed)
{
    unsigned char *bytes = must_allocate(size);
    resize(name, size);
    pattern_fill(bytes, size, seed);
    gl_write(name, bytes, size);
    free(bytes);
}

static gr_resource *must_follow(GLuint name, int way)
{
    return must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &follow[way]));
}

TEST(a_map_follows_a_resized_buffer, WAYS)
{
    static const size_t sizes[] = {4096, 8192, 100, 3 << 20, 4096};
    GLuint name = gl_buffer_pattern(4096, 0);
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        resize_to_pattern(name, sizes[i], 2 * i);
        assert_both_ways(must_map(resource), name, sizes[i], 2 * i);
        ck_assert_uint_eq(gr_resource_get_info(resource)->size, sizes[i]);
        assert_both_ways(must_map(resource), name, sizes[i], 2 * i + 1);
    }
    assert_gl_clean();
}

/* The registration is kept while the storage is. */
TEST(a_map_of_unchanged_storage_registers_nothing, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    fault->reset();
    assert_both_ways(must_map(resource), name, 4096, 0);
    ck_assert_uint_eq(fault->calls(registrations[0][_i]), 0);
    ck_assert_uint_eq(fault->calls("cuGraphicsUnregisterResource"), 0);
}

/* Immutable storage that was deleted and created under the same name. */
TEST(a_map_follows_a_buffer_created_again, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0), again = 0;
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    glDeleteBuffers(1, &name);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    glGenBuffers(1, &again);
    if (again != name)
        skip("OpenGL does not reuse the name");
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, 4096, NULL, GL_DYNAMIC_STORAGE_BIT);
    unsigned char bytes[4096];
    pattern_fill(bytes, sizeof(bytes), 7);
    gl_write(name, bytes, sizeof(bytes));
    assert_both_ways(must_map(resource), name, 4096, 7);
    glDeleteBuffers(1, &name);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    glGenBuffers(1, &again);
    resize_to_pattern(again, 64, 3);
    assert_both_ways(must_map(resource), again, 64, 3);
    glDeleteBuffers(1, &again); /* equal storage */
    ck_assert_uint_eq(gl_buffer_pattern(64, 6), again);
    assert_both_ways(must_map(resource), again, 64, 6);
}

TEST(parts_are_checked_against_the_new_size, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    gr_buffer *buffer = NULL;
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    resize_to_pattern(name, 64, 1);
    assert_invalid(gr_map_many(&resource, 1, fx.stream,
                               &GR_INIT(gr_map_options, .offset = 1024, .size = 64), &buffer),
                   "whose size is 64");
    assert_invalid(
        gr_map_many(&resource, 1, fx.stream, &GR_INIT(gr_map_options, .size = 65), &buffer),
        "whose size is 64");
    resize_to_pattern(name, 8192, 1);
    assert_ok(
        gr_map_many(&resource, 1, fx.stream, &GR_INIT(gr_map_options, .offset = 4096), &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), 4096);
    fill_and_release(buffer, 9);
    unsigned char bytes[8192];
    gl_read(name, bytes, sizeof(bytes));
    assert_pattern(bytes, 4096, 1);
    assert_bytes(bytes + 4096, 4096, 9);
}

/* The other resources of the batch are of the same run, and keep their registrations. */
TEST(a_batch_follows_its_followers, WAYS)
{
    enum { MANY = 5, FOLLOWER = 2 };
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    GLuint names[MANY];
    for (int i = 0; i < MANY; i++) {
        names[i] = gl_buffer_pattern(256, 0);
        gr_gl_options options = follow[_i];
        options.follow_storage = i == FOLLOWER;
        resources[i] = must_make(gr_from_gl_buffer_with(names[i], GR_READ_WRITE, &options));
    }
    for (unsigned round = 0; round < 3; round++) {
        const size_t size = 256 << round;
        resize_to_pattern(names[FOLLOWER], size, round);
        assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
        for (int i = 0; i < MANY; i++)
            assert_both_ways(buffers[i], names[i], i == FOLLOWER ? size : 256, round);
    }
    resize(names[0], 128);
    assert_fails(gr_map_many(resources, MANY, fx.stream, NULL, buffers), GR_ERR_STATE, 0,
                 "follow_storage");
    free_resources(resources, MANY);
}

/* The first resource of the batch does not follow its storage, the second does. */
TEST(a_batch_registers_nothing_in_a_capture, WAYS)
{
    gr_resource *resources[2];
    gr_buffer *buffers[2];
    GLuint names[2];
    for (int i = 0; i < 2; i++) {
        names[i] = gl_buffer_pattern(256, 0);
        gr_gl_options options = follow[_i];
        options.follow_storage = i;
        resources[i] = must_make(gr_from_gl_buffer_with(names[i], GR_READ_WRITE, &options));
    }
    resize_to_pattern(names[1], 512, 1);
    fault->reset();
    capture_graph(fx.stream);
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_STATE,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "capturing a graph");
    ck_assert_uint_eq(fault->calls(registrations[0][_i]), 0);
    capture_graph(NULL);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    for (int i = 0; i < 2; i++)
        assert_both_ways(buffers[i], names[i], i ? 512 : 256, (unsigned)i);
    free_resources(resources, 2);
}

/* While nothing is registered, the resource can still be described, closed and freed. */
TEST(a_failed_registration_is_tried_again, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    char text[700];
    for (int end = 0; end < 3; end++) {
        resize_to_pattern(name, 4096, 0);
        gr_resource *resource = must_follow(name, _i);
        resize_to_pattern(name, 512, 1);
        fault->reset();
        for (int i = 0; i < 2; i++) {
            ck_assert(fault->set(registrations[0][_i], CUDA_ERROR_OUT_OF_MEMORY, 0));
            assert_null(gr_map(resource, fx.stream), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                        "");
            ck_assert(!gr_resource_get_info(resource)->mapped);
            ck_assert(!gr_resource_get_info(resource)->closed);
            ck_assert_ptr_null(gr_resource_get_info(resource)->graphics);
            ck_assert_int_gt(gr_resource_describe(resource, text, sizeof(text)), 0);
        }
        fault->reset();
        if (end == 0) {
            assert_both_ways(must_map(resource), name, 512, 1);
            ck_assert_uint_eq(fault->calls("cuGraphicsUnregisterResource"), 0);
        } else if (end == 1) {
            assert_ok(gr_resource_close(resource, fx.stream));
            ck_assert(gr_resource_get_info(resource)->closed);
        }
        gr_resource_free(resource);
        ck_assert_uint_eq(fault->all_refusals(), 0);
    }
}

TEST(storage_that_cannot_be_registered_is_refused, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    resize(name, 0);
    assert_null_invalid(gr_map(resource, fx.stream), "no storage");
    /* The same size as before: the old registration must not be used. */
    resize_to_pattern(name, 4096, 5);
    assert_both_ways(must_map(resource), name, 4096, 5);
}

/* The old registration is lost; this is logged, and the map succeeds. */
TEST(an_error_of_the_old_registration_does_not_fail_the_map)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    GR_AUTO(gr_resource) *resource = must_follow(name, 0);
    resize_to_pattern(name, 512, 1);
    fault->reset();
    ck_assert(fault->set("cuGraphicsUnregisterResource", CUDA_ERROR_UNKNOWN, 0));
    gr_clear_error();
    gr_buffer *buffer = must_map(resource);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    assert_both_ways(buffer, name, 512, 1);
}

TEST(a_mapped_resource_follows_at_its_next_map, WAYS)
{
    GLuint name = gl_buffer_pattern(4096, 0);
    GR_AUTO(gr_resource) *resource = must_follow(name, _i);
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(buffer), 4096);
    if (_i == 1) /* the bytes that CUDA wrote are lost, with a warning */
        resize_to_pattern(name, 64, 2);
    assert_ok(gr_buffer_release(buffer));
    resize_to_pattern(name, 64, 2);
    assert_both_ways(must_map(resource), name, 64, 2);
}

TEST(a_ring_refuses_a_follower, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_follow(gl_buffer_pattern(64, 0), _i);
    assert_null_invalid(gr_ring_create(&resource, 1, NULL), "follow_storage");
}

TEST(without_the_option_the_error_names_it, WAYS)
{
    gr_gl_options options = follow[_i];
    options.follow_storage = false;
    GLuint name = gl_buffer_pattern(64, 0);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options));
    resize(name, 128);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "set gr_gl_options.follow_storage");
}

GROUP("images", add_image_case)

static gr_resource *must_follow_image(const struct image *image, int way)
{
    return must_make(gr_from_gl_image_with(image->name, image->target->target,
                                           GR_SURFACE_LOAD_STORE, &follow[way]));
}

/* Each level and layer: CUDA reads this texels' pattern, and writes the next one. */
static void use_image(gr_resource *resource, const struct image *image, unsigned number)
{
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert_uint_eq(info->width, image->width);
    ck_assert_uint_eq(info->height, image->height);
    ck_assert_uint_eq(info->levels, image->levels);
    ck_assert_uint_eq(info->layers, image->layers);
    ck_assert_uint_eq(info->channels, image_channels(image->format));
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++)
            ck_assert_uint_ne(gr_buffer_surface(buffer, level, layer), 0);
    image_both_ways(buffer, image, number);
}

TEST(a_map_follows_an_image_created_again, WAYS * 3)
{
    static const char *const targets[] = {"2D", "CUBE", "RENDERBUFFER"};
    const char *target = targets[_i / WAYS];
    struct image image = image_filled("RGBA8", target, 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_follow_image(&image, _i % WAYS);
    use_image(resource, &image, 1);
    if (!image_create_again(&image, "RGBA8", 32, 32, 3, 3))
        skip("OpenGL does not reuse the name");
    use_image(resource, &image, 3);
    ck_assert(image_create_again(&image, "R32F", 32, 32, 3, 5)); /* another format */
    use_image(resource, &image, 5);
    ck_assert(image_create_again(&image, "R32F", 32, 32, 2, 7)); /* other levels */
    use_image(resource, &image, 7);
    ck_assert(image_create_again(&image, "R32F", 32, 32, 2, 7)); /* equal storage */
    use_image(resource, &image, 7);
    use_image(resource, &image, 8);
    assert_gl_clean();
    image_delete(&image);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
}

static void define(GLuint name, GLenum format, GLsizei size)
{
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, size, size, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
}

/* Where OpenGL lets a registered texture be resized by glTexImage2D: not with NVIDIA's driver. */
TEST(a_map_follows_a_texture_that_is_defined_again, WAYS)
{
    GLuint name;
    GLint width = 0;
    glGenTextures(1, &name);
    define(name, GL_R8, 8);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &follow[_i]));
    assert_ok(gr_buffer_release(must_map_image(resource)));
    define(name, GL_R8, 16);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    if (glGetError() || width != 16)
        skip("this OpenGL refuses new storage for a registered texture");
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    ck_assert_uint_eq(gr_buffer_get_image_info(buffer)->width, 16);
}

TEST(images_that_cannot_be_registered_are_refused, WAYS)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_follow_image(&image, _i);
    image_delete(&image);
    GLuint name;
    glGenTextures(1, &name);
    if (name != image.name)
        skip("OpenGL does not reuse the name");
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGB10_A2UI, 8, 8);
    assert_null(gr_map(resource, fx.stream), GR_ERR_UNSUPPORTED, 0, "GL_RGB10_A2UI");
    glDeleteTextures(1, &name);
    name = bound_texture(GL_TEXTURE_2D);
    for (GLint level = 0; level < 3; level += 2)
        glTexImage2D(GL_TEXTURE_2D, level, GL_R8, 8 >> level, 8 >> level, 0, GL_RED,
                     GL_UNSIGNED_BYTE, NULL);
    assert_null_invalid(gr_map(resource, fx.stream), "a level is missing");
    glDeleteTextures(1, &name);
    name = bound_texture(GL_TEXTURE_3D);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_RGBA8, 8, 8, 8);
    assert_null_invalid(gr_map(resource, fx.stream), "not a GL_TEXTURE_2D");
    assert_gl_clean();
    glDeleteTextures(1, &name);
    image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    ck_assert_uint_eq(image.name, name);
    use_image(resource, &image, 1);
}

TEST(a_failed_registration_of_an_image_is_tried_again, WAYS)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_follow_image(&image, _i);
    use_image(resource, &image, 1);
    if (!image_create_again(&image, "RGBA8", 16, 16, 1, 1))
        skip("OpenGL does not reuse the name");
    fault->reset();
    ck_assert(fault->set(registrations[1][_i], CUDA_ERROR_OUT_OF_MEMORY, 0));
    assert_null(gr_map(resource, fx.stream), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, "");
    fault->reset();
    use_image(resource, &image, 1);
}

/* The number of levels is checked against the new storage. */
TEST(linear_maps_and_publishing_follow, WAYS)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_follow_image(&image, _i);
    if (!image_create_again(&image, "RGBA8", 16, 16, 2, 1))
        skip("OpenGL does not reuse the name");
    gr_buffer *buffer = must_make(gr_map_linear(resource, 1, 0, fx.stream));
    ck_assert_uint_ge(gr_buffer_size(buffer), 8 * 8 * 4);
    assert_ok(gr_buffer_release(buffer));
    ck_assert(image_create_again(&image, "RGBA8", 4, 4, 1, 1));
    assert_null_invalid(gr_map_linear(resource, 1, 0, fx.stream), "There is no level 1");
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, (const int64_t[]){6, 6, 4});
    ck_assert(image_create_again(&image, "RGBA8", 6, 6, 1, 1));
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
}
