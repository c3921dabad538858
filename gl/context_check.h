/* SPDX-License-Identifier: Apache-2.0 */
/* What a call checks of the OpenGL context, and the error that says what is wrong with it. */
#ifndef GR_GL_CONTEXT_CHECK_H
#define GR_GL_CONTEXT_CHECK_H

#include <grinterop/gl.h>

#include "gl/current_context.h"

/*
 * The driver loaded, and the current context remembered, which is of OpenGL 3.2 or newer; or the
 * error. `what` ends the sentence "Make current the one that ...".
 */
gr_status gl_context_begin(struct gl_context *context, const char *what, const char *call);

/* The same in two steps, so that `what` is written for a refusal only. */
bool gl_context_find(struct gl_context *context);
gr_status gl_context_refuse_found(const struct gl_context *context, const char *what,
                                  const char *call);

/*
 * Records that it is not current; the error names `object`, "OpenGL buffer 3". `advice` ends it
 * where the context lives: a sentence of another way, after a blank, or "".
 */
gr_status gl_context_refuse(const struct gl_context *context, const char *object,
                            const char *advice, const char *call);

#endif
