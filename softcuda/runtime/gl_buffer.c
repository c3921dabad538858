/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The oldest OpenGL interop API, which identifies buffers by their OpenGL names. */
#include "softcuda/runtime/runtime.h"

#include <epoxy/gl.h>
#include <cudaGL.h>
#include <cuda_gl_interop.h>
#include <stdint.h>

static CUresult map_name(void **pointer, GLuint name, CUstream stream)
{
    CUdeviceptr mapped = 0;
    size_t size;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    SOFT_TRY(cuGLMapBufferObjectAsync_v2(&mapped, &size, name, stream));
    *pointer = (void *)(uintptr_t)mapped;
    return CUDA_SUCCESS;
}

RT_API cudaGLRegisterBufferObject(GLuint bufObj)
{
    return RT_IN_CONTEXT(cuGLRegisterBufferObject(bufObj));
}

RT_API cudaGLUnregisterBufferObject(GLuint bufObj)
{
    return RT_IN_CONTEXT(cuGLUnregisterBufferObject(bufObj));
}

RT_API cudaGLMapBufferObject(void **devPtr, GLuint bufObj)
{
    return RT_IN_CONTEXT(map_name(devPtr, bufObj, NULL));
}

RT_API cudaGLMapBufferObjectAsync(void **devPtr, GLuint bufObj, cudaStream_t stream)
{
    return RT_IN_CONTEXT(map_name(devPtr, bufObj, stream));
}

RT_API cudaGLUnmapBufferObject(GLuint bufObj)
{
    return RT_IN_CONTEXT(cuGLUnmapBufferObject(bufObj));
}

RT_API cudaGLUnmapBufferObjectAsync(GLuint bufObj, cudaStream_t stream)
{
    return RT_IN_CONTEXT(cuGLUnmapBufferObjectAsync(bufObj, stream));
}

RT_API cudaGLSetBufferObjectMapFlags(GLuint bufObj, unsigned int flags)
{
    return RT_IN_CONTEXT(cuGLSetBufferObjectMapFlags(bufObj, flags));
}
