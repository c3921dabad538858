/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Pixels in OpenGL ES, which has no glGetTexImage: they are read through a framebuffer, in the
 * format that Mesa offers, or with four channels.
 */
#include "softcuda/driver/graphics/gl_pixels.h"

#include <epoxy/gl.h>

#include <stdlib.h>
#include <string.h>

#include "softcuda/driver/image/array.h"

bool soft_gl_is_es(void)
{
    return !epoxy_is_desktop_gl();
}

static int bits_of(const soft_gl_pixels *pixels, GLenum of_texture, GLenum of_renderbuffer)
{
    GLint bits = 0;
    if (pixels->target == GL_RENDERBUFFER)
        glGetRenderbufferParameteriv(GL_RENDERBUFFER, of_renderbuffer, &bits);
    else
        glGetTexLevelParameteriv(
            pixels->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : pixels->target,
            0, of_texture, &bits);
    return bits;
}

/* Attaches an image to the framebuffer that is bound for reading. */
static void attach(const soft_gl_pixels *pixels, GLenum target, unsigned level, unsigned slice)
{
    const GLenum to = GL_READ_FRAMEBUFFER, point = GL_COLOR_ATTACHMENT0;
    if (target == GL_RENDERBUFFER)
        glFramebufferRenderbuffer(to, point, target, pixels->name);
    else if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        glFramebufferTextureLayer(to, point, pixels->name, (GLint)level, (GLint)slice);
    else
        glFramebufferTexture2D(to, point, target, pixels->name, (GLint)level);
}

/* Binds a new framebuffer for reading. Returns the one before. */
static GLuint bind_new(GLuint *name)
{
    GLint before = 0;
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
    glGenFramebuffers(1, name);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, *name);
    return (GLuint)before;
}

static void end(GLuint name, GLuint before)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, before);
    glDeleteFramebuffers(1, &name);
}

/* OpenGL ES converts no channels when it writes pixels, and reads what it can draw to. */
bool soft_gl_es_transfers(const soft_gl_pixels *pixels, const soft_gl_format *format)
{
    const int red = bits_of(pixels, GL_TEXTURE_RED_SIZE, GL_RENDERBUFFER_RED_SIZE);
    const int alpha = bits_of(pixels, GL_TEXTURE_ALPHA_SIZE, GL_RENDERBUFFER_ALPHA_SIZE);
    const bool converts = red == 0 || (format->channels == 4 && alpha == 0);
    GLuint name, before = bind_new(&name);
    attach(pixels,
           pixels->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : pixels->target,
           0, 0);
    const bool reads = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    end(name, before);
    return reads && !converts;
}

/* What glReadPixels() writes: the layout of CUDA, or four channels of `element` bytes. */
typedef struct {
    GLenum format, type;
    size_t element;
    bool is_packed;
} es_pixels;

static bool is_offered(GLenum format, GLenum type)
{
    GLint offered[2] = {0, 0};
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &offered[0]);
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &offered[1]);
    return (GLenum)offered[0] == format && (GLenum)offered[1] == type;
}

static es_pixels choose(const soft_gl_format *f)
{
    const bool integers = f->transfer == GL_RED_INTEGER || f->transfer == GL_RG_INTEGER ||
                          f->transfer == GL_RGBA_INTEGER;
    const bool is_signed = f->type == GL_BYTE || f->type == GL_SHORT || f->type == GL_INT;
    es_pixels p = {f->transfer, f->type, soft_array_element(f->format, 1), true};
    if (is_offered(p.format, p.type) || (f->channels == 4 && !integers))
        return p;
    p.is_packed = false;
    p.format = integers ? GL_RGBA_INTEGER : GL_RGBA;
    if (integers) {
        p.type = is_signed ? GL_INT : GL_UNSIGNED_INT;
        p.element = 4;
    }
    return p;
}

/* Reads a row of four channels, and keeps the first ones, and the low bytes of integers. */
static void read_row(unsigned y, unsigned width, const soft_gl_format *format, const es_pixels *p,
                     unsigned char *row, unsigned char *to)
{
    const size_t element = soft_array_element(format->format, 1);
    glReadPixels(0, (GLint)y, (GLsizei)width, 1, p->format, p->type, row);
    for (unsigned x = 0; x < width; x++)
        for (unsigned c = 0; c < format->channels; c++, to += element)
            memcpy(to, row + (4 * x + c) * p->element, element);
}

static void read_slice(const soft_gl_format *format, const soft_gl_level *size, unsigned char *to)
{
    const size_t texel = soft_array_element(format->format, format->channels);
    const es_pixels p = choose(format);
    if (p.is_packed) {
        glReadPixels(0, 0, (GLsizei)size->width, (GLsizei)size->height, p.format, p.type, to);
        return;
    }
    unsigned char *row = malloc(4 * p.element * size->width);
    for (unsigned y = 0; row && y < size->height; y++)
        read_row(y, size->width, format, &p, row, to + y * size->width * texel);
    free(row);
}

void soft_gl_es_read(const soft_gl_pixels *pixels, unsigned target, unsigned level,
                     const soft_gl_level *size, const soft_gl_format *format, unsigned char *to)
{
    const size_t slice =
        (size_t)size->width * size->height * soft_array_element(format->format, format->channels);
    GLuint name, before = bind_new(&name);
    for (unsigned i = 0; i < size->slices; i++) {
        attach(pixels, target, level, i);
        read_slice(format, size, to + i * slice);
    }
    end(name, before);
}
