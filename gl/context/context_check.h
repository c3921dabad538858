/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the OpenGL context at the start of a call, and records errors. */
#ifndef GR_GL_CONTEXT_CONTEXT_CHECK_H
#define GR_GL_CONTEXT_CONTEXT_CHECK_H

#include <grinterop/gl.h>

#include "lib/base/log.h"
#include "gl/context/current_context.h"

/*
 * Loads the driver and remembers the current context, which must have OpenGL 3.2 or newer. `format`
 * completes the sentence "Make current the context that ...".
 */
gr_status gl_context_begin(struct gl_context *context, const char *call, const char *format, ...)
    GR_PRINTF(3, 4);

/*
 * Records that the context is not current. The error names `object`, such as "OpenGL buffer 3".
 * `advice` is appended if the context still exists: "", or a sentence that begins with a space.
 */
gr_status gl_context_refuse(const struct gl_context *context, const char *object,
                            const char *advice, const char *call);

#endif
