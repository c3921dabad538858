/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies the texels of textures and renderbuffers. OpenGL has no call that transfers
 * renderbuffer texels of any format unchanged. So renderbuffers are copied through a texture of the
 * same format, without conversion.
 */
#include "gl/texels/texels.h"

#include <limits.h>

#include <epoxy/gl.h>

#include "lib/cuda/kernel_module.h"

struct gl_transfer gl_transfer_of(const struct gl_format *format)
{
    struct gl_transfer transfer = {.format = format->transfer_format,
                                   .type = format->transfer_type};
    if (gr_kernels_are_built())
        transfer.integers = format->integers;
    if (transfer.integers)
        transfer.type = transfer.integers == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_INT;
    return transfer;
}

bool gl_transfer_supported(const struct gl_target *target)
{
    return target->target != GL_RENDERBUFFER || epoxy_gl_version() >= 43 ||
           epoxy_has_gl_extension("GL_ARB_copy_image");
}

bool gl_texels_regions_supported(void)
{
    return epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_ARB_get_texture_sub_image");
}

unsigned int gl_texels_scratch(unsigned int internal, struct gl_transfer transfer, int width,
                               int height)
{
    GLuint name = 0;
    GL_SAVED(before, 0);
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

/* Returns the target to bind, which may be that of the scratch texture. */
static GLenum bound_target(const struct gl_texels *texels)
{
    return texels->scratch ? GL_TEXTURE_2D : texels->target->target;
}

void gl_texels_bind(struct gl_saved *saved, const struct gl_texels *texels)
{
    const unsigned int scratch = texels->scratch;
    gl_bind_texture(saved, bound_target(texels),
                    scratch ? GL_TEXTURE_BINDING_2D : texels->target->binding,
                    scratch ? scratch : texels->name);
}

static GLenum part_target(const struct gl_texels *texels, const struct gl_texels_part *part)
{
    GLenum target = bound_target(texels);
    return target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + part->face : target;
}

void gl_texels_read(const struct gl_texels *texels, const struct gl_texels_part *part, void *to)
{
    const struct gl_transfer *transfer = &texels->transfer;
    if (texels->scratch)
        glCopyImageSubData(texels->name, GL_RENDERBUFFER, 0, part->x, part->y, 0, texels->scratch,
                           GL_TEXTURE_2D, 0, part->x, part->y, 0, part->width, part->height, 1);
    if (part->is_region)
        glGetTextureSubImage(texels->scratch ? texels->scratch : texels->name, (GLint)part->level,
                             part->x, part->y, part->z + (GLint)part->face, part->width,
                             part->height, part->depth, transfer->format, transfer->type, INT_MAX,
                             to);
    else
        glGetTexImage(part_target(texels, part), (GLint)part->level, transfer->format,
                      transfer->type, to);
}

void gl_texels_write(const struct gl_texels *texels, const struct gl_texels_part *part,
                     const void *from)
{
    const struct gl_transfer *transfer = &texels->transfer;
    GLenum target = part_target(texels, part);
    GLint level = (GLint)part->level;
    if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
        glTexSubImage3D(target, level, part->x, part->y, part->z, part->width, part->height,
                        part->depth, transfer->format, transfer->type, from);
    else
        glTexSubImage2D(target, level, part->x, part->y, part->width, part->height,
                        transfer->format, transfer->type, from);
    if (texels->scratch)
        glCopyImageSubData(texels->scratch, GL_TEXTURE_2D, 0, part->x, part->y, 0, texels->name,
                           GL_RENDERBUFFER, 0, part->x, part->y, 0, part->width, part->height, 1);
}
