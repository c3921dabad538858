/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Moves texels by the shader, or else by calls of OpenGL. The shader cannot read renderbuffers,
 * samples, and textures whose parameters hide the attached level. For an attachment
 * glBlitFramebuffer() first copies these to a texture, resolves samples unless one is read, and
 * ignores the parameters of textures. On an H100 the copy of 1920 x 1080 pixels takes 165 us, the
 * shader 12 us.
 */
#include "gl/texels/texels.h"

#include <epoxy/gl.h>

/* The maximum number of layers or slices of a level, each of which takes a dispatch. */
#define MOST_DISPATCHES 8

/* ---- Transfers ------------------------------------------------------------------------------- */

struct gl_transfer gl_transfer_of(const struct gl_format *format)
{
    const unsigned integers = gl_transfer_integers(format);
    return (struct gl_transfer){format->transfer_format,
                                integers == 2 ? GL_UNSIGNED_SHORT
                                : integers    ? GL_UNSIGNED_INT
                                              : format->transfer_type,
                                integers};
}

bool gl_transfer_supported(const struct gl_target *target)
{
    return target->target != GL_RENDERBUFFER ||
           epoxy_gl_version() >= (epoxy_is_desktop_gl() ? 43 : 32) ||
           epoxy_has_gl_extension("GL_ARB_copy_image");
}

bool gl_texels_regions_supported(void)
{
    return !epoxy_is_desktop_gl() || epoxy_gl_version() >= 45 ||
           epoxy_has_gl_extension("GL_ARB_get_texture_sub_image");
}

/* ---- Whether the shader can move them -------------------------------------------------------- */

/* Depth and stencil can only be copied to the same format, which unsized formats do not tell. */
static unsigned int copy_format(const struct gl_attachment *a)
{
    static const GLenum sized[] = {
        GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32, GL_DEPTH_COMPONENT32F,
        GL_DEPTH24_STENCIL8,  GL_DEPTH32F_STENCIL8, GL_STENCIL_INDEX8};
    if (a->mask == GL_COLOR_BUFFER_BIT)
        return a->exact || a->samples > 0 ? a->resolved : GL_NONE;
    for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++)
        if ((GLenum)a->internal == sized[i])
            return sized[i];
    return GL_NONE;
}

/* Each layer must start at a whole word of the buffer. */
static bool image_suits_shader(const struct gl_texel_source *s)
{
    return s->target->target != GL_RENDERBUFFER && s->target->target != GL_TEXTURE_RECTANGLE &&
           gl_format_has_image_units(s->format) && s->layers <= MOST_DISPATCHES &&
           (s->layers == 1 || gl_texels_layer(s) % 4 == 0);
}

bool gl_texels_suit_shader(const struct gl_texel_source sources[], size_t n)
{
    const struct gl_attachment *a = sources->attachment;
    bool suit = !a || (a->target && copy_format(a) != GL_NONE);
    for (size_t i = 0; i < n && !a && suit; i++)
        suit = image_suits_shader(&sources[i]);
    return suit;
}

static int parameter(GLuint texture, GLenum name)
{
    GLint value = 0;
    glGetTextureParameteriv(texture, name, &value);
    return value;
}

/*
 * Whether the parameters of the texture let image units access the level as integers. Image units
 * ignore the other parameters, but the texture must be complete.
 */
static bool is_accessible(GLuint texture, GLint level)
{
    const GLint base = parameter(texture, GL_TEXTURE_BASE_LEVEL);
    const GLint filter = parameter(texture, GL_TEXTURE_MIN_FILTER);
    if (level < base || level > parameter(texture, GL_TEXTURE_MAX_LEVEL))
        return false;
    return parameter(texture, GL_TEXTURE_IMMUTABLE_FORMAT) ||
           (level == base && (filter == GL_NEAREST || filter == GL_LINEAR));
}

static bool is_readable_depth(const struct gl_attachment *a)
{
    return a->target->target == GL_TEXTURE_2D &&
           a->level == parameter(a->object, GL_TEXTURE_BASE_LEVEL) &&
           a->level <= parameter(a->object, GL_TEXTURE_MAX_LEVEL) &&
           parameter(a->object, GL_TEXTURE_SWIZZLE_R) == GL_RED &&
           parameter(a->object, GL_DEPTH_STENCIL_TEXTURE_MODE) == GL_DEPTH_COMPONENT;
}

/*
 * Whether the driver reports the layers of such textures. Mesa (25) reports 0 for each layer of
 * some targets, so 0 is the layer only if the driver reports another one, too.
 */
static bool is_layer_known(const struct gl_attachment *a)
{
    GLuint framebuffer;
    GLint layer = a->layer;
    if (layer > 0 || a->layered || a->face || a->target->target == GL_TEXTURE_2D)
        return true;
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTextureLayer(framebuffer, GL_COLOR_ATTACHMENT0, a->object, a->level, 1);
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, GL_COLOR_ATTACHMENT0,
                                               GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &layer);
    glDeleteFramebuffers(1, &framebuffer);
    return layer == 1;
}

/* Whether an image unit has a layer of such a texture as a 2D image. */
static bool has_2d_layers(const struct gl_target *target)
{
    const GLenum t = target->target;
    return t == GL_TEXTURE_2D || t == GL_TEXTURE_2D_ARRAY || t == GL_TEXTURE_3D ||
           t == GL_TEXTURE_CUBE_MAP || t == GL_TEXTURE_CUBE_MAP_ARRAY;
}

static bool is_readable(const struct gl_attachment *a)
{
    const GLenum format = copy_format(a);
    if (a->samples > 0 || !has_2d_layers(a->target))
        return false;
    if (a->mask == GL_DEPTH_BUFFER_BIT)
        return is_readable_depth(a);
    return a->mask == GL_COLOR_BUFFER_BIT && (GLenum)a->internal == format &&
           format != GL_SRGB8_ALPHA8 && is_accessible(a->object, a->level) && is_layer_known(a);
}

