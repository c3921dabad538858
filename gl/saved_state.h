/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's pending error, which is the application's, while grinterop makes calls that OpenGL may
 * refuse. The context can be asked by name (gl_context.direct).
 */
#ifndef GR_GL_SAVED_STATE_H
#define GR_GL_SAVED_STATE_H

struct gl_errors {
    unsigned int before; /* GL_NO_ERROR as a rule */
};

/* Takes the pending error away, so that later ones are grinterop's own. */
void gl_errors_begin(struct gl_errors *errors);

/* The first error since then, which is forgotten; GL_NO_ERROR if there was none. */
unsigned int gl_errors_take(void);

/*
 * Forgets grinterop's own and raises again what was pending, by a call that OpenGL refuses in the
 * same way.
 */
void gl_errors_end(const struct gl_errors *errors);

/* "GL_OUT_OF_MEMORY"; static. */
const char *gl_error_name(unsigned int error);

#endif
