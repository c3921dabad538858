/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which OpenGL context is current on this thread, and whether it is the one that a resource knows.
 */
#ifndef GR_GL_CURRENT_CONTEXT_H
#define GR_GL_CURRENT_CONTEXT_H

#include <stdbool.h>

#include "gl/native.h"

/*
 * A context that grinterop knows again. Asking EGL which context is current costs a system call in
 * libglvnd, too much for every map; so the library leaves a mark: an empty program pipeline object,
 * which contexts do not share, under a name that no other marked context has.
 */
struct gl_context {
    struct gl_native native;
    void *display;     /* of EGL's, its EGLDisplay */
    unsigned int mark; /* 0 where OpenGL is too old for program pipelines */
    int version;       /* 45 is OpenGL 4.5; 0 for OpenGL ES */
    bool direct;       /* objects can be asked by name */
    bool storage;      /* buffers can have storage that is never replaced */
};

/* Marks the current context, or finds its mark. False if none is current. Safe from any thread. */
bool gl_context_remember(struct gl_context *context);

/* Whether two are one context. */
bool gl_context_same(const struct gl_context *a, const struct gl_context *b);

/*
 * Whether a context that is not current here is known to have been destroyed: its interface says
 * so, or another one has its handle now.
 */
bool gl_context_is_gone(const struct gl_context *context);

/* Whether the context is current on the calling thread. Cheap. */
bool gl_context_is_current(const struct gl_context *context);

#endif
