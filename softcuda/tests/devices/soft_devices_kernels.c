/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels and OpenGL buffers on the second device: which memory they may access. A kernel that has
 * other memory as a parameter ends the program.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_devices.h"

#include <cudaGL.h>
#include <signal.h>
#include <string.h>

/* The same struct as in soft_kernels.cu. */
struct place {
    unsigned offset;
    CUdeviceptr base;
};

/* Launches a kernel of one thread on device i. */
static CUmodule launch_on(int i, const char *name, void **parameters)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    use_device(i);
    ck_assert(kernel_image_load(soft_kernels(), &module));
    CU(ModuleGetFunction(&function, module, name));
    CU(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, two.stream[i], parameters, NULL));
    return module;
}

/* Launches a kernel of one thread on device i, and waits for it. */
static CUresult run_on(int i, const char *name, void **parameters)
{
    CUmodule module = launch_on(i, name, parameters);
    CUresult result = fx.cu->StreamSynchronize(two.stream[i]);
    if (result == CUDA_SUCCESS)
        CU(ModuleUnload(module));
    return result;
}

/* Runs a kernel that writes 0x5a to byte 24 of the memory. */
static CUresult write_on(int i, CUdeviceptr memory)
{
    long long offset = 24;
    return run_on(i, "write_at", (void *[]){&memory, &offset});
}

/* Checks that only byte 24 was written. */
static void assert_written(CUdeviceptr memory, int before)
{
    assert_memory(memory, 24, before);
    assert_memory(memory + 24, 1, 0x5a);
    assert_memory(memory + 25, SIZE - 25, before);
}

GROUP("kernels of two devices", add_two_case)

SOFT_TEST(kernels_run_on_both_devices)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(write_on(i, two.memory[i]), CUDA_SUCCESS);
        assert_written(two.memory[i], DEVICE_BYTE(i));
    }
}

SOFT_TEST(kernel_with_peer_access_writes_memory_of_the_peer)
{
    use_device(1);
    CU(CtxEnablePeerAccess(two.context[0], 0));
    ck_assert_int_eq(write_on(1, two.memory[0]), CUDA_SUCCESS);
    assert_written(two.memory[0], DEVICE_BYTE(0));
    CU(CtxDisablePeerAccess(two.context[0]));
}

/* Catches: a kernel that was launched with access ran after the access was disabled. */
SOFT_TEST(disabling_peer_access_waits_for_kernels)
{
    long long offset = 24;
    use_device(1);
    CU(CtxEnablePeerAccess(two.context[0], 0));
    struct gate *gate = gate_put(two.stream[1]);
    launch_on(1, "write_at", (void *[]){&two.memory[0], &offset});
    gate_open_after(gate, 50);
    CU(CtxDisablePeerAccess(two.context[0]));
    CU(StreamSynchronize(two.stream[1]));
    assert_written(two.memory[0], DEVICE_BYTE(0));
}

SOFT_TEST(kernel_with_pool_access_writes_pool_memory)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr memory = 0;
    CUmemAccessDesc access = access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(DeviceGetDefaultMemPool(&pool, two.device[0]));
    CU(MemAllocAsync(&memory, SIZE, two.stream[0]));
    set_memory(0, memory, SIZE, 0x41);
    CU(MemPoolSetAccess(pool, &access, 1));
    ck_assert_int_eq(write_on(1, memory), CUDA_SUCCESS);
    assert_written(memory, 0x41);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CU(MemPoolSetAccess(pool, &access, 1));
    CU(MemFreeAsync(memory, two.stream[0]));
}

SOFT_TEST(kernel_with_access_writes_virtual_memory)
{
    size_t size = 0;
    CUdeviceptr memory = virtual_memory(0, &size, NULL);
    const CUmemAccessDesc access[2] = {access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                                       access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)};
    CU(MemSetAccess(memory, size, access, 2));
    set_memory(0, memory, SIZE, 0x41);
    ck_assert_int_eq(write_on(1, memory), CUDA_SUCCESS);
    assert_written(memory, 0x41);
    CU(MemUnmap(memory, size));
    CU(MemAddressFree(memory, size));
}

