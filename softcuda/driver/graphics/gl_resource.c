/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The pages of OpenGL buffers and images as graphics resources. */
#include "softcuda/driver/graphics/gl_resource.h"

#include <cudaGL.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult soft_gl_resource_make(soft_gl_resource *resource, const char *kind, const char *use)
{
    snprintf(resource->name_text, sizeof(resource->name_text), "OpenGL %s %u", kind,
             resource->name);
    snprintf(resource->what, sizeof(resource->what),
             "%s, which is not mapped: %s was used after its unmap, before its next map, or in a "
             "stream that the unmap did not wait for",
             resource->name_text, use);
    resource->base.name = resource->name_text;
    resource->backed = resource->size;
    resource->pages = soft_pages_new(resource->size, SOFT_ALIGNMENT, false);
    SOFT_FAIL_IF(!resource->pages, CUDA_ERROR_OUT_OF_MEMORY);
    return soft_pages_guard(resource->pages, resource->size, resource->what);
}

void soft_gl_resource_free(soft_gl_resource *resource, const char *after)
{
    if (resource->pages)
        soft_pages_retire(resource->pages, resource->size, after);
    free(resource->fetched);
    free(resource);
}

bool soft_gl_resource_is_read(const soft_gl_resource *resource)
{
    return resource->base.flags != CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD;
}

CUresult soft_gl_resource_alloc_buffer(soft_gl_resource *resource)
{
    if (resource->fetched)
        return CUDA_SUCCESS;
    resource->fetched = malloc(resource->size);
    SOFT_FAIL_IF(!resource->fetched, CUDA_ERROR_OUT_OF_MEMORY);
    memset(resource->fetched, SOFT_GL_NO_BYTES, resource->size);
    return CUDA_SUCCESS;
}

CUresult soft_gl_resource_visit(soft_graphics *resource, CUresult (*work)(soft_graphics *resource))
{
    const soft_gl_resource *gl = (const void *)resource;
    soft_gl_visit visit;
    SOFT_FAIL_IF(!soft_gl_enter(&gl->context, &visit), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    CUresult result = work(resource);
    soft_gl_leave(&visit);
    return result;
}

CUresult soft_gl_resource_open(soft_gl_resource *resource, bool blank)
{
    CUresult result = soft_pages_unguard(resource->pages, resource->size);
    if (result == CUDA_SUCCESS && blank)
        memset(resource->pages, SOFT_GL_NO_BYTES, resource->size);
    return result;
}

void soft_gl_resource_close(const soft_gl_resource *resource)
{
    soft_pages_guard(resource->pages, resource->size, resource->what);
}

void soft_gl_resource_fill(soft_graphics *resource)
{
    const soft_gl_resource *gl = (const void *)resource;
    memcpy(gl->pages, gl->fetched, gl->backed);
    memset(gl->pages + gl->backed, SOFT_GL_NO_BYTES, gl->size - gl->backed);
}
