/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The oldest interop calls, which identify OpenGL buffers by their OpenGL names. */
#define _GNU_SOURCE
#include "client_calls.h"

#include "softcuda/tests/kernels/soft_launch.h"

static CUdeviceptr mapped(GLuint name)
{
    CUdeviceptr pointer = 0;
    size_t size = 0;
    READS(size, SIZE, cuGLMapBufferObjectAsync_v2, (&pointer, &size, name, fx.stream));
    return pointer;
}

GROUP("OpenGL", add_case)

TEST(buffer_can_be_mapped_by_its_opengl_name)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    DRV(cuGLInit, ());
    DRV(cuGLRegisterBufferObject, (name));
    DRV(cuGLSetBufferObjectMapFlags, (name, CU_GL_MAP_RESOURCE_FLAGS_NONE));
    CUdeviceptr pointer = mapped(name);
    DRV(cuMemsetD8Async, (pointer, 7, SIZE, fx.stream));
    DRV(cuGLUnmapBufferObjectAsync, (name, fx.stream));
    CU(StreamSynchronize(fx.stream));
    unsigned char seen[4] = {0};
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glGetBufferSubData(GL_ARRAY_BUFFER, SIZE - 4, 4, seen);
    ck_assert_int_eq(seen[0], 7);
    ck_assert_int_eq(seen[3], 7);
    GIVES(ERROR_NOT_MAPPED, cuGLUnmapBufferObject, (name));
    TWIN(cuGLMapBufferObject_v2, _ptds, (&pointer, NULL, name));
    GIVES(ERROR_ALREADY_MAPPED, cuGLMapBufferObject_v2, (&pointer, NULL, name));
    DRV(cuGLUnmapBufferObjectAsync, (name, CU_STREAM_PER_THREAD));
    GIVES(ERROR_ALREADY_MAPPED, cuGLRegisterBufferObject, (name));
    DRV(cuGLUnregisterBufferObject, (name));
    INVALID(cuGLSetBufferObjectMapFlags, (name, 0));
    INVALID(cuGLUnmapBufferObject, (name));
    INVALID(cuGLUnregisterBufferObject, (name));
    INVALID(cuGLMapBufferObject_v2, (&pointer, NULL, name));
}

SOFT_TEST(several_buffers_can_be_mapped_by_opengl_name)
{
    GLuint names[] = {gl_buffer_pattern(SIZE, 1), gl_buffer_pattern(SIZE, 2)};
    CUdeviceptr pointer = 0;
    size_t size = 0;
    for (int i = 0; i < 2; i++)
        DRV(cuGLRegisterBufferObject, (names[i]));
    GIVES(ERROR_INVALID_HANDLE, cuGLRegisterBufferObject, (999999));
    INVALID(cuGLMapBufferObjectAsync_v2, (NULL, &size, names[0], fx.stream));
    TWIN(cuGLMapBufferObjectAsync_v2, _ptsz, (&pointer, &size, names[0], fx.stream));
    ck_assert_uint_eq(size, SIZE);
    DRV(cuGLUnmapBufferObjectAsync, (names[0], fx.stream));
    for (int i = 0; i < 2; i++)
        DRV(cuGLUnregisterBufferObject, (names[i]));
}

/* Catches: a name was still registered after its context had ended. */
TEST(name_can_be_registered_again_after_its_context_ended)
{
    CUcontext context = NULL;
    GLuint name = gl_buffer_pattern(SIZE, 1);
    DRV(cuGLCtxCreate_v2, (&context, 0, fx.device));
    DRV(cuGLRegisterBufferObject, (name));
    DRV(cuCtxDestroy_v2, (context));
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuGLRegisterBufferObject, (name));
    GIVES(ERROR_INVALID_CONTEXT, cuGLUnregisterBufferObject, (name));
    GIVES(ERROR_INVALID_CONTEXT, cuGLSetBufferObjectMapFlags, (name, 0));
    DRV(cuCtxSetCurrent, (fx.context));
    DRV(cuGLRegisterBufferObject, (name));
    DRV(cuGLUnregisterBufferObject, (name));
}

/* Catches: pointer queries reported mapped memory as host memory. */
TEST(mapped_pointer_is_reported_as_device_memory)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    CUgraphicsResource resource = NULL;
    CUdeviceptr pointer = 0, base = 0;
    size_t size = 0;
    unsigned type = 0;
    int device = 99;
    if (!gr_cuda_is_software())
        skip("NVIDIA's driver knows the memory of one map and not that of the next");
    DRV(cuGraphicsGLRegisterBuffer, (&resource, name, 0));
    DRV(cuGraphicsMapResources, (1, &resource, fx.stream));
    DRV(cuGraphicsResourceGetMappedPointer_v2, (&pointer, &size, resource));
    READS(type, CU_MEMORYTYPE_DEVICE, cuPointerGetAttribute,
          (&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer + 5));
    READS(device, fx.device, cuPointerGetAttribute,
          (&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
    READS(base, pointer, cuMemGetAddressRange_v2, (&base, &size, pointer + 5));
    ck_assert_uint_eq(size, SIZE);
    INVALID(cuGraphicsResourceGetMappedMipmappedArray, (NULL, resource));
    DRV(cuGraphicsUnmapResources, (1, &resource, fx.stream));
    INVALID(cuPointerGetAttribute, (&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
    DRV(cuGraphicsUnregisterResource, (resource));
}
