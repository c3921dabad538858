/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Errors and lifetimes. An error ends the step in which it happens, so that steps are straight
 * code; its message is printed, or becomes the reason why a row was not measured. Objects that are
 * "kept" end with their scope, which is a row, the rows of a size, or the program. An error between
 * a map and its release leaves the resource mapped.
 */
#ifndef BENCH_SCOPE_H
#define BENCH_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/cuda.h>
#include <grinterop/gr.h>

#include "examples/support/kernel_image.h"

/* Runs the step. False after an error; bench_last_error() then has its message. */
bool bench_try(void (*step)(void *of), void *of);

/*
 * The same, and then ends what the step kept, the newest first. An error of an end is an error of
 * the step. Only for the main thread.
 */
bool bench_scope(void (*step)(void *of), void *of);

/* Let the scope call end(of), or end(), at its end. */
void bench_later(void (*end)(void *of), void *of);
void bench_at_end(void (*end)(void));

/* ---- Errors ---------------------------------------------------------------------------------- */

/* End the step. Before bench_give_up() the message has been printed. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bench_fail_cuda(CUresult result, const char *call);
_Noreturn void bench_fail_grinterop(const char *call);
_Noreturn void bench_give_up(void);

/* The last error of this thread, which bench_print_error() prints unless `good`. Returns `good`. */
const char *bench_last_error(void);
bool bench_print_error(bool good);

/* End the step if the call failed, or if OpenGL has an error. */
static inline void bench_check_cuda(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        bench_fail_cuda(result, call);
}
static inline void bench_check_grinterop(bool good, const char *call)
{
    if (!good)
        bench_fail_grinterop(call);
}
void bench_check_gl(const char *doing);

/* The driver API, once the device is open. */
extern const gr_cuda_api *bench_cuda;

/*
 * Call a function of the CUDA driver or of grinterop by its name without cu or gr_. GR_NEW() sets
 * an object to the result, and GR_KEEP() keeps the object, too.
 */
#define CU(name, ...) bench_check_cuda(bench_cuda->name(__VA_ARGS__), "cu" #name)
#define GR(name, ...) bench_check_grinterop(gr_##name(__VA_ARGS__) == GR_OK, "gr_" #name)
#define GR_NEW(object, name, ...)                                                                  \
    bench_check_grinterop(((object) = gr_##name(__VA_ARGS__)) != NULL, "gr_" #name)
#define GR_KEEP(object, name, ...)                                                                 \
    (GR_NEW(object, name, __VA_ARGS__), bench_later(BENCH_END_OF(object), object))

/* Defines a function for bench_later() that ends an object by a function of the driver. */
#define BENCH_CUDA_END(end, name)                                                                  \
    static void end(void *object)                                                                  \
    {                                                                                              \
        CU(name, object);                                                                          \
    }

/* ---- Objects that are kept ------------------------------------------------------------------- */

/* X(name): the objects of grinterop that GR_KEEP() accepts. */
#define BENCH_OBJECTS(X)                                                                           \
    X(egl)                                                                                         \
    X(resource)                                                                                    \
    X(ring)                                                                                        \
    X(semaphore)                                                                                   \
    X(tensor)                                                                                      \
    X(vk_device)                                                                                   \
    X(vk_headless)
#define BENCH_DECLARE_END(name) void bench_end_##name(void *object);
BENCH_OBJECTS(BENCH_DECLARE_END)
#define BENCH_CHOOSE_END(name) struct gr_##name * : bench_end_##name,
#define BENCH_END_OF(object)   _Generic((object), BENCH_OBJECTS(BENCH_CHOOSE_END) default : NULL)

void *bench_alloc(size_t bytes); /* zeroed */
CUdeviceptr bench_cuda_alloc(size_t bytes);
void bench_cuda_keep(CUdeviceptr memory); /* frees it at the end, too */
CUevent bench_cuda_event(void);
CUmodule bench_cuda_module(const struct kernel_image *image);
CUgraphicsResource bench_cuda_register(unsigned buffer, unsigned flags);

/* X(object, Objects): makes a name in the current OpenGL context. */
#define BENCH_GL_OBJECTS(X)                                                                        \
    X(buffer, Buffers)                                                                             \
    X(framebuffer, Framebuffers)                                                                   \
    X(program_pipeline, ProgramPipelines)                                                          \
    X(query, Queries)                                                                              \
    X(renderbuffer, Renderbuffers)                                                                 \
    X(texture, Textures)                                                                           \
    X(vertex_array, VertexArrays)
#define BENCH_DECLARE_GL(object, Objects) unsigned bench_gl_##object(void);
BENCH_GL_OBJECTS(BENCH_DECLARE_GL)
unsigned bench_gl_program(const char *vertex_shader, const char *fragment_shader);

#endif
