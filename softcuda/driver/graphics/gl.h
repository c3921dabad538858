/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The driver's access to OpenGL: the current context, and the bytes of a buffer. No function
 * changes OpenGL state that the application can see: all bindings are restored, and no OpenGL error
 * remains.
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

/* Gets the calling thread's OpenGL context; false if there is none. Never loads a library. */
bool soft_gl_current(soft_gl_context *context);

/*
 * The operations can_store and can_end of graphics.h: they succeed if the calling thread has a
 * current OpenGL context, which unmap and unregister require.
 */
CUresult soft_gl_has_context(soft_graphics *resource);

/* The OpenGL context that was current before soft_gl_enter(), for soft_gl_leave(). */
typedef struct {
    bool switched;
    soft_gl_context before;
    void *draw;
    void *read;
} soft_gl_visit;

/*
 * Makes `context` current, because an OpenGL name is valid there. If OpenGL refuses, because
 * another thread uses `context` or because it was destroyed, the thread keeps its current context,
 * which may share objects with `context`, and the function still returns true. False if the thread
 * has no current context.
 */
bool soft_gl_enter(const soft_gl_context *context, soft_gl_visit *visit);

void soft_gl_leave(const soft_gl_visit *visit);

/*
 * Recognises an object, whose name may belong to another object after it was deleted: with the
 * NVIDIA driver a registration keeps the object itself. soft_gl_label_take() reads the label of an
 * object, and gives it one if it has none. soft_gl_label_holds() is false if no object has the
 * name, or another one. `kind` is GL_BUFFER, GL_TEXTURE or GL_RENDERBUFFER.
 */
typedef struct {
    char text[64]; /* empty if this OpenGL has no labels */
} soft_gl_label;
void soft_gl_label_take(soft_gl_label *label, unsigned kind, unsigned name);
bool soft_gl_label_holds(const soft_gl_label *label, unsigned kind, unsigned name);

/* Gets the size in bytes; false if no buffer has the name. */
bool soft_gl_buffer_size(unsigned name, size_t *size);

/*
 * Read and write the first `size` bytes of a buffer, which must have at least that many. Reading
 * waits for the OpenGL work on the buffer. While the application has mapped a buffer, except
 * persistently, OpenGL allows no other use of it: bytes within the application's mapping are then
 * accessed through that mapping. Bytes that cannot be read become `unreadable`; bytes that cannot
 * be written are lost.
 */
void soft_gl_buffer_read(unsigned name, void *to, size_t size, unsigned char unreadable);
void soft_gl_buffer_write(unsigned name, const void *from, size_t size);

#endif
