/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tests of gr_resource_describe(). */
#include "contract.h"

#include <stdio.h>
#include <string.h>

GROUP("describe", add_case)

static const char *description(const gr_resource *resource)
{
    static char text[512];
    int length = gr_resource_describe(resource, text, sizeof(text));
    ck_assert_int_eq(length, (int)strlen(text));
    ck_assert_ptr_null(strchr(text, '\n'));
    return text;
}

static void assert_says(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text);
}

/* Catches: the description contained "1 bytes". */
TEST(describe_uses_singular_and_plural)
{
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    GR_AUTO(gr_resource) *one = must_make(gr_from_gl_buffer(gl_buffer_filled(1, 0), GR_READ_WRITE));
    GR_AUTO(gr_resource) *two = must_make(gr_from_gl_buffer(gl_buffer_filled(2, 0), GR_READ_WRITE));
    GR_AUTO(gr_resource) *image =
        must_make(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE));
    assert_says(description(one), ", 1 byte, ");
    assert_says(description(two), ", 2 bytes, ");
    assert_says(description(image), "1 level, 1 layer)");
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &texture);
}

/* What it says of all kinds of resources, in each state, is in tests/facts. */
TEST(describe_names_the_buffer_and_its_size)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_register(name);
    char what[64], text[64];
    snprintf(what, sizeof(what), "buffer %u", name);
    assert_says(description(resource), what);
    assert_says(description(resource), "4096 bytes");
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    assert_says(description(resource), what);
    ck_assert_int_gt(gr_resource_describe(NULL, text, sizeof(text)), 0);
    assert_says(text, "NULL");
}
