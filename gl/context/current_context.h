/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Identifies the OpenGL context that is current on this thread. */
#ifndef GR_GL_CONTEXT_CURRENT_CONTEXT_H
#define GR_GL_CONTEXT_CURRENT_CONTEXT_H

#include <stdbool.h>

#include "gl/context/native.h"

/*
 * A context that grinterop can recognise later. Querying the current context from EGL costs a
 * system call in libglvnd, which is too slow for every map. So the library marks each context: it
 * creates an empty program pipeline object, which contexts do not share, under a name that no other
 * marked context uses.
 */
struct gl_context {
    struct gl_native native;
    unsigned int mark; /* the name of the mark; 0 if this OpenGL has no program pipelines */
    int version;       /* the version, such as 45 for OpenGL 4.5; 0 for OpenGL ES */
    bool direct;       /* the context has direct state access */
    bool storage;      /* the context has immutable buffer storage */
    bool inverts;      /* the context has GL_PACK_INVERT_MESA */
};

/* Marks the current context, or finds its mark. False if no context is current. Thread-safe. */
bool gl_context_remember(struct gl_context *context);

/* Whether both are the same context. */
bool gl_context_same(const struct gl_context *a, const struct gl_context *b);

/*
 * Whether a context that is not current on this thread is known to be destroyed: its interface
 * reports it, or another context has its handle now.
 */
bool gl_context_is_gone(const struct gl_context *context);

/* Whether the context is current on the calling thread. Fast. */
bool gl_context_is_current(const struct gl_context *context);

#endif
