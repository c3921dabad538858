/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can only be ended with its OpenGL context current, and was let go of elsewhere: set aside
 * until the next call to grinterop in that context that makes or ends a resource.
 */
#ifndef GR_GL_DELETE_LATER_H
#define GR_GL_DELETE_LATER_H

#include "gl/current_context.h"

/* Part of the struct of what is set aside. */
struct gl_later {
    struct gl_later *next;
    struct gl_context context;
    void (*end)(struct gl_later *left); /* called once, with the context current */
};

/* Sets it aside. It must have no other place in the list. Any thread. */
void gl_later_park(struct gl_later *left);

/* Ends what was set aside for this context, which is current. */
void gl_later_collect(const struct gl_context *context);

/* ---- Objects that grinterop made ------------------------------------------------------------- */

#define GL_OLDER_FENCES 2

/* OpenGL objects that belong to a resource; 0 where there is none of the kind. */
struct gl_names {
    struct gl_later left;
    unsigned int buffer, texture, memory;
    unsigned int semaphores[2];
    struct __GLsync *fence;                  /* behind what OpenGL was told last, */
    struct __GLsync *older[GL_OLDER_FENCES]; /* and before that, the last first */

    /* Called once they have been deleted, if it is set. */
    void (*after)(void *of_after);
    void *of_after;
};

/* For the context, which is current; NULL, with the error, if there is no memory. */
struct gl_names *gl_names_make(const struct gl_context *context, const char *call);

/*
 * Deletes them and frees the struct: now if their context is current, else when it is. NULL is
 * fine.
 */
void gl_names_end(struct gl_names *names);

#endif
