/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops of copies: a steady loop allocates nothing, and memory use does not grow over time. */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "gl_copy_tests.h"

#define SIZE  4096
#define LOOPS 200

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    gr_buffer *buffer = must_make(gr_map(steady, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

static const struct {
    const char *target; /* NULL: the resource is a buffer */
    unsigned flags;
} kinds[] = {
    {NULL, GR_READ_WRITE},           {NULL, GR_READ_ONLY},   {NULL, GR_WRITE_DISCARD},
    {"2D", GR_READ_WRITE},           {"CUBE", GR_READ_ONLY}, {"3D", GR_READ_WRITE},
    {"RENDERBUFFER", GR_READ_WRITE},
};

GROUP("loops of copies", add_copy_case, add_peer_copy_case)

COPY_TEST(mapping_and_releasing_copies_allocates_nothing, sizeof(kinds) / sizeof(*kinds))
{
    need_counting();
    if (!kinds[_i].target) {
        steady = must_copy(gl_buffer_filled(SIZE, 1), kinds[_i].flags);
    } else {
        struct image image = image_make("RGBA8", kinds[_i].target, 8, 8, 1);
        steady = must_copy_image(&image, kinds[_i].flags);
    }
    assert_allocates_nothing(frame, 0, 2, LOOPS);
    gr_resource_free(steady);
}

static void life(GLuint name)
{
    steady = must_copy(name, GR_READ_ONLY);
    frame(name);
    gr_resource_free(steady);
}

static struct image steady_image;

static void life_of_image(GLuint name)
{
    steady = must_copy_image(&steady_image, GR_READ_WRITE);
    frame(name);
    gr_resource_free(steady);
}

COPY_TEST(copies_leak_nothing, 3)
{
    static void (*const cycles[])(GLuint name) = {frame, life, life_of_image};
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *kept = steady = must_copy(name, GR_READ_WRITE);
    steady_image = image_make("RGBA8", "RENDERBUFFER", 16, 16, 1);
    assert_steady(cycles[_i], name, sanitizer() ? 200 : 1000);
    gr_resource_free(kept);
}
