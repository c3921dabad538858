/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texels are moved between OpenGL images and host memory or buffers, in OpenGL command order: by a
 * compute shader where one can, otherwise by calls of OpenGL. OpenGL bindings and state are
 * preserved.
 */
#ifndef GR_GL_TEXELS_TEXELS_H
#define GR_GL_TEXELS_TEXELS_H

#include "lib/cuda/kernel_module.h"
#include "gl/context/saved_state.h"
#include "gl/format/format.h"
#include "gl/texels/texel_shader.h"

/*
 * The format and type with which OpenGL transfers texels unchanged. Their layout is that of CUDA,
 * unless CUDA converts depth from and to integers of so many bytes.
 */
struct gl_transfer {
    unsigned int format, type;
    unsigned integers; /* 0: no conversion, also if grinterop was built without kernels */
};

struct gl_transfer gl_transfer_of(const struct gl_format *format);

/* gl_transfer_of().integers */
static inline unsigned gl_transfer_integers(const struct gl_format *format)
{
    return format->integers && gr_kernels_are_there() ? format->integers : 0;
}

/* Whether this OpenGL can copy images of this target. */
bool gl_transfer_supported(const struct gl_target *target);

/* Whether this OpenGL can read rectangles. */
bool gl_texels_regions_supported(void);

/* ---- A move ---------------------------------------------------------------------------------- */

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
    int sample;        /* the one to read, counted from 1; 0: all of them, resolved */
    /* the texture or renderbuffer; `target` is NULL if unknown, or for the default framebuffer */
    const struct gl_target *target;
    unsigned int object;
    int internal, level, layer;
    unsigned int face; /* 0: not a cube face */
    bool layered;
};

/* A rectangle of an attachment, or of layers of one level of a texture or renderbuffer. */
struct gl_texel_source {
    const struct gl_attachment *attachment; /* NULL: the image that the next fields describe */
    const struct gl_target *target;
    const struct gl_format *format;
    unsigned int name;
    int level, layer;
    int layers;     /* also slices, or faces; 1 for an attachment */
    bool is_region; /* not a whole level */
    int x, y, width, height;
    unsigned pixel; /* the bytes of a texel in memory */
    size_t offset;  /* of the texels in memory, which are tightly packed */
};

struct gl_texel_move {
    const struct gl_context *context; /* the current one */
    struct gl_shader *shader;         /* NULL: calls of OpenGL move the texels */
    bool to_image;                    /* for images only */
    unsigned int buffer;              /* 0: `at` is an address in host memory */
    uintptr_t at;                     /* where the offsets begin in memory */
    size_t size;                      /* of the buffer, for an attachment */
    unsigned int scratch; /* for renderbuffers: the texture by which OpenGL can copy them */
    /* for a buffer in memory of CUDA, otherwise NULL: a buffer of one word, created if it is 0 */
    unsigned int *word;
    bool settles; /* texels go to a texture of several levels */
};

/* Returns the bytes of a layer in memory. */
static inline size_t gl_texels_layer(const struct gl_texel_source *s)
{
    return (size_t)s->width * (size_t)s->height * s->pixel;
}

/* Whether a shader can move such texels, so that a move should have one. Calls no OpenGL. */
bool gl_texels_suit_shader(const struct gl_texel_source sources[], size_t n);

/*
 * Moves texels between a buffer or host memory and levels of one image, in the order of the
 * sources. May leave an OpenGL error.
 */
void gl_texels_move(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n);

/*
 * Reads an attachment into a buffer. OpenGL does not render conditionally if there is a shader.
 * False after an OpenGL error, or with GL_NO_ERROR where the state does not allow the shader, which
 * alone reads one sample.
 */
bool gl_texels_read(const struct gl_texel_move *move, const struct gl_texel_source *source,
                    unsigned int *error);

/* ---- The calls of OpenGL --------------------------------------------------------------------- */

void gl_image_calls(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n);

/* Reads an attachment into the buffer. */
void gl_attachment_calls(const struct gl_texel_move *move, const struct gl_texel_source *source);

/*
 * Copies a rectangle of the attachment to a texture of the format, at 0, 0. A layered attachment is
 * read from its first layer. Colours that are encoded as sRGB are resolved linearly, and otherwise
 * copied as they are. False: OpenGL cannot draw to the texture.
 */
bool gl_attachment_blit(const struct gl_texel_source *source, unsigned int format,
                        unsigned int texture);

/*
 * Creates a texture with the internal format of a renderbuffer, for gl_texel_move.scratch. The
 * caller owns the texture.
 */
unsigned int gl_texels_scratch(const struct gl_context *context, unsigned int internal,
                               struct gl_transfer transfer, int width, int height);

/* ---- OpenGL ES ------------------------------------------------------------------------------- */

/*
 * Reads layers into host memory. `target` is that of a renderbuffer, a texture or a cube face. The
 * caller has called gl_save_pixels(), and nothing is bound to GL_PIXEL_PACK_BUFFER.
 */
void gl_es_read(unsigned int target, const struct gl_texel_source *source, void *to);

/*
 * Whether OpenGL ES reads level 0 of an image without a loss of bits. May leave an OpenGL error;
 * the caller has saved earlier ones.
 */
bool gl_es_reads(const struct gl_texel_source *source);

#endif
