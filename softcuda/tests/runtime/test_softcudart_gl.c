/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The runtime API, OpenGL, the driver API and grinterop in one program. All of them use one driver,
 * so memory, contexts and streams can be passed between them.
 */
#define _GNU_SOURCE
#include "tests/support/soft_semaphores.h"
#include "tests/support/support.h"
#include "softcuda/tests/conformance/conformance_share.h"
#include "softcuda/tests/kernels/soft_launch.h"

#include <cuda_gl_interop.h>
#include <cuda_runtime_api.h>
#include <grinterop/cuhost_launch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 4096

#define RT(call)              RT_GIVES(cudaSuccess, call)
#define RT_GIVES(error, call) assert_error_of(error, cuda##call, "cuda" #call)
#define assert_error_of(error, result, text)                                                       \
    do {                                                                                           \
        cudaError_t got_ = (result);                                                               \
        ck_assert_msg(got_ == (error), "%s returned %s, expected %s", text,                        \
                      cudaGetErrorName(got_), cudaGetErrorName(error));                            \
        (void)cudaGetLastError();                                                                  \
    } while (0)

GROUP("one driver", add_case)

SOFT_TEST(runtime_uses_the_current_context)
{
    void *memory = NULL;
    int device = -1;
    CUcontext context = NULL;
    RT(Malloc(&memory, SIZE));
    CU(PointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)memory));
    ck_assert_ptr_eq(context, fx.context);
    RT(GetDevice(&device));
    ck_assert_int_eq(device, fx.device);
    RT(MemsetAsync(memory, 0x12, SIZE, fx.stream)); /* the stream was created by the driver API */
    RT(StreamSynchronize(fx.stream));
    unsigned char *bytes = must_allocate(SIZE);
    CU(MemcpyDtoH(bytes, (CUdeviceptr)(uintptr_t)memory, SIZE));
    assert_no_difference(bytes_differ_once(bytes, SIZE, 0x12));
    RT(Free(memory));
}

/* The runtime uses a context that the program has created, and this context stays current. */
SOFT_TEST(runtime_uses_a_context_of_the_application)
{
    void *memory = NULL;
    CUcontext own = NULL, current = NULL, owner = NULL;
    CU(CtxCreate(&own, 0, fx.device));
    RT(Malloc(&memory, SIZE));
    CU(PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)memory));
    CU(CtxGetCurrent(&current));
    ck_assert_ptr_eq(owner, own);
    ck_assert_ptr_eq(current, own);
    RT(Free(memory));
    CU(CtxDestroy(own));
}

SOFT_TEST(runtime_accepts_mapped_memory)
{
    GLuint name = gl_buffer_pattern(SIZE, 3);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    void *mapped = (void *)(uintptr_t)gr_buffer_ptr(buffer);
    unsigned char *bytes = must_allocate(SIZE);
    RT(MemcpyAsync(bytes, mapped, SIZE, cudaMemcpyDeviceToHost, fx.stream));
    RT(MemsetAsync(mapped, 0x42, SIZE, fx.stream));
    RT(StreamSynchronize(fx.stream));
    assert_no_difference(pattern_differs_once(bytes, SIZE, 3));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    assert_gl_bytes(name, SIZE, 0x42);
}

GROUP("opengl", add_case)

SOFT_TEST(runtime_maps_a_buffer)
{
    GLuint name = gl_buffer_filled(SIZE, 0x10);
    struct cudaGraphicsResource *resource = NULL;
    void *mapped = NULL;
    size_t size = 0;
    RT(GraphicsGLRegisterBuffer(&resource, name, cudaGraphicsRegisterFlagsNone));
    RT_GIVES(cudaErrorNotMapped, GraphicsResourceGetMappedPointer(&mapped, &size, resource));
    RT_GIVES(cudaErrorNotMapped, GraphicsUnmapResources(1, &resource, NULL));
    RT(GraphicsResourceSetMapFlags(resource, cudaGraphicsMapFlagsWriteDiscard));
    RT(GraphicsMapResources(1, &resource, NULL));
    RT_GIVES(cudaErrorAlreadyMapped, GraphicsMapResources(1, &resource, NULL));
    RT(GraphicsResourceGetMappedPointer(&mapped, &size, resource));
    ck_assert_uint_eq(size, SIZE);
    RT(Memset(mapped, 0x77, SIZE));
    RT(GraphicsUnmapResources(1, &resource, NULL));
    assert_gl_bytes(name, SIZE, 0x77);
    RT(GraphicsUnregisterResource(resource));
    RT_GIVES(cudaErrorInvalidResourceHandle, GraphicsUnregisterResource(resource));
    RT_GIVES(cudaErrorInvalidValue, GraphicsMapResources(-1, &resource, NULL));
}

