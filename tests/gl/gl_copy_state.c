/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies preserve OpenGL bindings, state and pending errors. */
#include "gl_copy_tests.h"

#define SIZE 4096

static const GLenum settings[] = {
    GL_PACK_ALIGNMENT,     GL_PACK_ROW_LENGTH,  GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS,     GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_UNPACK_IMAGE_HEIGHT,
};
#define SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

static void invert_rows(GLboolean on)
{
    if (epoxy_has_gl_extension("GL_MESA_pack_invert"))
        glPixelStorei(GL_PACK_INVERT_MESA, on);
}

/* Sets pixel parameters that would change the texels, and binds an object to each binding point. */
static void disturb(void)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        glPixelStorei(settings[i], settings[i] == GL_PACK_ALIGNMENT ? 8 : 2);
    invert_rows(GL_TRUE);
    static const GLenum buffers[] = {GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER,
                                     GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER};
    static const GLenum textures[] = {GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP};
    for (size_t i = 0; i < 4; i++)
        glBindBuffer(buffers[i], gl_buffer_filled(16, 0));
    glActiveTexture(GL_TEXTURE2);
    for (size_t i = 0; i < 3; i++)
        bound_texture(textures[i]);
    bound_renderbuffer();
}

static void calm(void)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        glPixelStorei(settings[i],
                      settings[i] == GL_PACK_ALIGNMENT || settings[i] == GL_UNPACK_ALIGNMENT ? 4
                                                                                             : 0);
    invert_rows(GL_FALSE);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

static void one_life(const struct image *image, GLuint name)
{
    gr_resource *resources[2] = {
        gr_from_gl_image_with(image->name, image->target->target, GR_READ_WRITE, image_options()),
        gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy)};
    gr_buffer *buffers[2];
    assert_made(resources[0]);
    assert_made(resources[1]);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
    free_resources(resources, 2);
}

GROUP("OpenGL state over copies", EVERY_IMAGE_GL)

COPY_TEST(copies_preserve_the_opengl_state_and_pending_errors)
{
    static const struct {
        const char *format, *target;
    } images[] = {{"RGBA8", "2D"},
                  {"R8", "2D_ARRAY"},
                  {"RGBA8", "3D"},
                  {"RGBA8", "CUBE"},
                  {"RGBA8", "RENDERBUFFER"},
                  {"DEPTH_COMPONENT32F", "2D"},
                  {"DEPTH_COMPONENT32F", "RENDERBUFFER"}};
    static const GLenum errors[] = {GL_NO_ERROR, GL_INVALID_ENUM};
    GLuint name = gl_buffer_pattern(100, 3);
    for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
        for (size_t k = 0; k < 2; k++) {
            struct image image = image_filled(images[i].format, images[i].target, 7, 7, 1, 1);
            disturb();
            fill_units();
            remember_everything();
            if (errors[k] != GL_NO_ERROR)
                glEnable(0xFFFF);
            one_life(&image, name);
            ck_assert_uint_eq(glGetError(), errors[k]);
            assert_gl_clean();
            assert_everything();
            calm();
            assert_image(&image, 1);
            assert_gl_pattern(name, 100, 3);
        }
}

GROUP("OpenGL state, with the OpenGL of the fixture only", add_copy_case)

/* A compatibility context can apply arithmetic to transferred texels. */
COPY_TEST(copies_in_a_compatibility_context_do_not_change_texels)
{
    leave_context();
    gr_egl *egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true)));
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    struct image depth = image_filled("DEPTH_COMPONENT32F", "2D", 8, 8, 1, 1);
    GLuint name = gl_buffer_pattern(100, 3);
    GLfloat scale = 0, bias = 0;
    glPixelTransferf(GL_RED_SCALE, 0.5f);
    glPixelTransferf(GL_GREEN_BIAS, 0.25f);
    glPixelTransferf(GL_DEPTH_SCALE, 0.5f);
    one_life(&image, name);
    one_life(&depth, name);
    glGetFloatv(GL_RED_SCALE, &scale);
    glGetFloatv(GL_GREEN_BIAS, &bias);
    ck_assert(scale == 0.5f && bias == 0.25f);
    glPixelTransferf(GL_RED_SCALE, 1);
    glPixelTransferf(GL_GREEN_BIAS, 0);
    glPixelTransferf(GL_DEPTH_SCALE, 1);
    assert_image(&image, 1);
    assert_image(&depth, 1);
    assert_gl_clean();
    gr_egl_free(egl);
    enter_context();
}
