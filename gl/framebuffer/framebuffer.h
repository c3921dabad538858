/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads attachments of a framebuffer, which is bound for reading and drawing, into buffers. */
#ifndef GR_GL_FRAMEBUFFER_FRAMEBUFFER_H
#define GR_GL_FRAMEBUFFER_FRAMEBUFFER_H

#include <stdbool.h>

#include "gl/context/context.h"
#include "gl/format/format.h"
#include "gl/texels/texel_shader.h"

/* An attachment of the framebuffer that is bound for reading. */
struct gl_attachment {
    unsigned int framebuffer;
    unsigned int name;            /* the name in OpenGL: GL_COLOR_ATTACHMENT0, GL_DEPTH, ... */
    unsigned int mask;            /* GL_COLOR_BUFFER_BIT, ... */
    const struct gl_format *read; /* the format in which glReadPixels() writes the pixels */
    unsigned int resolved;        /* the format of a renderbuffer to which it can be resolved */
    unsigned int copied; /* the format of a texture that the shader can read in its place; or 0 */
    bool exact;          /* each channel has the bits of `resolved`, or fewer bits of a float */
    /*
     * glReadPixels() needs a blit to `resolved` first, which resolves samples or converts. NVIDIA's
     * glReadPixels (580) returns a signed normalized texel c of b bits as (2c + 1) / (2^b - 1), the
     * rule before OpenGL 4.2; its shaders do not.
     */
    bool is_blitted;
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

/* ---- What it is: attachment.c ---------------------------------------------------------------- */

/* Describes an attachment of a->framebuffer: 0 is the one that glReadBuffer() selected. */
gr_status gl_attachment_describe(struct gl_attachment *a, unsigned int attachment,
                                 const struct gl_context *context);

/* A text such as "attachment GL_DEPTH_ATTACHMENT of OpenGL framebuffer 3", for messages. */
struct gl_attachment_text {
    char text[96];
};
struct gl_attachment_text gl_attachment_text(const struct gl_attachment *a);

/* Records an OpenGL error of a call that concerns the attachment. */
gr_status gl_attachment_fail(const struct gl_attachment *a, unsigned int error,
                             const char *function);

/* ---- Its pixels: read_attachment.c ----------------------------------------------------------- */

/* A rectangle of an attachment, and the place of its pixels in a buffer. */
struct gl_attachment_read {
    const struct gl_context *context; /* the current one */
    struct gl_shader *shader;         /* NULL: glReadPixels() */
    const struct gl_attachment *attachment;
    int x, y, width, height;
    unsigned pixel; /* the bytes of a pixel in the buffer */
    unsigned int buffer;
    bool is_lent;  /* by gl_staging_fill(): the application does not know the buffer */
    size_t size;   /* of the buffer */
    size_t offset; /* of the pixels in the buffer, which are tightly packed */
};

/*
 * Reads the pixels; the framebuffer stays bound. OpenGL does not render conditionally if there is a
 * shader. False after an OpenGL error, or with GL_NO_ERROR where the state does not allow the
 * shader, which alone reads one sample.
 */
bool gl_attachment_read(const struct gl_attachment_read *read, unsigned int *error);

/* ---- Staging buffers: kept_staging.c --------------------------------------------------------- */

/*
 * Returns a read_only buffer of at least `size` bytes with frames in flight, for the OpenGL context
 * and the CUDA context that are current. It stays with the OpenGL context, which owns it, and is
 * valid until the next call of this function. NULL after an error, which is recorded; also where
 * a new buffer is needed, which a capture by `stream` does not allow.
 */
gr_resource *gl_kept_staging(const struct gl_context *context, size_t size, CUstream stream);

#endif
