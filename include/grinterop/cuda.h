/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver that grinterop found at run time, for programs that do not want to link libcuda either.
 * grinterop itself, its tests and its examples call the driver through this table, so that the same
 * program runs on a GPU and on the software CUDA driver.
 */
#ifndef GR_CUDA_H
#define GR_CUDA_H

#include <cudaTypedefs.h>
#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* OpenGL's side of the driver; cudaGL.h has these too, but would drag in an OpenGL header. */
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterBuffer_fn)(CUgraphicsResource *, unsigned int,
                                                            unsigned int);
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterImage_fn)(CUgraphicsResource *, unsigned int,
                                                           unsigned int, unsigned int);
typedef CUresult(CUDAAPI *gr_cuGLGetDevices_fn)(unsigned int *, CUdevice *, unsigned int, int);

/*
 * X(name, version, type): the entry points in the table, each in the variant that came with that
 * CUDA version, so that the meaning does not depend on the toolkit's age. All are in CUDA 11.2.
 */
#define GR_CUDA_FUNCTIONS(X)                                                                       \
    X(Init, 2000, PFN_cuInit_v2000)                                                                \
    X(DriverGetVersion, 2020, PFN_cuDriverGetVersion_v2020)                                        \
    X(GetErrorName, 6000, PFN_cuGetErrorName_v6000)                                                \
    X(GetErrorString, 6000, PFN_cuGetErrorString_v6000)                                            \
    X(DeviceGetCount, 2000, PFN_cuDeviceGetCount_v2000)                                            \
    X(DeviceGet, 2000, PFN_cuDeviceGet_v2000)                                                      \
    X(DeviceGetName, 2000, PFN_cuDeviceGetName_v2000)                                              \
    X(DeviceGetUuid, 9020, PFN_cuDeviceGetUuid_v9020)                                              \
    X(DeviceGetAttribute, 2000, PFN_cuDeviceGetAttribute_v2000)                                    \
    X(DevicePrimaryCtxRetain, 7000, PFN_cuDevicePrimaryCtxRetain_v7000)                            \
    X(DevicePrimaryCtxRelease, 11000, PFN_cuDevicePrimaryCtxRelease_v11000)                        \
    X(CtxCreate, 3020, PFN_cuCtxCreate_v3020)                                                      \
    X(CtxDestroy, 4000, PFN_cuCtxDestroy_v4000)                                                    \
    X(CtxGetCurrent, 4000, PFN_cuCtxGetCurrent_v4000)                                              \
    X(CtxSetCurrent, 4000, PFN_cuCtxSetCurrent_v4000)                                              \
    X(CtxPushCurrent, 4000, PFN_cuCtxPushCurrent_v4000)                                            \
    X(CtxPopCurrent, 4000, PFN_cuCtxPopCurrent_v4000)                                              \
    X(CtxGetDevice, 2000, PFN_cuCtxGetDevice_v2000)                                                \
    X(CtxSynchronize, 2000, PFN_cuCtxSynchronize_v2000)                                            \
    X(StreamCreate, 2000, PFN_cuStreamCreate_v2000)                                                \
    X(StreamDestroy, 4000, PFN_cuStreamDestroy_v4000)                                              \
    X(StreamSynchronize, 2000, PFN_cuStreamSynchronize_v2000)                                      \
    X(StreamQuery, 2000, PFN_cuStreamQuery_v2000)                                                  \
    X(StreamWaitEvent, 3020, PFN_cuStreamWaitEvent_v3020)                                          \
    X(LaunchHostFunc, 10000, PFN_cuLaunchHostFunc_v10000)                                          \
    X(EventCreate, 2000, PFN_cuEventCreate_v2000)                                                  \
    X(EventDestroy, 4000, PFN_cuEventDestroy_v4000)                                                \
    X(EventRecord, 2000, PFN_cuEventRecord_v2000)                                                  \
    X(EventQuery, 2000, PFN_cuEventQuery_v2000)                                                    \
    X(EventSynchronize, 2000, PFN_cuEventSynchronize_v2000)                                        \
    X(EventElapsedTime, 2000, PFN_cuEventElapsedTime_v2000)                                        \
    X(MemAlloc, 3020, PFN_cuMemAlloc_v3020)                                                        \
    X(MemAllocPitch, 3020, PFN_cuMemAllocPitch_v3020)                                              \
    X(MemAllocHost, 3020, PFN_cuMemAllocHost_v3020)                                                \
    X(MemHostRegister, 6050, PFN_cuMemHostRegister_v6050)                                          \
    X(MemHostUnregister, 4000, PFN_cuMemHostUnregister_v4000)                                      \
    X(MemFree, 3020, PFN_cuMemFree_v3020)                                                          \
    X(MemFreeHost, 2000, PFN_cuMemFreeHost_v2000)                                                  \
    X(MemAllocAsync, 11020, PFN_cuMemAllocAsync_v11020)                                            \
    X(MemFreeAsync, 11020, PFN_cuMemFreeAsync_v11020)                                              \
    X(MemGetInfo, 3020, PFN_cuMemGetInfo_v3020)                                                    \
    X(MemcpyHtoD, 3020, PFN_cuMemcpyHtoD_v3020)                                                    \
    X(MemcpyDtoH, 3020, PFN_cuMemcpyDtoH_v3020)                                                    \
    X(MemcpyHtoDAsync, 3020, PFN_cuMemcpyHtoDAsync_v3020)                                          \
    X(MemcpyDtoHAsync, 3020, PFN_cuMemcpyDtoHAsync_v3020)                                          \
    X(MemcpyDtoDAsync, 3020, PFN_cuMemcpyDtoDAsync_v3020)                                          \
    X(Memcpy2DAsync, 3020, PFN_cuMemcpy2DAsync_v3020)                                              \
    X(Memcpy3DAsync, 3020, PFN_cuMemcpy3DAsync_v3020)                                              \
    X(MemsetD8, 3020, PFN_cuMemsetD8_v3020)                                                        \
    X(MemsetD8Async, 3020, PFN_cuMemsetD8Async_v3020)                                              \
    X(MemsetD32Async, 3020, PFN_cuMemsetD32Async_v3020)                                            \
    X(PointerGetAttribute, 4000, PFN_cuPointerGetAttribute_v4000)                                  \
    X(ModuleLoadData, 2000, PFN_cuModuleLoadData_v2000)                                            \
    X(ModuleUnload, 2000, PFN_cuModuleUnload_v2000)                                                \
    X(ModuleGetFunction, 2000, PFN_cuModuleGetFunction_v2000)                                      \
    X(LaunchKernel, 4000, PFN_cuLaunchKernel_v4000)                                                \
    X(GraphicsGLRegisterBuffer, 3000, gr_cuGraphicsGLRegisterBuffer_fn)                            \
    X(GLGetDevices, 6050, gr_cuGLGetDevices_fn)                                                    \
    X(GraphicsUnregisterResource, 3000, PFN_cuGraphicsUnregisterResource_v3000)                    \
    X(GraphicsMapResources, 3000, PFN_cuGraphicsMapResources_v3000)                                \
    X(GraphicsUnmapResources, 3000, PFN_cuGraphicsUnmapResources_v3000)                            \
    X(GraphicsResourceGetMappedPointer, 3020, PFN_cuGraphicsResourceGetMappedPointer_v3020)        \
    X(GraphicsGLRegisterImage, 3000, gr_cuGraphicsGLRegisterImage_fn)                              \
    X(GraphicsSubResourceGetMappedArray, 3000, PFN_cuGraphicsSubResourceGetMappedArray_v3000)      \
    X(GraphicsResourceGetMappedMipmappedArray, 5000,                                               \
      PFN_cuGraphicsResourceGetMappedMipmappedArray_v5000)                                         \
    X(Array3DGetDescriptor, 3020, PFN_cuArray3DGetDescriptor_v3020)                                \
    X(MipmappedArrayGetLevel, 5000, PFN_cuMipmappedArrayGetLevel_v5000)                            \
    X(SurfObjectCreate, 5000, PFN_cuSurfObjectCreate_v5000)                                        \
    X(SurfObjectDestroy, 5000, PFN_cuSurfObjectDestroy_v5000)                                      \
    X(TexObjectCreate, 5000, PFN_cuTexObjectCreate_v5000)                                          \
    X(TexObjectDestroy, 5000, PFN_cuTexObjectDestroy_v5000)                                        \
    X(ImportExternalMemory, 10000, PFN_cuImportExternalMemory_v10000)                              \
    X(DestroyExternalMemory, 10000, PFN_cuDestroyExternalMemory_v10000)                            \
    X(ExternalMemoryGetMappedBuffer, 10000, PFN_cuExternalMemoryGetMappedBuffer_v10000)            \
    X(ExternalMemoryGetMappedMipmappedArray, 10000,                                                \
      PFN_cuExternalMemoryGetMappedMipmappedArray_v10000)                                          \
    X(ImportExternalSemaphore, 10000, PFN_cuImportExternalSemaphore_v10000)                        \
    X(DestroyExternalSemaphore, 10000, PFN_cuDestroyExternalSemaphore_v10000)                      \
    X(SignalExternalSemaphoresAsync, 10000, PFN_cuSignalExternalSemaphoresAsync_v10000)            \
    X(WaitExternalSemaphoresAsync, 10000, PFN_cuWaitExternalSemaphoresAsync_v10000)                \
    X(MipmappedArrayDestroy, 5000, PFN_cuMipmappedArrayDestroy_v5000)                              \
    X(MemGetAllocationGranularity, 10020, PFN_cuMemGetAllocationGranularity_v10020)                \
    X(MemCreate, 10020, PFN_cuMemCreate_v10020)                                                    \
    X(MemRelease, 10020, PFN_cuMemRelease_v10020)                                                  \
    X(MemAddressReserve, 10020, PFN_cuMemAddressReserve_v10020)                                    \
    X(MemAddressFree, 10020, PFN_cuMemAddressFree_v10020)                                          \
    X(MemMap, 10020, PFN_cuMemMap_v10020)                                                          \
    X(MemUnmap, 10020, PFN_cuMemUnmap_v10020)                                                      \
    X(MemSetAccess, 10020, PFN_cuMemSetAccess_v10020)                                              \
    X(MemExportToShareableHandle, 10020, PFN_cuMemExportToShareableHandle_v10020)                  \
    X(MemImportFromShareableHandle, 10020, PFN_cuMemImportFromShareableHandle_v10020)              \
    X(MipmappedArrayCreate, 5000, PFN_cuMipmappedArrayCreate_v5000)

