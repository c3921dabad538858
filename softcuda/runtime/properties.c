/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Device properties: the driver's attributes as one struct, and the choice of a device by them. */
#include "softcuda/runtime/runtime.h"

#include <string.h>

#define IN(field, attribute)                                                                       \
    {                                                                                              \
        offsetof(struct cudaDeviceProp, field), cudaDevAttr##attribute, false                      \
    }
#define WIDE(field, attribute)                                                                     \
    {                                                                                              \
        offsetof(struct cudaDeviceProp, field), cudaDevAttr##attribute, true                       \
    }

/* The attributes that are properties; a wide one is a size_t. */
static const struct property {
    size_t offset;
    enum cudaDeviceAttr attribute;
    bool wide;
} properties[] = {
    WIDE(sharedMemPerBlock, MaxSharedMemoryPerBlock),
    IN(regsPerBlock, MaxRegistersPerBlock),
    IN(warpSize, WarpSize),
    WIDE(memPitch, MaxPitch),
    IN(maxThreadsPerBlock, MaxThreadsPerBlock),
    IN(maxThreadsDim[0], MaxBlockDimX),
    IN(maxThreadsDim[1], MaxBlockDimY),
    IN(maxThreadsDim[2], MaxBlockDimZ),
    IN(maxGridSize[0], MaxGridDimX),
    IN(maxGridSize[1], MaxGridDimY),
    IN(maxGridSize[2], MaxGridDimZ),
    WIDE(totalConstMem, TotalConstantMemory),
    IN(major, ComputeCapabilityMajor),
    IN(minor, ComputeCapabilityMinor),
    WIDE(textureAlignment, TextureAlignment),
    WIDE(texturePitchAlignment, TexturePitchAlignment),
    IN(multiProcessorCount, MultiProcessorCount),
    IN(integrated, Integrated),
    IN(canMapHostMemory, CanMapHostMemory),
    IN(maxTexture1D, MaxTexture1DWidth),
    IN(maxTexture1DMipmap, MaxTexture1DMipmappedWidth),
    IN(maxTexture2D[0], MaxTexture2DWidth),
    IN(maxTexture2D[1], MaxTexture2DHeight),
    IN(maxTexture2DMipmap[0], MaxTexture2DMipmappedWidth),
    IN(maxTexture2DMipmap[1], MaxTexture2DMipmappedHeight),
    IN(maxTexture2DLinear[0], MaxTexture2DLinearWidth),
    IN(maxTexture2DLinear[1], MaxTexture2DLinearHeight),
    IN(maxTexture2DLinear[2], MaxTexture2DLinearPitch),
    IN(maxTexture2DGather[0], MaxTexture2DGatherWidth),
    IN(maxTexture2DGather[1], MaxTexture2DGatherHeight),
    IN(maxTexture3D[0], MaxTexture3DWidth),
    IN(maxTexture3D[1], MaxTexture3DHeight),
    IN(maxTexture3D[2], MaxTexture3DDepth),
    IN(maxTexture3DAlt[0], MaxTexture3DWidthAlt),
    IN(maxTexture3DAlt[1], MaxTexture3DHeightAlt),
    IN(maxTexture3DAlt[2], MaxTexture3DDepthAlt),
    IN(maxTextureCubemap, MaxTextureCubemapWidth),
    IN(maxTexture1DLayered[0], MaxTexture1DLayeredWidth),
    IN(maxTexture1DLayered[1], MaxTexture1DLayeredLayers),
    IN(maxTexture2DLayered[0], MaxTexture2DLayeredWidth),
    IN(maxTexture2DLayered[1], MaxTexture2DLayeredHeight),
    IN(maxTexture2DLayered[2], MaxTexture2DLayeredLayers),
    IN(maxTextureCubemapLayered[0], MaxTextureCubemapLayeredWidth),
    IN(maxTextureCubemapLayered[1], MaxTextureCubemapLayeredLayers),
    IN(maxSurface1D, MaxSurface1DWidth),
    IN(maxSurface2D[0], MaxSurface2DWidth),
    IN(maxSurface2D[1], MaxSurface2DHeight),
    IN(maxSurface3D[0], MaxSurface3DWidth),
    IN(maxSurface3D[1], MaxSurface3DHeight),
    IN(maxSurface3D[2], MaxSurface3DDepth),
    IN(maxSurface1DLayered[0], MaxSurface1DLayeredWidth),
    IN(maxSurface1DLayered[1], MaxSurface1DLayeredLayers),
    IN(maxSurface2DLayered[0], MaxSurface2DLayeredWidth),
    IN(maxSurface2DLayered[1], MaxSurface2DLayeredHeight),
    IN(maxSurface2DLayered[2], MaxSurface2DLayeredLayers),
    IN(maxSurfaceCubemap, MaxSurfaceCubemapWidth),
    IN(maxSurfaceCubemapLayered[0], MaxSurfaceCubemapLayeredWidth),
    IN(maxSurfaceCubemapLayered[1], MaxSurfaceCubemapLayeredLayers),
    WIDE(surfaceAlignment, SurfaceAlignment),
    IN(concurrentKernels, ConcurrentKernels),
    IN(ECCEnabled, EccEnabled),
    IN(pciBusID, PciBusId),
    IN(pciDeviceID, PciDeviceId),
    IN(pciDomainID, PciDomainId),
    IN(tccDriver, TccDriver),
    IN(asyncEngineCount, AsyncEngineCount),
    IN(unifiedAddressing, UnifiedAddressing),
    IN(memoryBusWidth, GlobalMemoryBusWidth),
    IN(l2CacheSize, L2CacheSize),
    IN(persistingL2CacheMaxSize, MaxPersistingL2CacheSize),
    IN(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor),
    IN(streamPrioritiesSupported, StreamPrioritiesSupported),
    IN(globalL1CacheSupported, GlobalL1CacheSupported),
    IN(localL1CacheSupported, LocalL1CacheSupported),
    WIDE(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor),
    IN(regsPerMultiprocessor, MaxRegistersPerMultiprocessor),
    IN(managedMemory, ManagedMemory),
    IN(isMultiGpuBoard, IsMultiGpuBoard),
    IN(multiGpuBoardGroupID, MultiGpuBoardGroupID),
    IN(hostNativeAtomicSupported, HostNativeAtomicSupported),
    IN(pageableMemoryAccess, PageableMemoryAccess),
    IN(concurrentManagedAccess, ConcurrentManagedAccess),
    IN(computePreemptionSupported, ComputePreemptionSupported),
    IN(canUseHostPointerForRegisteredMem, CanUseHostPointerForRegisteredMem),
    IN(cooperativeLaunch, CooperativeLaunch),
    WIDE(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin),
    IN(pageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables),
    IN(directManagedMemAccessFromHost, DirectManagedMemAccessFromHost),
    IN(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor),
    IN(accessPolicyMaxWindowSize, MaxAccessPolicyWindowSize),
    WIDE(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock),
    IN(hostRegisterSupported, HostRegisterSupported),
    IN(sparseCudaArraySupported, SparseCudaArraySupported),
    IN(hostRegisterReadOnlySupported, HostRegisterReadOnlySupported),
    IN(timelineSemaphoreInteropSupported, TimelineSemaphoreInteropSupported),
    IN(memoryPoolsSupported, MemoryPoolsSupported),
    IN(gpuDirectRDMASupported, GPUDirectRDMASupported),
    IN(gpuDirectRDMAFlushWritesOptions, GPUDirectRDMAFlushWritesOptions),
    IN(gpuDirectRDMAWritesOrdering, GPUDirectRDMAWritesOrdering),
    IN(memoryPoolSupportedHandleTypes, MemoryPoolSupportedHandleTypes),
    IN(deferredMappingCudaArraySupported, DeferredMappingCudaArraySupported),
    IN(ipcEventSupported, IpcEventSupport),
    IN(clusterLaunch, ClusterLaunch),
    IN(deviceNumaConfig, NumaConfig),
    IN(deviceNumaId, NumaId),
    IN(mpsEnabled, MpsEnabled),
    IN(hostNumaId, HostNumaId),
};

