/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A buffer on the drawing device by raw calls: CUDA allocates it, OpenGL imports it. */
#define _GNU_SOURCE
#include <unistd.h>

#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* The bytes that the Mesa drivers on the CPU need beyond the buffer size. */
enum { MESA_ROOM = 64 };

static CUmemAllocationProp properties_on(int device)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
}

size_t hand_buffer_size(const struct frames *f)
{
    const CUmemAllocationProp properties = properties_on(f->gl_ordinal);
    size_t unit = 0;
    if (!frames_cuda_ok(f,
                        f->cuda->MemGetAllocationGranularity(&unit, &properties,
                                                             CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                        "cuMemGetAllocationGranularity"))
        return 0;
    return (f->bytes + MESA_ROOM + unit - 1) / unit * unit;
}

static bool allocate(struct frames *f, struct hand_buffer *b)
{
    const CUmemAllocationProp properties = properties_on(f->gl_ordinal);
    b->size = hand_buffer_size(f);
    if (b->size == 0)
        return false;
    if (!frames_cuda_ok(f, f->cuda->MemCreate(&b->memory, b->size, &properties, 0), "cuMemCreate"))
        b->memory = 0;
    return b->memory != 0;
}

/* Maps the memory for the drawing device and for the CUDA device. */
static bool map(struct frames *f, struct hand_buffer *b)
{
    const int devices[] = {f->gl_ordinal, f->on.ordinal};
    const size_t count = devices[0] == devices[1] ? 1 : 2;
    CUmemAccessDesc access[2];
    for (size_t i = 0; i < count; i++)
        access[i] =
            (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[i]},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!frames_cuda_ok(f, f->cuda->MemAddressReserve(&b->pointer, b->size, 0, 0, 0),
                        "cuMemAddressReserve"))
        return false;
    b->mapped =
        frames_cuda_ok(f, f->cuda->MemMap(b->pointer, b->size, 0, b->memory, 0), "cuMemMap");
    return b->mapped && frames_cuda_ok(f, f->cuda->MemSetAccess(b->pointer, b->size, access, count),
                                       "cuMemSetAccess");
}

int hand_buffer_export(const struct frames *f, const struct hand_buffer *b)
{
    int fd = -1;
    return frames_cuda_ok(f,
                          f->cuda->MemExportToShareableHandle(
                              &fd, b->memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                          "cuMemExportToShareableHandle")
               ? fd
               : -1;
}

/*
 * Imports the memory into OpenGL as dedicated memory, since NVIDIA OpenGL (580) otherwise treats it
 * as compressible.
 */
static bool import(struct frames *f, struct hand_buffer *b)
{
    const GLint yes = GL_TRUE;
    const int fd = hand_buffer_export(f, b);
    if (fd < 0)
        return false;
    glCreateMemoryObjectsEXT(1, &b->object);
    glMemoryObjectParameterivEXT(b->object, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    glImportMemoryFdEXT(b->object, b->size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    if (!frames_gl_ok("glImportMemoryFdEXT")) {
        /* Mesa drivers on the CPU close the descriptor even if the import fails. */
        if (!gr_cuda_is_software())
            close(fd);
        return false;
    }
    glCreateBuffers(1, &b->name);
    glNamedBufferStorageMemEXT(b->name, (GLsizeiptr)f->bytes, b->object, 0);
    return frames_gl_ok("glNamedBufferStorageMemEXT");
}

bool hand_buffer_make(struct frames *f, struct hand_buffer *b)
{
    if (epoxy_has_gl_extension("GL_EXT_memory_object_fd"))
        return allocate(f, b) && map(f, b) && import(f, b);
    frames_set_error("OpenGL has no GL_EXT_memory_object_fd here");
    return false;
}

void hand_buffer_end(struct frames *f, struct hand_buffer *b)
{
    if (b->name != 0)
        glDeleteBuffers(1, &b->name);
    if (b->object != 0)
        glDeleteMemoryObjectsEXT(1, &b->object);
    if (b->mapped)
        f->cuda->MemUnmap(b->pointer, b->size);
    if (b->pointer != 0)
        f->cuda->MemAddressFree(b->pointer, b->size);
    if (b->memory != 0)
        f->cuda->MemRelease(b->memory);
    *b = (struct hand_buffer){0};
}
