/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with OpenGL images. */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <grinterop/image.h>

#define SIDE 4

static bool copy_both_ways(gr_buffer *buffer)
{
    static unsigned char host[SIDE * SIDE * 8 * 4]; /* 5 slices */
    const gr_linear_desc linear = GR_INIT(gr_linear_desc, .host = host);
    return ok(gr_buffer_copy_to_linear(buffer, 0, 0, &linear, fx.stream)) &&
           ok(gr_buffer_copy_from_linear(buffer, 0, 0, &linear, fx.stream));
}

/* Each copied layer has its own memory. */
static bool look_at_image(gr_buffer *buffer, bool surface, bool is_copied)
{
    const gr_texture_options linear =
        GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR,
                .normalized_coordinates = GR_CHOICE_YES, .address = {GR_ADDRESS_WRAP});
    return done(gr_buffer_image_info(buffer)) && done(gr_buffer_array(buffer, 0, 0)) &&
           (is_copied || done(gr_buffer_mipmapped_array(buffer))) &&
           (!surface || done(gr_buffer_surface(buffer, 0, 0))) &&
           done(gr_buffer_texture(buffer, NULL)) && done(gr_buffer_texture(buffer, &linear)) &&
           copy_both_ways(buffer);
}

static bool release(gr_buffer *buffer)
{
    bool good = !buffer || ok(gr_buffer_release(buffer));
    if (!good)
        gr_buffer_release_later(buffer);
    return good;
}

static bool use_image(gr_resource *resource, bool surface)
{
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) &&
                look_at_image(buffer, surface,
                              gr_resource_get_info(resource)->transport == GR_TRANSPORT_COPY);
    good = release(buffer) && good;
    buffer = good ? gr_map_linear(resource, 0, 0, fx.stream) : NULL;
    good = good && done(buffer && gr_buffer_ptr(buffer) && gr_buffer_get_info(buffer)->pitch);
    good = release(buffer) && good;
    gr_resource_free(resource);
    return good;
}

bool walk_an_image(const gr_gl_options *options, const char *target, bool surface)
{
    struct image image = image_make("RGBA8", target, SIDE, SIDE, 2);
    bool good =
        use_image(gr_from_gl_image_with(image.name, image.target->target,
                                        surface ? GR_SURFACE_LOAD_STORE : GR_READ_WRITE, options),
                  surface);
    image_delete(&image);
    return good;
}

static bool run_image(void)
{
    return walk_an_image(&walk_by_interop, "2D", true);
}

static bool run_image_read(void)
{
    return walk_an_image(&walk_by_interop, "2D", false);
}

static bool run_image_array(void)
{
    return walk_an_image(&walk_by_interop, "2D_ARRAY", true);
}

static bool run_image_copy(void)
{
    return walk_an_image(&walk_by_copy, "2D", true);
}

static bool run_image_copy_3d(void)
{
    return walk_an_image(&walk_by_copy, "3D", true);
}

static bool run_image_copy_array(void)
{
    return walk_an_image(&walk_by_copy, "2D_ARRAY", true);
}

static bool run_renderbuffer(void)
{
    return walk_an_image(&walk_by_interop, "RENDERBUFFER", false);
}

static bool run_renderbuffer_copy(void)
{
    return walk_an_image(&walk_by_copy, "RENDERBUFFER", false);
}

static bool run_image_copy_cube(void)
{
    return walk_an_image(&walk_by_copy, "CUBE", false);
}

static bool create_image_of(GLenum target, unsigned depth, const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = target, .internal_format = GL_RGBA8, .width = SIDE,
                .height = SIDE, .depth = depth);
    return use_image(gr_gl_image_create(&desc, GR_SURFACE_LOAD_STORE, options), true);
}

static bool create_an_image(const gr_gl_options *options)
{
    return create_image_of(GL_TEXTURE_2D, 0, options);
}

static bool run_create_slices(void)
{
    return create_image_of(GL_TEXTURE_3D, 2, NULL);
}

static bool run_create_image(void)
{
    return create_an_image(NULL);
}

static bool run_create_image_copy(void)
{
    return create_an_image(&walk_by_copy);
}

static bool run_create_image_interop(void)
{
    return create_an_image(&walk_by_interop);
}

static bool run_create_image_shared(void)
{
    return create_an_image(&walk_by_shared);
}

static const char *no_shared_images(void)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    gr_resource *made = gr_gl_image_create(&desc, GR_SURFACE_LOAD_STORE, &walk_by_shared);
    gr_resource_free(made);
    return made ? NULL : gr_last_error()->message;
}

const struct scenario walk_gl_images[] = {
    {"an image", run_image, NULL, 0},
    {"a read-only image", run_image_read, NULL, 0},
    {"an image with layers", run_image_array, NULL, 0},
    {"an image by copies", run_image_copy, NULL, 0},
    {"an image with slices by copies", run_image_copy_3d, NULL, 0},
    {"an image with layers by copies", run_image_copy_array, NULL, 0},
    {"a renderbuffer", run_renderbuffer, NULL, 0},
    {"a renderbuffer by copies", run_renderbuffer_copy, NULL, 0},
    {"a cube map by copies", run_image_copy_cube, NULL, 0},
    {"a created image", run_create_image, NULL, 0},
    {"a created image with slices", run_create_slices, NULL, 0},
    {"an image created for interop", run_create_image_interop, NULL, 0},
    {"an image created for copies", run_create_image_copy, NULL, 0},
    {"a created and shared image", run_create_image_shared, no_shared_images, 0},
    {NULL, NULL, NULL, 0},
};
