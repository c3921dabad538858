/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images that cannot be registered or mapped: the status and the words of the error message.
 * bad_image_state.c tests that the OpenGL state is preserved.
 */
#include "tests/support/support_image.h"

#include <stdio.h>
#include <string.h>

#define refused(name, target, status, text)                                                        \
    assert_null(gr_from_gl_image(name, target, GR_READ_WRITE), status, 0, text)

GROUP("names and targets", add_image_case)

TEST(invalid_names_are_refused)
{
    GLuint unbound = 0, renderbuffer = 0;
    refused(0, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "0");
    refused(0, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "0");
    refused(4711, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "4711");
    refused(4711, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "4711");
    refused(~0u, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "4294967295");
    glGenTextures(1, &unbound);
    glGenRenderbuffers(1, &renderbuffer);
    refused(unbound, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "bound");
    refused(renderbuffer, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "bound");
    GLuint buffer = 5000;
    glBindVertexArray(0);
    while (glIsTexture(buffer) || glIsRenderbuffer(buffer))
        buffer++;
    refused(buffer, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "There is no OpenGL texture");
}

TEST(deleted_names_are_refused)
{
    struct image texture = image_make("RGBA8", "2D", 8, 8, 1);
    struct image renderbuffer = image_make("RGBA8", "RENDERBUFFER", 8, 8, 1);
    image_delete(&texture);
    image_delete(&renderbuffer);
    refused(texture.name, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "deleted");
    refused(renderbuffer.name, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "deleted");
}

/*
 * Textures and renderbuffers have separate name spaces. The test needs a texture name that is not
 * also a renderbuffer name, and the reverse.
 */
TEST(a_texture_passed_as_renderbuffer_or_the_reverse_is_refused)
{
    struct image texture = image_make("RGBA8", "2D", 8, 8, 1);
    while (glIsRenderbuffer(texture.name))
        texture = image_make("RGBA8", "2D", 8, 8, 1);
    refused(texture.name, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "There is a texture");
    struct image renderbuffer = image_make("RGBA8", "RENDERBUFFER", 8, 8, 1);
    while (glIsTexture(renderbuffer.name))
        renderbuffer = image_make("RGBA8", "RENDERBUFFER", 8, 8, 1);
    refused(renderbuffer.name, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "There is a renderbuffer");
}

/* The message must contain the target that OpenGL reports. */
TEST(wrong_targets_are_refused)
{
    if (epoxy_gl_version() < 45 && !epoxy_has_gl_extension("GL_ARB_direct_state_access"))
        skip("this OpenGL cannot report a texture's target");
    static const char *const targets[] = {"2D", "3D", "RECT", "CUBE", "2D_ARRAY", "1D"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct image image = image_make("RGBA8", targets[i], 8, 8, 1);
        for (size_t k = 0; k < 5; k++) {
            const struct image_target *claimed = image_target(targets[k]);
            if (k == i)
                continue;
            refused(image.name, claimed->target, GR_ERR_INVALID_VALUE, image.target->gl_name);
            refused(image.name, claimed->target, GR_ERR_INVALID_VALUE, claimed->gl_name);
        }
    }
    assert_gl_clean();
}

TEST(invalid_targets_are_refused)
{
    struct image cube = image_make("RGBA8", "CUBE", 8, 8, 1);
    refused(cube.name, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GR_ERR_INVALID_VALUE, "GL_TEXTURE_CUBE_MAP");
    refused(cube.name, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, GR_ERR_INVALID_VALUE, "GL_TEXTURE_CUBE_MAP");
    refused(cube.name, 0, GR_ERR_INVALID_VALUE, "GL_TEXTURE_2D");
    refused(cube.name, 0x1234, GR_ERR_INVALID_VALUE, "0x1234");
    refused(cube.name, GL_ARRAY_BUFFER, GR_ERR_INVALID_VALUE, "GL_RENDERBUFFER");
}

/* The message must say that the arguments are swapped, not report a consequential error. */
TEST(swapped_arguments_are_refused)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", 8, 8, 2);
    assert_null_invalid(
        gr_from_gl_image(GL_TEXTURE_2D, image.name, GR_READ_WRITE),
        "name is 0x0DE1, which is the target GL_TEXTURE_2D: are name and target swapped?");
    assert_null_invalid(gr_from_gl_image(image.name, GR_SURFACE_LOAD_STORE, GL_TEXTURE_2D_ARRAY),
                        "GL_TEXTURE_2D_ARRAY: are flags and target swapped?");
    assert_null_invalid(gr_from_gl_buffer(GL_ARRAY_BUFFER, GR_READ_WRITE),
                        "such as GL_ARRAY_BUFFER; pass the name from glGenBuffers");
    assert_null_invalid(gr_create_gl_buffer(GR_WRITE_DISCARD, 4096, NULL),
                        "The size is 2 and `flags` are 0x1000: are the two swapped?");
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
    assert_null_invalid(gr_buffer_array(buffer, 2, 1),
                        "Are the two swapped? The level comes first.");
    ck_assert_ptr_null(gr_buffer_array(buffer, 9, 1));
    ck_assert_ptr_null(strstr(gr_last_error()->message, "swapped"));
}