SOFT_TEST(runtime_maps_an_image)
{
    enum { WIDTH = 16, HEIGHT = 8, ROW = WIDTH * 4 };
    unsigned char *bytes = must_allocate(ROW * HEIGHT), *seen = must_allocate(ROW * HEIGHT);
    GLuint name;
    struct cudaGraphicsResource *resource = NULL;
    cudaArray_t array = NULL;
    struct cudaChannelFormatDesc desc;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    pattern_fill(bytes, ROW * HEIGHT, 5);
    RT(GraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsNone));
    RT(GraphicsMapResources(1, &resource, NULL));
    RT(GraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
    RT(GetChannelDesc(&desc, array));
    ck_assert_int_eq(desc.x, 8);
    ck_assert_int_eq(desc.w, 8);
    RT(Memcpy2DToArray(array, 0, 0, bytes, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
    RT(GraphicsUnmapResources(1, &resource, NULL));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, seen);
    assert_no_difference(pattern_differs_once(seen, ROW * HEIGHT, 5));
    RT(GraphicsUnregisterResource(resource));
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &name);
    free(bytes);
}

SOFT_TEST(runtime_maps_buffers_by_opengl_name)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    GLuint name = gl_buffer_filled(SIZE, 0x10);
    void *mapped = NULL;
    RT(GLRegisterBufferObject(name));
    RT_GIVES(cudaErrorAlreadyMapped, GLRegisterBufferObject(name));
    RT(GLSetBufferObjectMapFlags(name, cudaGLMapFlagsNone));
    RT(GLMapBufferObject(&mapped, name));
    RT(Memset(mapped, 0x31, SIZE));
    RT(GLUnmapBufferObject(name));
    assert_gl_bytes(name, SIZE, 0x31);
    RT(GLMapBufferObjectAsync(&mapped, name, fx.stream));
    RT(MemsetAsync(mapped, 0x32, SIZE, fx.stream));
    RT(GLUnmapBufferObjectAsync(name, fx.stream));
    assert_gl_bytes(name, SIZE, 0x32);
    RT(GLUnregisterBufferObject(name));
    RT_GIVES(cudaErrorInvalidValue, GLUnregisterBufferObject(name));
    RT_GIVES(cudaErrorInvalidValue, GLMapBufferObject(&mapped, name));
#pragma GCC diagnostic pop
}

SOFT_TEST(runtime_reports_the_rendering_device)
{
    unsigned count = 0;
    int devices[8] = {-1};
    RT(GLGetDevices(&count, devices, 8, cudaGLDeviceListAll));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(devices[0], 0);
}

GROUP("external", add_case)

SOFT_TEST(runtime_imports_memory)
{
    struct cudaExternalMemoryHandleDesc desc;
    struct cudaExternalMemoryBufferDesc view;
    const CUmemGenericAllocationHandle handle = share_create(2 << 20);
    cudaExternalMemory_t memory = NULL;
    void *mapped = NULL;
    unsigned char *bytes = must_allocate(SIZE);
    memset(&desc, 0, sizeof(desc));
    desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
    desc.handle.fd = share_export(handle);
    desc.size = 2 << 20;
    RT(ImportExternalMemory(&memory, &desc));
    memset(&view, 0, sizeof(view));
    view.offset = SIZE;
    view.size = SIZE;
    RT(ExternalMemoryGetMappedBuffer(&mapped, memory, &view));
    RT(Memset(mapped, 0x2b, SIZE));
    RT(Memcpy(bytes, mapped, SIZE, cudaMemcpyDeviceToHost));
    assert_no_difference(bytes_differ_once(bytes, SIZE, 0x2b));
    RT(Free(mapped));
    RT(DestroyExternalMemory(memory));
    CU(MemRelease(handle));
    RT_GIVES(cudaErrorInvalidValue, ImportExternalMemory(&memory, NULL));
}

