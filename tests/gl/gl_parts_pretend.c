/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See gl_parts_pretend.h. Replaces the function pointers of epoxy. */
#define _GNU_SOURCE
#include "gl_parts_pretend.h"

#include <stdint.h>
#include <unistd.h>

#include <check.h>
#include <epoxy/gl.h>
#include <grinterop/cuda.h>

enum { MOST_NAMES = 8192, HEADER_OFFSET = 8 };

static bool on, late, without_fences;

/* Indexed by OpenGL name: the descriptors of memory objects, and the memory objects of buffers. */
static int memory_fds[MOST_NAMES];
static GLuint buffer_memories[MOST_NAMES];

static __typeof__(epoxy_glGetString) real_string;
static __typeof__(epoxy_glImportMemoryFdEXT) real_import;
static __typeof__(epoxy_glDeleteMemoryObjectsEXT) real_delete_memory;
static __typeof__(epoxy_glNamedBufferStorageMemEXT) real_storage;
static __typeof__(epoxy_glDeleteBuffers) real_delete_buffers;
static __typeof__(epoxy_glClientWaitSync) real_wait;
static __typeof__(epoxy_glFenceSync) real_fence;

static const GLubyte *EPOXY_CALLSPEC get_string(GLenum name)
{
    if (on && name == GL_VERSION)
        return (const GLubyte *)"4.5 (Core Profile) that puts buffers at offsets";
    return real_string(name);
}

static void EPOXY_CALLSPEC import_memory(GLuint memory, GLuint64 size, GLenum type, GLint fd)
{
    ck_assert_uint_lt(memory, MOST_NAMES);
    if (memory_fds[memory])
        close(memory_fds[memory]);
    memory_fds[memory] = on ? dup(fd) : 0;
    real_import(memory, size, type, fd);
}

static void EPOXY_CALLSPEC delete_memory(GLsizei n, const GLuint *memories)
{
    for (GLsizei i = 0; i < n; i++) {
        if (memory_fds[memories[i]])
            close(memory_fds[memories[i]]);
        memory_fds[memories[i]] = 0;
    }
    real_delete_memory(n, memories);
}

static void move_start(int fd, uint64_t start)
{
    const ssize_t bytes = sizeof(start);
    ck_assert_int_eq(pwrite(fd, &start, sizeof(start), HEADER_OFFSET), bytes);
    ck_assert_int_eq(pwrite(fd, &start, sizeof(start), (off_t)(start - sizeof(start))), bytes);
}

static void EPOXY_CALLSPEC storage_at(GLuint buffer, GLsizeiptr size, GLuint memory,
                                      GLuint64 offset)
{
    uint64_t start = 0;
    int fd = memory_fds[memory];
    if (offset == 0 || !fd) {
        real_storage(buffer, size, memory, offset);
        return;
    }
    ck_assert_uint_lt(buffer, MOST_NAMES);
    ck_assert_int_eq(pread(fd, &start, sizeof(start), HEADER_OFFSET), (ssize_t)sizeof(start));
    move_start(fd, start + offset);
    glCreateMemoryObjectsEXT(1, &buffer_memories[buffer]);
    real_import(buffer_memories[buffer], (GLuint64)size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, dup(fd));
    real_storage(buffer, size, buffer_memories[buffer], 0);
    move_start(fd, start);
}

static void EPOXY_CALLSPEC delete_buffers(GLsizei n, const GLuint *buffers)
{
    real_delete_buffers(n, buffers);
    for (GLsizei i = 0; i < n; i++) {
        if (buffers[i] >= MOST_NAMES || !buffer_memories[buffers[i]])
            continue;
        real_delete_memory(1, &buffer_memories[buffers[i]]);
        buffer_memories[buffers[i]] = 0;
    }
}

static GLenum EPOXY_CALLSPEC wait_sync(GLsync sync, GLbitfield flags, GLuint64 ns)
{
    return late ? GL_TIMEOUT_EXPIRED : real_wait(sync, flags, ns);
}

static GLsync EPOXY_CALLSPEC fence_sync(GLenum condition, GLbitfield flags)
{
    return without_fences ? NULL : real_fence(condition, flags);
}

/* Calls each function once, because epoxy resolves functions at their first call. */
static void play(void)
{
    GLuint none = 0;
    glGetString(GL_VERSION);
    glDeleteBuffers(1, &none);
    glCreateMemoryObjectsEXT(1, &none);
    glDeleteMemoryObjectsEXT(1, &none);
    GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000);
    glDeleteSync(sync);
    glNamedBufferStorageMemEXT(0, 0, 0, 0);
    glImportMemoryFdEXT(0, 0, 0, -1);
    while (glGetError())
        continue;
    real_string = epoxy_glGetString;
    real_import = epoxy_glImportMemoryFdEXT;
    real_delete_memory = epoxy_glDeleteMemoryObjectsEXT;
    real_storage = epoxy_glNamedBufferStorageMemEXT;
    real_delete_buffers = epoxy_glDeleteBuffers;
    real_wait = epoxy_glClientWaitSync;
    real_fence = epoxy_glFenceSync;
    epoxy_glGetString = get_string;
    epoxy_glImportMemoryFdEXT = import_memory;
    epoxy_glDeleteMemoryObjectsEXT = delete_memory;
    epoxy_glNamedBufferStorageMemEXT = storage_at;
    epoxy_glDeleteBuffers = delete_buffers;
    epoxy_glClientWaitSync = wait_sync;
    epoxy_glFenceSync = fence_sync;
}

void pretend_offsets(bool begin)
{
    on = begin && gr_cuda_is_software();
    late = without_fences = false;
    if (on && !real_string)
        play();
    for (size_t i = 0; !on && i < MOST_NAMES; i++)
        if (memory_fds[i]) {
            close(memory_fds[i]);
            memory_fds[i] = 0;
        }
}

bool pretend_late_fences(bool begin)
{
    late = on && begin;
    return on;
}

bool pretend_no_fences(bool begin)
{
    without_fences = on && begin;
    return on;
}
