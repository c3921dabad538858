/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Errors, and the objects that end with their scope, see scope.h. */
#define _GNU_SOURCE
#include "bench/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/ring.h>
#include <grinterop/tensor.h>
#include <grinterop/vk.h>

#include "bench/bench.h"
#include "examples/support/shader.h"

const gr_cuda_api *bench_cuda;

/* ---- Errors ---------------------------------------------------------------------------------- */

static _Thread_local char last_error[400];
static _Thread_local jmp_buf *step_of_thread;

void bench_give_up(void)
{
    if (step_of_thread)
        longjmp(*step_of_thread, 1);
    bench_print_error(false);
    exit(EXIT_FAILURE);
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof(last_error), format, arguments);
    va_end(arguments);
    bench_give_up();
}

void bench_fail_cuda(CUresult result, const char *call)
{
    const char *name = NULL;
    gr_cuda()->GetErrorName(result, &name);
    bench_fail("%s: %s", call, name ? name : "unknown error");
}

void bench_fail_grinterop(const char *call)
{
    const gr_error error = *gr_last_error();
    bench_fail("%s: %s", call, error.message);
}

void bench_check_gl(const char *doing)
{
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        bench_fail("%s: OpenGL error 0x%04x", doing, error);
}

const char *bench_last_error(void)
{
    return last_error;
}

bool bench_print_error(bool good)
{
    if (!good && *last_error != '\0')
        fprintf(stderr, "%s: %s\n", bench_program, last_error);
    *last_error = '\0';
    return good;
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

enum { MOST_KEPT = 4096 };

static struct kept {
    void (*end)(void *of);
    void *of;
    void (*plain_end)(void); /* instead of end() */
} kept[MOST_KEPT];
static size_t kept_count;

bool bench_try(void (*step)(void *of), void *of)
{
    jmp_buf *const outer = step_of_thread;
    jmp_buf here;
    step_of_thread = &here;
    if (setjmp(here) != 0) {
        step_of_thread = outer;
        return false;
    }
    step(of);
    step_of_thread = outer;
    return true;
}

static void end_kept(void *of)
{
    const struct kept *last = of;
    if (last->end)
        last->end(last->of);
    else
        last->plain_end();
}

bool bench_scope(void (*step)(void *of), void *of)
{
    const size_t before = kept_count;
    *last_error = '\0'; /* of an earlier step whose failure was no error */
    const bool done = bench_try(step, of);
    bool ended = true;
    char reason[sizeof(last_error)];
    memcpy(reason, last_error, sizeof(reason));
    while (kept_count > before) {
        struct kept last = kept[--kept_count];
        ended = bench_try(end_kept, &last) && ended;
    }
    if (!done)
        memcpy(last_error, reason, sizeof(reason));
    return done && ended;
}

static void keep(struct kept more)
{
    if (kept_count == MOST_KEPT)
        bench_fail("more than %d objects", MOST_KEPT);
    kept[kept_count++] = more;
}

void bench_later(void (*end)(void *of), void *of)
{
    keep((struct kept){.end = end, .of = of});
}

void bench_at_end(void (*end)(void))
{
    keep((struct kept){.plain_end = end});
}

/* ---- Objects --------------------------------------------------------------------------------- */

#define DEFINE_END(name)                                                                           \
    void bench_end_##name(void *object)                                                            \
    {                                                                                              \
        gr_##name##_free(object);                                                                  \
    }
BENCH_OBJECTS(DEFINE_END)

void *bench_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        bench_fail("out of memory");
    bench_later(free, memory);
    return memory;
}

static void end_memory(void *memory)
{
    CU(MemFree, (CUdeviceptr)(uintptr_t)memory);
}

void bench_cuda_keep(CUdeviceptr memory)
{
    bench_later(end_memory, (void *)(uintptr_t)memory);
}

CUdeviceptr bench_cuda_alloc(size_t bytes)
{
    CUdeviceptr memory;
    CU(MemAlloc, &memory, bytes);
    bench_cuda_keep(memory);
    return memory;
}

BENCH_CUDA_END(end_event, EventDestroy)

CUevent bench_cuda_event(void)
{
    CUevent event;
    CU(EventCreate, &event, 0);
    bench_later(end_event, event);
    return event;
}

BENCH_CUDA_END(end_module, ModuleUnload)

CUmodule bench_cuda_module(const struct kernel_image *image)
{
    CUmodule module;
    if (!kernel_image_load(image, &module))
        bench_give_up();
    bench_later(end_module, module);
    return module;
}

BENCH_CUDA_END(end_registration, GraphicsUnregisterResource)

CUgraphicsResource bench_cuda_register(unsigned buffer, unsigned flags)
{
    CUgraphicsResource handle;
    CU(GraphicsGLRegisterBuffer, &handle, buffer, flags);
    bench_later(end_registration, handle);
    return handle;
}

#define DEFINE_GL(object, Objects)                                                                 \
    static void end_gl_##object(void *of)                                                          \
    {                                                                                              \
        const GLuint name = (GLuint)(uintptr_t)of;                                                 \
        glDelete##Objects(1, &name);                                                               \
    }                                                                                              \
                                                                                                   \
    unsigned bench_gl_##object(void)                                                               \
    {                                                                                              \
        GLuint name;                                                                               \
        glGen##Objects(1, &name);                                                                  \
        bench_later(end_gl_##object, (void *)(uintptr_t)name);                                     \
        return name;                                                                               \
    }
BENCH_GL_OBJECTS(DEFINE_GL)

static void end_program(void *of)
{
    glDeleteProgram((GLuint)(uintptr_t)of);
}

unsigned bench_gl_program(const char *vertex_shader, const char *fragment_shader)
{
    const unsigned program = shader_program(vertex_shader, fragment_shader);
    if (program == 0)
        bench_give_up();
    bench_later(end_program, (void *)(uintptr_t)program);
    return program;
}
