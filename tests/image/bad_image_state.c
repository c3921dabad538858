/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Every image call, successful or refused, preserves the OpenGL state of the application: texture
 * bindings on two units, pixel storage modes, framebuffer bindings and a pending error.
 */
#include "tests/support/support_image.h"
#include "tests/support/support_state.h"

/* ---- The calls ------------------------------------------------------------------------------- */

enum { COUNT = 6, SIZE = 7 };

static struct image images[COUNT], depth, layered, missing;
static gr_resource *resources[COUNT];
static gr_buffer *buffers[COUNT];
static GLuint unspecified;

static bool register_all(void)
{
    bool good = true;
    for (int i = 0; i < COUNT; i++) {
        resources[i] =
            gr_from_gl_image(images[i].name, images[i].target->target, GR_SURFACE_LOAD_STORE);
        good = good && resources[i];
    }
    return good;
}

static bool register_bad_ones(void)
{
    return !gr_from_gl_image(0, GL_TEXTURE_2D, GR_READ_WRITE) &&
           !gr_from_gl_image(missing.name, GL_TEXTURE_2D, GR_READ_WRITE) &&
           !gr_from_gl_image(images[0].name, GL_TEXTURE_3D, GR_READ_WRITE) &&
           !gr_from_gl_image(images[1].name, GL_TEXTURE_2D, GR_READ_WRITE) &&
           !gr_from_gl_image(images[0].name, GL_TEXTURE_2D, 0x100) &&
           !gr_from_gl_image(images[0].name, 0x1234, GR_READ_WRITE) &&
           !gr_from_gl_image(unspecified, GL_TEXTURE_2D, GR_READ_WRITE) &&
           !gr_from_gl_image(depth.name, GL_TEXTURE_2D, GR_READ_WRITE) &&
           !gr_from_gl_image(layered.name, GL_TEXTURE_1D_ARRAY, GR_READ_WRITE);
}

static bool map_all(void)
{
    return gr_map_many(resources, COUNT, fx.stream, NULL, buffers) == GR_OK;
}

static bool map_again(void)
{
    return !gr_map(resources[0], fx.stream) && !gr_map_linear(resources[0], 0, 0, fx.stream);
}

static bool ask(void)
{
    char text[512];
    bool good = true;
    for (int i = 0; i < COUNT; i++)
        good = good && gr_buffer_get_image_info(buffers[i]) && gr_buffer_array(buffers[i], 0, 0) &&
               !gr_buffer_array(buffers[i], 9, 0) && gr_buffer_mipmapped_array(buffers[i]) &&
               gr_buffer_surface(buffers[i], 0, 0) && gr_buffer_texture(buffers[i], NULL) &&
               !gr_buffer_ptr(buffers[i]) &&
               gr_resource_describe(resources[i], text, sizeof(text)) > 0;
    return good;
}

static bool copy(void)
{
    static unsigned char bytes[IMAGE_MOST_BYTES];
    const gr_linear_desc memory = GR_INIT(gr_linear_desc, .host = bytes);
    bool good = true;
    for (int i = 0; i < COUNT; i++)
        good = good && gr_buffer_copy_to_linear(buffers[i], 0, 0, &memory, fx.stream) == GR_OK &&
               gr_buffer_copy_from_linear(buffers[i], 0, 0, &memory, fx.stream) == GR_OK;
    return good;
}

static bool release_all(void)
{
    return gr_buffer_release_many(buffers, COUNT, GR_STREAM_OF_MAP, NULL) == GR_OK;
}

static bool map_linear_and_release(void)
{
    bool good = true;
    for (int i = 0; i < COUNT; i++) {
        gr_buffer *buffer = gr_map_linear(resources[i], 0, 0, fx.stream);
        good = good && buffer && gr_buffer_release(buffer) == GR_OK;
    }
    return good;
}

static bool close_mapped(void)
{
    buffers[0] = gr_map(resources[0], fx.stream);
    return gr_resource_close(resources[0], fx.stream) == GR_OK &&
           gr_buffer_release(buffers[0]) == GR_OK;
}

static bool free_all(void)
{
    free_resources(resources, COUNT);
    return true;
}

static const struct state_step steps[] = {
    {"register_all", register_all},
    {"register_bad_ones", register_bad_ones},
    {"map_all", map_all},
    {"map_again", map_again},
    {"ask", ask},
    {"copy", copy},
    {"release_all", release_all},
    {"map_linear_and_release", map_linear_and_release},
    {"close_mapped", close_mapped},
    {"free_all", free_all},
};

static void prepare(void)
{
    static const char *const targets[COUNT] = {"2D",   "3D",       "RECT",
                                               "CUBE", "2D_ARRAY", "RENDERBUFFER"};
    for (int i = 0; i < COUNT; i++) {
        images[i] = image_filled("RGBA8", targets[i], SIZE, SIZE, 2, (unsigned)i);
    }
    depth = image_make("DEPTH_COMPONENT24", "2D", SIZE, SIZE, 1);
    layered = image_make("RGBA8", "1D_ARRAY", SIZE, 1, 1);
    missing = image_make("RGBA8", "2D", SIZE, SIZE, 1);
    image_delete(&missing);
    unspecified = bound_texture(GL_TEXTURE_2D);
    assert_gl_clean();
}

static void check_texels(void)
{
    for (int i = 0; i < COUNT; i++)
        assert_image(&images[i], (unsigned)i);
}

static const struct state_steps all = {prepare, check_texels, sizeof(steps) / sizeof(steps[0]),
                                       steps};

GROUP("state", add_image_case)

TEST_STATE(&all)
