/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Texture views: CUDA must use the levels, layers and texels of the view, and no others. */
#include "tests/support/support_image.h"

#include <grinterop/gl.h>

enum { WIDTH = 24, CUBE = 16, LEVELS = 4 };

static const struct view {
    const char *format, *target;       /* of the original */
    unsigned layers;                   /* of the original, or its slices */
    const char *as_format, *as_target; /* of the view */
    unsigned level, levels, layer, count;
} views[] = {
    {"RGBA8", "2D", 1, "RGBA8", "2D", 0, 4, 0, 1},
    {"RGBA8", "2D", 1, "RGBA8", "2D", 0, 2, 0, 1},
    {"RGBA8", "2D", 1, "RGBA8", "2D", 1, 1, 0, 1},
    {"RGBA8", "2D", 1, "RGBA8", "2D_ARRAY", 1, 3, 0, 1},
    {"R32F", "2D_ARRAY", 5, "R32F", "2D", 0, 1, 3, 1},
    {"RGBA8", "2D_ARRAY", 5, "RGBA8", "2D", 0, 4, 0, 1},
    {"RGBA8", "2D_ARRAY", 5, "RGBA8", "2D", 2, 1, 4, 1},
    {"RGBA16F", "2D_ARRAY", 6, "RGBA16F", "2D_ARRAY", 1, 2, 2, 3},
    {"R8", "2D_ARRAY", 5, "R8", "2D_ARRAY", 0, 4, 0, 2},
    {"RGBA8", "2D_ARRAY", 8, "RGBA8", "CUBE", 1, 2, 1, 6},
    {"RGBA8", "CUBE", 6, "RGBA8", "2D", 0, 1, 4, 1},
    {"RGBA8", "CUBE", 6, "RGBA8", "2D_ARRAY", 1, 2, 2, 3},
    {"RGBA8", "CUBE", 6, "RGBA8", "CUBE", 2, 2, 0, 6},
    {"RGBA8", "3D", 8, "RGBA8", "3D", 1, 2, 0, 1},
    {"RGBA8", "2D", 1, "SRGB8_ALPHA8", "2D", 1, 2, 0, 1},
    {"SRGB8_ALPHA8", "2D_ARRAY", 3, "RGBA8", "2D", 0, 1, 1, 1},
    {"RGBA8", "2D", 1, "R32UI", "2D", 0, 4, 0, 1},
    {"R32UI", "2D_ARRAY", 3, "RGBA8", "2D_ARRAY", 1, 2, 1, 2},
    {"RGBA16F", "2D", 1, "RG32UI", "2D", 1, 1, 0, 1},
};
enum { VIEWS = sizeof(views) / sizeof(*views) };

/* The allowed transports: interop is refused for views that do not begin at level 0 and layer 0. */
static const unsigned transports[2] = {GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY, GR_TRANSPORT_COPY};

static struct image make_original(const struct view *v)
{
    const GLenum target = image_target(v->target)->target;
    const bool cube =
        target == GL_TEXTURE_CUBE_MAP || image_target(v->as_target)->target == GL_TEXTURE_CUBE_MAP;
    struct image made = {.format = image_format(v->format),
                         .target = image_target(v->target),
                         .width = cube ? CUBE : WIDTH,
                         .height = CUBE,
                         .slices = target == GL_TEXTURE_3D ? v->layers : 1,
                         .layers = target == GL_TEXTURE_3D ? 1 : v->layers,
                         .levels = LEVELS};
    const GLsizei width = (GLsizei)made.width;
    glCreateTextures(target, 1, &made.name);
    if (target == GL_TEXTURE_2D || target == GL_TEXTURE_CUBE_MAP)
        glTextureStorage2D(made.name, LEVELS, made.format->internal, width, CUBE);
    else
        glTextureStorage3D(made.name, LEVELS, made.format->internal, width, CUBE,
                           (GLsizei)v->layers);
    image_fill(&made, 7);
    return made;
}

/* `from` may be a view itself: the level and layer are those in `from`. */
static struct image make_view(const struct image *from, const struct view *v)
{
    struct image made = {.format = image_format(v->as_format),
                         .target = image_target(v->as_target),
                         .width = image_width(from, v->level),
                         .height = image_height(from, v->level),
                         .slices = image_slices(from, v->level),
                         .layers = v->count,
                         .levels = v->levels};
    glGenTextures(1, &made.name);
    glTextureView(made.name, made.target->target, from->name, made.format->internal, v->level,
                  v->levels, v->layer, v->count);
    assert_gl_clean();
    return made;
}

static gr_resource *register_view(const struct image *view, unsigned allowed)
{
    return gr_from_gl_image_with(view->name, view->target->target, GR_READ_WRITE,
                                 &GR_INIT(gr_gl_options, .transports = allowed));
}

/* CUDA reads and writes the whole view. */
static void check_view(const struct image *view, unsigned allowed)
{
    image_fill(view, 1);
    GR_AUTO(gr_resource) *resource = must_make(register_view(view, allowed));
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = gr_buffer_get_image_info(buffer);
    ck_assert_uint_eq(info->width, view->width);
    ck_assert_uint_eq(info->height, view->height);
    ck_assert_uint_eq(info->depth, view->slices);
    ck_assert_uint_eq(info->levels, view->levels);
    ck_assert_uint_eq(info->layers, view->layers);
    image_both_ways(buffer, view, 1);
}

static void check_rest(const struct image *original, const struct view *v)
{
    for (unsigned level = 0; level < original->levels; level++)
        for (unsigned layer = 0; layer < original->layers; layer++)
            if (level < v->level || level >= v->level + v->levels || layer < v->layer ||
                layer >= v->layer + v->count)
                assert_no_difference(image_level_differs(original, level, layer, 7));
}

GROUP("texture views", add_image_case)

/* Catches: CUDA used the first level and layer of the original. */
TEST(views_have_their_own_levels_and_layers, VIEWS * 2)
{
    const struct view *v = &views[_i / 2];
    const struct image original = make_original(v), view = make_view(&original, v);
    if (v->level || v->layer)
        assert_null(register_view(&view, GR_TRANSPORT_INTEROP), GR_ERR_UNSUPPORTED, 0, "is a view");
    else
        gr_resource_free(must_make(register_view(&view, GR_TRANSPORT_INTEROP)));
    check_view(&view, transports[_i % 2]);
    check_rest(&original, v);
    image_delete(&view);
    image_delete(&original);
}

TEST(views_of_views_have_their_own_levels_and_layers, 2)
{
    static const struct view first = {"RGBA8", "2D_ARRAY", 6, "RGBA8", "2D_ARRAY", 1, 3, 2, 3},
                             second = {"RGBA8", "2D_ARRAY", 6, "R32UI", "2D", 1, 1, 1, 1},
                             both = {"RGBA8", "2D_ARRAY", 6, "R32UI", "2D", 2, 1, 3, 1};
    const struct image original = make_original(&first), middle = make_view(&original, &first),
                       view = make_view(&middle, &second);
    check_view(&view, transports[_i]);
    check_rest(&original, &both);
    image_delete(&middle);
    image_delete(&original);
    check_view(&view, transports[_i]);
    image_delete(&view);
}