/* An attribute that the driver does not know is 0. */
static void set_property(struct cudaDeviceProp *prop, const struct property *property, int device)
{
    int value = 0;
    if (cuDeviceGetAttribute(&value, (CUdevice_attribute)property->attribute, device) !=
        CUDA_SUCCESS)
        value = 0;
    const size_t wide = (size_t)value;
    unsigned char *at = (unsigned char *)prop + property->offset;
    memcpy(at, property->wide ? (const void *)&wide : (const void *)&value,
           property->wide ? sizeof(wide) : sizeof(value));
}

static CUresult read_properties(struct cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof(*prop));
    CUuuid uuid;
    CUresult result = cuDeviceGetName(prop->name, (int)sizeof(prop->name), device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetUuid_v2(&uuid, device);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&prop->uuid, &uuid, sizeof(prop->uuid));
    /* Only devices on Windows have a LUID. */
    if (cuDeviceGetLuid(prop->luid, &prop->luidDeviceNodeMask, device) != CUDA_SUCCESS)
        prop->luidDeviceNodeMask = 0;
    for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
        set_property(prop, &properties[i], device);
    return CUDA_SUCCESS;
}

RT_API cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    return prop ? RT_STARTED(read_properties(prop, device)) : rt_fail(cudaErrorInvalidValue);
}

/* The number of matching properties. Fields of `wanted` that are 0 are not compared. */
static int agreement(const struct cudaDeviceProp *wanted, const struct cudaDeviceProp *has)
{
    int points = 0;
    points += wanted->name[0] && strncmp(wanted->name, has->name, sizeof(has->name)) == 0;
    points += wanted->totalGlobalMem && has->totalGlobalMem >= wanted->totalGlobalMem;
    points += wanted->major && has->major * 100 + has->minor >= wanted->major * 100 + wanted->minor;
    points +=
        wanted->multiProcessorCount && has->multiProcessorCount >= wanted->multiProcessorCount;
    points += wanted->pciBusID && has->pciBusID == wanted->pciBusID;
    return points;
}

static CUresult choose(int *device, const struct cudaDeviceProp *wanted)
{
    int count = 0, best = -1;
    CUresult result = cuDeviceGetCount(&count);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct cudaDeviceProp has;
        result = read_properties(&has, i);
        int points = result == CUDA_SUCCESS ? agreement(wanted, &has) : 0;
        if (points > best) {
            best = points;
            *device = i;
        }
    }
    return result;
}

RT_API cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    return device && prop ? RT_STARTED(choose(device, prop)) : rt_fail(cudaErrorInvalidValue);
}
