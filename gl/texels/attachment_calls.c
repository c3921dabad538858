/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Blits and reads attachments of the framebuffer that is bound for reading. */
#include "gl/texels/texels.h"

#include <epoxy/gl.h>

/* Returns the attachment point for an image of a format; `mask` is that of glBlitFramebuffer(). */
static GLenum point_of(unsigned int mask, unsigned int format)
{
    if (mask == GL_COLOR_BUFFER_BIT)
        return GL_COLOR_ATTACHMENT0;
    if (format == GL_DEPTH24_STENCIL8 || format == GL_DEPTH32F_STENCIL8)
        return GL_DEPTH_STENCIL_ATTACHMENT;
    return mask == GL_DEPTH_BUFFER_BIT ? GL_DEPTH_ATTACHMENT : GL_STENCIL_ATTACHMENT;
}

/* Selects the attachment, if it has colours, for reads of its framebuffer. */
static void select_attachment(const struct gl_attachment *a, struct gl_saved *saved)
{
    gl_save(saved, GL_SAVE(READ_BUFFER));
    if (a->mask == GL_COLOR_BUFFER_BIT && (GLenum)saved->value[GL_STATE_READ_BUFFER] != a->name)
        glReadBuffer(a->name);
}

/*
 * Blits the rectangle to the texture or else to the renderbuffer. Returns a framebuffer with it,
 * which is bound for drawing; 0 if OpenGL cannot draw to the texture, for which there is another
 * way: an error would reach the debug callback of the application.
 */
static GLuint blit(const struct gl_texel_source *s, GLenum format, GLuint texture,
                   GLuint renderbuffer)
{
    const struct gl_attachment *a = s->attachment;
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
    glBlitFramebuffer(s->x, s->y, s->x + s->width, s->y + s->height, 0, 0, s->width, s->height,
                      a->mask, GL_NEAREST);
    return name;
}

bool gl_attachment_blit(const struct gl_texel_source *source, unsigned int format,
                        unsigned int texture)
{
    GL_SAVED(before, 0);
    select_attachment(source->attachment, &before);
    const GLuint name = blit(source, format, texture, 0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, source->attachment->framebuffer);
    glDeleteFramebuffers(1, &name);
    return name;
}

void gl_attachment_calls(const struct gl_texel_move *move, const struct gl_texel_source *source)
{
    const struct gl_attachment *a = source->attachment;
    const bool resolves = a->samples > 0 || a->is_blitted;
    GLuint framebuffer = 0, renderbuffer = 0;
    GL_SAVED(before, 0);
    gl_save_pixels(&before, move->context, GL_SAVE(CLAMP));
    gl_errors_take(); /* the caller reports those of the read only */
    select_attachment(a, &before);
    if (resolves) {
        glGenRenderbuffers(1, &renderbuffer);
        gl_bind_renderbuffer(&before, renderbuffer);
        glRenderbufferStorage(GL_RENDERBUFFER, a->resolved, source->width, source->height);
        framebuffer = blit(source, a->resolved, 0, renderbuffer);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, move->buffer);
    glReadPixels(resolves ? 0 : source->x, resolves ? 0 : source->y, source->width, source->height,
                 a->read->transfer_format, a->read->transfer_type,
                 (void *)(move->at + source->offset));
    glBindFramebuffer(GL_READ_FRAMEBUFFER, a->framebuffer);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
}