/* Finds the texture, level and layer of the source. False: the shader cannot access them. */
static bool resolve(const struct gl_texel_source *s, struct gl_texel_copy *c)
{
    const struct gl_attachment *a = s->attachment;
    if (!a) {
        c->texture = s->name;
        c->level = s->level;
        c->layer = s->layer;
        return is_accessible(s->name, s->level);
    }
    c->kind = a->mask == GL_DEPTH_BUFFER_BIT     ? GL_TEXELS_DEPTH
              : a->mask == GL_STENCIL_BUFFER_BIT ? GL_TEXELS_STENCIL
                                                 : GL_TEXELS_COLOUR;
    c->texture = a->object;
    c->level = a->level;
    c->layer = a->layered ? 0
               : a->face  ? (GLint)(a->face - GL_TEXTURE_CUBE_MAP_POSITIVE_X)
                          : a->layer;
    return is_readable(a);
}

/* ---- By the shader --------------------------------------------------------------------------- */

/* Copies the layers, and leaves the offset after them. */
static bool dispatch(const struct gl_texel_move *m, const struct gl_texel_source *s,
                     struct gl_texel_copy *c)
{
    bool done = true;
    /* glReadPixels() would only need GL_FRAMEBUFFER_BARRIER_BIT, which the application may use */
    if (s->attachment)
        glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
    for (int rest = s->layers; rest > 0 && done; rest--) {
        done = gl_shader_copy(m->shader, c);
        c->offset += (size_t)c->width * (size_t)c->height * c->pixel;
        c->layer++;
    }
    return done;
}

/*
 * Reads the attachment through a texture that the shader can read, in strips of the height of the
 * texture. With a multiple of 4 rows, each strip begins at a whole word of the buffer.
 */
static bool copy_strips(const struct gl_texel_move *m, const struct gl_texel_source *s,
                        struct gl_texel_copy *c, unsigned int *error)
{
    const struct gl_shader_texture wanted = {
        .format = copy_format(s->attachment),
        .mask = s->attachment->mask,
        .pixel = c->pixel,
        .width = s->width,
        .height = s->height,
        .samples = s->attachment->sample ? s->attachment->samples : 0};
    const struct gl_shader_texture *texture = gl_shader_texture(m->shader, &wanted, error);
    struct gl_texel_source strip = *s;
    bool done = texture;
    for (int rest = s->height; rest > 0 && done; rest -= strip.height) {
        strip.height = c->height = rest < texture->height ? rest : texture->height;
        c->texture = texture->view;
        c->level = c->layer = c->x = c->y = 0;
        c->sample = s->attachment->sample;
        done = gl_attachment_blit(&strip, wanted.format, texture->name) && dispatch(m, s, c);
        strip.y += strip.height;
    }
    return done;
}

/*
 * Whether OpenGL may write an attachment to the buffer, which belongs to the application.
 * glReadPixels() is refused where the application has mapped it, too.
 */
static bool can_write(const struct gl_texel_move *m, const struct gl_texel_source *s)
{
    GLint mapped = 0, access = 0;
    if (m->at + s->offset + (gl_texels_layer(s) + 3) / 4 * 4 > m->size)
        return false;
    glGetNamedBufferParameteriv(m->buffer, GL_BUFFER_MAPPED, &mapped);
    if (mapped)
        glGetNamedBufferParameteriv(m->buffer, GL_BUFFER_ACCESS_FLAGS, &access);
    return !mapped || access & GL_MAP_PERSISTENT_BIT;
}

static bool move_one(const struct gl_texel_move *m, const struct gl_texel_source *s,
                     unsigned int *error)
{
    struct gl_texel_copy copy = {.to_image = m->to_image,
                                 .x = s->x,
                                 .y = s->y,
                                 .width = s->width,
                                 .height = s->height,
                                 .pixel = s->pixel,
                                 .buffer = m->buffer,
                                 .offset = m->at + s->offset};
    if (s->attachment && !can_write(m, s))
        return false;
    return resolve(s, &copy) ? dispatch(m, s, &copy)
                             : s->attachment && copy_strips(m, s, &copy, error);
}

/*
 * False: the texels that were moved, if any, have to be moved again, after an error of OpenGL or
 * where the state does not allow the shader.
 */
static bool move_by_shader(const struct gl_texel_move *m, const struct gl_texel_source s[],
                           size_t n, unsigned int *error)
{
    *error = GL_NO_ERROR;
    if (!m->shader || !m->buffer || !gl_texels_suit_shader(s, n))
        return false;
    GL_SAVED(before, s->attachment ? 0 : GL_SAVE(ERRORS)); /* those of earlier moves */
    bool done = s->attachment || !gl_renders_conditionally(m->shader);
    done = done && gl_shader_can_run(m->shader);
    for (size_t i = 0; i < n && done; i++)
        done = move_one(m, &s[i], error);
    const GLenum last = gl_errors_take();
    if (*error == GL_NO_ERROR)
        *error = last;
    return done && last == GL_NO_ERROR;
}

/* ---- One move -------------------------------------------------------------------------------- */

void gl_texels_move(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n)
{
    unsigned int error;
    if (!move_by_shader(move, sources, n, &error))
        gl_image_calls(move, sources, n);
}

bool gl_texels_read(const struct gl_texel_move *move, const struct gl_texel_source *source,
                    unsigned int *error)
{
    if (move_by_shader(move, source, 1, error))
        return true;
    if (source->attachment->sample)
        return false;
    gl_attachment_calls(move, source);
    *error = gl_errors_take();
    return *error == GL_NO_ERROR;
}
