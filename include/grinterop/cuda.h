/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of the CUDA driver. A program that calls CUDA through this header links no CUDA
 * library, and runs on a GPU or on the software CUDA driver. This header needs the headers of the
 * CUDA Toolkit, 12.0 or newer.
 *
 *     const gr_cuda_api *cuda = gr_cuda();   loads the driver if necessary
 *     if (!cuda)
 *         gr_error_print(stderr, "CUDA");
 *     cuda->MemAlloc(&pointer, bytes);       calls cuMemAlloc
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_CUDA_H
#define GR_CUDA_H

#include <string.h>

#ifdef __has_include
#if !__has_include(<cudaTypedefs.h>)
#error "grinterop/cuda.h needs CUDA's headers, 12.0 or newer: name their folder by -I"
#endif
#endif
#include <cudaTypedefs.h>
#if CUDA_VERSION < 12000
#error "grinterop/cuda.h needs CUDA's headers of 12.0 or newer: name another folder by -I"
#endif

#include <grinterop/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions of the driver ----------------------------------------------------------------- */

/*
 * The types of the functions of cudaGL.h. This header does not include cudaGL.h, which needs an
 * OpenGL header.
 */
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterBuffer_fn)(CUgraphicsResource *, unsigned int,
                                                            unsigned int);
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterImage_fn)(CUgraphicsResource *, unsigned int,
                                                           unsigned int, unsigned int);
typedef CUresult(CUDAAPI *gr_cuGLGetDevices_fn)(unsigned int *, CUdevice *, unsigned int, int);
typedef CUresult(CUDAAPI *gr_cuProfiler_fn)(void);

/*
 * All functions of the CUDA 12.0 driver API: X(name, version, type). `name` lacks "cu", `version`
 * is the CUDA version of the variant (3020 is 3.2), and `type` is its type in cudaTypedefs.h. All
 * variants are the newest of CUDA 12.0, except those of CtxCreate and DeviceGetUuid: these are
 * older, and every driver has them.
 */
