/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops over images: mapping in a loop allocates nothing, and no loop accumulates resources. */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "tests/support/support_image.h"

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

TEST(frames_allocate_nothing, 2)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    need_counting();
    steady = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    assert_allocates_nothing(_i ? frame_with_objects : frame, image.name, 2, LOOPS);
    gr_resource_free(steady);
}

TEST(frames_and_lives_leak_nothing, 2)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    gr_resource *kept = steady = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    assert_steady(_i ? life : frame_with_objects, image.name, sanitizer() ? 200 : 2000);
    gr_resource_free(kept);
}
