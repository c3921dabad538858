/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Device properties: the attributes of the driver API as one struct, and the choice of a device by
 * its properties.
 */
#include "softcuda/runtime/runtime.h"

#include <string.h>

#define IN(field, attribute)                                                                       \
    {                                                                                              \
        offsetof(struct cudaDeviceProp, field), cudaDevAttr##attribute,                            \
            sizeof(((struct cudaDeviceProp *)NULL)->field) / sizeof(int)                           \
    }
#define WIDE(field, attribute)                                                                     \
    {                                                                                              \
        offsetof(struct cudaDeviceProp, field), cudaDevAttr##attribute, 0                          \
    }

/* The properties that are attributes in the driver API. */
static const struct property {
    size_t offset;
    /* The first of consecutive attributes if the property is an array. */
    enum cudaDeviceAttr attribute;
    size_t count; /* the number of ints; 0 if the property is a size_t */
} properties[] = {
    WIDE(sharedMemPerBlock, MaxSharedMemoryPerBlock),
    IN(regsPerBlock, MaxRegistersPerBlock),
    IN(warpSize, WarpSize),
    WIDE(memPitch, MaxPitch),
    IN(maxThreadsPerBlock, MaxThreadsPerBlock),
    IN(maxThreadsDim, MaxBlockDimX),
    IN(maxGridSize, MaxGridDimX),
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
    IN(maxTexture2D, MaxTexture2DWidth),
    IN(maxTexture2DMipmap, MaxTexture2DMipmappedWidth),
    IN(maxTexture2DLinear, MaxTexture2DLinearWidth),
    IN(maxTexture2DGather, MaxTexture2DGatherWidth),
    IN(maxTexture3D, MaxTexture3DWidth),
    IN(maxTexture3DAlt, MaxTexture3DWidthAlt),
    IN(maxTextureCubemap, MaxTextureCubemapWidth),
    IN(maxTexture1DLayered, MaxTexture1DLayeredWidth),
    IN(maxTexture2DLayered, MaxTexture2DLayeredWidth),
    IN(maxTextureCubemapLayered, MaxTextureCubemapLayeredWidth),
    IN(maxSurface1D, MaxSurface1DWidth),
    IN(maxSurface2D, MaxSurface2DWidth),
    IN(maxSurface3D, MaxSurface3DWidth),
    IN(maxSurface1DLayered, MaxSurface1DLayeredWidth),
    IN(maxSurface2DLayered, MaxSurface2DLayeredWidth),
    IN(maxSurfaceCubemap, MaxSurfaceCubemapWidth),
    IN(maxSurfaceCubemapLayered, MaxSurfaceCubemapLayeredWidth),
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

/* The value of an attribute; 0 if the driver does not have it. */
static int read_attribute(int attribute, int device)
{
    int value = 0;
    return cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, device) == CUDA_SUCCESS
               ? value
               : 0;
}

static void set_property(struct cudaDeviceProp *prop, const struct property *property, int device)
{
    void *at = (unsigned char *)prop + property->offset;
    if (property->count == 0)
        *(size_t *)at = (size_t)read_attribute(property->attribute, device);
    for (size_t i = 0; i < property->count; i++)
        ((int *)at)[i] = read_attribute((int)property->attribute + (int)i, device);
}

static CUresult read_properties(struct cudaDeviceProp *prop, int device)
{
    memset(prop, 0, sizeof(*prop));
    SOFT_TRY(cuDeviceGetName(prop->name, (int)sizeof(prop->name), device));
    SOFT_TRY(cuDeviceTotalMem_v2(&prop->totalGlobalMem, device));
    SOFT_GET(CUuuid, uuid, cuDeviceGetUuid_v2(&uuid, device));
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

/* The number of properties that match. Fields of `wanted` that are 0 are not compared. */
static int count_matches(const struct cudaDeviceProp *wanted, const struct cudaDeviceProp *has)
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
        int points = result == CUDA_SUCCESS ? count_matches(wanted, &has) : 0;
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
