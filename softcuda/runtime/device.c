/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The device count, device attributes, and settings of a whole device. */
#include "softcuda/runtime/runtime.h"

RT_API cudaGetDeviceCount(int *count)
{
    return count ? RT_STARTED(cuDeviceGetCount(count)) : rt_fail(cudaErrorInvalidValue);
}

/* The attributes have the same numbers as in the driver API. */
RT_FORWARD_STARTED(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device),
                   cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device))
RT_FORWARD_STARTED(cudaDeviceGetByPCIBusId, (int *device, const char *pciBusId),
                   cuDeviceGetByPCIBusId(device, pciBusId))
RT_FORWARD_STARTED(cudaDeviceGetPCIBusId, (char *pciBusId, int len, int device),
                   cuDeviceGetPCIBusId(pciBusId, len, device))
RT_FORWARD_STARTED(cudaDeviceGetP2PAttribute,
                   (int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice),
                   cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice,
                                           dstDevice))
RT_FORWARD_STARTED(cudaDeviceCanAccessPeer, (int *canAccessPeer, int device, int peerDevice),
                   cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice))

static CUresult enable_peer(int peer, unsigned flags)
{
    SOFT_FAIL_IF(peer == rt_device(), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    SOFT_GET(CUcontext, context, rt_primary(peer, &context));
    return cuCtxEnablePeerAccess(context, flags);
}

RT_FORWARD(cudaDeviceEnablePeerAccess, (int peerDevice, unsigned int flags),
           enable_peer(peerDevice, flags))

static CUresult disable_peer(int peer)
{
    SOFT_GET(CUcontext, context, rt_primary(peer, &context));
    return cuCtxDisablePeerAccess(context);
}

RT_FORWARD(cudaDeviceDisablePeerAccess, (int peerDevice), disable_peer(peerDevice))

/* ---- The current device ---------------------------------------------------------------------- */

RT_FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
           cuCtxSetLimit((CUlimit)limit, value))
RT_FORWARD(cudaDeviceGetLimit, (size_t * pValue, enum cudaLimit limit),
           cuCtxGetLimit(pValue, (CUlimit)limit))
RT_FORWARD(cudaDeviceGetStreamPriorityRange, (int *leastPriority, int *greatestPriority),
           cuCtxGetStreamPriorityRange(leastPriority, greatestPriority))

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

RT_FORWARD(cudaCtxResetPersistingL2Cache, (void), CUDA_SUCCESS)

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

RT_FORWARD(cudaProfilerStart, (void), CUDA_SUCCESS)
RT_FORWARD(cudaProfilerStop, (void), CUDA_SUCCESS)
