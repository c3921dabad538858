/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks for the test programs: grinterop errors, and bytes as the host and OpenGL see them. */
#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

const char *result_name(int result)
{
    const char *name = NULL;
    if (!fx.cu || fx.cu->GetErrorName((CUresult)result, &name) != CUDA_SUCCESS)
        return "a code without a name";
    return name;
}

const char *error_text(void)
{
    const gr_error *error = gr_last_error();
    return error->status == GR_OK ? "no error was recorded" : error->message;
}

void *made_at(const char *file, int line, const char *call, const void *object)
{
    ck_assert_msg(object, "%s:%d: %s is NULL: %s", file, line, call, error_text());
    return (void *)object;
}

/* Whether programs can call the function: grinterop must export its own functions. */
static bool is_function(const char *call)
{
    static const char *const drivers[] = {"cu", "gl", "egl", "vk"};
    /* In a statically linked program no function can be looked up. */
    if (dlsym(RTLD_DEFAULT, call) || !dlsym(RTLD_DEFAULT, "gr_last_error"))
        return true;
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
        if (strncmp(call, drivers[i], strlen(drivers[i])) == 0)
            return true;
    return strcmp(call, "gr_softcuda_semaphore_create") == 0 ||
           strncmp(call, "the deleter of ", strlen("the deleter of ")) == 0;
}

/*
 * Also refuses errors that name an internal function, such as gr_ring_acquire, which programs
 * cannot call.
 */
const char *error_mismatch(gr_status status, int code, const char *text)
{
    static char wrong[1024];
    const gr_error *error = gr_last_error();
    const char *part = error->status != status             ? "class"
                       : code != -1 && error->code != code ? "code"
                       : !strstr(error->message, text)     ? "message"
                       : !is_function(error->call)         ? "call"
                                                           : NULL;
    if (part)
        snprintf(wrong, sizeof(wrong),
                 "the error's %s is wrong: got %s, code %d (%s), from %s: \"%s\"; wanted %s, code "
                 "%d, with \"%s\"",
                 part, gr_status_name(error->status), error->code, error->code_name, error->call,
                 error->message, gr_status_name(status), code, text);
    gr_clear_error();
    return part ? wrong : NULL;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/*
 * The pattern is made in memory of one thread. With its instrumentation ThreadSanitizer took most
 * of the time of tests of large copies.
 */
#define UNINSTRUMENTED __attribute__((no_sanitize("thread")))

UNINSTRUMENTED unsigned char pattern_byte(unsigned seed, size_t i)
{
    return (unsigned char)((((uint32_t)i + seed * 40503u) * 2654435761u) >> 24);
}

enum { BLOCK = 4096 };

UNINSTRUMENTED static size_t make_block(unsigned char block[BLOCK], unsigned seed, size_t at,
                                        size_t size)
{
    const size_t n = size - at < BLOCK ? size - at : BLOCK;
    for (size_t i = 0; i < n; i++)
        block[i] = pattern_byte(seed, at + i);
    return n;
}

void pattern_fill(void *bytes, size_t size, unsigned seed)
{
    unsigned char block[BLOCK];
    for (size_t at = 0, n; at < size; at += n) {
        n = make_block(block, seed, at, size);
        memcpy((unsigned char *)bytes + at, block, n);
    }
}

/* The fields of one side of a copy between host memory and an array. */
#define HOST_SIDE(side, bytes)                                                                     \
    .side##MemoryType = CU_MEMORYTYPE_HOST, .side##Host = (bytes), .side##Pitch = width,           \
    .side##Height = height
#define ARRAY_SIDE(side, array) .side##MemoryType = CU_MEMORYTYPE_ARRAY, .side##Array = (array)

CUDA_MEMCPY3D copy_to_array(CUarray array, const void *bytes, size_t width, size_t height,
                            size_t depth)
{
    return (CUDA_MEMCPY3D){HOST_SIDE(src, bytes), ARRAY_SIDE(dst, array), .WidthInBytes = width,
                           .Height = height, .Depth = depth};
}

CUDA_MEMCPY3D copy_from_array(void *bytes, CUarray array, size_t width, size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D){ARRAY_SIDE(src, array), HOST_SIDE(dst, bytes), .WidthInBytes = width,
                           .Height = height, .Depth = depth};
}

static const char *difference(size_t at, size_t size, unsigned got, unsigned wanted)
{
    static char text[128];
    snprintf(text, sizeof(text), "byte %zu of %zu is 0x%02x, not 0x%02x", at, size, got, wanted);
    return text;
}

const char *pattern_differs(const void *bytes, size_t size, unsigned seed)
{
    const unsigned char *in = bytes;
    unsigned char block[BLOCK];
    for (size_t at = 0, n; at < size; at += n) {
        n = make_block(block, seed, at, size);
        if (memcmp(in + at, block, n) == 0)
            continue;
        for (size_t i = at; i < at + n; i++)
            if (in[i] != block[i - at])
                return difference(i, size, in[i], block[i - at]);
    }
    return NULL;
}

