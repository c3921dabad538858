/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texels are copied between OpenGL images and host memory, or the buffer that is bound for texels,
 * in OpenGL command order, by glTexSubImage and glGetTexImage. OpenGL bindings and state are
 * preserved.
 */
#ifndef GR_GL_TEXELS_TEXELS_H
#define GR_GL_TEXELS_TEXELS_H

#include "gl/context/saved_state.h"
#include "gl/format/format.h"

/*
 * The format and type with which OpenGL transfers texels unchanged. Their layout is that of CUDA,
 * unless CUDA converts depth from and to integers of so many bytes.
 */
struct gl_transfer {
    unsigned int format, type;
    unsigned integers; /* 0: no conversion, also if grinterop was built without kernels */
};

struct gl_transfer gl_transfer_of(const struct gl_format *format);

/* Whether this OpenGL can copy images of this target. */
bool gl_transfer_supported(const struct gl_target *target);

/* Whether this OpenGL can read rectangles. */
bool gl_texels_regions_supported(void);

/* An image whose levels are copied while gl_texels_bind() has bound it. */
struct gl_texels {
    const struct gl_target *target;
    struct gl_transfer transfer;
    unsigned int name;
    unsigned int scratch; /* the texture that replaces a renderbuffer, or 0 */
};

/* Binds the image. Called after gl_save_pixels(). */
void gl_texels_bind(struct gl_saved *saved, const struct gl_texels *texels);

/*
 * A part of an image: one level with all layers or slices, or one cube face; or a region of it. In
 * a region of a cube map `z` is 0, as for each face.
 */
struct gl_texels_part {
    unsigned int level, face;
    bool is_region;
    int x, y, z;
    int width, height, depth; /* depth: the number of slices or layers, otherwise 1 */
};

void gl_texels_read(const struct gl_texels *texels, const struct gl_texels_part *part, void *to);
void gl_texels_write(const struct gl_texels *texels, const struct gl_texels_part *part,
                     const void *from);

/*
 * Creates a texture with the internal format of a renderbuffer. Call this function after
 * gl_save_pixels(). The caller owns the texture.
 */
unsigned int gl_texels_scratch(unsigned int internal, struct gl_transfer transfer, int width,
                               int height);

/* An attachment of the framebuffer that is bound for reading. */
struct gl_attachment {
    unsigned int framebuffer;
    unsigned int name;            /* the name in OpenGL: GL_COLOR_ATTACHMENT0, GL_DEPTH, ... */
    unsigned int mask;            /* GL_COLOR_BUFFER_BIT, ... */
    const struct gl_format *read; /* the format in which glReadPixels() writes the pixels */
    /* the format of a renderbuffer to which the attachment can be resolved */
    unsigned int resolved;
    bool exact; /* each channel has the bits of `resolved`, or fewer bits of a float */
    /*
     * A blit to `resolved` has to convert. NVIDIA's glReadPixels (580) returns a signed normalized
     * texel c of b bits as (2c + 1) / (2^b - 1), the rule before OpenGL 4.2; its shaders do not.
     */
    bool is_blitted;
    bool numbers;      /* whether the values are integers, not fractions */
    int width, height; /* 0: unknown */
    int samples;       /* 0: not multisampled */
    /* the texture or renderbuffer; `target` is NULL if unknown, or for the default framebuffer */
    const struct gl_target *target;
    unsigned int object;
    int internal, level, layer;
    unsigned int face; /* 0: not a cube face */
    bool layered;
};

/* Returns the attachment point for an image of a format; `mask` is that of glBlitFramebuffer(). */
unsigned int gl_attachment_point(unsigned int mask, unsigned int format);

/* Selects the attachment, if it has colours, for reads of its framebuffer. */
void gl_attachment_select(const struct gl_attachment *a, struct gl_saved *saved);

#endif
