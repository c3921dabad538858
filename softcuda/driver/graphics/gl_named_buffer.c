/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The oldest OpenGL interop calls, which identify buffers by their OpenGL names. A table contains
 * the resource of each registered name.
 */
#include "softcuda/driver/graphics/graphics.h"

#include <cudaGL.h>
#include <stdlib.h>

struct buffer {
    struct buffer *next;
    GLuint name;
    CUgraphicsResource resource;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *buffers;

static struct buffer **find_locked(GLuint name)
{
    struct buffer **at = &buffers;
    while (*at && (*at)->name != name)
        at = &(*at)->next;
    return at;
}

static void remove_locked(struct buffer **at)
{
    struct buffer *found = *at;
    *at = found->next;
    free(found);
}

/* A resource is destroyed with its CUDA context. The OpenGL name can then be registered again. */
static bool is_registered_locked(GLuint name)
{
    struct buffer **at = find_locked(name);
    if (*at && !soft_handle_get(SOFT_KIND_GRAPHICS, (*at)->resource))
        remove_locked(at);
    return *find_locked(name);
}

static CUresult resource_of(GLuint name, CUgraphicsResource *resource)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_LOCK(&lock);
    struct buffer *found = *find_locked(name);
    SOFT_FAIL_IF(!found, CUDA_ERROR_INVALID_VALUE);
    *resource = found->resource;
    return CUDA_SUCCESS;
}

static CUresult add_locked(struct buffer *buffer)
{
    SOFT_FAIL_IF(is_registered_locked(buffer->name),
                 CUDA_ERROR_ALREADY_MAPPED); /* the code that a GPU driver returns */
    CUresult result = cuGraphicsGLRegisterBuffer(&buffer->resource, buffer->name, 0);
    if (result == CUDA_SUCCESS) {
        buffer->next = buffers;
        buffers = buffer;
    }
    return result;
}

SOFT_API cuGLRegisterBufferObject(GLuint buffer)
{
    SOFT_TRY(soft_check_context(NULL));
    struct buffer *added = calloc(1, sizeof(*added));
    SOFT_FAIL_IF(!added, CUDA_ERROR_OUT_OF_MEMORY);
    added->name = buffer;
    SOFT_LOCK(&lock);
    CUresult result = add_locked(added);
    if (result != CUDA_SUCCESS)
        free(added);
    return result;
}

SOFT_API cuGLUnregisterBufferObject(GLuint buffer)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_LOCK(&lock);
    struct buffer **at = find_locked(buffer);
    SOFT_FAIL_IF(!*at, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(cuGraphicsUnregisterResource((*at)->resource));
    remove_locked(at);
    return CUDA_SUCCESS;
}

SOFT_API cuGLSetBufferObjectMapFlags(GLuint buffer, unsigned int Flags)
{
    SOFT_GET(CUgraphicsResource, resource, resource_of(buffer, &resource));
    return cuGraphicsResourceSetMapFlags_v2(resource, Flags);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

SOFT_API_ptsz(cuGLMapBufferObjectAsync_v2,
              (CUdeviceptr * dptr, size_t *size, GLuint buffer, CUstream hStream),
              (dptr, size, buffer, hStream))
{
    SOFT_GET(CUgraphicsResource, resource, resource_of(buffer, &resource));
    SOFT_FAIL_IF(!dptr, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(cuGraphicsMapResources(1, &resource, hStream));
    return cuGraphicsResourceGetMappedPointer_v2(dptr, size, resource);
}

SOFT_API_ptds(cuGLMapBufferObject_v2, (CUdeviceptr * dptr, size_t *size, GLuint buffer),
              (dptr, size, buffer))
{
    return cuGLMapBufferObjectAsync_v2(dptr, size, buffer, NULL);
}

SOFT_API cuGLUnmapBufferObjectAsync(GLuint buffer, CUstream hStream)
{
    SOFT_GET(CUgraphicsResource, resource, resource_of(buffer, &resource));
    return cuGraphicsUnmapResources(1, &resource, hStream);
}

SOFT_FORWARD(cuGLUnmapBufferObject, (GLuint buffer), cuGLUnmapBufferObjectAsync(buffer, NULL))

/* ---- Creation of CUDA contexts for OpenGL, no longer necessary ------------------------------- */

SOFT_FORWARD(cuGLCtxCreate_v2, (CUcontext * pCtx, unsigned int Flags, CUdevice device),
             cuCtxCreate_v2(pCtx, Flags, device))

SOFT_API_v1(cuGLCtxCreate, (CUcontext * pCtx, unsigned int Flags, CUdevice device),
            (pCtx, Flags, device))

SOFT_FORWARD(cuGLInit, (void), soft_check_context(NULL))
