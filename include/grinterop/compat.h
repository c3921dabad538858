/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The graphics functions of CUDA, implemented by grinterop, for programs whose source stays the
 * same. The program needs one compiler option, or one line above the first include:
 *
 *     nvcc -include grinterop/compat.h ... -lgrinterop-compat -lgrinterop
 *     #include <grinterop/compat.h>
 *
 * These names of the runtime API and of the driver API then call grinterop, with the same types and
 * error codes:
 *
 *     cudaGraphicsGLRegisterBuffer                  cuGraphicsGLRegisterBuffer
 *     cudaGraphicsGLRegisterImage                   cuGraphicsGLRegisterImage
 *     cudaGraphicsResourceSetMapFlags               cuGraphicsResourceSetMapFlags
 *     cudaGraphicsMapResources                      cuGraphicsMapResources
 *     cudaGraphicsUnmapResources                    cuGraphicsUnmapResources
 *     cudaGraphicsResourceGetMappedPointer          cuGraphicsResourceGetMappedPointer
 *     cudaGraphicsSubResourceGetMappedArray         cuGraphicsSubResourceGetMappedArray
 *     cudaGraphicsResourceGetMappedMipmappedArray   cuGraphicsResourceGetMappedMipmappedArray
 *     cudaGraphicsUnregisterResource                cuGraphicsUnregisterResource
 *     cudaGLGetDevices                              cuGLGetDevices
 *     cudaGLSetGLDevice
 *     cudaImportExternalMemory                      cuImportExternalMemory
 *     cudaImportExternalSemaphore                   cuImportExternalSemaphore
 *     cudaGetLastError, cudaPeekAtLastError
 *
 * All other calls still go to CUDA. The imports above go to CUDA, too, but grinterop explains their
 * failures. cudaGetLastError() also returns the errors of the calls above.
 *
 * gr_last_error() explains each failure; it names, for example, the GPU that OpenGL draws on.
 * GR_LOG=error prints these messages, which name the function of the driver API also after a call
 * of the runtime API. grinterop refuses calls that would crash the driver later. An environment
 * variable selects the transport:
 *
 *     GR_COMPAT=interop   registers the object with the CUDA driver (the default)
 *     GR_COMPAT=copy      copies through host memory: OpenGL may be on the CPU or another GPU
 *     GR_COMPAT=peer      copies buffers and images from GPU to GPU
 *     GR_COMPAT=any       the best transport that works here
 *     GR_COMPAT=shared    is refused, because existing storage cannot be shared (use
 *                         gr_create_gl_buffer())
 *     GR_COMPAT=in_flight=N
 *                         2 to 64 frames in flight (`in_flight` of gr_gl_options in gl.h) for what
 *                         the program registers as WriteDiscard or ReadOnly; in_flight alone: 4.
 *                         Other registrations use interop
 *
 * To allow several transports, join their names by '|' or commas: interop|copy. Beside in_flight
 * they apply to the other registrations, and to formats without frames in flight. Without NVIDIA's
 * OpenGL only in_flight|peer has frames in flight, for tests. GR_LOG=info logs which registrations
 * have them, and why the others do not. A set-uid program ignores the variable.
 *
 * A program with frames in flight must
 *     write          all bytes or texels of an object that it maps as WriteDiscard: the others are
 *                    those of an older frame
 *     unmap          each frame: OpenGL sees the writes after the unmap, and CUDA those of OpenGL
 *                    after the next map
 *     get            the pointer or array after each map, because it changes; an older one belongs
 *                    to another frame. A captured graph must not keep it
 * A map with other flags than those of the registration ends the frames in flight of its resource.
 *
 * Differences:
 *     OpenGL context     map, unmap and unregister need the OpenGL context of the registration;
 *                        CUDA accepts any context
 *     unregister         fails for a mapped resource, which stays registered; the driver frees the
 *                        resource
 *     map                fails if the OpenGL object was deleted or has new storage; the driver maps
 *                        the old storage
 *     register           refuses a wrong texture target, which the driver accepts, except
 *                        GL_TEXTURE_3D for a GL_TEXTURE_2D_ARRAY: array 0 of a level has all
 *                        layers, which transports that copy can only read. For a texture with the
 *                        target GL_RENDERBUFFER, returns "invalid value"; the driver returns
 *                        "invalid handle"
 *     unmap              fails and unmaps nothing if the list has a resource twice; the driver
 *                        fails, too, but unmaps that resource
 *     unknown handles    are passed on to CUDA; one list must not mix handles of grinterop and CUDA
 *     threads            one thread at a time may use a resource
 *
 * The header includes cuda.h and, if available, cuda_runtime_api.h, but no OpenGL header. Include
 * it before or after cuda_gl_interop.h, cudaGL.h and any OpenGL loader. Calls through pointers from
 * cuGetProcAddress or dlsym() are not affected.
 */
