/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * unload FILE [exit]: a program that is not linked with grinterop. It loads FILE, starts a driver
 * and maps a buffer through it, and unloads FILE during the mapping. The code must stay loaded for
 * the thread of the stream, driver callbacks and the remaining objects of the program. The program
 * then frees everything in order, or with `exit` ends with everything open. test_loading.sh runs
 * the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>

#define SIZE 4096

static struct {
    gr_status (*load)(bool);
    gr_cuda_context *(*create)(int);
    gr_egl *(*egl)(const gr_egl_options *);
    gr_resource *(*share)(size_t, unsigned, const gr_gl_options *);
    gr_buffer *(*map)(gr_resource *, CUstream);
    gr_status (*release)(gr_buffer *);
    void (*free_resource)(gr_resource *);
    void (*free_egl)(gr_egl *);
    void (*end)(gr_cuda_context *);
    const gr_error *(*error)(void);
} gr;

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static int fail_grinterop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gr.error()->message);
    return 1;
}

/* dlsym() returns a void pointer with the bits of the function pointer, which are copied. */
static bool look_up(void *file, const char *name, void *function)
{
    void *found = dlsym(file, name);
    memcpy(function, &found, sizeof(found));
    return found;
}

static bool look_up_all(void *file)
{
    return look_up(file, "gr_cuda_load", &gr.load) &&
           look_up(file, "gr_cuda_context_create", &gr.create) &&
           look_up(file, "gr_egl_create", &gr.egl) &&
           look_up(file, "gr_create_gl_buffer", &gr.share) && look_up(file, "gr_map", &gr.map) &&
           look_up(file, "gr_buffer_release", &gr.release) &&
           look_up(file, "gr_resource_free", &gr.free_resource) &&
           look_up(file, "gr_egl_free", &gr.free_egl) &&
           look_up(file, "gr_cuda_context_free", &gr.end) &&
           look_up(file, "gr_last_error", &gr.error);
}

static struct {
    gr_cuda_context *context;
    gr_egl *egl;
    gr_resource *resource;
    gr_buffer *buffer;
} have;

static int begin(void)
{
    if (gr.load(true) != GR_OK || !(have.context = gr.create(0)))
        return fail_grinterop("no CUDA context");
    have.egl = gr.egl(NULL);
    if (!have.egl)
        return fail_grinterop("no OpenGL context");
    have.resource = gr.share(SIZE, GR_READ_WRITE, NULL);
    have.buffer = have.resource ? gr.map(have.resource, have.context->stream) : NULL;
    return have.buffer ? 0 : fail_grinterop("nothing is mapped");
}

static int end(void)
{
    if (gr.release(have.buffer) != GR_OK)
        return fail_grinterop("the release");
    gr.free_resource(have.resource);
    gr.free_egl(have.egl);
    gr.end(have.context);
    return 0;
}

int main(int argc, char **argv)
{
    void *file = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!file)
        return fail(argc > 1 ? dlerror() : "usage: unload FILE [exit]");
    if (!look_up_all(file))
        return fail("the file is not grinterop");
    if (begin() != 0)
        return 1;
    if (dlclose(file) != 0)
        return fail(dlerror());
    if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
        return fail("grinterop was unloaded");
    if (argc == 2 && end() != 0)
        return 1;
    puts("still there");
    return 0;
}
