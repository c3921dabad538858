/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * compat.h in programs of the runtime API. This file does not include the header: the compiler
 * option -include does. The program is linked with the runtime of the software driver. In the GPU
 * bundle it is linked without a runtime and runs with the libcudart of NVIDIA:
 *
 *     LD_PRELOAD=/usr/local/cuda/lib64/libcudart.so GR_TEST_DRIVERS=gpu \
 *         sh share/run-test bin/test_compat_runtime
 */
#include "tests/support/support.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_gl_interop.h>
#include <cuda_runtime_api.h>

#ifndef GR_COMPAT_H
#error "this file is compiled with -include grinterop/compat.h"
#endif

/*
 * Runtime functions that this program and compat.h call. They are weak, so that the program starts
 * without a runtime.
 */
#pragma weak cudaFree
#pragma weak cudaGetLastError
#pragma weak cudaImportExternalMemory
#pragma weak cudaImportExternalSemaphore
#pragma weak cudaMemcpy2DToArray
#pragma weak cudaMemset
#pragma weak cudaPeekAtLastError
#pragma weak cudaSetDevice

/* The reason why the runtime cannot be used, or NULL. */
static const char *no_runtime(void)
{
    if (!dlsym(RTLD_DEFAULT, "cudaMemset"))
        return "no CUDA runtime is loaded: name NVIDIA's in LD_PRELOAD";
    if (dlsym(RTLD_DEFAULT, "gr_softcuda_version") && !gr_cuda_is_software())
        return "the runtime is the software driver's, and another driver is in use";
    return NULL;
}

#define RT(call)              RT_GIVES(cudaSuccess, call)
#define RT_GIVES(error, call) assert_result(error, call, #call)

GROUP("programs", add_case)

#define WIDTH  64
#define HEIGHT 32

/* Like the sample simpleGL of NVIDIA: CUDA writes a vertex buffer in each frame. */
TEST_UNLESS(no_runtime(), cuda_writes_a_vertex_buffer_in_each_frame)
{
    struct cudaGraphicsResource *mesh = NULL;
    float *vertices = NULL;
    size_t bytes = 0;
    GLuint name = gl_buffer_filled(WIDTH * HEIGHT * 16, 1);
    RT(cudaGraphicsGLRegisterBuffer(&mesh, name, cudaGraphicsMapFlagsWriteDiscard));
    for (int frame = 0; frame < 5; frame++) {
        RT(cudaGraphicsMapResources(1, &mesh, 0));
        RT(cudaGraphicsResourceGetMappedPointer((void **)&vertices, &bytes, mesh));
        ck_assert_uint_eq(bytes, WIDTH * HEIGHT * 16);
        RT(cudaMemset(vertices, 0x10 + frame, bytes));
        RT(cudaGraphicsUnmapResources(1, &mesh, 0));
        assert_gl_bytes(name, WIDTH * HEIGHT * 16, 0x10 + frame);
    }
    RT(cudaGraphicsUnregisterResource(mesh));
    RT(cudaGetLastError());
}

CHILD(registers_with_a_wrong_setting)
{
    struct cudaGraphicsResource *resource = NULL;
    return cudaGraphicsGLRegisterBuffer(&resource, 1, 0) == cudaSuccess;
}

/* Catches: with GR_LOG=error, both were printed twice. */
TEST_UNLESS(no_runtime(), a_wrong_setting_is_printed_once, 4)
{
    static const char *const rows[][2] = {
        {"GR_COMPAT", "GR_COMPAT names \"wrong\""},
        {"GR_CUDA_DRIVER", "CUDA driver wrong could not be loaded"}};
    const char *const *row = rows[_i / 2], *const driver = getenv("GR_CUDA_DRIVER");
    char text[4096], kept[256];
    snprintf(kept, sizeof(kept), "%s", driver ? driver : "");
    setenv("GR_LOG", _i % 2 ? "none" : "error", 1);
    setenv(row[0], "wrong", 1);
    int status = child_run("registers_with_a_wrong_setting", text, sizeof(text));
    unsetenv("GR_LOG");
    unsetenv(row[0]);
    if (kept[0])
        setenv("GR_CUDA_DRIVER", kept, 1);
    ck_assert_msg(status == 0, "%s", text);
    const char *first = strstr(text, row[1]);
    const bool is_printed = _i != 3; /* without a log, that of the driver is not */
    ck_assert_msg(!first == !is_printed && (!first || !strstr(first + 1, row[1])), "%s", text);
}

CHILD(registers_without_a_device)
{
    struct cudaGraphicsResource *resource = NULL;
    RT_GIVES(cudaErrorNoDevice, cudaGraphicsGLRegisterBuffer(&resource, 1, 0));
    ck_assert_msg(strstr(gr_last_error()->message, "grinterop-nvcc"), "%s", error_text());
    return 0;
}

/* Catches: only the runtime's text was shown, which names neither the cause nor a remedy. */
TEST_UNLESS(no_runtime(), a_runtime_that_does_not_start_is_explained)
{
    char text[4096];
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    setenv("GR_SOFT_DEVICES", "1", 1);
    int status = child_run("registers_without_a_device", text, sizeof(text));
    ck_assert_msg(status == 0, "%s", text);
}

static GLuint new_texture(void)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    return name;
}

/*
 * Like the sample postProcessGL: CUDA copies pixels from an OpenGL buffer to a texture through its
 * array.
 */
