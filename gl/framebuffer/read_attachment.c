/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads an attachment of the framebuffer that is bound for reading: by the shader, or else by
 * glReadPixels(). The shader cannot read renderbuffers, samples, and textures whose parameters hide
 * the attached level. glBlitFramebuffer() first copies these to a texture, resolves samples unless
 * one is read, and ignores the parameters of textures. On an H100 the copy of 1920 x 1080 pixels
 * takes 165 us, the shader 12 us.
 */
#include "gl/framebuffer/framebuffer.h"

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"
#include "gl/texels/texels.h"

/* ---- Whether the shader can read it ---------------------------------------------------------- */

static bool is_readable_depth(const struct gl_attachment *a)
{
    return a->target->target == GL_TEXTURE_2D &&
           a->level == gl_texels_parameter(a->object, GL_TEXTURE_BASE_LEVEL) &&
           a->level <= gl_texels_parameter(a->object, GL_TEXTURE_MAX_LEVEL) &&
           gl_texels_parameter(a->object, GL_TEXTURE_SWIZZLE_R) == GL_RED &&
           gl_texels_parameter(a->object, GL_DEPTH_STENCIL_TEXTURE_MODE) == GL_DEPTH_COMPONENT;
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

/* Whether the shader can read the texture itself. */
static bool is_readable(const struct gl_attachment *a)
{
    const GLenum t = a->target->target;
    /* an image unit has a layer of these as a 2D image */
    const bool has_2d_layers = t == GL_TEXTURE_2D || t == GL_TEXTURE_2D_ARRAY ||
                               t == GL_TEXTURE_3D || t == GL_TEXTURE_CUBE_MAP ||
                               t == GL_TEXTURE_CUBE_MAP_ARRAY;
    if (a->samples > 0 || !has_2d_layers)
        return false;
    if (a->mask == GL_DEPTH_BUFFER_BIT)
        return is_readable_depth(a);
    return a->mask == GL_COLOR_BUFFER_BIT && (GLenum)a->internal == a->copied &&
           a->copied != GL_SRGB8_ALPHA8 && gl_texels_accessible(a->object, a->level) &&
           is_layer_known(a);
}

/* Whether OpenGL may write to the buffer. It refuses glReadPixels() to a mapped one, too. */
static bool can_write(const struct gl_attachment_read *r)
{
    const size_t bytes = (size_t)r->width * (size_t)r->height * r->pixel;
    GLint mapped = 0, access = 0;
    if (r->offset + (bytes + 3) / 4 * 4 > r->size)
        return false;
    if (!r->is_lent)
        glGetNamedBufferParameteriv(r->buffer, GL_BUFFER_MAPPED, &mapped);
    if (mapped)
        glGetNamedBufferParameteriv(r->buffer, GL_BUFFER_ACCESS_FLAGS, &access);
    return !mapped || access & GL_MAP_PERSISTENT_BIT;
}

/* ---- The calls of OpenGL --------------------------------------------------------------------- */

/* Returns the attachment point for an image of a format; `mask` is that of glBlitFramebuffer(). */
static GLenum point_of(unsigned int mask, unsigned int format)
{
    if (mask == GL_COLOR_BUFFER_BIT)
        return GL_COLOR_ATTACHMENT0;
    if (format == GL_DEPTH24_STENCIL8 || format == GL_DEPTH32F_STENCIL8)
        return GL_DEPTH_STENCIL_ATTACHMENT;
    return mask == GL_DEPTH_BUFFER_BIT ? GL_DEPTH_ATTACHMENT : GL_STENCIL_ATTACHMENT;
}

/* Selects the attachment, if it has colours, for reads of the framebuffer. */
static void select_attachment(const struct gl_attachment *a, const struct gl_saved *saved)
{
    if (a->mask == GL_COLOR_BUFFER_BIT && (GLenum)saved->value[GL_STATE_READ_BUFFER] != a->name)
        glReadBuffer(a->name);
}

/*
 * Blits the rectangle to the texture or else to the renderbuffer. Returns a framebuffer with it,
 * which is bound for drawing; 0 if OpenGL cannot draw to the texture, for which there is another
 * way: an error would reach the debug callback of the application.
 */
static GLuint blit(const struct gl_attachment_read *r, GLenum format, GLuint texture,
                   GLuint renderbuffer)
{
    const struct gl_attachment *a = r->attachment;
    const GLenum point = point_of(a->mask, format);
    GLuint name;
    GL_SAVED(before,
             GL_SAVE(SCISSOR) | GL_SAVE(RASTERIZER_DISCARD) |
                 (texture && (a->samples == 0 || a->sample) ? GL_SAVE(FRAMEBUFFER_SRGB) : 0));
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, name);
    if (texture)
        glFramebufferTexture(GL_DRAW_FRAMEBUFFER, point, texture, 0);
    else
        glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, point, GL_RENDERBUFFER, renderbuffer);
    if (texture && glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        glDeleteFramebuffers(1, &name);
        return 0;
    }
    glBlitFramebuffer(r->x, r->y, r->x + r->width, r->y + r->height, 0, 0, r->width, r->height,
                      a->mask, GL_NEAREST);
    return name;
}

