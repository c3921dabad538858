/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unload FILE: a program that is not linked with grinterop loads its file, lets it start a driver
 * and make a context with a stream, and unloads it. The stream's thread, and what the program still
 * has, must not be left without code. test_loading.sh runs it.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* dlsym() gives a pointer to an object, whose bits are the function's. */
static void look_up(void *file, const char *name, void *function)
{
    void *found = dlsym(file, name);
    memcpy(function, &found, sizeof(found));
}

int main(int argc, char **argv)
{
    int (*load)(bool);
    void *(*create)(int);
    void (*end)(void *);
    void *file = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!file)
        return fail(argc == 2 ? dlerror() : "usage: unload FILE");
    look_up(file, "gr_cuda_load", &load);
    look_up(file, "gr_cuda_context_create", &create);
    look_up(file, "gr_cuda_context_free", &end);
    if (!load || !create || !end)
        return fail("the file is not grinterop");
    if (load(true) != 0)
        return fail("no CUDA driver starts");
    void *context = create(0);
    if (!context)
        return fail("no CUDA context");
    if (dlclose(file) != 0)
        return fail(dlerror());
    if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
        return fail("grinterop was unloaded");
    end(context);
    puts("still there");
    return 0;
}