SOFT_TEST(kernel_writes_host_memory_pinned_by_another_device)
{
    void *pinned = NULL;
    use_device(0);
    CU(MemAllocHost(&pinned, SIZE));
    memset(pinned, 1, SIZE);
    ck_assert_int_eq(write_on(1, (CUdeviceptr)(uintptr_t)pinned), CUDA_SUCCESS);
    ck_assert_int_eq(((unsigned char *)pinned)[24], 0x5a);
}

GROUP("OpenGL and two devices", add_two_case)

static CUdeviceptr map_buffer(int i, GLuint name, CUgraphicsResource *resource)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    use_device(i);
    CU(GraphicsGLRegisterBuffer(resource, name, 0));
    CU_GIVES(CUDA_ERROR_INVALID_HANDLE, GraphicsMapResources(1, resource, two.stream[!i]));
    CU(GraphicsMapResources(1, resource, two.stream[i]));
    CU_READS(size, SIZE, GraphicsResourceGetMappedPointer(&address, &size, *resource));
    return address;
}

static void unmap_buffer(int i, CUgraphicsResource resource)
{
    CU(GraphicsUnmapResources(1, &resource, two.stream[i]));
    CU(GraphicsUnregisterResource(resource));
}

/*
 * A buffer can be registered on either device. Its mapped memory belongs to the registering
 * context.
 */
TWO_TEST(opengl_buffer_can_be_mapped_on_either_device, 2)
{
    CUgraphicsResource resource = NULL;
    GLuint name = gl_buffer_filled(SIZE, 0x11);
    CUdeviceptr mapped = map_buffer(_i, name, &resource);
    CU(MemcpyDtoDAsync(two.memory[_i], mapped, SIZE, two.stream[_i]));
    CU(StreamSynchronize(two.stream[_i]));
    assert_memory(two.memory[_i], SIZE, 0x11);
    use_device(_i);
    CU(MemsetD8Async(mapped, 0x12, SIZE, two.stream[_i]));
    use_device(!_i);
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemsetD8(mapped, 1, SIZE));
    CU(StreamSynchronize(two.stream[_i]));
    CU(MemcpyDtoD(two.memory[!_i], mapped, SIZE));
    assert_memory(two.memory[!_i], SIZE, 0x12);
    use_device(_i);
    unmap_buffer(_i, resource);
    assert_gl_bytes(name, SIZE, 0x12);
}

TWO_TEST(peer_copy_writes_a_mapped_buffer)
{
    CUgraphicsResource resource = NULL;
    GLuint name = gl_buffer_filled(SIZE, 0x11);
    CUdeviceptr mapped = map_buffer(0, name, &resource);
    CU(MemcpyPeerAsync(mapped, two.context[0], two.memory[1], two.context[1], SIZE, two.stream[0]));
    unmap_buffer(0, resource);
    assert_gl_bytes(name, SIZE, DEVICE_BYTE(1));
}

TWO_TEST(opengl_image_can_be_mapped_on_either_device, 2)
{
    unsigned char texels[16 * 16 * 4], seen[sizeof(texels)] = {0};
    CUgraphicsResource resource = NULL;
    CUarray array = NULL;
    GLuint name = 0;
    memset(texels, 0x13, sizeof(texels));
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 16, 16);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    use_device(_i);
    CU(GraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, 0));
    CU(GraphicsMapResources(1, &resource, two.stream[_i]));
    CU(GraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
    CU(StreamSynchronize(two.stream[_i]));
    CU(MemcpyAtoH(seen, array, 0, 64));
    assert_bytes(seen, 64, 0x13);
    memset(texels, 0x14, sizeof(texels));
    CU(MemcpyHtoA(array, 0, texels, 64));
    CU(CtxSynchronize());
    unmap_buffer(_i, resource);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, seen);
    assert_bytes(seen, 64, 0x14);
    glDeleteTextures(1, &name);
}