#define GR_CUDA_FUNCTIONS(X)                                                                       \
    X(GetErrorString, 6000, PFN_cuGetErrorString_v6000)                                            \
    X(GetErrorName, 6000, PFN_cuGetErrorName_v6000)                                                \
    X(Init, 2000, PFN_cuInit_v2000)                                                                \
    X(DriverGetVersion, 2020, PFN_cuDriverGetVersion_v2020)                                        \
    X(DeviceGet, 2000, PFN_cuDeviceGet_v2000)                                                      \
    X(DeviceGetCount, 2000, PFN_cuDeviceGetCount_v2000)                                            \
    X(DeviceGetName, 2000, PFN_cuDeviceGetName_v2000)                                              \
    X(DeviceGetUuid, 9020, PFN_cuDeviceGetUuid_v9020)                                              \
    X(DeviceGetLuid, 10000, PFN_cuDeviceGetLuid_v10000)                                            \
    X(DeviceTotalMem, 3020, PFN_cuDeviceTotalMem_v3020)                                            \
    X(DeviceGetTexture1DLinearMaxWidth, 11010, PFN_cuDeviceGetTexture1DLinearMaxWidth_v11010)      \
    X(DeviceGetAttribute, 2000, PFN_cuDeviceGetAttribute_v2000)                                    \
    X(DeviceGetNvSciSyncAttributes, 10020, PFN_cuDeviceGetNvSciSyncAttributes_v10020)              \
    X(DeviceSetMemPool, 11020, PFN_cuDeviceSetMemPool_v11020)                                      \
    X(DeviceGetMemPool, 11020, PFN_cuDeviceGetMemPool_v11020)                                      \
    X(DeviceGetDefaultMemPool, 11020, PFN_cuDeviceGetDefaultMemPool_v11020)                        \
    X(DeviceGetProperties, 2000, PFN_cuDeviceGetProperties_v2000)                                  \
    X(DeviceComputeCapability, 2000, PFN_cuDeviceComputeCapability_v2000)                          \
    X(DevicePrimaryCtxRetain, 7000, PFN_cuDevicePrimaryCtxRetain_v7000)                            \
    X(DevicePrimaryCtxRelease, 11000, PFN_cuDevicePrimaryCtxRelease_v11000)                        \
    X(DevicePrimaryCtxSetFlags, 11000, PFN_cuDevicePrimaryCtxSetFlags_v11000)                      \
    X(DevicePrimaryCtxGetState, 7000, PFN_cuDevicePrimaryCtxGetState_v7000)                        \
    X(DevicePrimaryCtxReset, 11000, PFN_cuDevicePrimaryCtxReset_v11000)                            \
    X(DeviceGetExecAffinitySupport, 11040, PFN_cuDeviceGetExecAffinitySupport_v11040)              \
    X(CtxCreate, 3020, PFN_cuCtxCreate_v3020)                                                      \
    X(CtxGetId, 12000, PFN_cuCtxGetId_v12000)                                                      \
    X(CtxDestroy, 4000, PFN_cuCtxDestroy_v4000)                                                    \
    X(CtxPushCurrent, 4000, PFN_cuCtxPushCurrent_v4000)                                            \
    X(CtxPopCurrent, 4000, PFN_cuCtxPopCurrent_v4000)                                              \
    X(CtxSetCurrent, 4000, PFN_cuCtxSetCurrent_v4000)                                              \
    X(CtxGetCurrent, 4000, PFN_cuCtxGetCurrent_v4000)                                              \
    X(CtxGetDevice, 2000, PFN_cuCtxGetDevice_v2000)                                                \
    X(CtxGetFlags, 7000, PFN_cuCtxGetFlags_v7000)                                                  \
    X(CtxSynchronize, 2000, PFN_cuCtxSynchronize_v2000)                                            \
    X(CtxSetLimit, 3010, PFN_cuCtxSetLimit_v3010)                                                  \
    X(CtxGetLimit, 3010, PFN_cuCtxGetLimit_v3010)                                                  \
    X(CtxGetCacheConfig, 3020, PFN_cuCtxGetCacheConfig_v3020)                                      \
    X(CtxSetCacheConfig, 3020, PFN_cuCtxSetCacheConfig_v3020)                                      \
    X(CtxGetSharedMemConfig, 4020, PFN_cuCtxGetSharedMemConfig_v4020)                              \
    X(CtxSetSharedMemConfig, 4020, PFN_cuCtxSetSharedMemConfig_v4020)                              \
    X(CtxGetApiVersion, 3020, PFN_cuCtxGetApiVersion_v3020)                                        \
    X(CtxGetStreamPriorityRange, 5050, PFN_cuCtxGetStreamPriorityRange_v5050)                      \
    X(CtxResetPersistingL2Cache, 11000, PFN_cuCtxResetPersistingL2Cache_v11000)                    \
    X(CtxAttach, 2000, PFN_cuCtxAttach_v2000)                                                      \
    X(CtxDetach, 2000, PFN_cuCtxDetach_v2000)                                                      \
    X(CtxGetExecAffinity, 11040, PFN_cuCtxGetExecAffinity_v11040)                                  \
    X(ModuleLoad, 2000, PFN_cuModuleLoad_v2000)                                                    \
    X(ModuleLoadData, 2000, PFN_cuModuleLoadData_v2000)                                            \
    X(ModuleLoadDataEx, 2010, PFN_cuModuleLoadDataEx_v2010)                                        \
    X(ModuleLoadFatBinary, 2000, PFN_cuModuleLoadFatBinary_v2000)                                  \
    X(ModuleUnload, 2000, PFN_cuModuleUnload_v2000)                                                \
    X(ModuleGetFunction, 2000, PFN_cuModuleGetFunction_v2000)                                      \
    X(ModuleGetGlobal, 3020, PFN_cuModuleGetGlobal_v3020)                                          \
    X(ModuleGetTexRef, 2000, PFN_cuModuleGetTexRef_v2000)                                          \
    X(ModuleGetSurfRef, 3000, PFN_cuModuleGetSurfRef_v3000)                                        \
    X(LinkCreate, 6050, PFN_cuLinkCreate_v6050)                                                    \
    X(LinkAddData, 6050, PFN_cuLinkAddData_v6050)                                                  \
    X(LinkAddFile, 6050, PFN_cuLinkAddFile_v6050)                                                  \
    X(LinkComplete, 5050, PFN_cuLinkComplete_v5050)                                                \
    X(LinkDestroy, 5050, PFN_cuLinkDestroy_v5050)                                                  \
    X(MemGetInfo, 3020, PFN_cuMemGetInfo_v3020)                                                    \
    X(MemAlloc, 3020, PFN_cuMemAlloc_v3020)                                                        \
    X(MemAllocPitch, 3020, PFN_cuMemAllocPitch_v3020)                                              \
    X(MemFree, 3020, PFN_cuMemFree_v3020)                                                          \
    X(MemGetAddressRange, 3020, PFN_cuMemGetAddressRange_v3020)                                    \
    X(MemAllocHost, 3020, PFN_cuMemAllocHost_v3020)                                                \
    X(MemFreeHost, 2000, PFN_cuMemFreeHost_v2000)                                                  \
    X(MemHostAlloc, 2020, PFN_cuMemHostAlloc_v2020)                                                \
    X(MemHostGetDevicePointer, 3020, PFN_cuMemHostGetDevicePointer_v3020)                          \
    X(MemHostGetFlags, 2030, PFN_cuMemHostGetFlags_v2030)                                          \
    X(MemAllocManaged, 6000, PFN_cuMemAllocManaged_v6000)                                          \
    X(DeviceGetByPCIBusId, 4010, PFN_cuDeviceGetByPCIBusId_v4010)                                  \
    X(DeviceGetPCIBusId, 4010, PFN_cuDeviceGetPCIBusId_v4010)                                      \
    X(IpcGetEventHandle, 4010, PFN_cuIpcGetEventHandle_v4010)                                      \
    X(IpcOpenEventHandle, 4010, PFN_cuIpcOpenEventHandle_v4010)                                    \
    X(IpcGetMemHandle, 4010, PFN_cuIpcGetMemHandle_v4010)                                          \
    X(IpcOpenMemHandle, 11000, PFN_cuIpcOpenMemHandle_v11000)                                      \
    X(IpcCloseMemHandle, 4010, PFN_cuIpcCloseMemHandle_v4010)                                      \
    X(MemHostRegister, 6050, PFN_cuMemHostRegister_v6050)                                          \
    X(MemHostUnregister, 4000, PFN_cuMemHostUnregister_v4000)                                      \
    X(Memcpy, 4000, PFN_cuMemcpy_v4000)                                                            \
    X(MemcpyPeer, 4000, PFN_cuMemcpyPeer_v4000)                                                    \
    X(MemcpyHtoD, 3020, PFN_cuMemcpyHtoD_v3020)                                                    \
    X(MemcpyDtoH, 3020, PFN_cuMemcpyDtoH_v3020)                                                    \
    X(MemcpyDtoD, 3020, PFN_cuMemcpyDtoD_v3020)                                                    \
    X(MemcpyDtoA, 3020, PFN_cuMemcpyDtoA_v3020)                                                    \
    X(MemcpyAtoD, 3020, PFN_cuMemcpyAtoD_v3020)                                                    \
    X(MemcpyHtoA, 3020, PFN_cuMemcpyHtoA_v3020)                                                    \
    X(MemcpyAtoH, 3020, PFN_cuMemcpyAtoH_v3020)                                                    \
    X(MemcpyAtoA, 3020, PFN_cuMemcpyAtoA_v3020)                                                    \
    X(Memcpy2D, 3020, PFN_cuMemcpy2D_v3020)                                                        \
    X(Memcpy2DUnaligned, 3020, PFN_cuMemcpy2DUnaligned_v3020)                                      \
    X(Memcpy3D, 3020, PFN_cuMemcpy3D_v3020)                                                        \
    X(Memcpy3DPeer, 4000, PFN_cuMemcpy3DPeer_v4000)                                                \
    X(MemcpyAsync, 4000, PFN_cuMemcpyAsync_v4000)                                                  \
    X(MemcpyPeerAsync, 4000, PFN_cuMemcpyPeerAsync_v4000)                                          \
    X(MemcpyHtoDAsync, 3020, PFN_cuMemcpyHtoDAsync_v3020)                                          \
    X(MemcpyDtoHAsync, 3020, PFN_cuMemcpyDtoHAsync_v3020)                                          \
    X(MemcpyDtoDAsync, 3020, PFN_cuMemcpyDtoDAsync_v3020)                                          \
    X(MemcpyHtoAAsync, 3020, PFN_cuMemcpyHtoAAsync_v3020)                                          \
    X(MemcpyAtoHAsync, 3020, PFN_cuMemcpyAtoHAsync_v3020)                                          \
    X(Memcpy2DAsync, 3020, PFN_cuMemcpy2DAsync_v3020)                                              \
    X(Memcpy3DAsync, 3020, PFN_cuMemcpy3DAsync_v3020)                                              \
    X(Memcpy3DPeerAsync, 4000, PFN_cuMemcpy3DPeerAsync_v4000)                                      \
    X(MemsetD8, 3020, PFN_cuMemsetD8_v3020)                                                        \
    X(MemsetD16, 3020, PFN_cuMemsetD16_v3020)                                                      \
    X(MemsetD32, 3020, PFN_cuMemsetD32_v3020)                                                      \
    X(MemsetD2D8, 3020, PFN_cuMemsetD2D8_v3020)                                                    \
    X(MemsetD2D16, 3020, PFN_cuMemsetD2D16_v3020)                                                  \
    X(MemsetD2D32, 3020, PFN_cuMemsetD2D32_v3020)                                                  \
    X(MemsetD8Async, 3020, PFN_cuMemsetD8Async_v3020)                                              \
    X(MemsetD16Async, 3020, PFN_cuMemsetD16Async_v3020)                                            \
    X(MemsetD32Async, 3020, PFN_cuMemsetD32Async_v3020)                                            \
    X(MemsetD2D8Async, 3020, PFN_cuMemsetD2D8Async_v3020)                                          \
    X(MemsetD2D16Async, 3020, PFN_cuMemsetD2D16Async_v3020)                                        \
    X(MemsetD2D32Async, 3020, PFN_cuMemsetD2D32Async_v3020)                                        \
    X(ArrayCreate, 3020, PFN_cuArrayCreate_v3020)                                                  \
    X(ArrayGetDescriptor, 3020, PFN_cuArrayGetDescriptor_v3020)                                    \
    X(ArrayGetSparseProperties, 11010, PFN_cuArrayGetSparseProperties_v11010)                      \
    X(MipmappedArrayGetSparseProperties, 11010, PFN_cuMipmappedArrayGetSparseProperties_v11010)    \
    X(ArrayGetMemoryRequirements, 11060, PFN_cuArrayGetMemoryRequirements_v11060)                  \
    X(MipmappedArrayGetMemoryRequirements, 11060,                                                  \
      PFN_cuMipmappedArrayGetMemoryRequirements_v11060)                                            \
    X(ArrayGetPlane, 11020, PFN_cuArrayGetPlane_v11020)                                            \
    X(ArrayDestroy, 2000, PFN_cuArrayDestroy_v2000)                                                \
    X(Array3DCreate, 3020, PFN_cuArray3DCreate_v3020)                                              \
    X(Array3DGetDescriptor, 3020, PFN_cuArray3DGetDescriptor_v3020)                                \
    X(MipmappedArrayCreate, 5000, PFN_cuMipmappedArrayCreate_v5000)                                \
    X(MipmappedArrayGetLevel, 5000, PFN_cuMipmappedArrayGetLevel_v5000)                            \
    X(MipmappedArrayDestroy, 5000, PFN_cuMipmappedArrayDestroy_v5000)                              \
    X(MemAddressReserve, 10020, PFN_cuMemAddressReserve_v10020)                                    \
    X(MemAddressFree, 10020, PFN_cuMemAddressFree_v10020)                                          \
    X(MemCreate, 10020, PFN_cuMemCreate_v10020)                                                    \
    X(MemRelease, 10020, PFN_cuMemRelease_v10020)                                                  \
    X(MemMap, 10020, PFN_cuMemMap_v10020)                                                          \
    X(MemMapArrayAsync, 11010, PFN_cuMemMapArrayAsync_v11010)                                      \
    X(MemUnmap, 10020, PFN_cuMemUnmap_v10020)                                                      \
    X(MemSetAccess, 10020, PFN_cuMemSetAccess_v10020)                                              \
    X(MemGetAccess, 10020, PFN_cuMemGetAccess_v10020)                                              \
    X(MemExportToShareableHandle, 10020, PFN_cuMemExportToShareableHandle_v10020)                  \
    X(MemImportFromShareableHandle, 10020, PFN_cuMemImportFromShareableHandle_v10020)              \
    X(MemGetAllocationGranularity, 10020, PFN_cuMemGetAllocationGranularity_v10020)                \
    X(MemGetAllocationPropertiesFromHandle, 10020,                                                 \
      PFN_cuMemGetAllocationPropertiesFromHandle_v10020)                                           \
    X(MemRetainAllocationHandle, 11000, PFN_cuMemRetainAllocationHandle_v11000)                    \
    X(MemFreeAsync, 11020, PFN_cuMemFreeAsync_v11020)                                              \
    X(MemAllocAsync, 11020, PFN_cuMemAllocAsync_v11020)                                            \
    X(MemPoolTrimTo, 11020, PFN_cuMemPoolTrimTo_v11020)                                            \
    X(MemPoolSetAttribute, 11020, PFN_cuMemPoolSetAttribute_v11020)                                \
    X(MemPoolGetAttribute, 11020, PFN_cuMemPoolGetAttribute_v11020)                                \
    X(MemPoolSetAccess, 11020, PFN_cuMemPoolSetAccess_v11020)                                      \
    X(MemPoolGetAccess, 11020, PFN_cuMemPoolGetAccess_v11020)                                      \
    X(MemPoolCreate, 11020, PFN_cuMemPoolCreate_v11020)                                            \
    X(MemPoolDestroy, 11020, PFN_cuMemPoolDestroy_v11020)                                          \
    X(MemAllocFromPoolAsync, 11020, PFN_cuMemAllocFromPoolAsync_v11020)                            \
    X(MemPoolExportToShareableHandle, 11020, PFN_cuMemPoolExportToShareableHandle_v11020)          \
    X(MemPoolImportFromShareableHandle, 11020, PFN_cuMemPoolImportFromShareableHandle_v11020)      \
    X(MemPoolExportPointer, 11020, PFN_cuMemPoolExportPointer_v11020)                              \
    X(MemPoolImportPointer, 11020, PFN_cuMemPoolImportPointer_v11020)                              \
    X(PointerGetAttribute, 4000, PFN_cuPointerGetAttribute_v4000)                                  \
    X(MemPrefetchAsync, 8000, PFN_cuMemPrefetchAsync_v8000)                                        \
    X(MemAdvise, 8000, PFN_cuMemAdvise_v8000)                                                      \
    X(MemRangeGetAttribute, 8000, PFN_cuMemRangeGetAttribute_v8000)                                \
    X(MemRangeGetAttributes, 8000, PFN_cuMemRangeGetAttributes_v8000)                              \
    X(PointerSetAttribute, 6000, PFN_cuPointerSetAttribute_v6000)                                  \
    X(PointerGetAttributes, 7000, PFN_cuPointerGetAttributes_v7000)                                \
    X(StreamCreate, 2000, PFN_cuStreamCreate_v2000)                                                \
    X(StreamCreateWithPriority, 5050, PFN_cuStreamCreateWithPriority_v5050)                        \
    X(StreamGetId, 12000, PFN_cuStreamGetId_v12000)                                                \
    X(StreamGetPriority, 5050, PFN_cuStreamGetPriority_v5050)                                      \
    X(StreamGetFlags, 5050, PFN_cuStreamGetFlags_v5050)                                            \
    X(StreamGetCtx, 9020, PFN_cuStreamGetCtx_v9020)                                                \
    X(StreamWaitEvent, 3020, PFN_cuStreamWaitEvent_v3020)                                          \
    X(StreamAddCallback, 5000, PFN_cuStreamAddCallback_v5000)                                      \
    X(StreamBeginCapture, 10010, PFN_cuStreamBeginCapture_v10010)                                  \
    X(ThreadExchangeStreamCaptureMode, 10010, PFN_cuThreadExchangeStreamCaptureMode_v10010)        \
    X(StreamEndCapture, 10000, PFN_cuStreamEndCapture_v10000)                                      \
    X(StreamIsCapturing, 10000, PFN_cuStreamIsCapturing_v10000)                                    \
    X(StreamGetCaptureInfo, 11030, PFN_cuStreamGetCaptureInfo_v11030)                              \
    X(StreamUpdateCaptureDependencies, 11030, PFN_cuStreamUpdateCaptureDependencies_v11030)        \
    X(StreamAttachMemAsync, 6000, PFN_cuStreamAttachMemAsync_v6000)                                \
    X(StreamQuery, 2000, PFN_cuStreamQuery_v2000)                                                  \
    X(StreamSynchronize, 2000, PFN_cuStreamSynchronize_v2000)                                      \
    X(StreamDestroy, 4000, PFN_cuStreamDestroy_v4000)                                              \
    X(StreamCopyAttributes, 11000, PFN_cuStreamCopyAttributes_v11000)                              \
    X(StreamGetAttribute, 11000, PFN_cuStreamGetAttribute_v11000)                                  \
    X(StreamSetAttribute, 11000, PFN_cuStreamSetAttribute_v11000)                                  \
    X(EventCreate, 2000, PFN_cuEventCreate_v2000)                                                  \
    X(EventRecord, 2000, PFN_cuEventRecord_v2000)                                                  \
    X(EventRecordWithFlags, 11010, PFN_cuEventRecordWithFlags_v11010)                              \
    X(EventQuery, 2000, PFN_cuEventQuery_v2000)                                                    \
    X(EventSynchronize, 2000, PFN_cuEventSynchronize_v2000)                                        \
    X(EventDestroy, 4000, PFN_cuEventDestroy_v4000)                                                \
    X(EventElapsedTime, 2000, PFN_cuEventElapsedTime_v2000)                                        \
    X(ImportExternalMemory, 10000, PFN_cuImportExternalMemory_v10000)                              \
    X(ExternalMemoryGetMappedBuffer, 10000, PFN_cuExternalMemoryGetMappedBuffer_v10000)            \
    X(ExternalMemoryGetMappedMipmappedArray, 10000,                                                \
      PFN_cuExternalMemoryGetMappedMipmappedArray_v10000)                                          \
    X(DestroyExternalMemory, 10000, PFN_cuDestroyExternalMemory_v10000)                            \
    X(ImportExternalSemaphore, 10000, PFN_cuImportExternalSemaphore_v10000)                        \
    X(SignalExternalSemaphoresAsync, 10000, PFN_cuSignalExternalSemaphoresAsync_v10000)            \
    X(WaitExternalSemaphoresAsync, 10000, PFN_cuWaitExternalSemaphoresAsync_v10000)                \
    X(DestroyExternalSemaphore, 10000, PFN_cuDestroyExternalSemaphore_v10000)                      \
    X(StreamWaitValue32, 11070, PFN_cuStreamWaitValue32_v11070)                                    \
    X(StreamWaitValue64, 11070, PFN_cuStreamWaitValue64_v11070)                                    \
    X(StreamWriteValue32, 11070, PFN_cuStreamWriteValue32_v11070)                                  \
    X(StreamWriteValue64, 11070, PFN_cuStreamWriteValue64_v11070)                                  \
    X(StreamBatchMemOp, 11070, PFN_cuStreamBatchMemOp_v11070)                                      \
    X(FuncGetAttribute, 2020, PFN_cuFuncGetAttribute_v2020)                                        \
    X(FuncSetAttribute, 9000, PFN_cuFuncSetAttribute_v9000)                                        \
    X(FuncSetCacheConfig, 3000, PFN_cuFuncSetCacheConfig_v3000)                                    \
    X(FuncSetSharedMemConfig, 4020, PFN_cuFuncSetSharedMemConfig_v4020)                            \
    X(LaunchKernel, 4000, PFN_cuLaunchKernel_v4000)                                                \
    X(LaunchKernelEx, 11060, PFN_cuLaunchKernelEx_v11060)                                          \
    X(LaunchCooperativeKernel, 9000, PFN_cuLaunchCooperativeKernel_v9000)                          \
    X(LaunchCooperativeKernelMultiDevice, 9000, PFN_cuLaunchCooperativeKernelMultiDevice_v9000)    \
    X(LaunchHostFunc, 10000, PFN_cuLaunchHostFunc_v10000)                                          \
    X(FuncSetBlockShape, 2000, PFN_cuFuncSetBlockShape_v2000)                                      \
    X(FuncSetSharedSize, 2000, PFN_cuFuncSetSharedSize_v2000)                                      \
    X(ParamSetSize, 2000, PFN_cuParamSetSize_v2000)                                                \
    X(ParamSeti, 2000, PFN_cuParamSeti_v2000)                                                      \
    X(ParamSetf, 2000, PFN_cuParamSetf_v2000)                                                      \
    X(ParamSetv, 2000, PFN_cuParamSetv_v2000)                                                      \
    X(Launch, 2000, PFN_cuLaunch_v2000)                                                            \
    X(LaunchGrid, 2000, PFN_cuLaunchGrid_v2000)                                                    \
    X(LaunchGridAsync, 2000, PFN_cuLaunchGridAsync_v2000)                                          \
    X(ParamSetTexRef, 2000, PFN_cuParamSetTexRef_v2000)                                            \
    X(GraphCreate, 10000, PFN_cuGraphCreate_v10000)                                                \
    X(GraphAddKernelNode, 12000, PFN_cuGraphAddKernelNode_v12000)                                  \
    X(GraphKernelNodeGetParams, 12000, PFN_cuGraphKernelNodeGetParams_v12000)                      \
    X(GraphKernelNodeSetParams, 12000, PFN_cuGraphKernelNodeSetParams_v12000)                      \
    X(GraphAddMemcpyNode, 10000, PFN_cuGraphAddMemcpyNode_v10000)                                  \
    X(GraphMemcpyNodeGetParams, 10000, PFN_cuGraphMemcpyNodeGetParams_v10000)                      \
    X(GraphMemcpyNodeSetParams, 10000, PFN_cuGraphMemcpyNodeSetParams_v10000)                      \
    X(GraphAddMemsetNode, 10000, PFN_cuGraphAddMemsetNode_v10000)                                  \
    X(GraphMemsetNodeGetParams, 10000, PFN_cuGraphMemsetNodeGetParams_v10000)                      \
    X(GraphMemsetNodeSetParams, 10000, PFN_cuGraphMemsetNodeSetParams_v10000)                      \
    X(GraphAddHostNode, 10000, PFN_cuGraphAddHostNode_v10000)                                      \
    X(GraphHostNodeGetParams, 10000, PFN_cuGraphHostNodeGetParams_v10000)                          \
    X(GraphHostNodeSetParams, 10000, PFN_cuGraphHostNodeSetParams_v10000)                          \
    X(GraphAddChildGraphNode, 10000, PFN_cuGraphAddChildGraphNode_v10000)                          \
    X(GraphChildGraphNodeGetGraph, 10000, PFN_cuGraphChildGraphNodeGetGraph_v10000)                \
    X(GraphAddEmptyNode, 10000, PFN_cuGraphAddEmptyNode_v10000)                                    \
    X(GraphAddEventRecordNode, 11010, PFN_cuGraphAddEventRecordNode_v11010)                        \
    X(GraphEventRecordNodeGetEvent, 11010, PFN_cuGraphEventRecordNodeGetEvent_v11010)              \
    X(GraphEventRecordNodeSetEvent, 11010, PFN_cuGraphEventRecordNodeSetEvent_v11010)              \
    X(GraphAddEventWaitNode, 11010, PFN_cuGraphAddEventWaitNode_v11010)                            \
    X(GraphEventWaitNodeGetEvent, 11010, PFN_cuGraphEventWaitNodeGetEvent_v11010)                  \
    X(GraphEventWaitNodeSetEvent, 11010, PFN_cuGraphEventWaitNodeSetEvent_v11010)                  \
    X(GraphAddExternalSemaphoresSignalNode, 11020,                                                 \
      PFN_cuGraphAddExternalSemaphoresSignalNode_v11020)                                           \
    X(GraphExternalSemaphoresSignalNodeGetParams, 11020,                                           \
      PFN_cuGraphExternalSemaphoresSignalNodeGetParams_v11020)                                     \
    X(GraphExternalSemaphoresSignalNodeSetParams, 11020,                                           \
      PFN_cuGraphExternalSemaphoresSignalNodeSetParams_v11020)                                     \
    X(GraphAddExternalSemaphoresWaitNode, 11020, PFN_cuGraphAddExternalSemaphoresWaitNode_v11020)  \
    X(GraphExternalSemaphoresWaitNodeGetParams, 11020,                                             \
      PFN_cuGraphExternalSemaphoresWaitNodeGetParams_v11020)                                       \
    X(GraphExternalSemaphoresWaitNodeSetParams, 11020,                                             \
      PFN_cuGraphExternalSemaphoresWaitNodeSetParams_v11020)                                       \
    X(GraphAddBatchMemOpNode, 11070, PFN_cuGraphAddBatchMemOpNode_v11070)                          \
    X(GraphBatchMemOpNodeGetParams, 11070, PFN_cuGraphBatchMemOpNodeGetParams_v11070)              \
    X(GraphBatchMemOpNodeSetParams, 11070, PFN_cuGraphBatchMemOpNodeSetParams_v11070)              \
    X(GraphExecBatchMemOpNodeSetParams, 11070, PFN_cuGraphExecBatchMemOpNodeSetParams_v11070)      \
    X(GraphClone, 10000, PFN_cuGraphClone_v10000)                                                  \
    X(GraphNodeFindInClone, 10000, PFN_cuGraphNodeFindInClone_v10000)                              \
    X(GraphNodeGetType, 10000, PFN_cuGraphNodeGetType_v10000)                                      \
    X(GraphGetNodes, 10000, PFN_cuGraphGetNodes_v10000)                                            \
    X(GraphGetRootNodes, 10000, PFN_cuGraphGetRootNodes_v10000)                                    \
    X(GraphGetEdges, 10000, PFN_cuGraphGetEdges_v10000)                                            \
    X(GraphNodeGetDependencies, 10000, PFN_cuGraphNodeGetDependencies_v10000)                      \
    X(GraphNodeGetDependentNodes, 10000, PFN_cuGraphNodeGetDependentNodes_v10000)                  \
    X(GraphAddDependencies, 10000, PFN_cuGraphAddDependencies_v10000)                              \
    X(GraphRemoveDependencies, 10000, PFN_cuGraphRemoveDependencies_v10000)                        \
    X(GraphDestroyNode, 10000, PFN_cuGraphDestroyNode_v10000)                                      \
    X(GraphInstantiateWithFlags, 11040, PFN_cuGraphInstantiateWithFlags_v11040)                    \
    X(GraphInstantiateWithParams, 12000, PFN_cuGraphInstantiateWithParams_v12000)                  \
    X(GraphExecGetFlags, 12000, PFN_cuGraphExecGetFlags_v12000)                                    \
    X(GraphExecKernelNodeSetParams, 12000, PFN_cuGraphExecKernelNodeSetParams_v12000)              \
    X(GraphExecMemcpyNodeSetParams, 10020, PFN_cuGraphExecMemcpyNodeSetParams_v10020)              \
    X(GraphExecMemsetNodeSetParams, 10020, PFN_cuGraphExecMemsetNodeSetParams_v10020)              \
    X(GraphExecHostNodeSetParams, 10020, PFN_cuGraphExecHostNodeSetParams_v10020)                  \
    X(GraphExecChildGraphNodeSetParams, 11010, PFN_cuGraphExecChildGraphNodeSetParams_v11010)      \
    X(GraphExecEventRecordNodeSetEvent, 11010, PFN_cuGraphExecEventRecordNodeSetEvent_v11010)      \
    X(GraphExecEventWaitNodeSetEvent, 11010, PFN_cuGraphExecEventWaitNodeSetEvent_v11010)          \
    X(GraphExecExternalSemaphoresSignalNodeSetParams, 11020,                                       \
      PFN_cuGraphExecExternalSemaphoresSignalNodeSetParams_v11020)                                 \
    X(GraphExecExternalSemaphoresWaitNodeSetParams, 11020,                                         \
      PFN_cuGraphExecExternalSemaphoresWaitNodeSetParams_v11020)                                   \
    X(GraphUpload, 11010, PFN_cuGraphUpload_v11010)                                                \
    X(GraphLaunch, 10000, PFN_cuGraphLaunch_v10000)                                                \
    X(GraphExecDestroy, 10000, PFN_cuGraphExecDestroy_v10000)                                      \
    X(GraphDestroy, 10000, PFN_cuGraphDestroy_v10000)                                              \
    X(GraphExecUpdate, 12000, PFN_cuGraphExecUpdate_v12000)                                        \
    X(GraphKernelNodeCopyAttributes, 11000, PFN_cuGraphKernelNodeCopyAttributes_v11000)            \
    X(GraphKernelNodeGetAttribute, 11000, PFN_cuGraphKernelNodeGetAttribute_v11000)                \
    X(GraphKernelNodeSetAttribute, 11000, PFN_cuGraphKernelNodeSetAttribute_v11000)                \
    X(GraphDebugDotPrint, 11030, PFN_cuGraphDebugDotPrint_v11030)                                  \
    X(GraphAddMemAllocNode, 11040, PFN_cuGraphAddMemAllocNode_v11040)                              \
    X(GraphMemAllocNodeGetParams, 11040, PFN_cuGraphMemAllocNodeGetParams_v11040)                  \
    X(GraphAddMemFreeNode, 11040, PFN_cuGraphAddMemFreeNode_v11040)                                \
    X(GraphMemFreeNodeGetParams, 11040, PFN_cuGraphMemFreeNodeGetParams_v11040)                    \
    X(GraphNodeSetEnabled, 11060, PFN_cuGraphNodeSetEnabled_v11060)                                \
    X(GraphNodeGetEnabled, 11060, PFN_cuGraphNodeGetEnabled_v11060)                                \
    X(DeviceGraphMemTrim, 11040, PFN_cuDeviceGraphMemTrim_v11040)                                  \
    X(DeviceGetGraphMemAttribute, 11040, PFN_cuDeviceGetGraphMemAttribute_v11040)                  \
    X(DeviceSetGraphMemAttribute, 11040, PFN_cuDeviceSetGraphMemAttribute_v11040)                  \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                             \
      PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050)                                       \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,                                    \
      PFN_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000)                              \
    X(OccupancyMaxPotentialBlockSize, 6050, PFN_cuOccupancyMaxPotentialBlockSize_v6050)            \
    X(OccupancyMaxPotentialBlockSizeWithFlags, 7000,                                               \
      PFN_cuOccupancyMaxPotentialBlockSizeWithFlags_v7000)                                         \
    X(OccupancyAvailableDynamicSMemPerBlock, 10020,                                                \
      PFN_cuOccupancyAvailableDynamicSMemPerBlock_v10020)                                          \
    X(OccupancyMaxPotentialClusterSize, 11070, PFN_cuOccupancyMaxPotentialClusterSize_v11070)      \
    X(OccupancyMaxActiveClusters, 11070, PFN_cuOccupancyMaxActiveClusters_v11070)                  \
    X(TexRefSetArray, 2000, PFN_cuTexRefSetArray_v2000)                                            \
    X(TexRefSetMipmappedArray, 5000, PFN_cuTexRefSetMipmappedArray_v5000)                          \
    X(TexRefSetAddress, 3020, PFN_cuTexRefSetAddress_v3020)                                        \
    X(TexRefSetAddress2D, 4010, PFN_cuTexRefSetAddress2D_v4010)                                    \
    X(TexRefSetFormat, 2000, PFN_cuTexRefSetFormat_v2000)                                          \
    X(TexRefSetAddressMode, 2000, PFN_cuTexRefSetAddressMode_v2000)                                \
    X(TexRefSetFilterMode, 2000, PFN_cuTexRefSetFilterMode_v2000)                                  \
    X(TexRefSetMipmapFilterMode, 5000, PFN_cuTexRefSetMipmapFilterMode_v5000)                      \
    X(TexRefSetMipmapLevelBias, 5000, PFN_cuTexRefSetMipmapLevelBias_v5000)                        \
    X(TexRefSetMipmapLevelClamp, 5000, PFN_cuTexRefSetMipmapLevelClamp_v5000)                      \
    X(TexRefSetMaxAnisotropy, 5000, PFN_cuTexRefSetMaxAnisotropy_v5000)                            \
    X(TexRefSetBorderColor, 8000, PFN_cuTexRefSetBorderColor_v8000)                                \
    X(TexRefSetFlags, 2000, PFN_cuTexRefSetFlags_v2000)                                            \
    X(TexRefGetAddress, 3020, PFN_cuTexRefGetAddress_v3020)                                        \
    X(TexRefGetArray, 2000, PFN_cuTexRefGetArray_v2000)                                            \
    X(TexRefGetMipmappedArray, 5000, PFN_cuTexRefGetMipmappedArray_v5000)                          \
    X(TexRefGetAddressMode, 2000, PFN_cuTexRefGetAddressMode_v2000)                                \
    X(TexRefGetFilterMode, 2000, PFN_cuTexRefGetFilterMode_v2000)                                  \
    X(TexRefGetFormat, 2000, PFN_cuTexRefGetFormat_v2000)                                          \
    X(TexRefGetMipmapFilterMode, 5000, PFN_cuTexRefGetMipmapFilterMode_v5000)                      \
    X(TexRefGetMipmapLevelBias, 5000, PFN_cuTexRefGetMipmapLevelBias_v5000)                        \
    X(TexRefGetMipmapLevelClamp, 5000, PFN_cuTexRefGetMipmapLevelClamp_v5000)                      \
    X(TexRefGetMaxAnisotropy, 5000, PFN_cuTexRefGetMaxAnisotropy_v5000)                            \
    X(TexRefGetBorderColor, 8000, PFN_cuTexRefGetBorderColor_v8000)                                \
    X(TexRefGetFlags, 2000, PFN_cuTexRefGetFlags_v2000)                                            \
    X(TexRefCreate, 2000, PFN_cuTexRefCreate_v2000)                                                \
    X(TexRefDestroy, 2000, PFN_cuTexRefDestroy_v2000)                                              \
    X(SurfRefSetArray, 3000, PFN_cuSurfRefSetArray_v3000)                                          \
    X(SurfRefGetArray, 3000, PFN_cuSurfRefGetArray_v3000)                                          \
    X(TexObjectCreate, 5000, PFN_cuTexObjectCreate_v5000)                                          \
    X(TexObjectDestroy, 5000, PFN_cuTexObjectDestroy_v5000)                                        \
    X(TexObjectGetResourceDesc, 5000, PFN_cuTexObjectGetResourceDesc_v5000)                        \
    X(TexObjectGetTextureDesc, 5000, PFN_cuTexObjectGetTextureDesc_v5000)                          \
    X(TexObjectGetResourceViewDesc, 5000, PFN_cuTexObjectGetResourceViewDesc_v5000)                \
    X(SurfObjectCreate, 5000, PFN_cuSurfObjectCreate_v5000)                                        \
    X(SurfObjectDestroy, 5000, PFN_cuSurfObjectDestroy_v5000)                                      \
    X(SurfObjectGetResourceDesc, 5000, PFN_cuSurfObjectGetResourceDesc_v5000)                      \
    X(TensorMapEncodeTiled, 12000, PFN_cuTensorMapEncodeTiled_v12000)                              \
    X(TensorMapEncodeIm2col, 12000, PFN_cuTensorMapEncodeIm2col_v12000)                            \
    X(TensorMapReplaceAddress, 12000, PFN_cuTensorMapReplaceAddress_v12000)                        \
    X(DeviceCanAccessPeer, 4000, PFN_cuDeviceCanAccessPeer_v4000)                                  \
    X(CtxEnablePeerAccess, 4000, PFN_cuCtxEnablePeerAccess_v4000)                                  \
    X(CtxDisablePeerAccess, 4000, PFN_cuCtxDisablePeerAccess_v4000)                                \
    X(DeviceGetP2PAttribute, 8000, PFN_cuDeviceGetP2PAttribute_v8000)                              \
    X(GraphicsUnregisterResource, 3000, PFN_cuGraphicsUnregisterResource_v3000)                    \
    X(GraphicsSubResourceGetMappedArray, 3000, PFN_cuGraphicsSubResourceGetMappedArray_v3000)      \
    X(GraphicsResourceGetMappedMipmappedArray, 5000,                                               \
      PFN_cuGraphicsResourceGetMappedMipmappedArray_v5000)                                         \
    X(GraphicsResourceGetMappedPointer, 3020, PFN_cuGraphicsResourceGetMappedPointer_v3020)        \
    X(GraphicsResourceSetMapFlags, 6050, PFN_cuGraphicsResourceSetMapFlags_v6050)                  \
    X(GraphicsMapResources, 3000, PFN_cuGraphicsMapResources_v3000)                                \
    X(GraphicsUnmapResources, 3000, PFN_cuGraphicsUnmapResources_v3000)                            \
    X(GetExportTable, 3000, PFN_cuGetExportTable_v3000)                                            \
    X(FuncGetModule, 11000, PFN_cuFuncGetModule_v11000)                                            \
    X(GetProcAddress, 12000, PFN_cuGetProcAddress_v12000)                                          \
    X(FlushGPUDirectRDMAWrites, 11030, PFN_cuFlushGPUDirectRDMAWrites_v11030)                      \
    X(UserObjectCreate, 11030, PFN_cuUserObjectCreate_v11030)                                      \
    X(UserObjectRetain, 11030, PFN_cuUserObjectRetain_v11030)                                      \
    X(UserObjectRelease, 11030, PFN_cuUserObjectRelease_v11030)                                    \
    X(GraphRetainUserObject, 11030, PFN_cuGraphRetainUserObject_v11030)                            \
    X(GraphReleaseUserObject, 11030, PFN_cuGraphReleaseUserObject_v11030)                          \
    X(ModuleGetLoadingMode, 11070, PFN_cuModuleGetLoadingMode_v11070)                              \
    X(MemGetHandleForAddressRange, 11070, PFN_cuMemGetHandleForAddressRange_v11070)                \
    X(LibraryLoadData, 12000, PFN_cuLibraryLoadData_v12000)                                        \
    X(LibraryLoadFromFile, 12000, PFN_cuLibraryLoadFromFile_v12000)                                \
    X(LibraryUnload, 12000, PFN_cuLibraryUnload_v12000)                                            \
    X(LibraryGetKernel, 12000, PFN_cuLibraryGetKernel_v12000)                                      \
    X(LibraryGetModule, 12000, PFN_cuLibraryGetModule_v12000)                                      \
    X(KernelGetFunction, 12000, PFN_cuKernelGetFunction_v12000)                                    \
    X(LibraryGetGlobal, 12000, PFN_cuLibraryGetGlobal_v12000)                                      \
    X(LibraryGetManaged, 12000, PFN_cuLibraryGetManaged_v12000)                                    \
    X(KernelGetAttribute, 12000, PFN_cuKernelGetAttribute_v12000)                                  \
    X(KernelSetAttribute, 12000, PFN_cuKernelSetAttribute_v12000)                                  \
    X(KernelSetCacheConfig, 12000, PFN_cuKernelSetCacheConfig_v12000)                              \
    X(LibraryGetUnifiedFunction, 12000, PFN_cuLibraryGetUnifiedFunction_v12000)                    \
    X(GraphicsGLRegisterBuffer, 3000, gr_cuGraphicsGLRegisterBuffer_fn)                            \
    X(GraphicsGLRegisterImage, 3000, gr_cuGraphicsGLRegisterImage_fn)                              \
    X(GLGetDevices, 6050, gr_cuGLGetDevices_fn)                                                    \
    X(ProfilerStart, 4000, gr_cuProfiler_fn)                                                       \
    X(ProfilerStop, 4000, gr_cuProfiler_fn)