#ifndef GR_COMPAT_H
#define GR_COMPAT_H

#include <grinterop/gr.h>
#include <string.h>

#ifndef GR_BUILD
#include <cuda.h>
#if !defined(__has_include) || __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define GR_COMPAT_RUNTIME 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
/* The default argument of cuda_runtime_api.h for a stream. */
#define GR_COMPAT_STREAM_ARGUMENT = 0
#else
#define GR_COMPAT_STREAM_ARGUMENT
#endif

/* ---- Implementation -------------------------------------------------------------------------- */

/* The grinterop functions that the names below call. */
typedef struct gr_compat_api {
    CUresult(CUDAAPI *register_buffer)(CUgraphicsResource *resource, unsigned int buffer,
                                       unsigned int flags);
    CUresult(CUDAAPI *register_image)(CUgraphicsResource *resource, unsigned int image,
                                      unsigned int target, unsigned int flags);
    CUresult(CUDAAPI *unregister)(CUgraphicsResource resource);
    CUresult(CUDAAPI *set_map_flags)(CUgraphicsResource resource, unsigned int flags);
    CUresult(CUDAAPI *pointer)(CUdeviceptr *pointer, size_t *size, CUgraphicsResource resource);
    CUresult(CUDAAPI *array)(CUarray *array, CUgraphicsResource resource, unsigned int index,
                             unsigned int level);
    CUresult(CUDAAPI *mipmapped_array)(CUmipmappedArray *array, CUgraphicsResource resource);
    CUresult(CUDAAPI *import_memory)(CUexternalMemory *memory,
                                     const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);
    CUresult(CUDAAPI *import_semaphore)(CUexternalSemaphore *semaphore,
                                        const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);

    /* These refuse a NULL stream: the inline functions below replace it by the default stream. */
    CUresult (*map)(unsigned int count, CUgraphicsResource *resources, CUstream stream);
    CUresult (*unmap)(unsigned int count, CUgraphicsResource *resources, CUstream stream);

    /* These functions record why CUDA refused an import, and return `code`. */
    CUresult (*explain_memory)(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUresult code);
    CUresult (*explain_semaphore)(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc, CUresult code);

    /* Whether a CUDA context is current on this thread. */
    bool (*has_context)(void);

    /*
     * The last error for cudaGetLastError(), one per thread. keep_error() stores a failure, and
     * returns `code`. kept_error() returns the stored error, and resets it if `take` is set.
     */
    CUresult (*keep_error)(CUresult code);
    CUresult (*kept_error)(bool take);

    /* Records a remedy if the runtime API could not start, and returns `code`. */
    CUresult (*explain_runtime)(CUresult code);
} gr_compat_api;

GR_API const gr_compat_api *gr_compat(void);

/*
 * Needed only if the CUDA header was included before this header. In a CUDA header that is included
 * later, the macros below rename the function, and the CUDA header declares it.
 */
#ifdef __CUDA_GL_INTEROP_H__
extern cudaError_t CUDARTAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices,
                                                       unsigned int size,
                                                       enum cudaGLDeviceList list);
#endif
#ifdef CUDAGL_H
extern CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices,
                                                unsigned int size, CUGLDeviceList list);
