/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers and images in one gr_map_many() call, which maps all of them or none. */
#include "tests/support/support_image.h"

#include <string.h>

enum { COUNT = 6, SIZE = 256 };

/*
 * Entries with an even index are buffers; entries with an odd index are images of several targets.
 */
static gr_resource *resources[COUNT];
static gr_buffer *buffers[COUNT];
static GLuint names[COUNT];
static struct image images[COUNT];
static gr_buffer *const untouched = (gr_buffer *)&names;

static bool is_image(int i)
{
    return i % 2 == 1;
}

static void make(void)
{
    static const char *const targets[] = {"2D", "CUBE", "RENDERBUFFER"};
    for (int i = 0; i < COUNT; i++) {
        if (is_image(i)) {
            images[i] = image_filled("RGBA8", targets[i / 2], 8, 8, 1, (unsigned)i);
            resources[i] = must_register_image(&images[i], GR_READ_WRITE);
        } else {
            names[i] = gl_buffer_filled(SIZE, i);
            resources[i] = must_register(names[i]);
        }
        buffers[i] = untouched;
    }
}

static void end(void)
{
    for (int i = 0; i < COUNT; i++) {
        gr_resource_free(resources[i]);
        resources[i] = NULL;
    }
}

static void check_what_cuda_has(void)
{
    unsigned char got[SIZE], wanted[SIZE];
    for (int i = 0; i < COUNT; i++) {
        ck_assert(gr_resource_get_info(resources[i])->mapped);
        if (is_image(i)) {
            image_pattern(images[i].format, wanted, SIZE, image_seed((unsigned)i, 0, 0));
            image_get(buffers[i], 0, 0, got);
        } else {
            memset(wanted, i, SIZE);
            CU(MemcpyDtoH(got, gr_buffer_ptr(buffers[i]), SIZE));
        }
        ck_assert_mem_eq(got, wanted, SIZE);
    }
}

GROUP("many", add_image_case)

TEST(buffers_and_images_are_mapped_together)
{
    make();
    for (int round = 0; round < 3; round++) {
        assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
        CU(StreamSynchronize(fx.stream));
        check_what_cuda_has();
        assert_ok(gr_buffer_release_many(buffers, COUNT, GR_STREAM_OF_MAP, NULL));
        for (int i = 0; i < COUNT; i++) {
            ck_assert(!gr_resource_get_info(resources[i])->mapped);
            ck_assert_ptr_null(buffers[i]);
        }
    }
    end();
}

static void check_gl_texels(GLuint name, unsigned number)
{
    unsigned char got[SIZE], wanted[SIZE];
    gl_read(name, got, SIZE);
    image_pattern(image_format("RGBA8"), wanted, SIZE, image_seed(number, 0, 0));
    ck_assert_mem_eq(got, wanted, SIZE);
}

TEST(buffers_and_images_are_released_together_on_another_stream)
{
    make();
    assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
    unsigned char texels[SIZE];
    for (int i = 0; i < COUNT; i++) {
        const gr_linear_desc from = GR_INIT(gr_linear_desc, .host = texels);
        image_pattern(image_format("RGBA8"), texels, SIZE, image_seed((unsigned)i + 10, 0, 0));
        if (is_image(i))
            assert_ok(gr_buffer_copy_from_linear(buffers[i], 0, 0, &from, fx.stream));
        else
            CU(MemcpyHtoDAsync(gr_buffer_ptr(buffers[i]), texels, SIZE, fx.stream));
        CU(StreamSynchronize(fx.stream));
    }
    assert_ok(gr_buffer_release_many(buffers, COUNT, fx.other, NULL));
    for (int i = 0; i < COUNT; i++) {
        if (is_image(i))
            assert_no_difference(image_level_differs(&images[i], 0, 0, (unsigned)i + 10));
        else
            check_gl_texels(names[i], (unsigned)i + 10);
    }
    end();
}

enum { CLOSED, MAPPED, DELETED, TWICE, KINDS };

/* The map fails, maps no resource and leaves `out` unchanged. Without that image it succeeds. */
TEST(one_image_prevents_all_maps, KINDS)
{
    static const char *const texts[KINDS] = {"closed", "already mapped", "deleted", "twice"};
    enum { BAD = 5 }; /* a renderbuffer, whose storage may be replaced at any time */
    make();
    gr_resource *bad = resources[BAD];
    gr_buffer *held = _i == MAPPED ? must_map_image(bad) : NULL;
    if (_i == CLOSED)
        assert_ok(gr_resource_close(bad, fx.stream));
    else if (_i == DELETED)
        image_delete(&images[BAD]);
    else if (_i == TWICE)
        resources[BAD] = resources[1];
    assert_fails(gr_map_many(resources, COUNT, fx.stream, NULL, buffers),
                 _i == TWICE ? GR_ERR_INVALID_VALUE : GR_ERR_STATE, 0, texts[_i]);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_ptr_eq(buffers[i], untouched);
        ck_assert(gr_resource_get_info(resources[i])->mapped == (held && i == BAD));
    }
    ck_assert(!held || gr_buffer_array(held, 0, 0));
    assert_ok(gr_buffer_release(held));
    gr_resource_free(bad);
    images[BAD] = image_make("RGBA8", "RENDERBUFFER", 8, 8, 1);
    resources[BAD] = must_register_image(&images[BAD], GR_READ_WRITE);
    assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, COUNT, fx.stream, NULL));
    end();
}