/* ---- Memory without access ------------------------------------------------------------------- */

static void begin(void)
{
    fixture_setup();
    two_begin();
}

CHILD(given_memory)
{
    begin();
    return (int)write_on(1, two.memory[0]);
}

CHILD(given_memory_in_a_struct)
{
    begin();
    struct place to = {100, two.memory[0] + 24};
    return (int)run_on(1, "write_at_place", (void *[]){&to});
}

CHILD(given_pool_memory)
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAllocAsync(&memory, SIZE, two.stream[0]));
    use_device(1);
    CU(CtxEnablePeerAccess(two.context[0], 0));
    return (int)write_on(1, memory);
}

CHILD(given_virtual_memory)
{
    size_t size = 0;
    begin();
    CUdeviceptr memory = virtual_memory(0, &size, NULL);
    const CUmemAccessDesc access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(MemSetAccess(memory, size, &access, 1));
    return (int)write_on(1, memory);
}

CHILD(given_a_mapped_buffer)
{
    CUgraphicsResource resource = NULL;
    begin();
    return (int)write_on(1, map_buffer(0, gl_buffer_filled(SIZE, 1), &resource));
}

CHILD(given_a_surface)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {
        16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject surface = 0;
    begin();
    CU(Array3DCreate(&resource.res.array.hArray, &descriptor));
    CU(SurfObjectCreate(&surface, &resource));
    return (int)write_on(1, surface);
}

CHILD(given_memory_after_the_end_of_access)
{
    begin();
    use_device(1);
    CU(CtxEnablePeerAccess(two.context[0], 0));
    child_check(write_on(1, two.memory[0]) == CUDA_SUCCESS);
    CU(CtxDisablePeerAccess(two.context[0]));
    return (int)write_on(1, two.memory[0]);
}

static volatile sig_atomic_t caught;

static void count_signal(int number)
{
    (void)number;
    caught++;
}

/* The kernel is not run, and all contexts become unusable, as on two GPUs. */
CHILD(given_memory_with_a_handler)
{
    child_check(signal(SIGSEGV, count_signal) != SIG_ERR);
    begin();
    child_check(write_on(1, two.memory[0]) == CUDA_ERROR_ILLEGAL_ADDRESS);
    child_check(caught == 1);
    child_check(((unsigned char *)(uintptr_t)two.memory[0])[24] == DEVICE_BYTE(0));
    child_check(fx.cu->CtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    use_device(0);
    child_check(fx.cu->CtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    return 0;
}

#define GIVEN "driver: kernel write_at was given address 0x"

GROUP("kernels of two devices", add_two_case)

SOFT_TEST(kernel_without_access_ends_the_program)
{
    expect_death("given_memory", GIVEN, ", which is byte 0 of device memory of cuMemAlloc (4096 ");
    expect_death(
        "given_memory", GIVEN,
        ") on device 0: device 1 has no access to it (call cuCtxEnablePeerAccess for it)\n");
    expect_death("given_memory_in_a_struct", "kernel write_at_place was given address 0x",
                 ", which is byte 24 of device memory of cuMemAlloc (4096 bytes at 0x");
    expect_death("given_pool_memory", GIVEN, "(call cuMemPoolSetAccess for it)\n");
    expect_death("given_virtual_memory", GIVEN, "(call cuMemSetAccess for it)\n");
    expect_death("given_a_mapped_buffer", GIVEN, "(it cannot be enabled: copy the data)\n");
    expect_death("given_a_surface", "kernel write_at was given 0x",
                 ", a texture or surface object of a context on device 0: device 1 cannot use it");
    expect_death("given_memory_after_the_end_of_access", GIVEN, ": device 1 has no access to it ");
}

SOFT_TEST(handled_fault_makes_all_contexts_fail)
{
    if (sanitizer())
        skip("the sanitizer handles SIGSEGV itself");
    expect_child("given_memory_with_a_handler");
}