#define GR_CUDA_MEMBER(name, version, type) type name;

/*
 * The functions of the CUDA driver. The names lack "cu", because macros of the toolkit's cuda.h
 * replace the full names, differently in each toolkit. All signatures are those of CUDA 12.0, even
 * with newer CUDA headers: CtxCreate() takes three arguments, for example.
 *
 * This table is not part of the ABI: the program contains its own table and the code that fills it.
 */
typedef struct gr_cuda_api {
    /* Called instead of any function that the driver lacks. */
    CUresult(CUDAAPI *missing)(void);
    GR_CUDA_FUNCTIONS(GR_CUDA_MEMBER)
} gr_cuda_api;
#undef GR_CUDA_MEMBER

/* The function for gr_cuda_api.missing. */
static inline CUresult CUDAAPI gr_cuda_missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Copies by memcpy(), because C does not define a cast from void * to a function pointer. */
static inline void gr_cuda_set(const gr_cuda_api *api, void *member, void *symbol)
{
    if (symbol)
        memcpy(member, &symbol, sizeof(symbol));
    else
        memcpy(member, &api->missing, sizeof(api->missing));
}

static inline bool gr_cuda_is_set(const gr_cuda_api *api, const void *member)
{
    return memcmp(member, &api->missing, sizeof(api->missing)) != 0;
}

