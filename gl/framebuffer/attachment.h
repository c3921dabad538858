/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An attachment of the framebuffer that is bound for reading: its format, size and samples. */
#ifndef GR_GL_FRAMEBUFFER_ATTACHMENT_H
#define GR_GL_FRAMEBUFFER_ATTACHMENT_H

#include <stdbool.h>

#include "gl/texels/texels.h"

/*
 * Describes `attachment` of a->framebuffer, which is bound for reading and drawing. An `attachment`
 * of 0 is the one that glReadBuffer() selected.
 */
gr_status gl_attachment_describe(struct gl_attachment *a, unsigned int attachment,
                                 const struct gl_context *context, const char *call);

/* A text such as "attachment GL_DEPTH_ATTACHMENT of OpenGL framebuffer 3", for messages. */
struct gl_attachment_text {
    char text[96];
};
struct gl_attachment_text gl_attachment_text(const struct gl_attachment *a);

/* Records an OpenGL error of a call that concerns the attachment. */
gr_status gl_attachment_fail(const struct gl_attachment *a, unsigned int error,
                             const char *function, const char *call);

#endif
