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
    SOFT_FAIL_IF(!pointer, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(size_t, size, cuGLMapBufferObjectAsync_v2(&mapped, &size, name, stream));
    *pointer = (void *)(uintptr_t)mapped;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaGLRegisterBufferObject, (GLuint bufObj), cuGLRegisterBufferObject(bufObj))
RT_FORWARD(cudaGLUnregisterBufferObject, (GLuint bufObj), cuGLUnregisterBufferObject(bufObj))
RT_FORWARD(cudaGLMapBufferObject, (void **devPtr, GLuint bufObj), map_name(devPtr, bufObj, NULL))
RT_FORWARD(cudaGLMapBufferObjectAsync, (void **devPtr, GLuint bufObj, cudaStream_t stream),
           map_name(devPtr, bufObj, stream))
RT_FORWARD(cudaGLUnmapBufferObject, (GLuint bufObj), cuGLUnmapBufferObject(bufObj))
RT_FORWARD(cudaGLUnmapBufferObjectAsync, (GLuint bufObj, cudaStream_t stream),
           cuGLUnmapBufferObjectAsync(bufObj, stream))
RT_FORWARD(cudaGLSetBufferObjectMapFlags, (GLuint bufObj, unsigned int flags),
           cuGLSetBufferObjectMapFlags(bufObj, flags))
