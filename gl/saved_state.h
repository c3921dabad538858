/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL's state, which is the application's: put aside while grinterop works, and put back. */
#ifndef GR_GL_SAVED_STATE_H
#define GR_GL_SAVED_STATE_H

#include <stdbool.h>

#include <grinterop/gr.h>

/* ---- Bindings -------------------------------------------------------------------------------- */

/* Binds a buffer; what the binding `query` held before is the result, for glBindBuffer(). */
unsigned int gl_bind_buffer(unsigned int target, unsigned int query, unsigned int name);

/* ---- Pending errors -------------------------------------------------------------------------- */

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

/*
 * For an answer of OpenGL's that makes no sense: whether it is one of a context that is lost, which
 * is the error then.
 */
gr_status gl_errors_check_lost(const char *call);

/* "GL_OUT_OF_MEMORY"; static. */
const char *gl_error_name(unsigned int error);

/* ---- The settings that moving texels depends on ---------------------------------------------- */

#define GL_STORE_PARAMETERS    16
#define GL_TRANSFER_PARAMETERS 12

/* The application's settings that decide how texels are moved, kept aside. */
struct gl_pixel_state {
    int pack_buffer, unpack_buffer;
    int store[GL_STORE_PARAMETERS];
    bool compatibility; /* which can also calculate with texels */
    float transfer[GL_TRANSFER_PARAMETERS];
};

/* From here to the end texels are moved unchanged and without gaps, from and to host memory. */
void gl_pixel_state_begin(struct gl_pixel_state *before);
void gl_pixel_state_end(const struct gl_pixel_state *before);

#endif
