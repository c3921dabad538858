/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The EGL state of a thread: saved before another context is made current, and restored later. */
#ifndef GR_GL_CONTEXT_EGL_CURRENT_H
#define GR_GL_CONTEXT_EGL_CURRENT_H

#include <stdbool.h>

#include <epoxy/egl.h>

struct egl_current {
    EGLenum api;
    EGLDisplay display;
    EGLSurface draw, read;
    EGLContext context;
};

struct egl_current egl_current_save(void);

/* False: EGL refused. The thread then keeps the context that is current. */
bool egl_current_restore(const struct egl_current *saved);

#endif