GROUP("images that CUDA refuses", add_image_case)

/* Each message says which target to use instead. */
TEST(targets_that_cuda_refuses_are_refused)
{
    static const struct {
        const char *target, *instead;
    } targets[] = {
        {"1D", "GL_TEXTURE_2D"},
        {"1D_ARRAY", "GL_TEXTURE_2D"},
        {"CUBE_ARRAY", "GL_TEXTURE_2D_ARRAY"},
        {"2D_MS", "glBlitFramebuffer resolves it into, or gr_fetch_framebuffer(), which resolves"},
        {"RENDERBUFFER_MS",
         "glBlitFramebuffer resolves it into, or gr_fetch_framebuffer(), which resolves"},
    };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct image image = image_make("RGBA8", targets[i].target, 8, 8, 1);
        refused(image.name, image.target->target, GR_ERR_UNSUPPORTED, targets[i].instead);
    }
    GLuint buffer = gl_buffer_filled(64, 1);
    GLuint name = bound_texture(GL_TEXTURE_BUFFER);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_R8, buffer);
    refused(name, GL_TEXTURE_BUFFER, GR_ERR_UNSUPPORTED, "gr_from_gl_buffer");
    glBindTexture(GL_TEXTURE_BUFFER, 0);
}

TEST(formats_that_cuda_refuses_are_refused)
{
    static const struct {
        const char *format, *instead;
    } formats[] = {
        {"RGB16F", "GL_RGBA16F"},
        {"R8_SNORM", "GL_R8I"},
        {"RGBA16_SNORM", "GL_RGBA16I"},
        {"RGB10_A2", "Use GL_RGBA16, or GR_TRANSPORT_COPY in gr_gl_options"},
        {"RGB10_A2UI", "GL_RGBA16UI"},
        {"R11F_G11F_B10F", "Use GL_RGBA16F, or GR_TRANSPORT_COPY in gr_gl_options"},
        {"RGB9_E5", "Use GL_RGBA16F, or GR_TRANSPORT_COPY in gr_gl_options"},
        {"RGB565", "Use GL_RGBA8, or GR_TRANSPORT_COPY in gr_gl_options"},
        {"RGB5_A1", "GL_RGBA8"},
        {"DEPTH_COMPONENT24", "gr_fetch_framebuffer()"},
        {"DEPTH24_STENCIL8", "gr_fetch_framebuffer()"},
        {"COMPRESSED_RED_RGTC1", "GL_R"},
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct image image = image_make(formats[i].format, "2D", 8, 8, 1);
        char name[64];
        snprintf(name, sizeof(name), "GL_%s", formats[i].format);
        refused(image.name, GL_TEXTURE_2D, GR_ERR_UNSUPPORTED, name);
        refused(image.name, GL_TEXTURE_2D, GR_ERR_UNSUPPORTED, formats[i].instead);
    }
    struct image depth = image_make("DEPTH_COMPONENT32F", "RENDERBUFFER", 8, 8, 1);
    refused(depth.name, GL_RENDERBUFFER, GR_ERR_UNSUPPORTED, "GL_DEPTH_COMPONENT32F");
}

/* The formats are in no table, although the NVIDIA driver registers some of them. */
TEST(formats_without_a_row_are_refused_with_a_format_to_use_instead, 2)
{
    static const struct {
        GLenum internal;
        const char *bits, *instead;
    } formats[] = {
        {GL_RGB4, "0x804F of ", "Use GL_RGBA8."},
        {GL_RGB5, "0x8050 of 5+", "Use GL_RGBA8."},
        {GL_RGB10, "0x8052 of 10+10+10", "Use GL_RGBA16."},
        {GL_SLUMINANCE8_ALPHA8, "0x8C45 of 8+8 bits", "Use GL_RG8."},
        {GL_DEPTH_COMPONENT32, "0x81A7 of ", "GL_DEPTH_COMPONENT24"},
        {GL_COMPRESSED_SRGB_S3TC_DXT1_EXT, "compressed", "a GL_RGBA8 image"},
    };
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = _i ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    gr_egl *egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true)));
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        GLuint name = bound_texture(GL_TEXTURE_2D);
        glTexStorage2D(GL_TEXTURE_2D, 1, formats[i].internal, 8, 8);
        assert_gl_clean();
        assert_null(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &options),
                    GR_ERR_UNSUPPORTED, 0, formats[i].bits);
        assert_null(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &options),
                    GR_ERR_UNSUPPORTED, 0, formats[i].instead);
    }
    GLuint renderbuffer = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGB4, 8, 8);
    refused(renderbuffer, GL_RENDERBUFFER, GR_ERR_UNSUPPORTED, "Use GL_RGBA8.");
    assert_gl_clean();
    gr_egl_free(egl);
}