#endif

/* ---- The driver API -------------------------------------------------------------------------- */

/* Defines gr_compat_NAME(), which calls the function of that name. */
#define GR_COMPAT_CALL(name, parameters, arguments)                                                \
    static inline CUresult CUDAAPI gr_compat_##name parameters                                     \
    {                                                                                              \
        return gr_compat()->name arguments;                                                        \
    }

GR_COMPAT_CALL(register_buffer,
               (CUgraphicsResource * resource, unsigned int buffer, unsigned int flags),
               (resource, buffer, flags))
GR_COMPAT_CALL(register_image,
               (CUgraphicsResource * resource, unsigned int image, unsigned int target,
                unsigned int flags),
               (resource, image, target, flags))
GR_COMPAT_CALL(unregister, (CUgraphicsResource resource), (resource))
GR_COMPAT_CALL(set_map_flags, (CUgraphicsResource resource, unsigned int flags), (resource, flags))
GR_COMPAT_CALL(pointer, (CUdeviceptr * pointer, size_t *size, CUgraphicsResource resource),
               (pointer, size, resource))
GR_COMPAT_CALL(array,
               (CUarray * array, CUgraphicsResource resource, unsigned int index,
                unsigned int level),
               (array, resource, index, level))
GR_COMPAT_CALL(mipmapped_array, (CUmipmappedArray * array, CUgraphicsResource resource),
               (array, resource))
GR_COMPAT_CALL(import_memory,
               (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc),
               (memory, desc))
GR_COMPAT_CALL(import_semaphore,
               (CUexternalSemaphore * semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc),
               (semaphore, desc))
#undef GR_COMPAT_CALL

static inline CUresult gr_compat_cu_map(unsigned int count, CUgraphicsResource *resources,
                                        CUstream stream)
{
    return gr_compat()->map(count, resources, GR_STREAM(stream));
}

static inline CUresult gr_compat_cu_unmap(unsigned int count, CUgraphicsResource *resources,
                                          CUstream stream)
{
    return gr_compat()->unmap(count, resources, GR_STREAM(stream));
}

/* ---- The runtime API ------------------------------------------------------------------------- */

#ifdef GR_COMPAT_RUNTIME

/* The cast is valid because both APIs number their errors alike. */
static inline cudaError_t gr_compat_end(CUresult code)
{
    return (cudaError_t)gr_compat()->keep_error(code);
}

/*
 * If no CUDA context is current, makes the primary context current, as other runtime calls do.
 * Objects are then registered in the primary context.
 */
static inline cudaError_t gr_compat_begin(void)
{
    if (gr_compat()->has_context())
        return cudaSuccess;
    return (cudaError_t)gr_compat()->explain_runtime((CUresult)cudaFree(0));
}

#define GR_COMPAT_BEGIN()                                                                          \
    do {                                                                                           \
        cudaError_t begun = gr_compat_begin();                                                     \
        if (begun != cudaSuccess)                                                                  \
            return begun;                                                                          \
    } while (0)

static inline cudaError_t CUDARTAPI gr_compat_cuda_register_buffer(
    struct cudaGraphicsResource **resource, unsigned int buffer, unsigned int flags)
{
    GR_COMPAT_BEGIN();
    return gr_compat_end(gr_compat_register_buffer((CUgraphicsResource *)resource, buffer, flags));
}

static inline cudaError_t CUDARTAPI
gr_compat_cuda_register_image(struct cudaGraphicsResource **resource, unsigned int image,
                              unsigned int target, unsigned int flags)
{
    GR_COMPAT_BEGIN();
    return gr_compat_end(
        gr_compat_register_image((CUgraphicsResource *)resource, image, target, flags));
}

static inline cudaError_t gr_compat_cuda_unregister(cudaGraphicsResource_t resource)
{
    return gr_compat_end(gr_compat_unregister((CUgraphicsResource)resource));
}

