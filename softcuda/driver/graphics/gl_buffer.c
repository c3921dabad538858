/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* OpenGL buffers as graphics resources, and the devices that OpenGL draws on. */
#include "softcuda/driver/graphics/gl_resource.h"
#include "softcuda/driver/stream/scheduler.h"

#include <epoxy/gl.h>

#include <cudaGL.h>

#include <stdlib.h>
#include <string.h>

static void *buffer_of(soft_graphics *resource)
{
    return resource;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Gets the size; false if the buffer was deleted. */
static bool has_buffer(const soft_gl_resource *buffer, size_t *size)
{
    return soft_gl_label_holds(&buffer->label, GL_BUFFER, buffer->name) &&
           soft_gl_buffer_size(buffer->name, size);
}

/*
 * The size of the buffer may have changed since its registration: only bytes within both sizes are
 * fetched. With the NVIDIA driver a registration keeps a deleted buffer alive; here the bytes of a
 * deleted buffer are no longer accessible.
 */
static CUresult fetch_bytes(soft_graphics *resource)
{
    soft_gl_resource *buffer = buffer_of(resource);
    size_t size = buffer->size;
    const bool deleted = !has_buffer(buffer, &size);
    if (deleted)
        soft_log(SOFT_DEBUG, "%s is mapped although it was deleted", buffer->name_text);
    else if (size == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    buffer->backed = smaller(size, buffer->size);
    if (!soft_gl_resource_is_read(buffer))
        return CUDA_SUCCESS;
    SOFT_TRY(soft_gl_resource_alloc_buffer(buffer));
    if (deleted)
        memset(buffer->fetched, SOFT_GL_NO_BYTES, buffer->backed);
    else
        soft_gl_buffer_read(buffer->name, buffer->fetched, buffer->backed, SOFT_GL_NO_BYTES);
    return CUDA_SUCCESS;
}

static CUresult fetch(soft_graphics *resource)
{
    return soft_gl_resource_visit(resource, fetch_bytes);
}

static CUresult open_buffer(soft_graphics *resource, bool blank)
{
    soft_gl_resource *buffer = buffer_of(resource);
    SOFT_TRY(soft_gl_resource_open(buffer, blank));
    const soft_range range = {.base = buffer->pages,
                              .size = buffer->backed,
                              .kind = SOFT_MEMORY_GRAPHICS,
                              .what = buffer->name_text,
                              .context = resource->owned.context,
                              .owner = buffer};
    CUresult result = soft_range_add(&range);
    if (result != CUDA_SUCCESS)
        soft_gl_resource_close(buffer);
    return result;
}

/* If the buffer was deleted while it was mapped, its bytes are dropped. */
static CUresult store_bytes(soft_graphics *resource)
{
    const soft_gl_resource *buffer = buffer_of(resource);
    size_t size = 0;
    if (has_buffer(buffer, &size) && size > 0)
        soft_gl_buffer_write(buffer->name, buffer->pages, smaller(size, buffer->backed));
    return CUDA_SUCCESS;
}

static void store(soft_graphics *resource)
{
    (void)soft_gl_resource_visit(resource, store_bytes);
}

static void close_buffer(soft_graphics *resource)
{
    const soft_gl_resource *buffer = buffer_of(resource);
    soft_range_remove(buffer->pages, SOFT_MEMORY_GRAPHICS, NULL);
    soft_gl_resource_close(buffer);
}

static void free_buffer(soft_graphics *resource)
{
    soft_gl_resource_free(buffer_of(resource),
                          "an OpenGL buffer, after cuGraphicsUnregisterResource");
}

static void pointer(soft_graphics *resource, CUdeviceptr *address, size_t *size)
{
    const soft_gl_resource *buffer = buffer_of(resource);
    *address = (CUdeviceptr)(uintptr_t)buffer->pages;
    *size = buffer->size;
}

static const soft_graphics_ops ops = {
    .fetch = fetch,
    .open = open_buffer,
    .fill = soft_gl_resource_fill,
    .can_store = soft_gl_has_context,
    .store = store,
    .close = close_buffer,
    .can_end = soft_gl_has_context,
    .free = free_buffer,
    .pointer = pointer,
};

static CUresult register_buffer(soft_context *context, const soft_gl_context *gl, unsigned name,
                                size_t size, unsigned flags, CUgraphicsResource *handle)
{
    soft_gl_resource *buffer = calloc(1, sizeof(*buffer));
    SOFT_FAIL_IF(!buffer, CUDA_ERROR_OUT_OF_MEMORY);
    buffer->name = name;
    buffer->context = *gl;
    buffer->size = size;
    soft_gl_label_take(&buffer->label, GL_BUFFER, name);
    CUresult result = soft_gl_resource_make(buffer, "buffer", "the pointer");
    if (result == CUDA_SUCCESS)
        result = soft_graphics_register(&buffer->base, &ops, context, flags, handle);
    if (result != CUDA_SUCCESS)
        free_buffer(&buffer->base);
    return result;
}

SOFT_API cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource, GLuint buffer,
                                    unsigned int Flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_TRY(soft_capture_check_unsafe());
    soft_gl_context gl;
    SOFT_FAIL_IF(!pCudaResource || buffer == 0 ||
                     Flags > CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD || !soft_gl_current(&gl),
                 CUDA_ERROR_INVALID_VALUE);
    size_t size = 0;
    SOFT_FAIL_IF(!soft_gl_buffer_size(buffer, &size), CUDA_ERROR_INVALID_HANDLE);
    SOFT_FAIL_IF(size == 0, CUDA_ERROR_OUT_OF_MEMORY);
    return register_buffer(context, &gl, buffer, size, Flags, pCudaResource);
}

/*
 * All OpenGL contexts draw on the same device, which CUDA_VISIBLE_DEVICES may hide from the
 * program.
 */
SOFT_API cuGLGetDevices_v2(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices,
                           unsigned int cudaDeviceCount, CUGLDeviceList deviceList)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!pCudaDeviceCount || (!pCudaDevices && cudaDeviceCount > 0) ||
                     deviceList < CU_GL_DEVICE_LIST_ALL ||
                     deviceList > CU_GL_DEVICE_LIST_NEXT_FRAME,
                 CUDA_ERROR_INVALID_VALUE);
    soft_gl_context current;
    SOFT_FAIL_IF(!soft_gl_current(&current), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    CUdevice drawing = soft_device_of_number(SOFT_DRAWING_DEVICE);
    SOFT_FAIL_IF(drawing == CU_DEVICE_INVALID, CUDA_ERROR_NO_DEVICE);
    *pCudaDeviceCount = 1;
    if (cudaDeviceCount > 0)
        pCudaDevices[0] = drawing;
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuGLGetDevices,
            (unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount,
             CUGLDeviceList deviceList),
            (pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList))
