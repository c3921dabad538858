/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads texels in OpenGL ES, which has no glGetTexImage(): through a framebuffer, in the format and
 * type of the image where glReadPixels() has them, otherwise in a larger one that keeps all bits.
 */
#include "gl/texels/texels.h"

#include <string.h>

#include <epoxy/gl.h>

#include "lib/cuda/array_format.h"

/* What glReadPixels() writes. */
struct pixels {
    GLenum format, type;
    size_t element; /* the bytes of a channel */
    bool is_packed; /* has the channels and type of the image; otherwise four channels */
};

static bool is_offered(const struct gl_format *f, GLenum format, GLenum type)
{
    GLint offered_format = 0, offered_type = 0;
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &offered_format);
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &offered_type);
    if ((GLenum)offered_format == format && (GLenum)offered_type == type)
        return true;
    /* OpenGL ES can read every image with such components so */
    if (gl_format_is_integer(f))
        return format == GL_RGBA_INTEGER && (type == GL_INT || type == GL_UNSIGNED_INT);
    return format == GL_RGBA && type != GL_HALF_FLOAT;
}

/* Chooses from what the framebuffer offers that is bound for reading. False: nothing suits. */
static bool choose(const struct gl_format *f, struct pixels *p)
{
    const bool integer = gl_format_is_integer(f);
    const bool is_signed = f->format == CU_AD_FORMAT_SIGNED_INT8 ||
                           f->format == CU_AD_FORMAT_SIGNED_INT16 ||
                           f->format == CU_AD_FORMAT_SIGNED_INT32;
    const GLenum all = integer ? GL_RGBA_INTEGER : GL_RGBA;
    *p = (struct pixels){f->transfer_format, f->transfer_type, gr_channel_bytes(f->format), true};
    const bool exact = is_offered(f, p->format, p->type);
    if (exact || f->packed) /* larger formats have no such texels */
        return exact;
    p->is_packed = false;
    p->format = all;
    if (is_offered(f, p->format, p->type))
        return true;
    p->type = is_signed ? GL_INT : GL_UNSIGNED_INT;
    p->element = 4;
    return integer;
}

static void attach(GLenum target, const struct gl_texel_source *s, int layer)
{
    if (target == GL_RENDERBUFFER)
        glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, target, s->name);
    else if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, s->name, s->level,
                                  layer);
    else
        glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, target, s->name,
                               s->level);
}

static void read_wide(const struct gl_texel_source *s, const struct pixels *p, unsigned char *to)
{
    const size_t count = (size_t)s->width * (size_t)s->height;
    const size_t element = gr_channel_bytes(s->format->format);
    const GLsizeiptr size = (GLsizeiptr)(4 * p->element * count);
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_PACK_BUFFER, size, NULL, GL_STREAM_READ);
    glReadPixels(s->x, s->y, s->width, s->height, p->format, p->type, NULL);
    const unsigned char *from = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, size, GL_MAP_READ_BIT);
    /* the first channels of each pixel, and the low bytes of an integer: CPUs are little-endian */
    for (size_t i = 0; i < count && from; i++)
        for (size_t c = 0; c < s->format->channels; c++, to += element)
            memcpy(to, from + (4 * i + c) * p->element, element);
    glDeleteBuffers(1, &buffer); /* also unmaps and unbinds it */
}

void gl_es_read(unsigned int target, const struct gl_texel_source *s, void *to)
{
    unsigned char *at = to;
    struct pixels p;
    GLuint name = 0;
    GL_SAVED(before, GL_SAVE(READ_FRAMEBUFFER));
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, name);
    for (int i = 0; i < s->layers; i++, at += gl_texels_layer(s)) {
        attach(target, s, s->layer + i);
        (void)choose(s->format, &p);
        if (p.is_packed)
            glReadPixels(s->x, s->y, s->width, s->height, p.format, p.type, at);
        else
            read_wide(s, &p, at);
    }
    glDeleteFramebuffers(1, &name);
}

bool gl_es_reads(const struct gl_texel_source *s)
{
    const GLenum target = s->target->target;
    struct pixels p;
    GLuint name = 0;
    GL_SAVED(before, GL_SAVE(READ_FRAMEBUFFER));
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, name);
    attach(target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target, s, 0);
    const bool reads = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE &&
                       choose(s->format, &p);
    glDeleteFramebuffers(1, &name);
    return reads;
}