static inline cudaError_t gr_compat_cuda_set_map_flags(cudaGraphicsResource_t resource,
                                                       unsigned int flags)
{
    return gr_compat_end(gr_compat_set_map_flags((CUgraphicsResource)resource, flags));
}

static inline cudaError_t gr_compat_cuda_map(int count, cudaGraphicsResource_t *resources,
                                             cudaStream_t stream GR_COMPAT_STREAM_ARGUMENT)
{
    GR_COMPAT_BEGIN();
    return gr_compat_end(gr_compat_cu_map(count < 0 ? 0 : (unsigned int)count,
                                          (CUgraphicsResource *)resources, (CUstream)stream));
}

static inline cudaError_t gr_compat_cuda_unmap(int count, cudaGraphicsResource_t *resources,
                                               cudaStream_t stream GR_COMPAT_STREAM_ARGUMENT)
{
    GR_COMPAT_BEGIN();
    return gr_compat_end(gr_compat_cu_unmap(count < 0 ? 0 : (unsigned int)count,
                                            (CUgraphicsResource *)resources, (CUstream)stream));
}

static inline cudaError_t gr_compat_cuda_pointer(void **pointer, size_t *size,
                                                 cudaGraphicsResource_t resource)
{
    CUdeviceptr address = 0;
    CUresult code = gr_compat_pointer(&address, size, (CUgraphicsResource)resource);
    if (pointer)
        *pointer = (void *)(size_t)address;
    return gr_compat_end(code);
}

static inline cudaError_t gr_compat_cuda_array(cudaArray_t *array, cudaGraphicsResource_t resource,
                                               unsigned int index, unsigned int level)
{
    return gr_compat_end(
        gr_compat_array((CUarray *)array, (CUgraphicsResource)resource, index, level));
}

static inline cudaError_t gr_compat_cuda_mipmapped_array(cudaMipmappedArray_t *array,
                                                         cudaGraphicsResource_t resource)
{
    return gr_compat_end(
        gr_compat_mipmapped_array((CUmipmappedArray *)array, (CUgraphicsResource)resource));
}

/* The structs of both APIs have the same fields. */
static inline cudaError_t gr_compat_cuda_import_memory(
    cudaExternalMemory_t *memory, const struct cudaExternalMemoryHandleDesc *desc)
{
    cudaError_t result = cudaImportExternalMemory(memory, desc);
    if (result != cudaSuccess && desc) {
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC same;
        memset(&same, 0, sizeof(same));
        same.type = (CUexternalMemoryHandleType)desc->type;
        same.handle.win32.handle = desc->handle.win32.handle;
        same.handle.win32.name = desc->handle.win32.name;
        same.size = desc->size;
        same.flags = desc->flags;
        gr_compat()->explain_memory(&same, (CUresult)result);
    }
    return result;
}

static inline cudaError_t gr_compat_cuda_import_semaphore(
    cudaExternalSemaphore_t *semaphore, const struct cudaExternalSemaphoreHandleDesc *desc)
{
    cudaError_t result = cudaImportExternalSemaphore(semaphore, desc);
    if (result != cudaSuccess && desc) {
        CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC same;
        memset(&same, 0, sizeof(same));
        same.type = (CUexternalSemaphoreHandleType)desc->type;
        same.handle.win32.handle = desc->handle.win32.handle;
        same.handle.win32.name = desc->handle.win32.name;
        same.flags = desc->flags;
        gr_compat()->explain_semaphore(&same, (CUresult)result);
    }
    return result;
}

/* Since CUDA 5 this function does the same as cudaSetDevice(). */
static inline cudaError_t CUDARTAPI gr_compat_cuda_set_gl_device(int device)
{
    return cudaSetDevice(device);
}

static inline cudaError_t gr_compat_cuda_last_error(void)
{
    cudaError_t ours = (cudaError_t)gr_compat()->kept_error(true), theirs = cudaGetLastError();
    return ours != cudaSuccess ? ours : theirs;
}

