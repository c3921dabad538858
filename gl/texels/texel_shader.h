/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A compute shader that copies texels between images and buffers, much faster than glReadPixels()
 * and glTexSubImage2D(). It runs in the application's context, and restores the bindings that it
 * changes. In an OpenGL context of its own nothing would have to be restored, but on an H100 the
 * GPU takes 39 us to change to another context and back (docs/driver.md).
 */
#ifndef GR_GL_TEXELS_TEXEL_SHADER_H
#define GR_GL_TEXELS_TEXEL_SHADER_H

#include <stdbool.h>
#include <stdint.h>

#include "gl/context/context.h"
#include "gl/context/shader_bindings.h"

/* A texture that draws of grinterop write and the shader reads. */
struct gl_shader_texture {
    unsigned int format, mask; /* GL_COLOR_BUFFER_BIT, ... */
    unsigned pixel;
    int width, height;
    int samples;             /* 0: not multisampled */
    unsigned int name, view; /* the view has colours as integers; otherwise it is `name` */
};

/* The shader of an OpenGL context. */
struct gl_shader {
    struct gl_deferred left; /* with the context; in the list of deferred objects after the end */
    struct gl_shader *next;
    unsigned users;
    bool kept, usable, is_fast;
    bool bytes_tried; /* `bytes` was created, or cannot be */
    bool counted;     /* OpenGL has queries that count the invocations of compute shaders */
    unsigned int program, sampler, query;
    unsigned int error; /* the OpenGL error that made it unusable; or 0 */
    unsigned int bytes; /* the program that copies between buffers: buffer_shader.c; or 0 */
    int64_t largest;    /* the size of the largest block that a shader can write */
    int alignment;      /* of the offset of a block */
    struct gl_shader_texture textures[GL_SHADER_TEXTURES];
    unsigned oldest;
};

/*
 * Finds or creates the shader of the context, which is current. The caller drops it. NULL: there is
 * none, because OpenGL lacks functions of 4.5, is not NVIDIA's, reports no errors or did not
 * compile it, or there is no memory. Records no error.
 */
struct gl_shader *gl_shader_use(const struct gl_context *context);

/* The same for work that no call of OpenGL can do: with any OpenGL, and records the error. */
struct gl_shader *gl_shader_need(const struct gl_context *context);

/*
 * Ends a use. With the last one the OpenGL objects are deleted, when the context is current. NULL
 * is allowed.
 */
void gl_shader_drop(struct gl_shader *shader);

/*
 * Passes a use to a holder that may have none yet. Otherwise ends it; then the shader lives as long
 * as the context, unless the holder has it. `holder` may be NULL.
 */
void gl_shader_pass(struct gl_shader *shader, struct gl_shader **holder);

/*
 * Whether OpenGL would discard a dispatch or a draw because of the application's conditional
 * rendering. OpenGL has no query for that, but refuses to begin it again. False in contexts without
 * errors. `shader` may be NULL.
 */
bool gl_renders_conditionally(const struct gl_shader *shader);

/*
 * Whether the current state allows a dispatch that leaves no trace. The caller has checked
 * gl_renders_conditionally(). Also returns the current program of the application.
 */
bool gl_shader_can_run(const struct gl_shader *shader, int *program);

/*
 * Finds or creates a texture that is at least as wide as the wanted one, and as high, or else has a
 * multiple of 4 rows. NULL: OpenGL refused, with an error.
 */
const struct gl_shader_texture *gl_shader_texture(struct gl_shader *shader,
                                                  const struct gl_shader_texture *wanted,
                                                  unsigned int *error);

/* What the shader reads from an image. */
enum gl_texels_kind { GL_TEXELS_COLOUR, GL_TEXELS_DEPTH, GL_TEXELS_STENCIL };

/* A copy of a rectangle of one layer of a level. */
struct gl_texel_copy {
    int program;   /* of gl_shader_can_run() */
    bool to_image; /* for colours only */
    enum gl_texels_kind kind;
    unsigned int texture;
    int level, layer; /* for depth and stencil: of a GL_TEXTURE_2D, level GL_TEXTURE_BASE_LEVEL */
    int sample;       /* of a multisampled `view`, counted from 1; 0: it is not multisampled */
    int x, y, width, height;
    unsigned pixel; /* the bytes per pixel in the buffer: 1, 2, 4, 8 or 16 */
    unsigned int buffer;
    size_t offset; /* a multiple of 4; the buffer has whole words after it */
};

/*
 * Copies the texels. `texture` is complete, and has a format of image units, or is the `view` of a
 * gl_shader_texture. False: a block of the shader is smaller than the data, or a binding of the
 * application could not be restored. Then nothing was copied.
 */
bool gl_shader_copy(const struct gl_shader *shader, const struct gl_texel_copy *copy);

#endif
