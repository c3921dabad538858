/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Moves the texels of textures and renderbuffers by glTexSubImage and glGetTexImage. OpenGL has no
 * call that transfers renderbuffer texels of any format unchanged. So renderbuffers are copied
 * through a texture of the same format, without conversion.
 */
#include "gl/texels/texels.h"

#include <limits.h>

#include <epoxy/gl.h>

struct gl_transfer gl_transfer_of(const struct gl_format *format)
{
    const unsigned integers = gl_transfer_integers(format);
    return (struct gl_transfer){format->transfer_format,
                                integers == 2 ? GL_UNSIGNED_SHORT
                                : integers    ? GL_UNSIGNED_INT
                                              : format->transfer_type,
                                integers};
}

unsigned int gl_texels_scratch(const struct gl_context *context, unsigned int internal,
                               struct gl_transfer transfer, int width, int height)
{
    GLuint name = 0;
    GL_SAVED(before, 0);
    gl_save_pixels(&before, context, 0);
    glGenTextures(1, &name);
    gl_bind_texture(&before, GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, name);
    /*
     * Copies need a complete texture: only level 0, and no filter that the format does not support.
     */
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    /* the type selects the bits of an unsized format, as for a renderbuffer */
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, width, height, 0, transfer.format,
                 transfer.integers ? GL_FLOAT : transfer.type, NULL);
    return name;
}

/* `target` is that of the bound texture, or a cube face. */
static void read_texels(GLenum target, const struct gl_texel_source *s, GLuint scratch, void *to)
{
    const struct gl_transfer transfer = gl_transfer_of(s->format);
    if (scratch)
        glCopyImageSubData(s->name, GL_RENDERBUFFER, 0, s->x, s->y, 0, scratch, GL_TEXTURE_2D, 0,
                           s->x, s->y, 0, s->width, s->height, 1);
    if (s->is_region)
        glGetTextureSubImage(scratch ? scratch : s->name, s->level, s->x, s->y, s->layer, s->width,
                             s->height, s->layers, transfer.format, transfer.type, INT_MAX, to);
    else
        glGetTexImage(target, s->level, transfer.format, transfer.type, to);
}

static void write_texels(GLenum target, const struct gl_texel_source *s, GLuint scratch,
                         const void *from)
{
    const struct gl_transfer transfer = gl_transfer_of(s->format);
    if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        glTexSubImage3D(target, s->level, s->x, s->y, s->layer, s->width, s->height, s->layers,
                        transfer.format, transfer.type, from);
    else
        glTexSubImage2D(target, s->level, s->x, s->y, s->width, s->height, transfer.format,
                        transfer.type, from);
    if (scratch)
        glCopyImageSubData(scratch, GL_TEXTURE_2D, 0, s->x, s->y, 0, s->name, GL_RENDERBUFFER, 0,
                           s->x, s->y, 0, s->width, s->height, 1);
}

static void move_source(const struct gl_texel_move *m, const struct gl_texel_source *s,
                        GLenum target)
{
    struct gl_texel_source part = *s;
    const bool cube = target == GL_TEXTURE_CUBE_MAP;
    uintptr_t at = m->at + s->offset;
    if (cube)
        part.layers = 1;
    for (int rest = cube ? s->layers : 1; rest > 0; rest--) {
        const GLenum bound = cube ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)part.layer : target;
        if (m->to_image)
            write_texels(bound, &part, m->scratch, (const void *)at);
        else if (m->context->es)
            gl_es_read(m->scratch ? GL_RENDERBUFFER : bound, &part, (void *)at);
        else
            read_texels(bound, &part, m->scratch, (void *)at);
        at += gl_texels_layer(s);
        part.layer++;
    }
}

/*
 * From a pixel buffer in memory of CUDA, the NVIDIA driver (580) uploads old bytes to levels above
 * 0, until OpenGL itself has written anywhere in the buffer (docs/driver.md). So OpenGL writes the
 * first word, which keeps its value.
 */
static void renew(const struct gl_texel_move *m)
{
    if (!*m->word) {
        glCreateBuffers(1, m->word);
        glNamedBufferData(*m->word, 4, NULL, GL_STREAM_COPY);
    }
    glCopyNamedBufferSubData(m->buffer, *m->word, 0, 0, 4);
    glCopyNamedBufferSubData(*m->word, m->buffer, 0, 0, 4);
}

/*
 * After an upload from a pixel buffer to a mutable texture or a cube map that the GPU has not used
 * yet, the NVIDIA driver (580) loses the other levels (docs/driver.md). Clearing a texel of the
 * part that is uploaded next lets the GPU use the texture.
 */
static void settle(const struct gl_texel_source *s)
{
    const struct gl_transfer transfer = gl_transfer_of(s->format);
    glClearTexSubImage(s->name, s->level, s->x, s->y, s->layer, 1, 1, 1, transfer.format,
                       transfer.type, NULL);
}

/*
 * Moves the levels in order: old OpenGL versions may regenerate the other levels when level 0
 * changes.
 */
void gl_image_calls(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n)
{
    const struct gl_target *target =
        move->scratch ? gl_target_of(GL_TEXTURE_2D) : sources[0].target;
    GL_SAVED(before, 0);
    gl_save_pixels(&before, move->context, 0);
    gl_bind_texture(&before, target->target, target->binding,
                    move->scratch ? move->scratch : sources[0].name);
    if (move->to_image && move->word)
        renew(move);
    if (move->buffer && move->settles)
        settle(&sources[0]);
    if (move->buffer)
        glBindBuffer(move->to_image ? GL_PIXEL_UNPACK_BUFFER : GL_PIXEL_PACK_BUFFER, move->buffer);
    for (size_t i = 0; i < n; i++)
        move_source(move, &sources[i], target->target);
}