/*
 * The driver's functions, under their plain names: gr_cuda()->MemAlloc(...). (cuda.h may define a
 * name as a macro for its versioned form; it does so for the member and for its use alike.)
 */
#define GR_CUDA_MEMBER(name, version, type) type name;
typedef struct gr_cuda_api {
    GR_CUDA_FUNCTIONS(GR_CUDA_MEMBER)
} gr_cuda_api;
#undef GR_CUDA_MEMBER

/*
 * Loads the CUDA driver and initialises it (cuInit), if that has not happened yet. The environment
 * variable GR_CUDA_DRIVER decides first: "soft" is the software CUDA driver that comes with grinterop,
 * anything else the file to load. Without it libcuda.so.1 is loaded and, where there is none or it
 * finds no device and `allow_software` is true, the software driver, with a line on the standard
 * error stream that says so. The choice stays for the life of the process.
 *
 * Making a resource or a context loads the driver as by gr_cuda_load(false), so programs that need no
 * choice need no call. Safe from any thread.
 * Errors: GR_ERR_NO_DRIVER, whose message names the file looked for and the loader's or cuInit's words.
 */
GR_API gr_status gr_cuda_load(bool allow_software);

/* The driver's functions; loads it as by gr_cuda_load(false). NULL after GR_ERR_NO_DRIVER. */
GR_API const gr_cuda_api *gr_cuda(void);

/* Whether the loaded driver is the software one; false before it is loaded. */
GR_API bool gr_cuda_is_software(void);

/* The file that was loaded, for example "libcuda.so.1"; "" before. Valid for the process's life. */
GR_API const char *gr_cuda_driver_path(void);

/*
 * An entry point that is not in the table, in the variant of that CUDA version (2000 is 2.0, 12050 is
 * 12.5); NULL, with GR_ERR_NO_DRIVER, if the driver has none. Wraps cuGetProcAddress.
 */
GR_API void *gr_cuda_symbol(const char *name, int version);

#ifdef __cplusplus
}
#endif
#endif
