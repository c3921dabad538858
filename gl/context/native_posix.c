/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the current OpenGL context by EGL or GLX. */
#include "gl/context/native.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <epoxy/egl.h>

typedef void *(*current_fn)(void);
typedef void *(*address_fn)(const char *name);

/* The functions that return the current context, and their libraries. */
static struct place {
    const char *interface, *file, *function;
    _Atomic current_fn current; /* NULL until the library is found */
} places[] = {
    {.interface = "EGL", .file = "libEGL.so.1", .function = "eglGetCurrentContext"},
    {.interface = "GLX", .file = "libGLX.so.0", .function = "glXGetCurrentContext"},
    {.interface = "GLX", .file = "libGL.so.1", .function = "glXGetCurrentContext"},
};

/*
 * Finds the function in a library that is already loaded, because only such a library can have made
 * a context current. Once found, the library stays open, so that later registrations need no
 * lookup.
 */
static current_fn find_current(struct place *place)
{
    current_fn current = atomic_load_explicit(&place->current, memory_order_acquire);
    void *library = current ? NULL : dlopen(place->file, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return current;
    void *symbol = dlsym(library, place->function);
    memcpy(&current, &symbol, sizeof(symbol));
    if (current)
        atomic_store_explicit(&place->current, current, memory_order_release);
    else
        dlclose(library);
    return current;
}

static bool is_egl(const struct gl_native *native)
{
    return strcmp(native->interface, "EGL") == 0;
}

void *gl_proc_address(const struct gl_native *native, const char *name)
{
    void *found = NULL;
    if (is_egl(native)) {
        __eglMustCastToProperFunctionPointerType function = eglGetProcAddress(name);
        memcpy(&found, &function, sizeof(found));
        return found;
    }
    address_fn address = NULL;
    for (size_t i = 1; i < sizeof(places) / sizeof(places[0]) && !address; i++) { /* of GLX */
        void *library = dlopen(places[i].file, RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            continue;
        void *symbol = dlsym(library, "glXGetProcAddressARB");
        memcpy(&address, &symbol, sizeof(symbol));
        dlclose(library); /* the OpenGL context keeps the library loaded */
    }
    return address ? address(name) : NULL;
}

bool gl_native_current(struct gl_native *native)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        current_fn current = find_current(&places[i]);
        void *handle = current ? current() : NULL;
        *native = (struct gl_native){.interface = places[i].interface, .handle = handle};
        if (handle)
            return true;
    }
    native->interface = "none";
    return false;
}

/* The library stays loaded: libglvnd patches its functions, which other threads may be in. */
bool gl_native_has_es(void)
{
    void *library = dlopen(GL_NATIVE_ES, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library)
        dlclose(library);
    return library;
}

bool gl_native_is_callable(const struct gl_native *native)
{
    EGLint api = EGL_OPENGL_API;
    if (is_egl(native))
        eglQueryContext(eglGetCurrentDisplay(), native->handle, EGL_CONTEXT_CLIENT_TYPE, &api);
    return api != EGL_OPENGL_ES_API || gl_native_has_es();
}

void gl_native_find_display(struct gl_native *native)
{
    if (is_egl(native))
        native->display = eglGetCurrentDisplay();
}

bool gl_native_is_gone(const struct gl_native *native)
{
    EGLint id;
    if (native->display == EGL_NO_DISPLAY ||
        eglQueryContext(native->display, native->handle, EGL_CONFIG_ID, &id))
        return false;
    EGLint error = eglGetError();
    return error == EGL_BAD_CONTEXT || error == EGL_NOT_INITIALIZED;
}
