/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An attachment of the framebuffer that is bound for reading: its format, size and samples. */
#ifndef GR_GL_ATTACHMENT_H
#define GR_GL_ATTACHMENT_H

#include <stdbool.h>

#include <grinterop/tensor.h>

struct gl_attachment {
    unsigned int name;         /* GL_COLOR_ATTACHMENT0, GL_DEPTH, ... as OpenGL has it here */
    unsigned int mask;         /* GL_COLOR_BUFFER_BIT, ... */
    unsigned int format, type; /* for glReadPixels() */
    unsigned int resolved;     /* the format of a renderbuffer that it can be resolved to */
    gr_dtype dtype;            /* of one channel, as glReadPixels() writes it */
    unsigned channels;
    bool numbers;      /* integers that are numbers */
    int width, height; /* 0: unknown */
    int samples;       /* 0: not multisampled */
};

/*
 * Describes `attachment` of `framebuffer`, which is bound for reading and drawing. 0 is the one
 * that glReadBuffer() selected. `direct`: there is direct state access.
 */
gr_status gl_attachment_describe(unsigned int framebuffer, unsigned int attachment, bool direct,
                                 struct gl_attachment *a, const char *call);

/* "the attachment GL_DEPTH of OpenGL framebuffer 3", for messages. */
struct gl_attachment_text {
    char text[96];
};
struct gl_attachment_text gl_attachment_text(unsigned int framebuffer, unsigned int attachment);

/* Records an OpenGL error of a call that concerns the attachment. */
gr_status gl_attachment_fail(unsigned int framebuffer, unsigned int attachment, unsigned int error,
                             const char *function, const char *call);

#endif
