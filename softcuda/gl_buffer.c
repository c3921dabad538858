/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL buffers as graphics resources. A resource has pages of its own, the size of the buffer
 * when it was registered, at the same address for every map. They are inaccessible while it isn't
 * mapped. Bytes move between them and the buffer at map and unmap.
 */
#include "softcuda/gl.h"
#include "softcuda/graphics.h"

#include <cudaGL.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What memory holds between the call that maps and the moment when the stream comes to it, and
 * where GL has no bytes for it.
 */
#define NO_BYTES 0xCD

typedef struct {
    soft_graphics base;
    unsigned name;
    soft_gl_context context; /* in which the name was given */
    size_t size;             /* when it was registered */
    size_t backed;           /* how much of that GL has now */
    unsigned char *pages;
    unsigned char *fetched; /* GL's bytes on their way; allocated by the first map that needs it */
    char live[40];          /* for the message of a fault, while it is mapped */
    char what[160];         /* the same while it is not */
} gl_buffer;

static void *of(soft_graphics *resource)
{
    return resource;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * The buffer may have got other storage since: what both have in common is fetched. A buffer that
 * was deleted lives on for the driver's registration; here nobody can reach its bytes any more, so
 * there are none to see.
 */
static CUresult fetch_bytes(gl_buffer *buffer)
{
    size_t size = buffer->size;
    bool deleted = !soft_gl_buffer_look(buffer->name, &size);
    if (deleted)
        soft_log(SOFT_DEBUG, "OpenGL buffer %u is mapped, though it was deleted", buffer->name);
    else if (size == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    buffer->backed = smaller(size, buffer->size);
    if (buffer->base.flags == CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)
        return CUDA_SUCCESS;
    if (!buffer->fetched && !(buffer->fetched = malloc(buffer->size)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (deleted)
        memset(buffer->fetched, NO_BYTES, buffer->backed);
    else
        soft_gl_buffer_read(buffer->name, buffer->fetched, buffer->backed, NO_BYTES);
    return CUDA_SUCCESS;
}

static CUresult fetch(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    soft_gl_visit visit;
    if (!soft_gl_enter(&buffer->context, &visit))
        return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    CUresult result = fetch_bytes(buffer);
    soft_gl_leave(&visit);
    return result;
}

static CUresult open_pages(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    CUresult result = soft_pages_unguard(buffer->pages, buffer->size);
    if (result != CUDA_SUCCESS)
        return result;
    memset(buffer->pages, NO_BYTES, buffer->size);
    const soft_range range = {.base = buffer->pages,
                              .size = buffer->backed,
                              .kind = SOFT_MEMORY_GRAPHICS,
                              .what = buffer->live,
                              .context = resource->owned.context,
                              .owner = buffer};
    result = soft_range_add(&range);
    if (result != CUDA_SUCCESS)
        soft_pages_guard(buffer->pages, buffer->size, buffer->what);
    return result;
}

static void fill(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    memcpy(buffer->pages, buffer->fetched, buffer->backed);
}

/* The bytes for a buffer that was deleted meanwhile go nowhere. */
static void store(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    soft_gl_visit visit;
    if (!soft_gl_enter(&buffer->context, &visit))
        return;
    size_t size = 0;
    if (soft_gl_buffer_look(buffer->name, &size) && size > 0)
        soft_gl_buffer_write(buffer->name, buffer->pages, smaller(size, buffer->backed));
    soft_gl_leave(&visit);
}

static void close_pages(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    soft_range_remove(buffer->pages, SOFT_MEMORY_GRAPHICS, NULL);
    soft_pages_guard(buffer->pages, buffer->size, buffer->what);
}

static void free_buffer(soft_graphics *resource)
{
    gl_buffer *buffer = of(resource);
    if (buffer->pages)
        soft_pages_retire(buffer->pages, buffer->size,
                          "an OpenGL buffer, after cuGraphicsUnregisterResource");
    free(buffer->fetched);
    free(buffer);
}

static void pointer(soft_graphics *resource, CUdeviceptr *address, size_t *size)
{
    gl_buffer *buffer = of(resource);
    *address = (CUdeviceptr)(uintptr_t)buffer->pages;
    *size = buffer->size;
}

static const soft_graphics_ops ops = {
    .fetch = fetch,
    .open = open_pages,
    .fill = fill,
    .can_store = soft_gl_has_context,
    .store = store,
    .close = close_pages,
    .can_end = soft_gl_has_context,
    .free = free_buffer,
    .pointer = pointer,
};

static CUresult register_buffer(soft_context *context, const soft_gl_context *gl, unsigned name,
                                size_t size, unsigned flags, CUgraphicsResource *handle)
{
    gl_buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return CUDA_ERROR_OUT_OF_MEMORY;
    buffer->name = name;
    buffer->context = *gl;
    buffer->size = size;
    snprintf(buffer->live, sizeof(buffer->live), "OpenGL buffer %u", name);
    snprintf(
        buffer->what, sizeof(buffer->what),
        "OpenGL buffer %u, which is not mapped: the pointer was used after its unmap, or before "
        "its next map",
        name);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    buffer->pages = soft_pages_new(size, SOFT_ALIGNMENT, false);
    if (!buffer->pages)
        goto fail;
    result = soft_pages_guard(buffer->pages, size, buffer->what);
    if (result != CUDA_SUCCESS)
        goto fail;
    result = soft_graphics_register(&buffer->base, &ops, context, flags, handle);
    if (result != CUDA_SUCCESS)
        goto fail;
    return CUDA_SUCCESS;
fail:
    free_buffer(&buffer->base);
    return result;
}

SOFT_API cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource, GLuint buffer,
                                    unsigned int Flags)
{
    soft_context *context;
    CUresult result = soft_check_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    soft_gl_context gl;
    if (!pCudaResource || buffer == 0 || Flags > CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD ||
        !soft_gl_current(&gl))
        return CUDA_ERROR_INVALID_VALUE;
    static int logged;
    if (!soft_gl_is_desktop())
        return soft_unsupported(&logged, "interoperation with a context of OpenGL ES");
    size_t size = 0;
    if (!soft_gl_buffer_look(buffer, &size))
        return CUDA_ERROR_INVALID_HANDLE;
    if (size == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return register_buffer(context, &gl, buffer, size, Flags, pCudaResource);
}

/* Whatever draws, this driver's one device can work with it. */
SOFT_API cuGLGetDevices_v2(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                           unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    CUresult result = soft_check_init();
    if (result != CUDA_SUCCESS)
        return result;
    if (!pCudaDeviceCount || (!pCudaDevices && cudaDeviceCount > 0) ||
        deviceList < CU_GL_DEVICE_LIST_ALL || deviceList > CU_GL_DEVICE_LIST_NEXT_FRAME)
        return CUDA_ERROR_INVALID_VALUE;
    soft_gl_context current;
    if (!soft_gl_current(&current))
        return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    *pCudaDeviceCount = 1;
    if (cudaDeviceCount > 0)
        pCudaDevices[0] = 0;
    return CUDA_SUCCESS;
}

SOFT_API cuGLGetDevices(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                        unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    return cuGLGetDevices_v2(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList);
}