GROUP("storage", add_image_case)

/* Creates and binds a texture without levels. The case adds the levels. */
static void give_level(GLenum target, int level, int size)
{
    glTexImage2D(target, level, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

TEST(images_without_storage_are_refused)
{
    refused(bound_texture(GL_TEXTURE_2D), GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "storage");
    refused(bound_texture(GL_TEXTURE_3D), GL_TEXTURE_3D, GR_ERR_INVALID_VALUE, "storage");
    refused(bound_texture(GL_TEXTURE_CUBE_MAP), GL_TEXTURE_CUBE_MAP, GR_ERR_INVALID_VALUE,
            "storage");
    GLuint renderbuffer = bound_renderbuffer();
    refused(renderbuffer, GL_RENDERBUFFER, GR_ERR_INVALID_VALUE, "storage");
    GLuint only_second = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 1, 8);
    refused(only_second, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "level 0");
}

/* The NVIDIA driver would register these textures, and crash or have wrong data. */
TEST(incomplete_textures_are_refused)
{
    GLuint gap = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 0, 8);
    give_level(GL_TEXTURE_2D, 2, 2);
    refused(gap, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "not complete: a level is missing");
    GLuint size = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 0, 8);
    give_level(GL_TEXTURE_2D, 1, 3);
    refused(size, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "not complete: a level's size or format");
    GLuint format = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 0, 8);
    glTexImage2D(GL_TEXTURE_2D, 1, GL_R8, 4, 4, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    refused(format, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "not complete: a level's size or format");
    GLuint base = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 0, 8);
    give_level(GL_TEXTURE_2D, 1, 4);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    refused(base, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "GL_TEXTURE_BASE_LEVEL is not 0");
    GLuint face = bound_texture(GL_TEXTURE_CUBE_MAP);
    for (GLenum i = 0; i < 5; i++)
        give_level(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, 8);
    refused(face, GL_TEXTURE_CUBE_MAP, GR_ERR_INVALID_VALUE, "faces");
    give_level(GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, 0, 4);
    refused(face, GL_TEXTURE_CUBE_MAP, GR_ERR_INVALID_VALUE, "faces");
    give_level(GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, 0, 8);
    gr_resource *resource = must_make(gr_from_gl_image(face, GL_TEXTURE_CUBE_MAP, GR_READ_WRITE));
    gr_resource_free(resource);
    assert_gl_clean();
}

/* ---- Changes after the registration ---------------------------------------------------------- */

/* Registers a mutable texture with one level. */
static gr_resource *register_mutable(GLuint *name)
{
    *name = bound_texture(GL_TEXTURE_2D);
    give_level(GL_TEXTURE_2D, 0, 8);
    return must_make(gr_from_gl_image(*name, GL_TEXTURE_2D, GR_READ_WRITE));
}

static void assert_not_mappable(gr_resource *resource, const char *text)
{
    gr_buffer *none = NULL;
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, text);
    assert_null(gr_map_linear(resource, 0, 0, fx.stream), GR_ERR_STATE, 0, text);
    assert_fails(gr_map_many(&resource, 1, fx.stream, NULL, &none), GR_ERR_STATE, 0, text);
    ck_assert_ptr_null(none);
    ck_assert(!gr_resource_get_info(resource)->mapped);
}

static GLint level_parameter(GLenum parameter)
{
    GLint value = 0;
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, parameter, &value);
    return value;
}

/*
 * Some drivers refuse to replace the storage of an object that is registered with CUDA. With the
 * other drivers, grinterop must detect the new storage.
 */
static int check_if_changed(gr_resource *resource, bool changed)
{
    glGetError();
    if (!changed)
        return 0;
    assert_not_mappable(resource, "of format GL_RGBA8 when");
    return 1;
}

TEST(map_after_the_storage_was_replaced_is_refused)
{
    GLuint name;
    int changes = 0;
    GR_AUTO(gr_resource) *larger = register_mutable(&name);
    give_level(GL_TEXTURE_2D, 0, 16);
    changes += check_if_changed(larger, level_parameter(GL_TEXTURE_WIDTH) == 16);
    GR_AUTO(gr_resource) *format = register_mutable(&name);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, 8, 8, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    changes += check_if_changed(format, level_parameter(GL_TEXTURE_INTERNAL_FORMAT) == GL_R8);
    GLuint renderbuffer = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 8, 8);
    GR_AUTO(gr_resource) *other =
        must_make(gr_from_gl_image(renderbuffer, GL_RENDERBUFFER, GR_READ_WRITE));
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 8, 9);
    GLint height = 0;
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &height);
    changes += check_if_changed(other, height == 9);
    if (changes == 0)
        skip("this OpenGL refuses new storage for a registered image");
}

