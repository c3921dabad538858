/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The driver's access to OpenGL: the current context, and the bytes of a buffer. Nothing changes
 * state that the application can see: bindings are restored, and no call can leave an OpenGL error.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_H
#define GR_SOFTCUDA_DRIVER_GL_H

#include <stdbool.h>
#include <stddef.h>

#include "softcuda/driver/graphics/graphics.h"

enum soft_gl_api {
    SOFT_GL_NONE,
    SOFT_GL_EGL,
    SOFT_GL_GLX,
};

typedef struct {
    enum soft_gl_api api;
    void *display; /* EGL only */
    void *context;
} soft_gl_context;

/* The calling thread's context; false if there is none. Loads no library for that. */
bool soft_gl_current(soft_gl_context *context);

/* An operation of graphics.h: unmap and unregister require a current context. */
CUresult soft_gl_has_context(soft_graphics *resource);

/* False for OpenGL ES, whose buffers cannot be read. A context is current. */
bool soft_gl_is_desktop(void);

/* The context that was current before a visit to another one. */
typedef struct {
    bool switched;
    soft_gl_context before;
    void *draw;
    void *read;
} soft_gl_visit;

/*
 * Makes the context current in which a name is valid. If that fails, because the context is current
 * on another thread or was destroyed, the current one stays, since it may share objects with it.
 * False if no context is current.
 */
bool soft_gl_enter(const soft_gl_context *context, soft_gl_visit *visit);

void soft_gl_leave(const soft_gl_visit *visit);

/* The size in bytes; false if no buffer has the name. */
bool soft_gl_buffer_size(unsigned name, size_t *size);

/*
 * Accesses the first bytes of a buffer that has at least that many. Reading waits for OpenGL's work
 * on the buffer. If the application has mapped it, not persistently, OpenGL allows no other use:
 * bytes within the application's mapping are then accessed through it. Bytes that cannot be read
 * become `unreadable`; bytes that cannot be written are lost.
 */
void soft_gl_buffer_read(unsigned name, void *to, size_t size, unsigned char unreadable);
void soft_gl_buffer_write(unsigned name, const void *from, size_t size);

#endif
