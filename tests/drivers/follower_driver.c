/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA driver that uses process memory and does its work before each call returns. It reads and
 * writes OpenGL objects, so that mapped resources have the bytes of the OpenGL buffers and
 * textures. It records the calls about resources and returns the results that a test sets. Windows
 * has no software driver, so tests load this driver there, with GR_CUDA_DRIVER=<this file>.
 */
#include "follower_resource.h"
#include "driver_answers.h"

#include <cudaGL.h>
#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

/* ---- The record ------------------------------------------------------------------------------ */

#define MOST_CALLS 256

static struct followed record[MOST_CALLS];
static size_t recorded;
static size_t registered, mapped;

static void reset(void)
{
    recorded = 0;
    forget_answers();
    /* The context of the last case may have been destroyed with its resources. */
    registered = mapped = 0;
}

static const struct followed *nth(size_t number)
{
    return number < recorded ? &record[number] : NULL;
}

/* If all entries are used, the last entry is overwritten; no test makes nearly as many calls. */
struct followed *note(const char *call)
{
    struct followed *place = &record[recorded < MOST_CALLS ? recorded++ : MOST_CALLS - 1];
    *place = (struct followed){.call = call};
    return place;
}

CUresult result_of(const char *call)
{
    return answer_of(call);
}

static size_t count_registered(void)
{
    return registered;
}

static size_t count_mapped(void)
{
    return mapped;
}

static unsigned char device_uuid[16] = {0x11}, device_luid[8];

static void identify(const unsigned char uuid[16], const unsigned char luid[8])
{
    memcpy(device_uuid, uuid, sizeof(device_uuid));
    memcpy(device_luid, luid, sizeof(device_luid));
}

static const struct follower_api follower_api = {.reset = reset,
                                                 .nth = nth,
                                                 .answer = answer,
                                                 .registered = count_registered,
                                                 .mapped = count_mapped,
                                                 .identify = identify};

/* ---- Graphics resources ---------------------------------------------------------------------- */

static struct resource *of(CUgraphicsResource handle)
{
    return (struct resource *)handle;
}

static void move_buffer(struct resource *r, bool back)
{
    GLint before = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &before);
    glBindBuffer(GL_COPY_READ_BUFFER, r->name);
    if (back)
        glBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)r->size, r->bytes);
    else
        glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)r->size, r->bytes);
    glBindBuffer(GL_COPY_READ_BUFFER, (GLuint)before);
}

static void move_texture(struct resource *r, bool back)
{
    GLint pack = 0, unpack = 0;
    glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &pack);
    glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &unpack);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    if (back)
        glTextureSubImage2D(r->name, 0, 0, 0, r->width, r->height, GL_RGBA, GL_UNSIGNED_BYTE,
                            r->bytes);
    else
        glGetTextureImage(r->name, 0, GL_RGBA, GL_UNSIGNED_BYTE, (GLsizei)r->size, r->bytes);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)pack);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)unpack);
}

static void move(struct resource *r, bool back)
{
    if (r->target)
        move_texture(r, back);
    else
        move_buffer(r, back);
}