/* Deletes both, and with `again` gives their names to others: the image is filled by 7. */
static void delete_both(struct image *image, GLuint texture, bool again)
{
    glDeleteTextures(1, &texture);
    if (!again) {
        image_delete(image);
        return;
    }
    if (bound_texture(GL_TEXTURE_2D) != texture ||
        !image_create_again(image, image->format->name, 8, 8, 1, 7))
        skip("OpenGL does not reuse the name");
    glBindTexture(GL_TEXTURE_2D, texture);
    give_level(GL_TEXTURE_2D, 0, 8);
}

/* Catches: the release succeeded, although nobody could see the texels any more. */
TEST(release_of_an_image_that_was_deleted_reports_the_loss, 4)
{
    struct image image = image_make("RGBA8", "RENDERBUFFER", 8, 8, 1);
    GLuint name;
    GR_AUTO(gr_resource) *texture = register_mutable(&name);
    GR_AUTO(gr_resource) *renderbuffer =
        must_register_image(&image, _i % 2 ? GR_READ_ONLY : GR_READ_WRITE);
    gr_buffer *buffers[] = {must_map_image(texture), must_map_image(renderbuffer)};
    delete_both(&image, name, _i / 2);
    assert_fails(gr_buffer_release(buffers[0]), GR_ERR_PARTIAL, 0, "was deleted while it was");
    if (_i % 2) /* nothing is lost */
        assert_ok(gr_buffer_release(buffers[1]));
    else
        assert_fails(gr_buffer_release(buffers[1]), GR_ERR_PARTIAL, 0, "was deleted while it was");
    assert_not_mapped(texture);
    assert_not_mapped(renderbuffer);
    if (_i / 2)
        assert_image(&image, 7);
    assert_ok(gr_resource_close(texture, fx.stream));
}

/* Catches: a texture with immutable storage was mapped, since CUDA keeps that storage. */
TEST(map_after_the_image_was_deleted_is_refused, 4)
{
    struct image image = image_make("RGBA8", _i % 2 ? "2D" : "RENDERBUFFER", 8, 8, 1);
    const char *text = _i / 2 ? "another object has its name" : "deleted";
    GLuint name;
    GR_AUTO(gr_resource) *texture = register_mutable(&name);
    GR_AUTO(gr_resource) *other = must_register_image(&image, GR_READ_WRITE);
    delete_both(&image, name, _i / 2);
    assert_not_mappable(texture, text);
    assert_not_mappable(other, text);
    assert_ok(gr_resource_close(texture, fx.stream));
}

TEST(a_refused_image_gets_no_label)
{
    char label[64];
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGB10_A2, 8, 8);
    refused(name, GL_TEXTURE_2D, GR_ERR_UNSUPPORTED, "GL_RGB10_A2");
    glGetObjectLabel(GL_TEXTURE, name, sizeof(label), NULL, label);
    ck_assert_str_eq(label, "");
}

GROUP("arguments", add_image_case)

TEST(invalid_flags_are_refused)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    static const unsigned wrong[] = {16, 0x20, 0x80000000u, ~0u};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null_invalid(gr_from_gl_image(image.name, GL_TEXTURE_2D, wrong[i]), "unknown bits");
    static const unsigned both[] = {3, 7, 11, 15};
    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
        assert_null_invalid(gr_from_gl_image(image.name, GL_TEXTURE_2D, both[i]),
                            "exclude each other");
}

GROUP("contexts", add_image_case)

static void enter(gr_egl *stranger)
{
    assert_ok(gr_egl_make_current(stranger));
}

/* test_api makes all calls in wrong contexts. */
TEST(registering_an_image_of_another_context_is_refused)
{
    gr_egl *stranger = must_make(gr_egl_create(NULL));
    enter(fx.egl);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    enter(stranger);
    refused(image.name + 1000, GL_TEXTURE_2D, GR_ERR_INVALID_VALUE, "another context");
    enter(fx.egl);
    gr_egl_free(stranger);
    enter(fx.egl);
}

/* Freeing an image in the wrong context queues it. A call in the right context closes it. */
TEST(an_image_freed_in_another_context_is_closed_later)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    gr_resource *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
    assert_ok(gr_buffer_release(buffer));
    enter(NULL);
    gr_resource_free(resource);
    enter(fx.egl);
    GR_AUTO(gr_resource) *again = must_register_image(&image, GR_READ_WRITE);
    GR_AUTO(gr_buffer) *mapped = must_map_image(again);
    ck_assert_ptr_nonnull(gr_buffer_array(mapped, 0, 0));
}
