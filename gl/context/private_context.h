/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An OpenGL context of the library for each context of the application that needs one. Both share
 * objects, but the private context has no state of the application, so that nothing has to be
 * saved. Conditional rendering of the application does not discard its dispatches.
 *
 * The private context is current only during gl_private_run(), on the calling thread. If a context
 * was ever current on another thread, the NVIDIA driver makes all draws of the process slower
 * (docs/driver.md).
 */
#ifndef GR_GL_CONTEXT_PRIVATE_CONTEXT_H
#define GR_GL_CONTEXT_PRIVATE_CONTEXT_H

#include "gl/context/context.h"

struct gl_private {
    struct gl_private *next;
    struct gl_context application;
    struct gl_context own; /* without a handle if the context could not be created, or has ended */
    unsigned users;
    bool kept, given_up, busy;
    /* objects that the user of the context created, and the function that ends them */
    void *objects;
    void (*end)(void *objects, bool is_current);
};

/*
 * Finds or creates the private context of the application's context, which is current. The caller
 * has to drop it. NULL: there is none, as a log line explains.
 */
struct gl_private *gl_private_use(const struct gl_context *application);

/*
 * Ends a use. With the last use the context is destroyed, unless gl_private_keep() was called: then
 * it lives until the application's context is destroyed.
 */
void gl_private_drop(struct gl_private *context);
void gl_private_keep(struct gl_private *context);

/* Adds a use. Returns the context. */
struct gl_private *gl_private_hold(struct gl_private *context);

/*
 * Runs `work` in the private context, after the commands that the application's context was given
 * so far; later commands of the application's context wait for `work` on the GPU. Call this after
 * gl_errors_take(). *done: whether `work` returned true without an OpenGL error. Fails only if the
 * application's context could not be made current again.
 */
gr_status gl_private_run(struct gl_private *context, bool (*work)(void *of), void *of, bool *done,
                         const char *call);

/* No later call creates this private context again, after a failure that would repeat. */
void gl_private_give_up(struct gl_private *context, const char *why);

/*
 * gl_private_collect() destroys the private contexts whose application's context was destroyed;
 * gl_private_end_of() that of an EGL context that is about to be destroyed. `now` is current.
 */
void gl_private_collect(const struct gl_context *now);
void gl_private_end_of(const void *handle);

#endif
