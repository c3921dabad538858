/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries the storage of objects: of buffers by direct state access if available, otherwise through
 * a binding that is restored afterwards.
 */
#include "lib/base/compiler.h"
#include "gl/object/object.h"

#include <string.h>

#include <epoxy/gl.h>

#include "lib/external/external.h"
#include "lib/resource/image.h"
#include "gl/context/saved_state.h"
#include "gl/format/format.h"

/* Not inlined: its stack frame would slow down the query without a binding. */
GR_NOINLINE static void query_buffer(GLuint name, GLenum parameter, GLint64 *value)
{
    GL_SAVED(before, 0);
    glGetBufferParameteri64v(gl_bind_buffer(&before, GL_COPY_READ_BUFFER, name), parameter, value);
}

static GLint64 buffer_parameter(GLuint name, GLenum parameter, bool direct)
{
    GLint64 value = 0;
    if (direct)
        glGetNamedBufferParameteri64v(name, parameter, &value);
    else
        query_buffer(name, parameter, &value);
    return value;
}

size_t gl_buffer_storage(unsigned int name, bool direct)
{
    return (size_t)buffer_parameter(name, GL_BUFFER_SIZE, direct);
}

bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context)
{
    return context->storage &&
           buffer_parameter(name, GL_BUFFER_IMMUTABLE_STORAGE, context->direct) == GL_TRUE;
}

/* ---- Images ---------------------------------------------------------------------------------- */

/*
 * Queries a level of the object `name`, or of the one that is bound to `part` if `name` is 0;
 * `whole`: also its samples and depth.
 */
static struct gl_level query_level(GLuint name, GLenum part, GLint level, bool whole)
{
    static const GLenum queries[][2] = {
        {GL_TEXTURE_WIDTH, GL_RENDERBUFFER_WIDTH},
        {GL_TEXTURE_HEIGHT, GL_RENDERBUFFER_HEIGHT},
        {GL_TEXTURE_INTERNAL_FORMAT, GL_RENDERBUFFER_INTERNAL_FORMAT},
        {GL_TEXTURE_SAMPLES, GL_RENDERBUFFER_SAMPLES},
        {GL_TEXTURE_DEPTH, GL_NONE}};
    const bool renderbuffer = part == GL_RENDERBUFFER;
    GLint v[5] = {0, 0, 0, 0, renderbuffer};
    for (int i = 0; i < (!whole ? 3 : renderbuffer ? 4 : 5) && (i == 0 || v[0]); i++) {
        const GLenum query = queries[i][renderbuffer];
        if (renderbuffer && name)
            glGetNamedRenderbufferParameteriv(name, query, &v[i]);
        else if (renderbuffer)
            glGetRenderbufferParameteriv(part, query, &v[i]);
        else if (name)
            glGetTextureLevelParameteriv(name, level, query, &v[i]);
        else
            glGetTexLevelParameteriv(part, level, query, &v[i]);
    }
    return (struct gl_level){v[0], v[1], v[4], v[2], v[3]};
}

/* Binds a texture. False if the texture has another target, which is an OpenGL error. */
static bool bind(GLenum target, GLuint name, struct gl_saved *saved)
{
    const GLenum binding = gl_target_of(target)->binding;
    GLint bound = 0;
    GL_SAVED(before, GL_SAVE(ERRORS));
    gl_bind_texture(saved, target, binding, name);
    glGetIntegerv(binding, &bound);
    return (GLuint)bound == name;
}

static GLenum first_part(GLenum target)
{
    return target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target;
}

/* Without a binding, OpenGL does not say which face of a cube it describes. */
struct gl_level gl_image_level(unsigned int name, unsigned int target, int level,
                               const struct gl_context *context, bool attached)
{
    const bool renderbuffer = target == GL_RENDERBUFFER;
    if (renderbuffer                    ? context->direct
        : target == GL_TEXTURE_CUBE_MAP ? false
        : attached                      ? context->tells_targets
                                        : gl_direct_target(name, context) == target)
        return query_level(name, target, level, !attached);
    GL_SAVED(before, 0);
    if (renderbuffer)
        gl_bind_renderbuffer(&before, name);
    return renderbuffer || bind(target, name, &before)
               ? query_level(0, first_part(target), level, !attached)
               : (struct gl_level){0, 0, 0, 0, 0};
}

/* The queries of a component's bits and type. Red excludes luminance, intensity and depth. */
static const struct {
    int component; /* in gl_stored.bits */
    GLenum size, type, renderbuffer_size;
} components[] = {
    {0, GL_TEXTURE_RED_SIZE, GL_TEXTURE_RED_TYPE, GL_RENDERBUFFER_RED_SIZE},
    {1, GL_TEXTURE_GREEN_SIZE, GL_TEXTURE_GREEN_TYPE, GL_RENDERBUFFER_GREEN_SIZE},
    {2, GL_TEXTURE_BLUE_SIZE, GL_TEXTURE_BLUE_TYPE, GL_RENDERBUFFER_BLUE_SIZE},
    {3, GL_TEXTURE_ALPHA_SIZE, GL_TEXTURE_ALPHA_TYPE, GL_RENDERBUFFER_ALPHA_SIZE},
    {0, GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_DEPTH_TYPE, GL_RENDERBUFFER_DEPTH_SIZE},
    /* These are errors in a core profile, where other components are never missing. */
    {0, GL_TEXTURE_LUMINANCE_SIZE, GL_TEXTURE_LUMINANCE_TYPE, 0},
    {0, GL_TEXTURE_INTENSITY_SIZE, GL_TEXTURE_INTENSITY_TYPE, 0},
};

