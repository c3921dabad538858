/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One OpenGL image of each kind that CUDA can share.
 */
#include "collection.h"

#include <stdio.h>

#include <epoxy/gl.h>

const struct image_kind image_kinds[IMAGES] = {
    [PLANE] = {"2D texture", GL_TEXTURE_2D, 264, 288, 1, 1, 1},
    [CUBE] = {"cube map, unfolded", GL_TEXTURE_CUBE_MAP, 92, 92, 1, 6, 1},
    [MIPMAPS] = {"2D texture with mip levels", GL_TEXTURE_2D, 288, 288, 1, 1, 9},
    [LAYERS] = {"2D array texture", GL_TEXTURE_2D_ARRAY, 192, 192, 1, 4, 1},
    [RECTANGLE] = {"rectangle texture", GL_TEXTURE_RECTANGLE, 183, 288, 1, 1, 1},
    [VOLUME] = {"3D texture, slice by slice", GL_TEXTURE_3D, 92, 92, 12, 1, 1},
    [RENDERBUFFER] = {"renderbuffer", GL_RENDERBUFFER, 183, 288, 1, 1, 1},
};

/*
 * Allocates a level. There is one OpenGL function for 2 dimensions and one for 3, and each face of
 * a cube is a separate target.
 */
static void make_level(const struct image_kind *kind, int level)
{
    const int w = kind->width >> level, h = kind->height >> level;
    const GLenum format = GL_RGBA8;
    if (kind->target == GL_TEXTURE_3D || kind->target == GL_TEXTURE_2D_ARRAY)
        glTexImage3D(kind->target, level, (GLint)format, w, h, kind->depth * kind->layers, 0,
                     GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    else if (kind->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < kind->layers; face++)
            glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, (GLint)format, w, h,
                         0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    else
        glTexImage2D(kind->target, level, (GLint)format, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

static void make_texture(const struct image_kind *kind, unsigned *name)
{
    glGenTextures(1, name);
    glBindTexture(kind->target, *name);
    /* Texels are shown without filtering. A texture with mip levels must use a mipmap filter. */
    glTexParameteri(kind->target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(kind->target, GL_TEXTURE_MIN_FILTER,
                    kind->levels > 1 ? GL_NEAREST_MIPMAP_NEAREST : GL_NEAREST);
    glTexParameteri(kind->target, GL_TEXTURE_MAX_LEVEL, kind->levels - 1);
    for (int level = 0; level < kind->levels; level++)
        make_level(kind, level);
}

bool collection_init(struct collection *collection)
{
    *collection = (struct collection){0};
    while (glGetError() != GL_NO_ERROR)
        ;
    for (int i = 0; i < IMAGES; i++) {
        const struct image_kind *kind = &image_kinds[i];
        if (kind->target != GL_RENDERBUFFER) {
            make_texture(kind, &collection->names[i]);
            continue;
        }
        glGenRenderbuffers(1, &collection->names[i]);
        glBindRenderbuffer(GL_RENDERBUFFER, collection->names[i]);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, kind->width, kind->height);
    }
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        fprintf(stderr, "OpenGL cannot create the images (error 0x%04x).\n", error);
    return error == GL_NO_ERROR;
}

void collection_free(struct collection *collection)
{
    for (int i = 0; i < IMAGES; i++) {
        if (collection->names[i] == 0)
            continue;
        if (image_kinds[i].target == GL_RENDERBUFFER)
            glDeleteRenderbuffers(1, &collection->names[i]);
        else
            glDeleteTextures(1, &collection->names[i]);
    }
    *collection = (struct collection){0};
}
