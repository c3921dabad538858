/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An attachment of the framebuffer that is bound for reading: its format, size and samples. */
#ifndef GR_GL_FRAMEBUFFER_ATTACHMENT_H
#define GR_GL_FRAMEBUFFER_ATTACHMENT_H

#include <stdbool.h>

#include "gl/context/saved_state.h"
#include "gl/format/format.h"

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

/*
 * Describes `attachment` of a->framebuffer, which is bound for reading and drawing. An `attachment`
 * of 0 is the one that glReadBuffer() selected. `direct`: the context has direct state access.
 */
gr_status gl_attachment_describe(struct gl_attachment *a, unsigned int attachment, bool direct,
                                 const char *call);

/* Returns the attachment point for an image of a format; `mask` is that of glBlitFramebuffer(). */
unsigned int gl_attachment_point(unsigned int mask, unsigned int format);

/* Selects the attachment, if it has colours, for reads of its framebuffer. */
void gl_attachment_select(const struct gl_attachment *a, struct gl_saved *saved);

/* A text such as "attachment GL_DEPTH_ATTACHMENT of OpenGL framebuffer 3", for messages. */
struct gl_attachment_text {
    char text[96];
};
struct gl_attachment_text gl_attachment_text(const struct gl_attachment *a);

/* Records an OpenGL error of a call that concerns the attachment. */
gr_status gl_attachment_fail(const struct gl_attachment *a, unsigned int error,
                             const char *function, const char *call);

#endif