TEST_UNLESS(no_runtime(), cuda_copies_a_buffer_to_a_texture)
{
    enum { BYTES = WIDTH * HEIGHT * 4 };
    struct cudaGraphicsResource *in = NULL, *out = NULL;
    void *pixels = NULL;
    size_t bytes = 0;
    cudaArray_t array = NULL;
    unsigned char read[BYTES];
    GLuint texture = new_texture();
    RT(cudaGraphicsGLRegisterBuffer(&in, gl_buffer_pattern(BYTES, 5), cudaGraphicsMapFlagsNone));
    RT(cudaGraphicsResourceSetMapFlags(in, cudaGraphicsMapFlagsReadOnly));
    RT(cudaGraphicsGLRegisterImage(&out, texture, GL_TEXTURE_2D,
                                   cudaGraphicsRegisterFlagsWriteDiscard));
    struct cudaGraphicsResource *both[] = {in, out};
    RT(cudaGraphicsMapResources(2, both, 0));
    RT(cudaGraphicsResourceGetMappedPointer(&pixels, &bytes, in));
    RT(cudaGraphicsSubResourceGetMappedArray(&array, out, 0, 0));
    RT(cudaMemcpy2DToArray(array, 0, 0, pixels, WIDTH * 4, WIDTH * 4, HEIGHT,
                           cudaMemcpyDeviceToDevice));
    RT(cudaGraphicsUnmapResources(2, both, 0));
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, read);
    assert_pattern(read, BYTES, 5);
    RT(cudaGraphicsUnregisterResource(in));
    RT(cudaGraphicsUnregisterResource(out));
}

GROUP("calls", add_case)

/* The first CUDA call of the program is about graphics, and no context is current before it. */
TEST_UNLESS(no_runtime(), a_first_registration_makes_the_runtime_context_current)
{
    struct cudaGraphicsResource *resource = NULL;
    CU(CtxSetCurrent(NULL));
    RT(cudaGraphicsGLRegisterBuffer(&resource, gl_buffer_filled(256, 1), 0));
    ck_assert_ptr_eq(current_context(), fx.context);
    RT(cudaGraphicsUnregisterResource(resource));
}

TEST_UNLESS(no_runtime(), errors_are_returned_as_runtime_errors)
{
    struct cudaGraphicsResource *resource = NULL;
    void *pointer = NULL;
    size_t size = 0;
    RT(cudaGraphicsGLRegisterBuffer(&resource, gl_buffer_filled(256, 1), 0));
    RT(cudaGetLastError());
    RT_GIVES(cudaErrorNotMapped, cudaGraphicsResourceGetMappedPointer(&pointer, &size, resource));
    RT_GIVES(cudaErrorNotMapped, cudaPeekAtLastError());
    RT_GIVES(cudaErrorNotMapped, cudaGetLastError());
    RT(cudaGetLastError());
    RT_GIVES(cudaErrorInvalidValue, cudaGraphicsMapResources(-1, &resource, 0));
    RT_GIVES(cudaErrorInvalidValue, cudaGraphicsMapResources(0, &resource, 0));
    RT_GIVES(cudaErrorInvalidValue, cudaGetLastError());
    RT(cudaGraphicsMapResources(1, &resource, 0));
    RT_GIVES(cudaErrorAlreadyMapped, cudaGraphicsMapResources(1, &resource, 0));
    RT(cudaGraphicsUnmapResources(1, &resource, 0));
    RT(cudaGraphicsUnregisterResource(resource));
    RT_GIVES(cudaErrorInvalidResourceHandle, cudaGraphicsUnregisterResource(resource));
    /* The error of compat.h takes precedence over that of the runtime. One call clears both. */
    RT_GIVES(cudaErrorInvalidValue, cudaMemset(NULL, 0, 16));
    RT_GIVES(cudaErrorInvalidResourceHandle, cudaGetLastError());
    RT(cudaGetLastError());
}

TEST_UNLESS(no_runtime(), cuda_gl_get_devices_lists_the_drawing_device)
{
    unsigned count = 0;
    int devices[4] = {-1, -1, -1, -1};
    RT(cudaGLGetDevices(&count, devices, 4, cudaGLDeviceListAll));
    ck_assert_uint_ge(count, 1);
    ck_assert_int_eq(devices[0], fixture_drawing_device());
    RT_GIVES(cudaErrorInvalidValue, cudaGLGetDevices(NULL, devices, 4, cudaGLDeviceListAll));
    RT_GIVES(cudaErrorInvalidValue, cudaGetLastError());
    assert_ok(gr_egl_make_current(NULL));
    gr_clear_error();
    RT_GIVES(cudaErrorInvalidGraphicsContext,
             cudaGLGetDevices(&count, devices, 4, cudaGLDeviceListAll));
    ck_assert_str_ne(gr_last_error()->message, "");
    assert_ok(gr_egl_make_current(fx.egl));
    (void)cudaGetLastError();
}

TEST_UNLESS(no_runtime(), a_failed_import_records_the_reason)
{
    cudaExternalMemory_t memory = NULL;
    cudaExternalSemaphore_t semaphore = NULL;
    struct cudaExternalMemoryHandleDesc of_memory;
    struct cudaExternalSemaphoreHandleDesc of_semaphore;
    memset(&of_memory, 0, sizeof(of_memory));
    memset(&of_semaphore, 0, sizeof(of_semaphore));
    of_memory.type = cudaExternalMemoryHandleTypeOpaqueFd;
    of_memory.handle.fd = 9999;
    of_memory.size = 4096;
    of_semaphore.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
    of_semaphore.handle.fd = 9999;
    gr_clear_error();
    ck_assert_int_ne(cudaImportExternalMemory(&memory, &of_memory), cudaSuccess);
    assert_error(GR_ERR_INVALID_VALUE, -1, "fd 9999, which is not open");
    ck_assert_int_ne(cudaImportExternalSemaphore(&semaphore, &of_semaphore), cudaSuccess);
    assert_error(GR_ERR_INVALID_VALUE, -1, "fd 9999, which is not open");
    (void)cudaGetLastError();
}
