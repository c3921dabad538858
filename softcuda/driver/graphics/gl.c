/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The driver's access to OpenGL (gl.h). */
#include "softcuda/driver/graphics/gl.h"
#include "softcuda/driver/graphics/gl_pixels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

/*
 * Constants copied from the EGL registry. The EGL header is not included, because the driver may
 * only use libraries that the application has loaded.
 */
#define EGL_DRAW 0x3059
#define EGL_READ 0x305A

typedef void *(*get_current)(void);
typedef void *(*get_current_surface)(int which);
typedef unsigned (*make_current)(void *display, void *draw, void *read, void *context);

static struct {
    get_current display, context;
    get_current_surface surface;
    make_current make_current;
} egl;

static get_current glx_context;
static bool egl_found, glx_found;
static pthread_mutex_t find_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- The current context --------------------------------------------------------------------- */

/*
 * Returns the library if the application has loaded it. The handle is never closed, so the library
 * stays loaded.
 */
static void *loaded_library(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

/*
 * ISO C cannot convert the pointer that dlsym() returns to a function pointer. POSIX allows copying
 * the bytes of the pointer.
 */
#define GET(function, library, name) (*(void **)(void *)&(function) = dlsym(library, name))

static bool find_egl(void)
{
    SOFT_LOCK(&find_lock);
    void *library = egl_found ? NULL : loaded_library("libEGL.so.1");
    if (library) {
        GET(egl.display, library, "eglGetCurrentDisplay");
        GET(egl.context, library, "eglGetCurrentContext");
        GET(egl.surface, library, "eglGetCurrentSurface");
        GET(egl.make_current, library, "eglMakeCurrent");
        egl_found = egl.display && egl.context && egl.surface && egl.make_current;
    }
    return egl_found;
}

static bool find_glx(void)
{
    SOFT_LOCK(&find_lock);
    void *library = glx_found ? NULL : loaded_library("libGLX.so.0");
    if (!library && !glx_found)
        library = loaded_library("libGL.so.1");
    if (library) {
        GET(glx_context, library, "glXGetCurrentContext");
        glx_found = glx_context;
    }
    return glx_found;
}

bool soft_gl_current(soft_gl_context *context)
{
    *context = (soft_gl_context){.api = SOFT_GL_NONE};
    if (find_egl() && (context->context = egl.context())) {
        context->api = SOFT_GL_EGL;
        context->display = egl.display();
        return true;
    }
    if (find_glx() && (context->context = glx_context())) {
        context->api = SOFT_GL_GLX;
        return true;
    }
    return false;
}

CUresult soft_gl_has_context(soft_graphics *resource)
{
    (void)resource;
    soft_gl_context current;
    return soft_gl_current(&current) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
}

bool soft_gl_enter(const soft_gl_context *context, soft_gl_visit *visit)
{
    *visit = (soft_gl_visit){.switched = false};
    if (!soft_gl_current(&visit->before))
        return false;
    if (visit->before.context == context->context || context->api != SOFT_GL_EGL ||
        visit->before.api != SOFT_GL_EGL)
        return true;
    visit->draw = egl.surface(EGL_DRAW);
    visit->read = egl.surface(EGL_READ);
    visit->switched = egl.make_current(context->display, NULL, NULL, context->context);
    return true;
}

void soft_gl_leave(const soft_gl_visit *visit)
{
    if (visit->switched)
        egl.make_current(visit->before.display, visit->draw, visit->read, visit->before.context);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* Labels of grinterop begin like this, too. Those of the application may change. */
#define LABEL "grinterop "

static void read_label(soft_gl_label *label, GLenum kind, GLuint name)
{
    *label->text = '\0';
    glGetObjectLabel(kind, name, sizeof(label->text), NULL, label->text);
}

void soft_gl_label_take(soft_gl_label *label, unsigned kind, unsigned name)
{
    static _Atomic(unsigned long) made;
    *label->text = '\0';
    if (epoxy_gl_version() < (soft_gl_is_es() ? 32 : 43) && !epoxy_has_gl_extension("GL_KHR_debug"))
        return;
    read_label(label, kind, name);
    if (*label->text)
        return;
    snprintf(label->text, sizeof(label->text), LABEL "software driver %lu",
             atomic_fetch_add(&made, 1) + 1);
    glObjectLabel(kind, name, -1, label->text);
}

bool soft_gl_label_holds(const soft_gl_label *label, unsigned kind, unsigned name)
{
    soft_gl_label now;
    if (!(kind == GL_BUFFER         ? glIsBuffer(name)
          : kind == GL_RENDERBUFFER ? glIsRenderbuffer(name)
                                    : glIsTexture(name)))
        return false;
    if (!*label->text)
        return true;
    read_label(&now, kind, name);
    return strcmp(now.text, label->text) == 0 ||
           (*now.text && strncmp(now.text, LABEL, strlen(LABEL)) != 0);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static GLuint bound_to(GLenum target)
{
    GLint name = 0;
    glGetIntegerv(target == GL_COPY_READ_BUFFER    ? GL_COPY_READ_BUFFER_BINDING
                  : target == GL_COPY_WRITE_BUFFER ? GL_COPY_WRITE_BUFFER_BINDING
                  : target == GL_UNIFORM_BUFFER    ? GL_UNIFORM_BUFFER_BINDING
                                                   : GL_ARRAY_BUFFER_BINDING,
                  &name);
    return (GLuint)name;
}

/*
 * Whether a buffer is bound that another context has deleted. It could not be bound to this target
 * again.
 */
static bool has_deleted(GLenum target)
{
    const GLuint bound = bound_to(target);
    return bound && !glIsBuffer(bound);
}

/* A binding point that does not affect drawing, if this OpenGL version has one. */
static GLenum read_target(void)
{
    return epoxy_gl_version() >= 31 && !has_deleted(GL_COPY_READ_BUFFER) ? GL_COPY_READ_BUFFER
                                                                         : GL_ARRAY_BUFFER;
}

static GLuint bind(GLenum target, GLuint name)
{
    const GLuint before = bound_to(target);
    glBindBuffer(target, name);
    return before;
}

static size_t bound_size(GLenum target)
{
    if (epoxy_gl_version() >= 32) {
        GLint64 size = 0;
        glGetBufferParameteri64v(target, GL_BUFFER_SIZE, &size);
        return (size_t)size;
    }
    GLint size = 0;
    glGetBufferParameteriv(target, GL_BUFFER_SIZE, &size);
    return (size_t)size;
}

/* The application's mapping of a buffer. OpenGL allows no other use of a mapped buffer. */
typedef struct {
    unsigned char *bytes;
    size_t offset;
    size_t length;
    GLint access;
} gl_mapping;

static bool bound_is_locked(GLenum target, gl_mapping *mapping)
{
    GLint mapped = GL_FALSE, offset = 0, length = 0;
    void *pointer = NULL;
    glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
    if (!mapped)
        return false;
    *mapping = (gl_mapping){.length = bound_size(target)};
    if (epoxy_gl_version() < 30) {
        GLint access = 0;
        glGetBufferParameteriv(target, GL_BUFFER_ACCESS, &access);
        mapping->access = (access != GL_WRITE_ONLY ? GL_MAP_READ_BIT : 0) |
                          (access != GL_READ_ONLY ? GL_MAP_WRITE_BIT : 0);
    } else {
        glGetBufferParameteriv(target, GL_BUFFER_ACCESS_FLAGS, &mapping->access);
        glGetBufferParameteriv(target, GL_BUFFER_MAP_OFFSET, &offset);
        glGetBufferParameteriv(target, GL_BUFFER_MAP_LENGTH, &length);
        mapping->offset = (size_t)offset;
        mapping->length = (size_t)length;
    }
    glGetBufferPointerv(target, GL_BUFFER_MAP_POINTER, &pointer);
    mapping->bytes = pointer;
    return !(mapping->access & GL_MAP_PERSISTENT_BIT);
}

/* How many of the first `size` bytes are mapped. */
static size_t mapped_part(const gl_mapping *mapping, size_t size)
{
    if (size <= mapping->offset)
        return 0;
    return size - mapping->offset < mapping->length ? size - mapping->offset : mapping->length;
}

/*
 * glBufferSubData cannot write immutable storage that was created without GL_DYNAMIC_STORAGE_BIT.
 */
static bool bound_is_writable(GLenum target)
{
    if (epoxy_gl_version() < 44 && !epoxy_has_gl_extension("GL_ARB_buffer_storage") &&
        !epoxy_has_gl_extension("GL_EXT_buffer_storage"))
        return true;
    GLint immutable = GL_FALSE, flags = 0;
    glGetBufferParameteriv(target, GL_BUFFER_IMMUTABLE_STORAGE, &immutable);
    glGetBufferParameteriv(target, GL_BUFFER_STORAGE_FLAGS, &flags);
    return !immutable || (flags & GL_DYNAMIC_STORAGE_BIT);
}

bool soft_gl_buffer_size(unsigned name, size_t *size)
{
    if (name == 0 || !glIsBuffer(name))
        return false;
    GLenum target = read_target();
    GLuint before = bind(target, name);
    *size = bound_size(target);
    glBindBuffer(target, before);
    return true;
}

/* Another buffer, which is bound. */
typedef struct {
    GLenum target;
    GLuint name, before;
} scratch_buffer;

static scratch_buffer bind_scratch(const void *bytes, size_t size)
{
    scratch_buffer s = {
        has_deleted(GL_COPY_WRITE_BUFFER) ? GL_UNIFORM_BUFFER : GL_COPY_WRITE_BUFFER, 0, 0};
    glGenBuffers(1, &s.name);
    s.before = bind(s.target, s.name);
    glBufferData(s.target, (GLsizeiptr)size, bytes, GL_STREAM_COPY);
    return s;
}

static void end_scratch(const scratch_buffer *s)
{
    glBindBuffer(s->target, s->before);
    glDeleteBuffers(1, &s->name);
}

/* OpenGL ES can only map a buffer to read it, but not every storage. */
static void copy_from_bound(GLenum target, void *to, size_t size)
{
    scratch_buffer scratch = bind_scratch(NULL, size);
    glCopyBufferSubData(target, scratch.target, 0, 0, (GLsizeiptr)size);
    const void *from = glMapBufferRange(scratch.target, 0, (GLsizeiptr)size, GL_MAP_READ_BIT);
    if (from)
        memcpy(to, from, size);
    end_scratch(&scratch); /* also unmaps it */
}

void soft_gl_buffer_read(unsigned name, void *to, size_t size, unsigned char unreadable)
{
    GLenum target = read_target();
    GLuint before = bind(target, name);
    gl_mapping mapping;
    if (bound_is_locked(target, &mapping)) {
        memset(to, unreadable, size);
        if (mapping.access & GL_MAP_READ_BIT)
            memcpy((unsigned char *)to + mapping.offset, mapping.bytes,
                   mapped_part(&mapping, size));
    } else if (soft_gl_is_es()) {
        copy_from_bound(target, to, size);
    } else {
        glGetBufferSubData(target, 0, (GLsizeiptr)size, to);
    }
    glBindBuffer(target, before);
}

/* Writes immutable storage by a copy from another buffer, which OpenGL always allows. */
static void copy_into_bound(GLenum target, const void *from, size_t size)
{
    scratch_buffer scratch = bind_scratch(from, size);
    glCopyBufferSubData(scratch.target, target, 0, 0, (GLsizeiptr)size);
    end_scratch(&scratch);
}

void soft_gl_buffer_write(unsigned name, const void *from, size_t size)
{
    GLenum target = read_target();
    GLuint before = bind(target, name);
    gl_mapping mapping;
    if (bound_is_locked(target, &mapping)) {
        if (mapping.access & GL_MAP_WRITE_BIT)
            memcpy(mapping.bytes, (const unsigned char *)from + mapping.offset,
                   mapped_part(&mapping, size));
    } else if (bound_is_writable(target)) {
        glBufferSubData(target, 0, (GLsizeiptr)size, from);
    } else {
        copy_into_bound(target, from, size);
    }
    glBindBuffer(target, before);
}
