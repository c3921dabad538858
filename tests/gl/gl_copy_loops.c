/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loops of copies of images with several layers, and of renderbuffers: they allocate and leak
 * nothing. tests/facts has the loops of buffers and of 2D textures.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "gl_copy_tests.h"

#define LOOPS 200

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    gr_buffer *buffer = must_make(gr_map(steady, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

static const struct {
    const char *target;
    unsigned flags;
} targets[] = {{"CUBE", GR_READ_ONLY}, {"3D", GR_READ_WRITE}, {"RENDERBUFFER", GR_READ_WRITE}};

GROUP("loops of copies", add_copy_case, add_peer_copy_case)
TAG("alone")

COPY_TEST(mapping_and_releasing_copies_allocates_nothing, sizeof(targets) / sizeof(*targets))
{
    need_counting();
    struct image image = image_make("RGBA8", targets[_i].target, 8, 8, 1);
    steady = must_copy_image(&image, targets[_i].flags);
    assert_allocates_nothing(frame, 0, 2, LOOPS);
    gr_resource_free(steady);
}

static struct image steady_image;

static void life_of_image(GLuint name)
{
    steady = must_copy_image(&steady_image, GR_READ_WRITE);
    frame(name);
    gr_resource_free(steady);
}

COPY_TEST(copies_leak_nothing)
{
    steady_image = image_make("RGBA8", "RENDERBUFFER", 16, 16, 1);
    assert_steady(life_of_image, 0, 200);
}