static CUresult register_object(const struct followed *call, const struct resource *object,
                                CUgraphicsResource *handle)
{
    if (answer_of(call->call) != CUDA_SUCCESS)
        return answer_of(call->call);
    if (!wglGetCurrentContext())
        return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    struct resource *r = calloc(1, sizeof(*r) + object->size);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *r = *object;
    r->bytes = (unsigned char *)(r + 1);
    *handle = (CUgraphicsResource)r;
    registered++;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI register_buffer(CUgraphicsResource *handle, GLuint name, unsigned flags)
{
    struct followed *call = note("cuGraphicsGLRegisterBuffer");
    struct resource object = {.name = name};
    GLint64 size = 0;
    call->name = name;
    call->flags = flags;
    glGetNamedBufferParameteri64v(name, GL_BUFFER_SIZE, &size);
    object.size = (size_t)size;
    CUresult result = register_object(call, &object, handle);
    call->resource = result == CUDA_SUCCESS ? *handle : NULL;
    return result;
}

static CUresult CUDAAPI register_image(CUgraphicsResource *handle, GLuint name, GLenum target,
                                       unsigned flags)
{
    struct followed *call = note("cuGraphicsGLRegisterImage");
    struct resource object = {.name = name, .target = target};
    call->name = name;
    call->target = target;
    call->flags = flags;
    glGetTextureLevelParameteriv(name, 0, GL_TEXTURE_WIDTH, &object.width);
    glGetTextureLevelParameteriv(name, 0, GL_TEXTURE_HEIGHT, &object.height);
    object.size = TEXEL * (size_t)object.width * (size_t)object.height;
    CUresult result = register_object(call, &object, handle);
    call->resource = result == CUDA_SUCCESS ? *handle : NULL;
    return result;
}

/* Maps or unmaps several resources at once. */
static CUresult hand_over(const char *name, unsigned count, CUgraphicsResource *handles,
                          CUstream stream, bool back)
{
    struct followed *call = note(name);
    call->count = count;
    call->resource = handles[0];
    call->stream = stream;
    if (answer_of(name) != CUDA_SUCCESS)
        return answer_of(name);
    for (unsigned i = 0; i < count; i++)
        if (of(handles[i])->is_mapped != back)
            return back ? CUDA_ERROR_NOT_MAPPED : CUDA_ERROR_ALREADY_MAPPED;
    for (unsigned i = 0; i < count; i++) {
        move(of(handles[i]), back);
        of(handles[i])->is_mapped = !back;
    }
    mapped = back ? mapped - count : mapped + count;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI map_resources(unsigned count, CUgraphicsResource *handles, CUstream stream)
{
    return hand_over("cuGraphicsMapResources", count, handles, stream, false);
}

static CUresult CUDAAPI unmap_resources(unsigned count, CUgraphicsResource *handles,
                                        CUstream stream)
{
    return hand_over("cuGraphicsUnmapResources", count, handles, stream, true);
}

static CUresult CUDAAPI mapped_pointer(CUdeviceptr *pointer, size_t *size,
                                       CUgraphicsResource handle)
{
    struct followed *call = note("cuGraphicsResourceGetMappedPointer");
    call->resource = handle;
    if (answer_of(call->call) != CUDA_SUCCESS)
        return answer_of(call->call);
    *pointer = (CUdeviceptr)(uintptr_t)of(handle)->bytes;
    *size = of(handle)->size;
    return CUDA_SUCCESS;
}

/* The handle of an array is the handle of its resource. */
static CUresult CUDAAPI mapped_array(CUarray *array, CUgraphicsResource handle, unsigned layer,
                                     unsigned level)
{
    struct followed *call = note("cuGraphicsSubResourceGetMappedArray");
    call->resource = handle;
    if (layer || level)
        return CUDA_ERROR_INVALID_VALUE;
    *array = (CUarray)handle;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI unregister(CUgraphicsResource handle)
{
    note("cuGraphicsUnregisterResource")->resource = handle;
    if (of(handle)->is_mapped)
        mapped--;
    registered--;
    free(handle);
    return answer_of("cuGraphicsUnregisterResource");
}

static CUresult CUDAAPI drawing_devices(unsigned *count, CUdevice *devices, unsigned room,
                                        CUGLDeviceList list)
{
    (void)list;
    if (answer_of("cuGLGetDevices") != CUDA_SUCCESS)
        return answer_of("cuGLGetDevices");
    if (!wglGetCurrentContext())
        return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    *count = 1;
    if (room > 0)
        devices[0] = 0;
    return CUDA_SUCCESS;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static CUresult CUDAAPI allocate(CUdeviceptr *pointer, size_t size)
{
    *pointer = (CUdeviceptr)(uintptr_t)malloc(size);
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The view of imported memory ends with the memory. */
static CUresult CUDAAPI release(CUdeviceptr pointer)
{
    void *memory = (void *)(uintptr_t)pointer;
    MEMORY_BASIC_INFORMATION pages = {.Type = MEM_PRIVATE};
    VirtualQuery(memory, &pages, sizeof(pages));
    if (pages.Type != MEM_MAPPED)
        free(memory);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI allocate_host(void **memory, size_t size)
{
    *memory = malloc(size);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult CUDAAPI release_host(void *memory)
{
    free(memory);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_in(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_out(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_any(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_in(to, (const void *)(uintptr_t)from, size, stream);
}

/* Copies whole arrays from and to host memory. */
static CUresult CUDAAPI copy_2d(const CUDA_MEMCPY2D *copy)
{
    bool back = copy->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    struct resource *r = (struct resource *)(back ? copy->srcArray : copy->dstArray);
    if (copy->WidthInBytes * copy->Height != r->size)
        return CUDA_ERROR_INVALID_VALUE;
    if (back)
        memcpy(copy->dstHost, r->bytes, r->size);
    else
        memcpy(r->bytes, copy->srcHost, r->size);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI describe_array(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
    const struct resource *r = (const struct resource *)array;
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){.Width = (size_t)r->width,
                                            .Height = (size_t)r->height,
                                            .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                            .NumChannels = TEXEL};
    return CUDA_SUCCESS;
}

/* ---- Other functions that grinterop calls ---------------------------------------------------- */

/* If FOLLOWER_INIT is set, cuInit fails with that error code. */
static CUresult CUDAAPI init(unsigned flags)
{
    const char *code = getenv("FOLLOWER_INIT");
    (void)flags;
    return code ? (CUresult)atoi(code) : CUDA_SUCCESS;
}

static CUresult CUDAAPI one_handle(void **handle)
{
    *handle = (void *)(uintptr_t)0x10;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI make_event(CUevent *event, unsigned flags)
{
    (void)flags;
    return one_handle((void **)event);
}

static CUresult CUDAAPI retain(CUcontext *context, CUdevice device)
{
    (void)device;
    return one_handle((void **)context);
}

static CUresult CUDAAPI call_host(CUstream stream, CUhostFn function, void *user)
{
    (void)stream;
    function(user);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI context_of_stream(CUstream stream, CUcontext *context)
{
    (void)stream;
    return one_handle((void **)context);
}

static CUresult CUDAAPI device_of_number(CUdevice *device, int number)
{
    return number == 0 ? device_zero(device) : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult CUDAAPI one_device(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI device_name(char *name, int size, CUdevice device)
{
    (void)device;
    strncpy(name, "the following driver's device", (size_t)size);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_uuid(CUuuid *uuid, CUdevice device)
{
    (void)device;
    memcpy(uuid, device_uuid, sizeof(*uuid));
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_luid(char *luid, unsigned *nodes, CUdevice device)
{
    (void)device;
    memcpy(luid, device_luid, sizeof(device_luid));
    *nodes = 1;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)attribute, (void)device;
    *value = 1;
    return CUDA_SUCCESS;
}

/* ---- The look-up ----------------------------------------------------------------------------- */

static const struct driver_row table[] = {
    ROW("cuArray3DGetDescriptor", describe_array),
    ROW("cuCtxGetCurrent", one_handle),
    ROW("cuCtxGetDevice", device_zero),
    ROW("cuDestroyExternalMemory", end_memory),
    ROW("cuDestroyExternalSemaphore", end_semaphore),
    ROW("cuDeviceGet", device_of_number),
    ROW("cuDeviceGetAttribute", device_attribute),
    ROW("cuDeviceGetCount", one_device),
    ROW("cuDeviceGetName", device_name),
    ROW("cuDeviceGetLuid", get_luid),
    ROW("cuDeviceGetUuid", get_uuid),
    ROW("cuDevicePrimaryCtxRetain", retain),
    ROW("cuEventCreate", make_event),
    ROW("cuExternalMemoryGetMappedBuffer", map_buffer),
    ROW("cuExternalMemoryGetMappedMipmappedArray", map_array),
    ROW("cuGLGetDevices", drawing_devices),
    ROW("cuGetErrorName", error_name),
    ROW("cuGraphicsGLRegisterBuffer", register_buffer),
    ROW("cuGraphicsGLRegisterImage", register_image),
    ROW("cuGraphicsMapResources", map_resources),
    ROW("cuGraphicsResourceGetMappedPointer", mapped_pointer),
    ROW("cuGraphicsSubResourceGetMappedArray", mapped_array),
    ROW("cuGraphicsUnmapResources", unmap_resources),
    ROW("cuGraphicsUnregisterResource", unregister),
    ROW("cuImportExternalMemory", import_memory),
    ROW("cuImportExternalSemaphore", import_semaphore),
    ROW("cuInit", init),
    ROW("cuLaunchHostFunc", call_host),
    ROW("cuMemAlloc", allocate),
    ROW("cuMemAllocHost", allocate_host),
    ROW("cuMemFree", release),
    ROW("cuMemFreeHost", release_host),
    ROW("cuMemcpy2D", copy_2d),
    ROW("cuMemcpy3DAsync", copy_3d),
    ROW("cuMemcpyAsync", copy_any),
    ROW("cuMemcpyDtoHAsync", copy_out),
    ROW("cuMemcpyHtoDAsync", copy_in),
    ROW("cuMipmappedArrayCreate", make_array),
    ROW("cuMipmappedArrayDestroy", end_array),
    ROW("cuMipmappedArrayGetLevel", array_level),
    ROW("cuSignalExternalSemaphoresAsync", signal_semaphores),
    ROW("cuStreamCreate", make_event),
    ROW("cuStreamGetCtx", context_of_stream),
    ROW("cuWaitExternalSemaphoresAsync", wait_semaphores),
};

DEFINE_LOOK_UP(table, follower_api)
