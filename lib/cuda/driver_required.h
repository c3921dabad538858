/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The driver functions that grinterop itself calls. A driver without one of them is refused. CUDA
 * 11.2 has all of them.
 */
#ifndef GR_LIB_CUDA_DRIVER_REQUIRED_H
#define GR_LIB_CUDA_DRIVER_REQUIRED_H

#define GR_DRIVER_REQUIRED(X)                                                                      \
    X(Array3DGetDescriptor)                                                                        \
    X(CtxGetCurrent)                                                                               \
    X(CtxGetDevice)                                                                                \
    X(CtxPopCurrent)                                                                               \
    X(CtxPushCurrent)                                                                              \
    X(CtxSynchronize)                                                                              \
    X(DestroyExternalMemory)                                                                       \
    X(DestroyExternalSemaphore)                                                                    \
    X(DeviceGet)                                                                                   \
    X(DeviceGetAttribute)                                                                          \
    X(DeviceGetCount)                                                                              \
    X(DeviceGetName)                                                                               \
    X(DeviceGetUuid)                                                                               \
    X(DevicePrimaryCtxRelease)                                                                     \
    X(DevicePrimaryCtxRetain)                                                                      \
    X(EventCreate)                                                                                 \
    X(EventDestroy)                                                                                \
    X(EventQuery)                                                                                  \
    X(EventRecord)                                                                                 \
    X(EventSynchronize)                                                                            \
    X(ExternalMemoryGetMappedBuffer)                                                               \
    X(ExternalMemoryGetMappedMipmappedArray)                                                       \
    X(GLGetDevices)                                                                                \
    X(GetErrorName)                                                                                \
    X(GraphicsGLRegisterBuffer)                                                                    \
    X(GraphicsGLRegisterImage)                                                                     \
    X(GraphicsMapResources)                                                                        \
    X(GraphicsResourceGetMappedMipmappedArray)                                                     \
    X(GraphicsResourceGetMappedPointer)                                                            \
    X(GraphicsSubResourceGetMappedArray)                                                           \
    X(GraphicsUnmapResources)                                                                      \
    X(GraphicsUnregisterResource)                                                                  \
    X(ImportExternalMemory)                                                                        \
    X(ImportExternalSemaphore)                                                                     \
    X(LaunchHostFunc)                                                                              \
    X(MemAddressFree)                                                                              \
    X(MemAddressReserve)                                                                           \
    X(MemAlloc)                                                                                    \
    X(MemAllocHost)                                                                                \
    X(MemCreate)                                                                                   \
    X(MemExportToShareableHandle)                                                                  \
    X(MemFree)                                                                                     \
    X(MemFreeHost)                                                                                 \
    X(MemGetAllocationGranularity)                                                                 \
    X(MemImportFromShareableHandle)                                                                \
    X(MemMap)                                                                                      \
    X(MemRelease)                                                                                  \
    X(MemSetAccess)                                                                                \
    X(MemUnmap)                                                                                    \
    X(Memcpy3DAsync)                                                                               \
    X(MemcpyAsync)                                                                                 \
    X(MemcpyDtoHAsync)                                                                             \
    X(MemcpyHtoDAsync)                                                                             \
    X(MipmappedArrayCreate)                                                                        \
    X(MipmappedArrayDestroy)                                                                       \
    X(MipmappedArrayGetLevel)                                                                      \
    X(SignalExternalSemaphoresAsync)                                                               \
    X(StreamCreate)                                                                                \
    X(StreamDestroy)                                                                               \
    X(StreamWaitEvent)                                                                             \
    X(SurfObjectCreate)                                                                            \
    X(SurfObjectDestroy)                                                                           \
    X(TexObjectCreate)                                                                             \
    X(TexObjectDestroy)                                                                            \
    X(WaitExternalSemaphoresAsync)

#endif