static void query_bound(GLenum part, struct gl_stored *stored)
{
    for (size_t i = 0; i < sizeof(components) / sizeof(components[0]); i++) {
        GLint *bits = &stored->bits[components[i].component], type = 0;
        if (*bits > 0)
            continue;
        if (part != GL_RENDERBUFFER)
            glGetTexLevelParameteriv(part, 0, components[i].size, bits);
        else if (components[i].renderbuffer_size)
            glGetRenderbufferParameteriv(part, components[i].renderbuffer_size, bits);
        if (*bits > 0 && part != GL_RENDERBUFFER)
            glGetTexLevelParameteriv(part, 0, components[i].type, &type);
        if (type)
            stored->component = (GLenum)type;
        stored->depth |= *bits > 0 && components[i].size == GL_TEXTURE_DEPTH_SIZE;
    }
}

void gl_image_stored(unsigned int name, unsigned int target, struct gl_stored *stored)
{
    GLint compressed = GL_FALSE;
    GL_SAVED(before, GL_SAVE(ERRORS));
    *stored = (struct gl_stored){.compressed = false};
    if (target == GL_RENDERBUFFER) {
        gl_bind_renderbuffer(&before, name);
        query_bound(target, stored);
    } else {
        bind(target, name, &before);
        query_bound(first_part(target), stored);
        glGetTexLevelParameteriv(first_part(target), 0, GL_TEXTURE_COMPRESSED, &compressed);
    }
    stored->compressed = compressed;
}

static bool same(const struct gl_level *a, const struct gl_level *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static const char *check_faces(GLint level)
{
    struct gl_level first = query_level(0, GL_TEXTURE_CUBE_MAP_POSITIVE_X, level, true);
    if (first.width != first.height)
        return "its faces are not square";
    for (GLenum face = GL_TEXTURE_CUBE_MAP_NEGATIVE_X; face <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z;
         face++) {
        struct gl_level other = query_level(0, face, level, true);
        if (!same(&first, &other))
            return "its six faces do not have the same size and format";
    }
    return NULL;
}

/*
 * Counts the levels of a texture without immutable storage. If the format of a level differs from
 * that of level 0, the NVIDIA driver crashes when the registration ends. If its size does not
 * follow from level 0, CUDA gets wrong data. Levels after a gap cannot be reported by one number.
 */
static void count_levels(GLenum target, struct gl_image_storage *storage)
{
    const struct gl_level *base = &storage->base;
    const bool is_3d = target == GL_TEXTURE_3D;
    const unsigned most =
        gr_whole_chain((size_t)base->width, (size_t)base->height, is_3d ? (size_t)base->depth : 1);
    for (unsigned level = 0; level < most && !storage->incomplete; level++) {
        struct gl_level found = query_level(0, first_part(target), (GLint)level, true),
                        expected = *base;
        expected.width = (int)gr_level_extent((size_t)base->width, level);
        expected.height = (int)gr_level_extent((size_t)base->height, level);
        if (is_3d)
            expected.depth = (int)gr_level_extent((size_t)base->depth, level);
        if (found.width && !same(&found, &expected))
            storage->incomplete = "a level's size or format does not follow from level 0";
        if (found.width && level > storage->levels)
            storage->incomplete = "a level is missing below another one";
        if (found.width && level == storage->levels)
            storage->levels++;
    }
}

/*
 * Queries the levels of a texture with immutable storage, and where it begins if it is a texture
 * view: GL_TEXTURE_IMMUTABLE_LEVELS of a view are the levels of the original.
 */
static unsigned view_levels(GLenum target, struct gl_view *view)
{
    GLint levels = 0;
    if (epoxy_gl_version() < 43 && !epoxy_has_gl_extension("GL_ARB_texture_view") &&
        !epoxy_has_gl_extension("GL_EXT_texture_view") &&
        !epoxy_has_gl_extension("GL_OES_texture_view"))
        return 0;
    glGetTexParameteriv(target, GL_TEXTURE_VIEW_NUM_LEVELS, &levels);
    glGetTexParameteriv(target, GL_TEXTURE_VIEW_MIN_LEVEL, &view->level);
    glGetTexParameteriv(target, GL_TEXTURE_VIEW_MIN_LAYER, &view->layer);
    return (unsigned)levels;
}

void gl_image_storage(unsigned int name, unsigned int target, const struct gl_context *context,
                      struct gl_image_storage *storage)
{
    memset(storage, 0, sizeof(*storage));
    storage->base = gl_image_level(name, target, 0, context, false);
    if (storage->base.width == 0 || target == GL_RENDERBUFFER) {
        storage->levels = storage->base.width ? 1 : 0;
        return;
    }
    GLint immutable = 0;
    GL_SAVED(before, 0);
    bind(target, name, &before);
    bool can_ask = epoxy_gl_version() >= 42 || !epoxy_is_desktop_gl() ||
                   epoxy_has_gl_extension("GL_ARB_texture_storage");
    if (can_ask)
        glGetTexParameteriv(target, GL_TEXTURE_IMMUTABLE_FORMAT, &immutable);
    storage->immutable = immutable;
    if (immutable)
        storage->levels = view_levels(target, &storage->view);
    if (target == GL_TEXTURE_RECTANGLE)
        storage->levels = 1;
    else if (storage->levels == 0)
        count_levels(target, storage);
    glGetTexParameteriv(target, GL_TEXTURE_BASE_LEVEL, &storage->first_level);
    if (target == GL_TEXTURE_CUBE_MAP)
        for (GLint level = 0; level < (GLint)storage->levels && !storage->incomplete; level++)
            storage->incomplete = check_faces(level);
}