/*
 * Whether the driver has a function of the table: GR_CUDA_HAS(cuda, MemAllocAsync). A call of a
 * missing function is allowed, and returns CUDA_ERROR_NOT_SUPPORTED.
 */
#define GR_CUDA_HAS(api, name) gr_cuda_is_set(api, &(api)->name)

/* Makes a NULL stream mean the default stream that nvcc --default-stream selects. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_LEAST(version) ((version) < 7000 ? 7000 : (version))
#else
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_DEFAULT
#define GR_CUDA_SYMBOL_LEAST(version) (version)
#endif

static inline void gr_cuda_fill(void *table, gr_cuda_find_fn find)
{
    gr_cuda_api *api = GR_CAST_(gr_cuda_api *, table);
    api->missing = gr_cuda_missing;
#define GR_CUDA_FILL(name, version, type)                                                          \
    gr_cuda_set(api, &api->name,                                                                   \
                find("cu" #name, GR_CUDA_SYMBOL_LEAST(version), GR_CUDA_SYMBOL_FLAGS));
    GR_CUDA_FUNCTIONS(GR_CUDA_FILL)
#undef GR_CUDA_FILL
}

/*
 * Returns the functions of the CUDA driver. Loads the driver if necessary, like
 * gr_cuda_load(false).
 *
 * Valid    until the process ends
 *
 * Errors: NULL after
 *     GR_ERR_NO_DRIVER  there is no usable CUDA driver
 */
static inline const gr_cuda_api *gr_cuda(void)
{
    static gr_cuda_api table;
    static void *made;
#ifdef __GNUC__
    if (__atomic_load_n(&made, __ATOMIC_ACQUIRE))
        return &table;
#endif
    return GR_CAST_(const gr_cuda_api *, gr_cuda_table(&made, gr_cuda_fill, &table));
}

#ifdef __cplusplus
}
#endif
#endif
