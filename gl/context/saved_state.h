/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves and restores the OpenGL state of the application around calls by grinterop. */
#ifndef GR_GL_CONTEXT_SAVED_STATE_H
#define GR_GL_CONTEXT_SAVED_STATE_H

#include <stdbool.h>

#include <grinterop/gr.h>

#include "gl/context/context.h"

/* ---- Bindings -------------------------------------------------------------------------------- */

/*
 * An object that another context of the share group deleted stays bound, but cannot be bound again.
 * So where such an object is bound, these functions choose another place: another target for
 * buffers, and another texture unit, which is active until gl_bind_texture_again(). Renderbuffers
 * and the buffers of pixels have no other place; then 0 is bound again.
 */
struct gl_bound {
    unsigned int target; /* where grinterop has bound its object */
    unsigned int name;   /* the object of the application to bind there again */
    unsigned int unit;   /* the active texture unit of the application; 0 if it is still active */
};

/* Binds a buffer, instead of which the caller binds `name` to `target` again. */
struct gl_bound gl_bind_buffer(unsigned int target, unsigned int name);

/* `query` is the constant for the binding. Leaves an OpenGL error if the target is wrong. */
struct gl_bound gl_bind_texture(unsigned int target, unsigned int query, unsigned int name);
void gl_bind_texture_again(const struct gl_bound *bound);

/* Returns the renderbuffer to bind again. */
unsigned int gl_bind_renderbuffer(unsigned int name);

/*
 * Blits a rectangle of the framebuffer that is bound for reading to 0, 0 of the one that is bound
 * for drawing.
 */
void gl_blit(int x, int y, int width, int height, unsigned int mask);

/* ---- Pending errors -------------------------------------------------------------------------- */

/*
 * Returns the first pending error, usually GL_NO_ERROR, and clears all errors. Before any other
 * call of OpenGL this is the application's error, which the caller keeps for gl_errors_end(); later
 * errors are those of grinterop.
 */
unsigned int gl_errors_take(void);

/*
 * Clears the errors of grinterop, and restores the application's error by a call that OpenGL
 * refuses with the same error.
 */
void gl_errors_end(unsigned int before);

/* Fails if the context is lost. Call this function after an implausible result from OpenGL. */
gr_status gl_errors_check_lost(const char *call);

/* Returns the name of an error, such as "GL_OUT_OF_MEMORY". The string is static. */
const char *gl_error_name(unsigned int error);

/* ---- State that affects texel transfers ------------------------------------------------------ */

#define GL_STORE_PARAMETERS    17
#define GL_TRANSFER_PARAMETERS 14

/* The pixel transfer state of the application. */
struct gl_pixel_state {
    struct gl_bound pack_buffer, unpack_buffer;
    int store[GL_STORE_PARAMETERS];
    size_t stored; /* the number of `store` parameters of the context */
    /* whether the context is a compatibility context, the only kind with `transfer` */
    bool compatibility;
    float transfer[GL_TRANSFER_PARAMETERS];
};

/*
 * Between gl_pixel_state_begin() and gl_pixel_state_end() texels are transferred unchanged and
 * tightly packed, to and from host memory.
 */
void gl_pixel_state_begin(struct gl_pixel_state *before, const struct gl_context *context);
void gl_pixel_state_end(const struct gl_pixel_state *before);

#endif
