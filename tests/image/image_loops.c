/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops over images: mapping in a loop allocates nothing, and no loop accumulates resources. */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "image_tests.h"

#define LOOPS 200

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    gr_buffer *buffer = must_map_image(steady);
    ck_assert_ptr_nonnull(gr_buffer_array(buffer, 0, 0));
    assert_ok(gr_buffer_release(buffer));
}

static void frame_with_objects(GLuint name)
{
    (void)name;
    static const gr_texture_options linear = {.struct_size = sizeof(gr_texture_options),
                                              .filter = GR_FILTER_LINEAR};
    gr_buffer *buffer = must_map_image(steady);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
    ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
    ck_assert_uint_ne(gr_buffer_texture(buffer, &linear), 0);
    assert_ok(gr_buffer_release(buffer));
    /*
     * The surface and textures of a mapping are destroyed only after the stream is idle. Without
     * this wait the loop could run far ahead of the GPU, and many objects would exist at once.
     */
    CU(StreamSynchronize(fx.stream));
}

static void life(GLuint name)
{
    steady = must_make(gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE));
    frame_with_objects(name);
    gr_resource_free(steady);
}

GROUP("loops", add_image_case)

/* Shows that the test counts the allocations of grinterop. */
TEST(registering_an_image_allocates)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    need_counting();
    gr_resource *resource = must_register_image(&image, GR_READ_WRITE);
    ck_assert_uint_gt(allocations, 0);
    gr_resource_free(resource);
}

static void assert_allocates_nothing(void (*cycle)(GLuint name))
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    steady = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    cycle(image.name);
    cycle(image.name);
    unsigned long before = allocations;
    for (int i = 0; i < LOOPS; i++)
        cycle(image.name);
    ck_assert_uint_eq(allocations, before);
    gr_resource_free(steady);
}

TEST(mapping_and_releasing_images_allocates_nothing)
{
    need_counting();
    assert_allocates_nothing(frame);
}

TEST(using_a_surface_and_textures_allocates_nothing)
{
    need_counting();
    assert_allocates_nothing(frame_with_objects);
}

TEST(using_a_surface_and_textures_leaks_nothing)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    steady = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    assert_steady(frame_with_objects, image.name, sanitizer() ? 200 : 2000);
    gr_resource_free(steady);
}

TEST(registering_and_closing_images_leaks_nothing)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    assert_steady(life, image.name, sanitizer() ? 200 : 2000);
}