/*
 * Copies the rectangle to a texture of the format, at 0, 0. A layered attachment is read from its
 * first layer. Colours that are encoded as sRGB are resolved linearly, and otherwise copied as they
 * are. False: OpenGL cannot draw to the texture.
 */
static bool blit_to_texture(const struct gl_attachment_read *r, GLenum format, GLuint texture)
{
    GL_SAVED(before, GL_SAVE(READ_BUFFER));
    select_attachment(r->attachment, &before);
    const GLuint name = blit(r, format, texture, 0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, r->attachment->framebuffer);
    glDeleteFramebuffers(1, &name);
    return name;
}

static void read_by_calls(const struct gl_attachment_read *r)
{
    const struct gl_attachment *a = r->attachment;
    GLuint framebuffer = 0, renderbuffer = 0;
    GL_SAVED(before, 0);
    gl_save_pixels(&before, r->context, GL_SAVE(CLAMP) | GL_SAVE(READ_BUFFER));
    gl_errors_take(); /* the caller reports those of the read only */
    select_attachment(a, &before);
    if (a->is_blitted) {
        glGenRenderbuffers(1, &renderbuffer);
        gl_bind_renderbuffer(&before, renderbuffer);
        glRenderbufferStorage(GL_RENDERBUFFER, a->resolved, r->width, r->height);
        framebuffer = blit(r, a->resolved, 0, renderbuffer);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, r->buffer);
    glReadPixels(a->is_blitted ? 0 : r->x, a->is_blitted ? 0 : r->y, r->width, r->height,
                 a->read->transfer_format, a->read->transfer_type, (void *)r->offset);
    glBindFramebuffer(GL_FRAMEBUFFER, a->framebuffer);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
}

/* ---- By the shader --------------------------------------------------------------------------- */

static bool copy(const struct gl_attachment_read *r, const struct gl_texel_copy *c)
{
    /* glReadPixels() would only need GL_FRAMEBUFFER_BARRIER_BIT, which the application may use */
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
    return gl_shader_copy(r->shader, c);
}

/*
 * Reads the attachment through a texture that the shader can read, in strips of the height of the
 * texture. With a multiple of 4 rows, each strip begins at a whole word of the buffer.
 */
static bool copy_strips(const struct gl_attachment_read *r, struct gl_texel_copy *c,
                        unsigned int *error)
{
    const struct gl_attachment *a = r->attachment;
    const struct gl_shader_texture wanted = {.format = a->copied,
                                             .mask = a->mask,
                                             .pixel = r->pixel,
                                             .width = r->width,
                                             .height = r->height,
                                             .samples = a->sample ? a->samples : 0};
    const struct gl_shader_texture *texture = gl_shader_texture(r->shader, &wanted, error);
    struct gl_attachment_read strip = *r;
    if (!texture)
        return false;
    c->texture = texture->view;
    c->sample = a->sample;
    c->level = c->layer = c->x = c->y = 0;
    for (int rest = r->height; rest > 0; rest -= strip.height) {
        strip.height = c->height = rest < texture->height ? rest : texture->height;
        if (!blit_to_texture(&strip, wanted.format, texture->name) || !copy(r, c))
            return false;
        strip.y += strip.height;
        c->offset += (size_t)c->width * (size_t)c->height * c->pixel;
    }
    return true;
}

/*
 * False: the pixels have to be read in another way, after an error of OpenGL or where the state
 * does not allow the shader.
 */
static bool read_by_shader(const struct gl_attachment_read *r, unsigned int *error)
{
    const struct gl_attachment *a = r->attachment;
    *error = GL_NO_ERROR;
    if (!r->shader || !a->copied)
        return false;
    struct gl_texel_copy c = {.kind = a->mask == GL_DEPTH_BUFFER_BIT     ? GL_TEXELS_DEPTH
                                      : a->mask == GL_STENCIL_BUFFER_BIT ? GL_TEXELS_STENCIL
                                                                         : GL_TEXELS_COLOUR,
                              .texture = a->object,
                              .level = a->level,
                              .layer = a->layered ? 0
                                       : a->face ? (GLint)(a->face - GL_TEXTURE_CUBE_MAP_POSITIVE_X)
                                                 : a->layer,
                              .x = r->x,
                              .y = r->y,
                              .width = r->width,
                              .height = r->height,
                              .pixel = r->pixel,
                              .buffer = r->buffer,
                              .offset = r->offset};
    const bool done = gl_shader_can_run(r->shader, &c.program) && can_write(r) &&
                      (is_readable(a) ? copy(r, &c) : copy_strips(r, &c, error));
    const GLenum last = gl_errors_take();
    if (*error == GL_NO_ERROR)
        *error = last;
    return done && last == GL_NO_ERROR;
}

bool gl_attachment_read(const struct gl_attachment_read *r, unsigned int *error)
{
    if (read_by_shader(r, error))
        return true;
    if (r->attachment->sample)
        return false;
    read_by_calls(r);
    *error = gl_errors_take();
    return *error == GL_NO_ERROR;
}
