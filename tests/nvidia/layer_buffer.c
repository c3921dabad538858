/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The bytes of buffers in memory of CUDA that the NVIDIA driver keeps in host memory although CUDA
 * has written the buffer since (layer.h).
 */
#include "layer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- The bytes ------------------------------------------------------------------------------- */

static atomic_ulong draws;

void layer_forget(struct object *object)
{
    free(object->kept);
    object->kept = NULL;
}

void layer_keep(struct object *object, GLenum target)
{
    GLint size = 0, mapped = 0;
    layer_forget(object);
    glGetBufferParameteriv(target, GL_BUFFER_SIZE, &size);
    glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
    if (size <= 0 || mapped || !epoxy_is_desktop_gl() || !(object->kept = malloc((size_t)size)))
        return;
    object->kept_size = size;
    object->kept_at = atomic_load(&draws);
    layer_inside++;
    glGetBufferSubData(target, 0, size, object->kept);
    layer_inside--;
}

const char *layer_kept(struct object *object)
{
    if (object->kept_at != atomic_load(&draws))
        layer_forget(object);
    return object->kept;
}

/* ---- Storage and reads ------------------------------------------------------------------------
 */

static void made(GLuint name, bool imported)
{
    struct object *object = layer_object(KIND_BUFFER, name);
    if (layer_inside)
        return;
    layer_forget(object);
    object->imported = imported;
}

/* Replaces the bytes that a read has returned by those that the driver keeps, or keeps them. */
static void was_read(GLenum target, GLintptr at, GLsizeiptr size, void *to)
{
    struct object *object = layer_object(KIND_BUFFER, layer_bound(target));
    if (at < 0 || size <= 0 || !object->imported || !layer_rule(RULE_IMPORTED))
        return;
    const char *kept = layer_kept(object);
    if (kept && at + size <= object->kept_size) {
        if (memcmp(to, kept + at, (size_t)size) != 0)
            layer_log("glGetBufferSubData of %u returns old bytes\n", layer_bound(target));
        memcpy(to, kept + at, (size_t)size);
        return;
    }
    layer_keep(object, target);
}

static void was_named_read(GLuint name, GLintptr at, GLsizeiptr size, void *to)
{
    const GLuint before = layer_bound(GL_COPY_READ_BUFFER);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    was_read(GL_COPY_READ_BUFFER, at, size, to);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
}

HOOK_AROUND(, GetBufferSubData, (GLenum target, GLintptr at, GLsizeiptr size, void *to),
            (target, at, size, to), was_read(target, at, size, to))
HOOK_AROUND(, GetNamedBufferSubData, (GLuint name, GLintptr at, GLsizeiptr size, void *to),
            (name, at, size, to), was_named_read(name, at, size, to))

/* ---- Writes ---------------------------------------------------------------------------------- */

/* The GPU writes the buffer: the driver then reads memory of CUDA again. */
static void writes(GLuint name)
{
    struct object *object = layer_object(KIND_BUFFER, name);
    if (!layer_inside && object->imported)
        layer_forget(object);
}

/* glBufferSubData also writes the bytes that the driver keeps of memory of CUDA. */
static void updates(GLuint name, GLintptr at, GLsizeiptr size, const void *from)
{
    struct object *object = layer_object(KIND_BUFFER, name);
    if (!layer_inside && object->kept && at >= 0 && size > 0 && at + size <= object->kept_size)
        memcpy(object->kept + at, from, (size_t)size);
}

/* Replaces glNAME, which takes a target, and glNAMED, which takes the buffer. */
#define HOOK_BOTH(effect, name, named, parameters, values)                                         \
    HOOK_AROUND(const GLuint buffer = layer_bound(target);                                         \
                effect, name, (GLenum target, LIST parameters), (target, LIST values), )           \
    HOOK_AROUND(effect, named, (GLuint buffer, LIST parameters), (buffer, LIST values), )

HOOK_BOTH(made(buffer, false), BufferData, NamedBufferData,
          (GLsizeiptr size, const void *from, GLenum usage), (size, from, usage))
HOOK_BOTH(made(buffer, false), BufferStorage, NamedBufferStorage,
          (GLsizeiptr size, const void *from, GLbitfield flags), (size, from, flags))
HOOK_BOTH(made(buffer, true), BufferStorageMemEXT, NamedBufferStorageMemEXT,
          (GLsizeiptr size, GLuint memory, GLuint64 at), (size, memory, at))
HOOK_BOTH(updates(buffer, at, size, from), BufferSubData, NamedBufferSubData,
          (GLintptr at, GLsizeiptr size, const void *from), (at, size, from))
HOOK_BOTH(writes(buffer), ClearBufferData, ClearNamedBufferData,
          (GLenum internal, GLenum format, GLenum type, const void *value),
          (internal, format, type, value))
HOOK_BOTH(writes(buffer), ClearBufferSubData, ClearNamedBufferSubData,
          (GLenum internal, GLintptr at, GLsizeiptr size, GLenum format, GLenum type,
           const void *value),
          (internal, at, size, format, type, value))

HOOK_AROUND(writes(layer_bound(to)), CopyBufferSubData,
            (GLenum from, GLenum to, GLintptr at, GLintptr to_at, GLsizeiptr size),
            (from, to, at, to_at, size), )
HOOK_AROUND(writes(to), CopyNamedBufferSubData,
            (GLuint from, GLuint to, GLintptr at, GLintptr to_at, GLsizeiptr size),
            (from, to, at, to_at, size), )
HOOK_AROUND(layer_delete(KIND_BUFFER, count, names), DeleteBuffers,
            (GLsizei count, const GLuint *names), (count, names), )
/* Shaders may write any buffer. */
HOOK_AROUND(draws++, DrawArrays, (GLenum mode, GLint first, GLsizei count), (mode, first, count), )
HOOK_AROUND(draws++, DispatchCompute, (GLuint x, GLuint y, GLuint z), (x, y, z), )
