/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's view of OpenGL: which context is current, and the bytes of a buffer. None of it
 * changes state that the application can see: bindings are put back, and no call is made that could
 * leave a GL error.
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

/* The calling thread's context; false if there is none. Loads no library to find out. */
bool soft_gl_current(soft_gl_context *context);

/* The same as an operation of graphics.h: unmap and unregister need some context. */
CUresult soft_gl_has_context(soft_graphics *resource);

/* False for a context of OpenGL ES, whose buffers can't be read. A context is current. */
bool soft_gl_is_desktop(void);

/* What was current before a visit to another context. */
typedef struct {
    bool switched;
    soft_gl_context before;
    void *draw;
    void *read;
} soft_gl_visit;

/*
 * Makes the context in which a name has its meaning the current one, if it isn't. Where that fails,
 * because it is current on another thread or no longer exists, the current one stays: it may share
 * its objects. False if no context is current at all.
 */
bool soft_gl_enter(const soft_gl_context *context, soft_gl_visit *visit);

void soft_gl_leave(const soft_gl_visit *visit);

/* The size in bytes; false if no buffer has the name. */
bool soft_gl_buffer_look(unsigned name, size_t *size);

/*
 * From the start of a buffer that has at least that many bytes. Reading waits for GL's work on the
 * buffer. Where the application has mapped it, not persistently, GL lets nobody else use it: the
 * bytes are then exchanged through the application's mapping as far as that goes. What can't be
 * read becomes `unreadable`, what can't be written is lost.
 */
void soft_gl_buffer_read(unsigned name, void *to, size_t size, unsigned char unreadable);
void soft_gl_buffer_write(unsigned name, const void *from, size_t size);

#endif
