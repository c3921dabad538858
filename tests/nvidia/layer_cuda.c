/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The software CUDA driver under the layer (layer.h): which objects are registered and mapped. The
 * layer replaces dlsym(), by which the driver finds its functions for cuGetProcAddress().
 */
#define _GNU_SOURCE
#include "layer.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* The functions of the driver, and those of the layer. */
union calls {
    struct {
        CUresult (*register_buffer)(CUgraphicsResource *, GLuint, unsigned);
        CUresult (*register_image)(CUgraphicsResource *, GLuint, GLenum, unsigned);
        CUresult (*unregister)(CUgraphicsResource);
    };
    void *address[3];
};
static union calls next;

/* ---- Registrations --------------------------------------------------------------------------- */

enum { RESOURCES = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct resource {
    CUgraphicsResource handle;
    struct object *object;
    GLuint name;
    unsigned life;
} resources[RESOURCES];

static struct resource *find(CUgraphicsResource handle)
{
    for (int i = 0; i < RESOURCES; i++)
        if (resources[i].handle == handle)
            return &resources[i];
    return NULL;
}

/* The object of the resource, unless it was deleted. */
static struct object *object_of(const struct resource *resource)
{
    return resource && resource->object->life == resource->life ? resource->object : NULL;
}

static CUresult registered(CUresult result, const CUgraphicsResource *handle, enum kind kind,
                           GLuint name)
{
    pthread_mutex_lock(&lock);
    struct resource *place = NULL;
    if (result == CUDA_SUCCESS && !(place = find(*handle))) /* its CUDA context was destroyed */
        place = find(NULL);
    if (place) {
        *place = (struct resource){*handle, layer_object(kind, name), name, 0};
        place->life = place->object->life;
        place->object->registered++;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* The result of a call of the driver, whose own calls of OpenGL have no effect on the layer. */
#define CALL(call, result)                                                                         \
    layer_inside++;                                                                                \
    const CUresult result = call;                                                                  \
    layer_inside--

static CUresult register_buffer(CUgraphicsResource *to, GLuint name, unsigned flags)
{
    CALL(next.register_buffer(to, name, flags), result);
    return registered(result, to, KIND_BUFFER, name);
}

static CUresult register_image(CUgraphicsResource *to, GLuint name, GLenum target, unsigned flags)
{
    CALL(next.register_image(to, name, target, flags), result);
    return registered(result, to, KIND_IMAGE, target == GL_RENDERBUFFER ? 0 : name);
}

static CUresult unregister(CUgraphicsResource handle)
{
    CALL(next.unregister(handle), result);
    pthread_mutex_lock(&lock);
    struct resource *resource = handle ? find(handle) : NULL;
    struct object *object = object_of(resource);
    if (object)
        object->registered--;
    if (resource)
        resource->handle = NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- Their addresses ------------------------------------------------------------------------- */

static void *hooked(const char *name, void *found)
{
    static const char *const names[] = {"cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterImage",
                                        "cuGraphicsUnregisterResource"};
    static const union calls hooks = {{register_buffer, register_image, unregister}};
    Dl_info info; /* drivers of tests forward to the software driver */
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0 && dladdr(found, &info) &&
            strstr(info.dli_fname, "softcuda")) {
            next.address[i] = found;
            return hooks.address[i];
        }
    return found;
}

/* A tail call where optimized, so that RTLD_NEXT is relative to the caller. */
__attribute__((visibility("default"))) void *dlsym(void *restrict library,
                                                   const char *restrict name)
{
    static void *(*next_dlsym)(void *, const char *);
    if (!next_dlsym) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next_dlsym, &found, sizeof(found));
    }
    if (strncmp(name, "cuGraphics", 10) != 0)
        return next_dlsym(library, name);
    void *found = next_dlsym(library, name);
    return found ? hooked(name, found) : NULL;
}
