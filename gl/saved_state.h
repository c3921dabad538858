/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves and restores the application's OpenGL state around grinterop's own calls. */
#ifndef GR_GL_SAVED_STATE_H
#define GR_GL_SAVED_STATE_H

#include <stdbool.h>

#include <grinterop/gr.h>

/* ---- Bindings -------------------------------------------------------------------------------- */

/* Binds a buffer. Returns the buffer bound before, which `query` names, for glBindBuffer(). */
unsigned int gl_bind_buffer(unsigned int target, unsigned int query, unsigned int name);

/* ---- Pending errors -------------------------------------------------------------------------- */

struct gl_errors {
    unsigned int before; /* usually GL_NO_ERROR */
};

/* Clears and saves the pending error, so that later errors are grinterop's own. */
void gl_errors_begin(struct gl_errors *errors);

/* Returns the first error since gl_errors_begin() and clears all; GL_NO_ERROR if there was none. */
unsigned int gl_errors_take(void);

/*
 * Clears grinterop's own errors and restores the saved error, by a call that OpenGL refuses with
 * the same error.
 */
void gl_errors_end(const struct gl_errors *errors);

/* To call after an implausible result from OpenGL: fails if the context is lost. */
gr_status gl_errors_check_lost(const char *call);

/* "GL_OUT_OF_MEMORY"; static. */
const char *gl_error_name(unsigned int error);

/* ---- State that affects texel transfers ------------------------------------------------------ */

#define GL_STORE_PARAMETERS    16
#define GL_TRANSFER_PARAMETERS 14

/* The application's pixel transfer state. */
struct gl_pixel_state {
    int pack_buffer, unpack_buffer;
    int store[GL_STORE_PARAMETERS];
    bool compatibility; /* only compatibility contexts have `transfer` */
    float transfer[GL_TRANSFER_PARAMETERS];
};

/*
 * Between these calls, texels are transferred unchanged and tightly packed, to and from host
 * memory.
 */
void gl_pixel_state_begin(struct gl_pixel_state *before);
void gl_pixel_state_end(const struct gl_pixel_state *before);

#endif