const char *bytes_differ(const void *bytes, size_t size, int value)
{
    const unsigned char *in = bytes;
    if (size && in[0] == (unsigned char)value && memcmp(in, in + 1, size - 1) == 0)
        return NULL;
    for (size_t i = 0; i < size; i++)
        if (in[i] != (unsigned char)value)
            return difference(i, size, in[i], (unsigned char)value);
    return NULL;
}

void *must_allocate(size_t size)
{
    void *bytes = malloc(size > 0 ? size : 1);
    ck_assert_msg(bytes, "no memory for %zu bytes", size);
    return bytes;
}

const char *pattern_differs_once(void *bytes, size_t size, unsigned seed)
{
    const char *text = pattern_differs(bytes, size, seed);
    free(bytes);
    return text;
}

const char *bytes_differ_once(void *bytes, size_t size, int value)
{
    const char *text = bytes_differ(bytes, size, value);
    free(bytes);
    return text;
}

static void *gl_bytes(GLuint name, size_t size)
{
    void *bytes = must_allocate(size);
    gl_read(name, bytes, size);
    return bytes;
}

const char *gl_pattern_differs(GLuint name, size_t size, unsigned seed)
{
    return pattern_differs_once(gl_bytes(name, size), size, seed);
}

const char *gl_bytes_differ(GLuint name, size_t size, int value)
{
    return bytes_differ_once(gl_bytes(name, size), size, value);
}

static GLuint bind_copy_read(GLuint name)
{
    GLint before = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &before);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    return (GLuint)before;
}

GLuint gl_buffer(const void *bytes, size_t size)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    GLuint before = bind_copy_read(name);
    glBufferData(GL_COPY_READ_BUFFER, (GLsizeiptr)size, bytes, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
    return name;
}

/* Creates a buffer with these bytes and frees the bytes. */
static GLuint gl_buffer_once(void *bytes, size_t size)
{
    GLuint name = gl_buffer(bytes, size);
    free(bytes);
    return name;
}

GLuint bound_texture(GLenum target)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(target, name);
    return name;
}

GLuint bound_renderbuffer(void)
{
    GLuint name = 0;
    glGenRenderbuffers(1, &name);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    return name;
}

GLuint bound_framebuffer(GLenum target)
{
    GLuint name = 0;
    glGenFramebuffers(1, &name);
    glBindFramebuffer(target, name);
    return name;
}

GLuint gl_buffer_pattern(size_t size, unsigned seed)
{
    void *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    return gl_buffer_once(bytes, size);
}

GLuint gl_buffer_filled(size_t size, int value)
{
    void *bytes = must_allocate(size);
    memset(bytes, value, size);
    return gl_buffer_once(bytes, size);
}

void gl_buffer_delete(GLuint name, bool again, size_t size, int value)
{
    glDeleteBuffers(1, &name);
    if (again && gl_buffer_filled(size, value) != name)
        skip("OpenGL does not reuse the name");
}

void gl_copy_buffer(GLuint from, GLuint to, size_t size)
{
    GLint target = 0;
    glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &target);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to);
    GLuint source = bind_copy_read(from);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, (GLsizeiptr)size);
    glBindBuffer(GL_COPY_READ_BUFFER, source);
    glBindBuffer(GL_COPY_WRITE_BUFFER, (GLuint)target);
}

/*
 * Reads through a new buffer. The NVIDIA driver (580) caches in host memory what
 * glGetBufferSubData() returns. Later calls return the cached bytes even if CUDA has since written
 * to imported storage; draws and copies see the new bytes. gl_read() overwrites `bytes` first, so
 * that a read that returns nothing is detected.
 */
void gl_read(GLuint name, void *bytes, size_t size)
{
    memset(bytes, 0xEE, size);
    GLuint fresh = 0;
    glGenBuffers(1, &fresh);
    GLuint before = bind_copy_read(fresh);
    glBufferData(GL_COPY_READ_BUFFER, (GLsizeiptr)size, bytes, GL_STREAM_READ);
    gl_copy_buffer(name, fresh, size);
    if (epoxy_is_desktop_gl())
        glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)size, bytes);
    else
        memcpy(bytes, glMapBufferRange(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)size, GL_MAP_READ_BIT),
               size);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
    glDeleteBuffers(1, &fresh);
}

/* Writes through a new buffer, because glBufferSubData may overtake earlier work (NVIDIA, 580). */
void gl_write(GLuint name, const void *bytes, size_t size)
{
    GLuint fresh = gl_buffer(bytes, size);
    gl_copy_buffer(fresh, name, size);
    glDeleteBuffers(1, &fresh);
}

void gl_use_some_program(void)
{
    static const char *const source = "#version 330\nvoid main() { gl_Position = vec4(0); }\n";
    GLuint program = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glUseProgram(program);
}
