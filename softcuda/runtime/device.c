/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The device count, device attributes, and settings of a whole device. */
#include "softcuda/runtime/runtime.h"

RT_API cudaGetDeviceCount(int *count)
{
    return count ? RT_STARTED(cuDeviceGetCount(count)) : rt_fail(cudaErrorInvalidValue);
}

/* The attributes have the same numbers as in the driver API. */
RT_API cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    return RT_STARTED(cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
}

RT_API cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    return RT_STARTED(cuDeviceGetByPCIBusId(device, pciBusId));
}

RT_API cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    return RT_STARTED(cuDeviceGetPCIBusId(pciBusId, len, device));
}

RT_API cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                 int dstDevice)
{
    return RT_STARTED(
        cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
}

RT_API cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    return RT_STARTED(cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

static CUresult enable_peer(int peer, unsigned flags)
{
    CUcontext context;
    if (peer == rt_device())
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    SOFT_TRY(rt_primary(peer, &context));
    return cuCtxEnablePeerAccess(context, flags);
}

RT_API cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    return RT_IN_CONTEXT(enable_peer(peerDevice, flags));
}

static CUresult disable_peer(int peer)
{
    CUcontext context;
    SOFT_TRY(rt_primary(peer, &context));
    return cuCtxDisablePeerAccess(context);
}

RT_API cudaDeviceDisablePeerAccess(int peerDevice)
{
    return RT_IN_CONTEXT(disable_peer(peerDevice));
}

/* ---- The current device ---------------------------------------------------------------------- */

RT_API cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return RT_IN_CONTEXT(cuCtxSetLimit((CUlimit)limit, value));
}

RT_API cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return RT_IN_CONTEXT(cuCtxGetLimit(pValue, (CUlimit)limit));
}

RT_API cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    return RT_IN_CONTEXT(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

/*
 * Preferences for caches and banks are stored without an effect: kernels use the caches of the CPU.
 */
static _Thread_local enum cudaFuncCache cache_config = cudaFuncCachePreferNone;

RT_API cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    if ((unsigned)cacheConfig > cudaFuncCachePreferEqual)
        return rt_fail(cudaErrorInvalidValue);
    cache_config = cacheConfig;
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

RT_API cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    if (!pCacheConfig)
        return rt_fail(cudaErrorInvalidValue);
    *pCacheConfig = cache_config;
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

RT_API cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    if (!pConfig)
        return rt_fail(cudaErrorInvalidValue);
    *pConfig = cudaSharedMemBankSizeFourByte;
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

RT_API cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    if ((unsigned)config > cudaSharedMemBankSizeEightByte)
        return rt_fail(cudaErrorInvalidValue);
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

RT_API cudaCtxResetPersistingL2Cache(void)
{
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

/* ---- Versions -------------------------------------------------------------------------------- */

RT_API cudaDriverGetVersion(int *driverVersion)
{
    return rt_end(cuDriverGetVersion(driverVersion));
}

RT_API cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return rt_fail(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

/*
 * By these calls, programs mark the code that a profiler should record. There is no profiler here.
 * The header that declares the calls is not in every CUDA Toolkit.
 */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

RT_API cudaProfilerStart(void)
{
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}

RT_API cudaProfilerStop(void)
{
    return RT_IN_CONTEXT(CUDA_SUCCESS);
}