SOFT_TEST(runtime_signals_and_waits_for_semaphores)
{
    struct cudaExternalSemaphoreHandleDesc desc;
    struct cudaExternalSemaphoreSignalParams signal;
    struct cudaExternalSemaphoreWaitParams wait;
    cudaExternalSemaphore_t semaphore = NULL;
    ck_assert(soft_semaphores_load());
    memset(&desc, 0, sizeof(desc));
    desc.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    ck_assert_int_eq(soft.create(1, 0, &desc.handle.fd), CUDA_SUCCESS);
    RT(ImportExternalSemaphore(&semaphore, &desc));
    memset(&signal, 0, sizeof(signal));
    memset(&wait, 0, sizeof(wait));
    signal.params.fence.value = wait.params.fence.value = 5;
    RT(WaitExternalSemaphoresAsync(&semaphore, &wait, 1, fx.other));
    RT_GIVES(cudaErrorNotReady, StreamQuery(fx.other));
    RT(SignalExternalSemaphoresAsync(&semaphore, &signal, 1, fx.stream));
    RT(StreamSynchronize(fx.other));
    RT(StreamSynchronize(fx.stream));
    RT(DestroyExternalSemaphore(semaphore));
    RT_GIVES(cudaErrorInvalidValue, ImportExternalSemaphore(&semaphore, NULL));
}

GROUP("one driver", add_case)

static bool takes_software(bool allowed)
{
    void *memory = NULL;
    unsigned type = 0;
    if (gr_cuda_load(allowed) != GR_OK || !gr_cuda_is_software() ||
        cudaMalloc(&memory, SIZE) != cudaSuccess)
        return false;
    CUresult result = gr_cuda()->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                     (CUdeviceptr)(uintptr_t)memory);
    return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE;
}

/* Without GR_CUDA_DRIVER, grinterop uses the driver that the runtime has loaded. */
CHILD(unset)
{
    unsetenv("GR_CUDA_DRIVER");
    return takes_software(false) ? 0 : 1;
}

/* If GR_CUDA_DRIVER is set, it selects the driver, as without the runtime. */
CHILD(other)
{
    setenv("GR_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
    return gr_cuda_load(false) == GR_ERR_NO_DRIVER ? 0 : 1;
}

SOFT_TEST(grinterop_uses_the_driver_of_the_runtime)
{
    char text[4096];
    ck_assert_msg(child_run("unset", text, sizeof(text)) == 0, "%s", text);
    ck_assert_msg(child_run("other", text, sizeof(text)) == 0, "%s", text);
}

/* ---- Kernel faults --------------------------------------------------------------------------- */

static void do_nothing(const gr_cuhost_block *first, unsigned count, void *const *params)
{
    (void)first;
    (void)count;
    (void)params;
}

static const uint32_t pointer_size[] = {sizeof(void *)};
static const uint32_t pointer_offset[] = {0};
static const gr_cuhost_kernel kernel = {
    .abi = GR_CUHOST_ABI,
    .size = sizeof(kernel),
    .param_count = 1,
    .name = "kernel",
    .param_sizes = pointer_size,
    .param_offsets = pointer_offset,
    .params_size = sizeof(void *),
    .run_blocks = do_nothing,
};

static void count_signal(int number)
{
    (void)number;
}

#define EXPECT(error, call)                                                                        \
    do {                                                                                           \
        if ((call) != (error))                                                                     \
            return __LINE__ % 97 + 1;                                                              \
    } while (0)

/* A kernel accesses memory of a device without peer access. The program continues. */
CHILD(fault)
{
    void *memory = NULL, *params[] = {&memory};
    setenv("GR_SOFT_DEVICES", "2", 1);
    signal(SIGSEGV, count_signal);
    gr_cuhost_add_kernel(&kernel, kernel.name, &kernel);
    EXPECT(cudaSuccess, cudaSetDevice(1));
    EXPECT(cudaSuccess, cudaMalloc(&memory, SIZE));
    EXPECT(cudaSuccess, cudaSetDevice(0));
    EXPECT(cudaSuccess,
           cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, params, 0, NULL));
    EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    /* The error persists until the device is reset. */
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT(cudaErrorIllegalAddress, cudaMalloc(&memory, SIZE));
    EXPECT(cudaErrorIllegalAddress, cudaPeekAtLastError());
    EXPECT(cudaSuccess, cudaDeviceReset());
    EXPECT(cudaSuccess, cudaGetLastError());
    EXPECT(cudaSuccess, cudaMalloc(&memory, SIZE));
    EXPECT(cudaSuccess, cudaDeviceSynchronize());
    return 0;
}

SOFT_TEST(kernel_fault_stays_until_the_device_is_reset)
{
    if (sanitizer())
        skip("the sanitizer's SIGSEGV handler interferes");
    char text[4096];
    ck_assert_msg(child_run("fault", text, sizeof(text)) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "kernel kernel was given address 0x"));
}
