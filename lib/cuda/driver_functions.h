/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The driver functions that the library, its tools and its Python package call. Their versions and
 * types are those of struct gr_driver_api; tests/checks/check-cuda-abi compares them with the
 * headers of CUDA.
 */
#ifndef GR_LIB_CUDA_DRIVER_FUNCTIONS_H
#define GR_LIB_CUDA_DRIVER_FUNCTIONS_H

#include <string.h>

#include "lib/base/cuda_abi.h"

/*
 * REQUIRED(name, version, parameters): a driver without the function is refused. CUDA 11.2 has all
 * of them. The list has an int where the functions of cudaGL.h have an enum.
 */
#define GR_DRIVER_FUNCTIONS(REQUIRED, OPTIONAL)                                                    \
    REQUIRED(Array3DGetDescriptor, 3020, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray))                     \
    OPTIONAL(CtxEnablePeerAccess, 4000, (CUcontext, unsigned int))                                 \
    REQUIRED(CtxGetCurrent, 4000, (CUcontext *))                                                   \
    REQUIRED(CtxGetDevice, 2000, (CUdevice *))                                                     \
    OPTIONAL(CtxGetId, 12000, (CUcontext, unsigned long long *))                                   \
    REQUIRED(CtxPopCurrent, 4000, (CUcontext *))                                                   \
    REQUIRED(CtxPushCurrent, 4000, (CUcontext))                                                    \
    OPTIONAL(CtxSetCurrent, 4000, (CUcontext))                                                     \
    REQUIRED(CtxSynchronize, 2000, (void))                                                         \
    REQUIRED(DestroyExternalMemory, 10000, (CUexternalMemory))                                     \
    REQUIRED(DestroyExternalSemaphore, 10000, (CUexternalSemaphore))                               \
    OPTIONAL(DeviceCanAccessPeer, 4000, (int *, CUdevice, CUdevice))                               \
    REQUIRED(DeviceGet, 2000, (CUdevice *, int))                                                   \
    REQUIRED(DeviceGetAttribute, 2000, (int *, CUdevice_attribute, CUdevice))                      \
    REQUIRED(DeviceGetCount, 2000, (int *))                                                        \
    OPTIONAL(DeviceGetLuid, 10000, (char *, unsigned int *, CUdevice))                             \
    OPTIONAL(DeviceGetMemPool, 11020, (CUmemoryPool *, CUdevice))                                  \
    REQUIRED(DeviceGetName, 2000, (char *, int, CUdevice))                                         \
    REQUIRED(DeviceGetUuid, 9020, (CUuuid *, CUdevice))                                            \
    REQUIRED(DevicePrimaryCtxRelease, 11000, (CUdevice))                                           \
    REQUIRED(DevicePrimaryCtxRetain, 7000, (CUcontext *, CUdevice))                                \
    OPTIONAL(DeviceTotalMem, 3020, (size_t *, CUdevice))                                           \
    OPTIONAL(DriverGetVersion, 2020, (int *))                                                      \
    REQUIRED(EventCreate, 2000, (CUevent *, unsigned int))                                         \
    REQUIRED(EventDestroy, 4000, (CUevent))                                                        \
    REQUIRED(EventQuery, 2000, (CUevent))                                                          \
    REQUIRED(EventRecord, 2000, (CUevent, CUstream))                                               \
    REQUIRED(EventSynchronize, 2000, (CUevent))                                                    \
    REQUIRED(ExternalMemoryGetMappedBuffer, 10000,                                                 \
             (CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *))          \
    REQUIRED(                                                                                      \
        ExternalMemoryGetMappedMipmappedArray, 10000,                                              \
        (CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *)) \
    REQUIRED(GLGetDevices, 6050, (unsigned int *, CUdevice *, unsigned int, int))                  \
    REQUIRED(GetErrorName, 6000, (CUresult, const char **))                                        \
    OPTIONAL(GetErrorString, 6000, (CUresult, const char **))                                      \
    REQUIRED(GraphicsGLRegisterBuffer, 3000, (CUgraphicsResource *, unsigned int, unsigned int))   \
    REQUIRED(GraphicsGLRegisterImage, 3000,                                                        \
             (CUgraphicsResource *, unsigned int, unsigned int, unsigned int))                     \
    REQUIRED(GraphicsMapResources, 3000, (unsigned int, CUgraphicsResource *, CUstream))           \
    REQUIRED(GraphicsResourceGetMappedMipmappedArray, 5000,                                        \
             (CUmipmappedArray *, CUgraphicsResource))                                             \
    REQUIRED(GraphicsResourceGetMappedPointer, 3020,                                               \
             (CUdeviceptr *, size_t *, CUgraphicsResource))                                        \
    OPTIONAL(GraphicsResourceSetMapFlags, 6050, (CUgraphicsResource, unsigned int))                \
    REQUIRED(GraphicsSubResourceGetMappedArray, 3000,                                              \
             (CUarray *, CUgraphicsResource, unsigned int, unsigned int))                          \
    REQUIRED(GraphicsUnmapResources, 3000, (unsigned int, CUgraphicsResource *, CUstream))         \
    REQUIRED(GraphicsUnregisterResource, 3000, (CUgraphicsResource))                               \
    REQUIRED(ImportExternalMemory, 10000,                                                          \
             (CUexternalMemory *, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *))                       \
    REQUIRED(ImportExternalSemaphore, 10000,                                                       \
             (CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *))                 \
    OPTIONAL(Init, 2000, (unsigned int))                                                           \
    REQUIRED(LaunchHostFunc, 10000, (CUstream, CUhostFn, void *))                                  \
    OPTIONAL(LaunchKernel, 4000,                                                                   \
             (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,    \
              unsigned int, unsigned int, CUstream, void **, void **))                             \
    OPTIONAL(LibraryGetKernel, 12000, (CUkernel *, CUlibrary, const char *))                       \
    OPTIONAL(LibraryLoadData, 12000,                                                               \
             (CUlibrary *, const void *, CUjit_option *, void **, unsigned int, CUlibraryOption *, \
              void **, unsigned int))                                                              \
    OPTIONAL(LibraryLoadFromFile, 12000,                                                           \
             (CUlibrary *, const char *, CUjit_option *, void **, unsigned int, CUlibraryOption *, \
              void **, unsigned int))                                                              \
    REQUIRED(MemAddressFree, 10020, (CUdeviceptr, size_t))                                         \
    REQUIRED(MemAddressReserve, 10020,                                                             \
             (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))                     \
    REQUIRED(MemAlloc, 3020, (CUdeviceptr *, size_t))                                              \
    OPTIONAL(MemAllocAsync, 11020, (CUdeviceptr *, size_t, CUstream))                              \
    REQUIRED(MemAllocHost, 3020, (void **, size_t))                                                \
    OPTIONAL(MemAllocManaged, 6000, (CUdeviceptr *, size_t, unsigned int))                         \
    REQUIRED(                                                                                      \
        MemCreate, 10020,                                                                          \
        (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)) \
    REQUIRED(                                                                                      \
        MemExportToShareableHandle, 10020,                                                         \
        (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long))     \
    REQUIRED(MemFree, 3020, (CUdeviceptr))                                                         \
    OPTIONAL(MemFreeAsync, 11020, (CUdeviceptr, CUstream))                                         \
    REQUIRED(MemFreeHost, 2000, (void *))                                                          \
    REQUIRED(MemGetAllocationGranularity, 10020,                                                   \
             (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags))            \
    OPTIONAL(MemGetAllocationPropertiesFromHandle, 10020,                                          \
             (CUmemAllocationProp *, CUmemGenericAllocationHandle))                                \
    OPTIONAL(MemHostRegister, 6050, (void *, size_t, unsigned int))                                \
    OPTIONAL(MemHostUnregister, 4000, (void *))                                                    \
    REQUIRED(MemImportFromShareableHandle, 10020,                                                  \
             (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))                  \
    REQUIRED(MemMap, 10020,                                                                        \
             (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))      \
    OPTIONAL(MemPoolSetAccess, 11020, (CUmemoryPool, const CUmemAccessDesc *, size_t))             \
    REQUIRED(MemRelease, 10020, (CUmemGenericAllocationHandle))                                    \
    OPTIONAL(MemRetainAllocationHandle, 11000, (CUmemGenericAllocationHandle *, void *))           \
    REQUIRED(MemSetAccess, 10020, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))          \
    REQUIRED(MemUnmap, 10020, (CUdeviceptr, size_t))                                               \
    REQUIRED(Memcpy3DAsync, 3020, (const CUDA_MEMCPY3D *, CUstream))                               \
    OPTIONAL(Memcpy3DPeerAsync, 4000, (const CUDA_MEMCPY3D_PEER *, CUstream))                      \
    REQUIRED(MemcpyAsync, 4000, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                      \
    OPTIONAL(MemcpyDtoDAsync, 3020, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                  \
    OPTIONAL(MemcpyDtoH, 3020, (void *, CUdeviceptr, size_t))                                      \
    REQUIRED(MemcpyDtoHAsync, 3020, (void *, CUdeviceptr, size_t, CUstream))                       \
    REQUIRED(MemcpyHtoDAsync, 3020, (CUdeviceptr, const void *, size_t, CUstream))                 \
    OPTIONAL(MemcpyPeerAsync, 4000,                                                                \
             (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))                   \
    OPTIONAL(MemsetD16Async, 3020, (CUdeviceptr, unsigned short, size_t, CUstream))                \
    OPTIONAL(MemsetD32Async, 3020, (CUdeviceptr, unsigned int, size_t, CUstream))                  \
    OPTIONAL(MemsetD8Async, 3020, (CUdeviceptr, unsigned char, size_t, CUstream))                  \
    REQUIRED(MipmappedArrayCreate, 5000,                                                           \
             (CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int))                  \
    REQUIRED(MipmappedArrayDestroy, 5000, (CUmipmappedArray))                                      \
    REQUIRED(MipmappedArrayGetLevel, 5000, (CUarray *, CUmipmappedArray, unsigned int))            \
    OPTIONAL(ModuleGetFunction, 2000, (CUfunction *, CUmodule, const char *))                      \
    OPTIONAL(ModuleLoad, 2000, (CUmodule *, const char *))                                         \
    OPTIONAL(ModuleLoadData, 2000, (CUmodule *, const void *))                                     \
    OPTIONAL(ModuleUnload, 2000, (CUmodule))                                                       \
    OPTIONAL(PointerGetAttribute, 4000, (void *, CUpointer_attribute, CUdeviceptr))                \
    OPTIONAL(PointerGetAttributes, 7000,                                                           \
             (unsigned int, CUpointer_attribute *, void **, CUdeviceptr))                          \
    REQUIRED(SignalExternalSemaphoresAsync, 10000,                                                 \
             (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *,          \
              unsigned int, CUstream))                                                             \
    OPTIONAL(StreamBatchMemOp, 11070,                                                              \
             (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))                   \
    REQUIRED(StreamCreate, 2000, (CUstream *, unsigned int))                                       \
    REQUIRED(StreamDestroy, 4000, (CUstream))                                                      \
    OPTIONAL(StreamGetCtx, 9020, (CUstream, CUcontext *))                                          \
    OPTIONAL(StreamIsCapturing, 10000, (CUstream, CUstreamCaptureStatus *))                        \
    OPTIONAL(StreamQuery, 2000, (CUstream))                                                        \
    OPTIONAL(StreamSynchronize, 2000, (CUstream))                                                  \
    REQUIRED(StreamWaitEvent, 3020, (CUstream, CUevent, unsigned int))                             \
    REQUIRED(SurfObjectCreate, 5000, (CUsurfObject *, const CUDA_RESOURCE_DESC *))                 \
    REQUIRED(SurfObjectDestroy, 5000, (CUsurfObject))                                              \
    REQUIRED(TexObjectCreate, 5000,                                                                \
             (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,                \
              const CUDA_RESOURCE_VIEW_DESC *))                                                    \
    REQUIRED(TexObjectDestroy, 5000, (CUtexObject))                                                \
    OPTIONAL(ThreadExchangeStreamCaptureMode, 10010, (CUstreamCaptureMode *))                      \
    REQUIRED(WaitExternalSemaphoresAsync, 10000,                                                   \
             (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *,            \
              unsigned int, CUstream))

struct gr_driver_api {
    /* Called instead of any function that the driver lacks. */
    CUresult(CUDAAPI *missing)(void);
#define MEMBER(name, version, parameters) CUresult(CUDAAPI *name) parameters;
    GR_DRIVER_FUNCTIONS(MEMBER, MEMBER)
#undef MEMBER
};

static inline CUresult CUDAAPI gr_driver_missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Copies by memcpy(), because C does not define a cast from void * to a function pointer. */
static inline void gr_driver_set(const struct gr_driver_api *api, void *member, void *symbol)
{
    if (symbol)
        memcpy(member, &symbol, sizeof(symbol));
    else
        memcpy(member, &api->missing, sizeof(api->missing));
}

/* Whether the driver has a function. The call of a missing one returns CUDA_ERROR_NOT_SUPPORTED. */
#define GR_DRIVER_HAS(api, name)                                                                   \
    (memcmp(&(api)->name, &(api)->missing, sizeof((api)->missing)) != 0)

#endif
