/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the OpenGL context at the start of a call, and records errors. */
#ifndef GR_GL_CONTEXT_CONTEXT_CHECK_H
#define GR_GL_CONTEXT_CONTEXT_CHECK_H

#include <grinterop/gl.h>

#include "gl/context/current_context.h"

/*
 * Loads the driver and remembers the current context, which must have OpenGL 3.2 or newer. `what`
 * completes the sentence "Make current the context that ...".
 */
gr_status gl_context_begin(struct gl_context *context, const char *what, const char *call);

/* Do the same as gl_context_begin() in two steps, so that `what` is formatted only for an error. */
bool gl_context_find(struct gl_context *context);
gr_status gl_context_refuse_found(const struct gl_context *context, const char *what,
                                  const char *call);

/*
 * Records that the context is not current. The error names `object`, such as "OpenGL buffer 3".
 * `advice` is appended if the context still exists: "", or a sentence that begins with a space.
 */
gr_status gl_context_refuse(const struct gl_context *context, const char *object,
                            const char *advice, const char *call);

#endif
