/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Buffers on the drawing device by raw calls: CUDA allocates them, OpenGL imports them. Two
 * timeline semaphores: the Vulkan device on the drawing GPU creates them for OpenGL on the same
 * GPU, and CUDA imports them into the context of the computing device, which may be another GPU.
 *
 * llvmpipe has no semaphores: the thread waits instead, so that the rows can run as a test.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* The bytes that the Mesa drivers on the CPU need beyond the buffer size. */
enum { MESA_ROOM = 64 };

/* A failed import does not take ownership of the descriptor. */
static void check_import(const char *call, int fd)
{
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR && fd >= 0)
        close(fd);
    if (error != GL_NO_ERROR)
        bench_fail("%s: OpenGL error 0x%04x", call, error);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void end_buffer(void *of)
{
    const struct hand_buffer *b = of;
    if (b->name != 0)
        glDeleteBuffers(1, &b->name);
    if (b->object != 0)
        glDeleteMemoryObjectsEXT(1, &b->object);
    if (b->mapped)
        bench_cuda->MemUnmap(b->pointer, b->size);
    if (b->pointer != 0)
        bench_cuda->MemAddressFree(b->pointer, b->size);
    if (b->memory != 0)
        bench_cuda->MemRelease(b->memory);
}

/* Sets the size that the buffer takes in memory of the drawing device. */
static CUmemAllocationProp begin_buffer(struct hand_buffer *b)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = scene.gl_ordinal},
    };
    size_t unit = 0;
    CU(MemGetAllocationGranularity, &unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    b->size = (scene.bytes + MESA_ROOM + unit - 1) / unit * unit;
    bench_later(end_buffer, b);
    return properties;
}

/* Maps the memory for the devices. */
static void map(struct hand_buffer *b, const int devices[], size_t count)
{
    CUmemAccessDesc access[2];
    for (size_t i = 0; i < count; i++)
        access[i] =
            (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[i]},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU(MemAddressReserve, &b->pointer, b->size, 0, 0, 0);
    CU(MemMap, b->pointer, b->size, 0, b->memory, 0);
    b->mapped = true;
    CU(MemSetAccess, b->pointer, b->size, access, count);
}

int hand_buffer_export(const struct hand_buffer *b)
{
    int fd;
    CU(MemExportToShareableHandle, &fd, b->memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    return fd;
}

void hand_buffer_import(struct hand_buffer *b, int fd)
{
    begin_buffer(b);
    CU(MemImportFromShareableHandle, &b->memory, (void *)(intptr_t)fd,
       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    map(b, &scene.on.ordinal, 1);
}

/*
 * Imports the memory into OpenGL as dedicated memory, since NVIDIA OpenGL (580) otherwise treats it
 * as compressible. Mesa drivers on the CPU close the descriptor even if the import fails.
 */
static void import_into_gl(struct hand_buffer *b)
{
    const GLint yes = GL_TRUE;
    const int fd = hand_buffer_export(b);
    glCreateMemoryObjectsEXT(1, &b->object);
    glMemoryObjectParameterivEXT(b->object, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    glImportMemoryFdEXT(b->object, b->size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    check_import("glImportMemoryFdEXT", gr_cuda_is_software() ? -1 : fd);
    glCreateBuffers(1, &b->name);
    glNamedBufferStorageMemEXT(b->name, (GLsizeiptr)scene.bytes, b->object, 0);
    bench_check_gl("glNamedBufferStorageMemEXT");
}

static void make_buffer(struct hand_buffer *b)
{
    const int devices[] = {scene.gl_ordinal, scene.on.ordinal};
    if (!epoxy_has_gl_extension("GL_EXT_memory_object_fd"))
        bench_fail("OpenGL has no GL_EXT_memory_object_fd here");
    const CUmemAllocationProp properties = begin_buffer(b);
    CU(MemCreate, &b->memory, b->size, &properties, 0);
    map(b, devices, devices[0] == devices[1] ? 1 : 2);
    import_into_gl(b);
}

/* ---- Timelines ------------------------------------------------------------------------------- */

/* The constants of GL_NV_timeline_semaphore, which epoxy lacks. */
enum { VALUE_NV = 0x9595, TYPE_NV = 0x95B3, TYPE_TIMELINE_NV = 0x95B5 };
typedef void (*create_semaphores_fn)(GLsizei, GLuint *);
typedef void (*semaphore_parameter_fn)(GLuint, GLenum, const GLint *);

static void end_gl_semaphore(void *of)
{
    const GLuint name = (GLuint)(uintptr_t)of;
    glDeleteSemaphoresEXT(1, &name);
}

static void make_timeline(struct hand_timeline *timeline)
{
    const create_semaphores_fn make =
        (create_semaphores_fn)eglGetProcAddress("glCreateSemaphoresNV");
    const semaphore_parameter_fn set =
        (semaphore_parameter_fn)eglGetProcAddress("glSemaphoreParameterivNV");
    const GLint type = TYPE_TIMELINE_NV;
    timeline->vulkan = bench_vk_timeline(true);
    const int fd = bench_vk_export(timeline->vulkan);
    make(1, &timeline->gl);
    bench_later(end_gl_semaphore, (void *)(uintptr_t)timeline->gl);
    set(timeline->gl, TYPE_NV, &type);
    glImportSemaphoreFdEXT(timeline->gl, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    check_import("glImportSemaphoreFdEXT", fd);
    timeline->cuda = bench_import_timeline(bench_vk_export(timeline->vulkan));
}

void hand_make(struct frames_hand *h, unsigned slots)
{
    const bool has = epoxy_has_gl_extension("GL_NV_timeline_semaphore");
    for (unsigned i = 0; i < slots; i++)
        make_buffer(&h->buffers[i]);
    h->by_thread = !has && gr_cuda_is_software();
    if (h->by_thread)
        return;
    if (!has)
        bench_fail("OpenGL has no GL_NV_timeline_semaphore here");
    frames_vulkan_need();
    make_timeline(&h->drawn);
    make_timeline(&h->computed);
}

/* ---- Signals and waits ----------------------------------------------------------------------- */

void hand_cuda_signal(const struct frames_hand *h, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    if (h->by_thread) {
        CU(StreamSynchronize, scene.on.stream);
        return;
    }
    /* This call fails on a driver without barriers. The signal still works then. */
    if (bench_cuda->StreamBatchMemOp)
        bench_barrier(scene.on.stream);
    CU(SignalExternalSemaphoresAsync, &h->computed.cuda, &params, 1, scene.on.stream);
}

void hand_cuda_wait(const struct frames_hand *h, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    if (!h->by_thread)
        CU(WaitExternalSemaphoresAsync, &h->drawn.cuda, &params, 1, scene.on.stream);
}

void hand_gl_signal(const struct frames_hand *h, uint64_t value, const unsigned *buffer)
{
    if (h->by_thread) {
        glFinish();
        return;
    }
    glSemaphoreParameterui64vEXT(h->drawn.gl, VALUE_NV, &value);
    glSignalSemaphoreEXT(h->drawn.gl, buffer != NULL, buffer, 0, NULL, NULL);
}

void hand_gl_wait(const struct frames_hand *h, uint64_t value, const unsigned *buffer)
{
    if (h->by_thread)
        return;
    glSemaphoreParameterui64vEXT(h->computed.gl, VALUE_NV, &value);
    glWaitSemaphoreEXT(h->computed.gl, buffer != NULL, buffer, 0, NULL, NULL);
}
