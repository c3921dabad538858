/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Deferred deletion. Objects that can be deleted only while their OpenGL context is current wait
 * for the next call of grinterop in that context that creates or closes a resource.
 */
#ifndef GR_GL_CONTEXT_DEFERRED_UNREGISTRATION_H
#define GR_GL_CONTEXT_DEFERRED_UNREGISTRATION_H

#include "gl/context/current_context.h"

/* The list entry, which is embedded in the struct of each deferred object. */
struct gl_deferred {
    struct gl_deferred *next;
    struct gl_context context;
    void (*end)(struct gl_deferred *left); /* called once, while the context is current */
};

/* Defers an object that is not in the list yet. Thread-safe. */
void gl_deferred_add(struct gl_deferred *left);

/* Ends the deferred objects of this context, which is current. */
void gl_deferred_run(const struct gl_context *context);

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

#define GL_OLDER_FENCES 2

/* The OpenGL objects that belong to a resource; 0 for objects that do not exist. */
struct gl_names {
    struct gl_deferred left;
    unsigned int buffer, texture, memory;
    unsigned int semaphores[2];
    struct __GLsync *fence;                  /* a fence after the last OpenGL commands */
    struct __GLsync *older[GL_OLDER_FENCES]; /* earlier fences, the latest first */

    /* A function that is called after the objects are deleted, or NULL. */
    void (*after)(void *of_after);
    void *of_after;
};

/*
 * Allocates the struct. The OpenGL context is current. If out of memory, records the error and
 * returns NULL.
 */
struct gl_names *gl_names_make(const struct gl_context *context, const char *call);

/*
 * Deletes the objects and frees the struct: at once if their context is current, otherwise
 * deferred. NULL is allowed.
 */
void gl_names_end(struct gl_names *names);

#endif
