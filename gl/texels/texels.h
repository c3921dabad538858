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

/* A rectangle of layers of one level of a texture or renderbuffer. */
struct gl_texel_source {
    const struct gl_target *target;
    const struct gl_format *format;
    unsigned int name;
    int level, layer;
    int layers;     /* also slices, or faces */
    bool is_region; /* not a whole level */
    int x, y, width, height;
    unsigned pixel; /* the bytes of a texel in memory */
    size_t offset;  /* of the texels in memory, which are tightly packed */
};

struct gl_texel_move {
    const struct gl_context *context; /* the current one */
    struct gl_shader *shader;         /* NULL: calls of OpenGL move the texels */
    bool to_image;
    unsigned int buffer;  /* 0: `at` is an address in host memory */
    uintptr_t at;         /* where the offsets begin in memory */
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

/* A parameter of a texture, by glGetTextureParameteriv(). */
int gl_texels_parameter(unsigned int texture, unsigned int name);

/*
 * Whether the parameters of the texture let image units access the level as integers. Image units
 * ignore the other parameters, but the texture must be complete.
 */
bool gl_texels_accessible(unsigned int texture, int level);

/* ---- The calls of OpenGL --------------------------------------------------------------------- */

void gl_image_calls(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n);

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

/* ---- Bytes of buffers ------------------------------------------------------------------------ */

/*
 * The state of the application stays, but an OpenGL error may be left: the caller has saved earlier
 * ones.
 */

/* A buffer of the application. */
struct gl_buffer {
    unsigned int name;
    bool es;           /* the context is one of OpenGL ES */
    bool is_immutable; /* glBufferStorage allocated the storage, so that a map may be refused */
    /*
     * The bytes are then copied through this buffer, which is created if it is 0, and kept for
     * later copies.
     */
    unsigned int *scratch;
};

/* To and from host memory. The thread waits for OpenGL. */
void gl_buffer_read(const struct gl_buffer *buffer, size_t offset, size_t size, void *to);
void gl_buffer_write(const struct gl_buffer *buffer, size_t offset, size_t size, const void *from);

/* Creates the program that copies between buffers, so that the first copy need not. */
void gl_buffer_shader_prepare(struct gl_shader *shader);

/*
 * Copies bytes at the same offset between a buffer of the application and one of grinterop, which
 * is `own`, in OpenGL command order: by the shader where it can, otherwise by a call of OpenGL.
 * `shader` may be NULL. Makes writes of the copy visible, but not earlier writes of shaders.
 */
void gl_buffer_copy(struct gl_shader *shader, unsigned int from, unsigned int to, unsigned int own,
                    size_t offset, size_t size);

#endif
