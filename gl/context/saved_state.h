/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Saves and restores the OpenGL state of the application around calls by grinterop. All state that
 * grinterop changes is in saved_state.c, and the bindings of its shaders in shader_bindings.c.
 */
#ifndef GR_GL_CONTEXT_SAVED_STATE_H
#define GR_GL_CONTEXT_SAVED_STATE_H

#include <stdbool.h>

#include <grinterop/gr.h>

#include "lib/base/compiler.h"
#include "gl/context/context.h"
#include "gl/context/shader_bindings.h"

/* ---- One saver ------------------------------------------------------------------------------- */

/* The state, in the order in which it is saved; it is restored in the opposite order. */
enum gl_state {
    GL_STATE_ERRORS, /* gl_save() clears the pending errors */
    GL_STATE_PIXELS, /* for gl_save_pixels() */
    GL_STATE_READ_FRAMEBUFFER,
    GL_STATE_DRAW_FRAMEBUFFER,
    GL_STATE_READ_BUFFER,        /* glReadBuffer() of the bound framebuffer */
    GL_STATE_CLAMP,              /* gl_save() lets glReadPixels() read without clamping */
    GL_STATE_SCISSOR,            /* gl_save() disables it */
    GL_STATE_RASTERIZER_DISCARD, /* likewise */
    GL_STATE_FRAMEBUFFER_SRGB,   /* likewise */
    GL_STATE_ACTIVE_TEXTURE,
    GL_STATE_TEXTURE,      /* for gl_bind_texture() only */
    GL_STATE_RENDERBUFFER, /* for gl_bind_renderbuffer() */
    GL_STATE_COPY_READ,    /* this and the following ones: for gl_bind_buffer() */
    GL_STATE_COPY_WRITE,
    GL_STATE_ARRAY,
    GL_STATE_UNIFORM,
    GL_STATE_PIXEL_PACK,
    GL_STATE_PIXEL_UNPACK,
    GL_STATE_SHADER, /* gl_save() fails if the bindings in `shader` cannot be restored */
    GL_STATES
};
#define GL_SAVE(state) (1u << GL_STATE_##state)

#define GL_STORE_PARAMETERS    18
#define GL_TRANSFER_PARAMETERS 14

/* The saved values. */
struct gl_saved {
    unsigned states;      /* the saved ones, a bit each */
    int value[GL_STATES]; /* of the states that have one value */
    unsigned int target;  /* of the texture */
    int store[GL_STORE_PARAMETERS];
    bool es, inverts, compatibility; /* as in struct gl_context */
    float transfer[GL_TRANSFER_PARAMETERS];
    struct gl_shader_bindings shader;
    const struct gl_shader_bindings *ours; /* set before `shader` is saved */
};

/* Saves the states, a GL_SAVE() each. False: one of them cannot be restored, and is not saved. */
bool gl_save(struct gl_saved *saved, unsigned these);
void gl_restore(struct gl_saved *saved);

/* Defines `name`, saves the states, and restores all that `name` saved at the end of the block. */
#define GL_SAVED(name, these)                                                                      \
    GR_CLEANUP(gl_restore) struct gl_saved name;                                                   \
    name.states = 0;                                                                               \
    (void)((these) && gl_save(&name, these))

/*
 * Saves the state of pixels, and sets it so that texels are transferred unchanged and tightly
 * packed, to and from host memory. Also saves other states, a GL_SAVE() each.
 */
void gl_save_pixels(struct gl_saved *saved, const struct gl_context *context, unsigned also);

/* ---- Bindings -------------------------------------------------------------------------------- */

/*
 * An object that another context of the share group deleted stays bound, but cannot be bound again.
 * So where such an object is bound, these functions choose another place: another target for
 * buffers, and another texture unit, which is active until gl_restore(). Renderbuffers and pixel
 * buffers have no other place: there gl_restore() binds 0. Each function saves the binding that it
 * changes.
 */

/* Returns the target to which the buffer is bound. */
unsigned int gl_bind_buffer(struct gl_saved *saved, unsigned int target, unsigned int name);

/*
 * `query` is the constant for the binding. Leaves an OpenGL error if the target is wrong. At most
 * one texture for each `saved`.
 */
void gl_bind_texture(struct gl_saved *saved, unsigned int target, unsigned int query,
                     unsigned int name);

void gl_bind_renderbuffer(struct gl_saved *saved, unsigned int name);

/* ---- Pending errors -------------------------------------------------------------------------- */

/*
 * Returns the first pending error, usually GL_NO_ERROR, and clears all errors. After
 * GL_SAVE(ERRORS) these are errors of grinterop. gl_restore() raises the error of the application
 * again, by a call that OpenGL refuses with the same error.
 */
unsigned int gl_errors_take(void);

/* Returns the error since GL_SAVE(ERRORS), which `saved` has, and restores it as gl_restore() does.
 */
unsigned int gl_errors_end(struct gl_saved *saved);

/* Fails if the context is lost. Call this function after an implausible result from OpenGL. */
gr_status gl_errors_check_lost(void);

/* Returns the name of an error, such as "GL_OUT_OF_MEMORY". The string is static. */
const char *gl_error_name(unsigned int error);

#endif
