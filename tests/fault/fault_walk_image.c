/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with OpenGL images. */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <grinterop/image.h>

#define SIDE 4

static bool copy_both_ways(gr_buffer *buffer)
{
    static unsigned char host[SIDE * SIDE * 8 * 4]; /* 5 slices */
    const gr_linear_desc linear = GR_INIT(gr_linear_desc, .host = host, .y = 1);
    return ok(gr_buffer_copy_to_linear(buffer, 0, 0, &linear, fx.stream)) &&
           ok(gr_buffer_copy_from_linear(buffer, 0, 0, &linear, fx.stream));
}

/* In a copied image each layer has its own memory. */
static bool look_at_image(gr_buffer *buffer, bool surface, bool is_copied)
{
    const gr_texture_options linear =
        GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR,
                .normalized_coordinates = GR_CHOICE_YES, .address = {GR_ADDRESS_WRAP});
    return done(gr_buffer_get_image_info(buffer)) && done(gr_buffer_array(buffer, 0, 0)) &&
           (is_copied || done(gr_buffer_mipmapped_array(buffer))) &&
           (!surface || done(gr_buffer_surface(buffer, 0, 0))) &&
           done(gr_buffer_texture(buffer, NULL)) && done(gr_buffer_texture(buffer, &linear)) &&
           copy_both_ways(buffer);
}

static bool use_image(gr_resource *resource, bool surface)
{
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) &&
                look_at_image(buffer, surface,
                              gr_resource_get_info(resource)->transport == GR_TRANSPORT_COPY);
    good = walk_release(buffer) && good;
    buffer = good ? gr_map(resource, fx.other) : NULL; /* with the same surface and texture */
    good = good && done(buffer) && (!surface || done(gr_resource_surface(resource, 0, 0))) &&
           done(gr_resource_texture(resource, NULL));
    good = walk_release(buffer) && good;
    buffer = good ? gr_map_linear(resource, 0, 0, fx.stream) : NULL;
    good = good && done(buffer && gr_buffer_ptr(buffer) && gr_buffer_get_info(buffer)->pitch);
    good = walk_release(buffer) && good;
    walk_again(resource);
    gr_resource_free(resource);
    return good;
}

static bool walk_format(const char *format)
{
    struct image image = image_make(format, scenario->target, SIDE, SIDE, 2);
    bool good = use_image(
        gr_from_gl_image_with(image.name, image.target->target, scenario->flags, scenario->options),
        scenario->flags & GR_SURFACE_LOAD_STORE);
    image_delete(&image);
    return good;
}

bool walk_an_image(void)
{
    return walk_format("RGBA8");
}

static bool walk_depth(void)
{
    return walk_format("DEPTH_COMPONENT24");
}

static bool create_image_of(GLenum target, unsigned depth, const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = target, .internal_format = GL_RGBA8, .width = SIDE,
                .height = SIDE, .depth = depth);
    return use_image(gr_create_gl_image(&desc, GR_SURFACE_LOAD_STORE, options), true);
}

static bool create_image(void)
{
    return create_image_of(GL_TEXTURE_2D, 0, scenario->options);
}

static bool run_create_slices(void)
{
    return create_image_of(GL_TEXTURE_3D, 2, NULL);
}

static const char *no_shared_images(void)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    gr_resource *made = gr_create_gl_image(&desc, GR_SURFACE_LOAD_STORE, &by_sharing);
    gr_resource_free(made);
    return made ? NULL : gr_last_error()->message;
}

const struct scenario walk_gl_images[] = {
    {"an image", .run = walk_an_image, .options = &by_interop, .target = "2D",
     .flags = GR_SURFACE_LOAD_STORE},
    {"a read-only image", .run = walk_an_image, .options = &by_interop, .target = "2D"},
    {"an image with layers", .run = walk_an_image, .options = &by_interop, .target = "2D_ARRAY",
     .flags = GR_SURFACE_LOAD_STORE},
    {"an image by copies", .run = walk_an_image, .options = &by_copy, .target = "2D",
     .flags = GR_SURFACE_LOAD_STORE},
    {"an image with slices by copies", .run = walk_an_image, .options = &by_copy, .target = "3D",
     .flags = GR_SURFACE_LOAD_STORE},
    {"an image with layers by copies", .run = walk_an_image, .options = &by_copy,
     .target = "2D_ARRAY", .flags = GR_SURFACE_LOAD_STORE},
    {"a renderbuffer", .run = walk_an_image, .options = &by_interop, .target = "RENDERBUFFER"},
    {"a renderbuffer by copies", .run = walk_an_image, .options = &by_copy,
     .target = "RENDERBUFFER"},
    {"a cube map by copies", .run = walk_an_image, .options = &by_copy, .target = "CUBE"},
    {"depth by copies", .run = walk_depth, .options = &by_copy, .target = "2D"},
    {"a created image", .run = create_image},
    {"a created image with slices", .run = run_create_slices},
    {"an image created for interop", .run = create_image, .options = &by_interop},
    {"an image created for copies", .run = create_image, .options = &by_copy},
    {"a created and shared image", .run = create_image, .missing = no_shared_images,
     .options = &by_sharing},
    {.name = NULL},
};
