/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Deferred deletion. Objects that can only be deleted with their OpenGL context current wait until
 * the next call to grinterop in that context that creates or closes a resource.
 */
#ifndef GR_GL_DEFERRED_H
#define GR_GL_DEFERRED_H

#include "gl/current_context.h"

/* Embedded in the struct of each deferred object. */
struct gl_deferred {
    struct gl_deferred *next;
    struct gl_context context;
    void (*end)(struct gl_deferred *left); /* called once, with the context current */
};

/* Defers an object that is not in the list yet. Thread-safe. */
void gl_deferred_add(struct gl_deferred *left);

/* Ends the deferred objects of this context, which is current. */
void gl_deferred_run(const struct gl_context *context);

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

#define GL_OLDER_FENCES 2

/* OpenGL objects that belong to a resource; 0 for those that do not exist. */
struct gl_names {
    struct gl_deferred left;
    unsigned int buffer, texture, memory;
    unsigned int semaphores[2];
    struct __GLsync *fence;                  /* after the last OpenGL commands */
    struct __GLsync *older[GL_OLDER_FENCES]; /* earlier ones, the latest first */

    /* If set, called after the objects are deleted. */
    void (*after)(void *of_after);
    void *of_after;
};

/* The context is current. NULL, with the error, if out of memory. */
struct gl_names *gl_names_make(const struct gl_context *context, const char *call);

/*
 * Deletes the objects and frees the struct: at once if their context is current, otherwise
 * deferred. NULL is allowed.
 */
void gl_names_end(struct gl_names *names);

#endif