static inline cudaError_t gr_compat_cuda_peek_error(void)
{
    cudaError_t ours = (cudaError_t)gr_compat()->kept_error(false);
    return ours != cudaSuccess ? ours : cudaPeekAtLastError();
}

#endif

#ifdef __cplusplus
}
#endif

/* ---- The names ------------------------------------------------------------------------------- */

/* cuGLGetDevices needs no macro here: cudaGL.h defines it as cuGLGetDevices_v2. */
#undef cuGraphicsGLRegisterBuffer
#undef cuGraphicsGLRegisterImage
#undef cuGraphicsUnregisterResource
#undef cuGraphicsResourceSetMapFlags
#undef cuGraphicsMapResources
#undef cuGraphicsUnmapResources
#undef cuGraphicsResourceGetMappedPointer
#undef cuGraphicsSubResourceGetMappedArray
#undef cuGraphicsResourceGetMappedMipmappedArray
#undef cuImportExternalMemory
#undef cuImportExternalSemaphore
#undef cuGLGetDevices_v2
#define cuGraphicsGLRegisterBuffer                gr_compat_register_buffer
#define cuGraphicsGLRegisterImage                 gr_compat_register_image
#define cuGraphicsUnregisterResource              gr_compat_unregister
#define cuGraphicsResourceSetMapFlags             gr_compat_set_map_flags
#define cuGraphicsMapResources                    gr_compat_cu_map
#define cuGraphicsUnmapResources                  gr_compat_cu_unmap
#define cuGraphicsResourceGetMappedPointer        gr_compat_pointer
#define cuGraphicsSubResourceGetMappedArray       gr_compat_array
#define cuGraphicsResourceGetMappedMipmappedArray gr_compat_mipmapped_array
#define cuImportExternalMemory                    gr_compat_import_memory
#define cuImportExternalSemaphore                 gr_compat_import_semaphore
#define cuGLGetDevices_v2                         gr_compat_cu_gl_devices

#ifdef GR_COMPAT_RUNTIME
#undef cudaGraphicsGLRegisterBuffer
#undef cudaGraphicsGLRegisterImage
#undef cudaGraphicsUnregisterResource
#undef cudaGraphicsResourceSetMapFlags
#undef cudaGraphicsMapResources
#undef cudaGraphicsUnmapResources
#undef cudaGraphicsResourceGetMappedPointer
#undef cudaGraphicsSubResourceGetMappedArray
#undef cudaGraphicsResourceGetMappedMipmappedArray
#undef cudaGLGetDevices
#undef cudaGLSetGLDevice
#undef cudaImportExternalMemory
#undef cudaImportExternalSemaphore
#define cudaGraphicsGLRegisterBuffer                gr_compat_cuda_register_buffer
#define cudaGraphicsGLRegisterImage                 gr_compat_cuda_register_image
#define cudaGraphicsUnregisterResource              gr_compat_cuda_unregister
#define cudaGraphicsResourceSetMapFlags             gr_compat_cuda_set_map_flags
#define cudaGraphicsMapResources                    gr_compat_cuda_map
#define cudaGraphicsUnmapResources                  gr_compat_cuda_unmap
#define cudaGraphicsResourceGetMappedPointer        gr_compat_cuda_pointer
#define cudaGraphicsSubResourceGetMappedArray       gr_compat_cuda_array
#define cudaGraphicsResourceGetMappedMipmappedArray gr_compat_cuda_mipmapped_array
#define cudaGLGetDevices                            gr_compat_cuda_gl_devices
#define cudaGLSetGLDevice                           gr_compat_cuda_set_gl_device
#define cudaImportExternalMemory                    gr_compat_cuda_import_memory
#define cudaImportExternalSemaphore                 gr_compat_cuda_import_semaphore

/* Device code may call the CUDA functions with these names, so they keep their names there. */
#ifndef __CUDA_ARCH__
#undef cudaGetLastError
#undef cudaPeekAtLastError
#define cudaGetLastError    gr_compat_cuda_last_error
#define cudaPeekAtLastError gr_compat_cuda_peek_error
#endif
#endif

#endif
