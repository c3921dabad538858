/* SPDX-License-Identifier: Apache-2.0 */
/* The device's primary context: alive while it is retained, with the same handle each time. */
#include "softcuda/context.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken before soft_lock */
static soft_context *primary;
static unsigned wanted_flags;
static unsigned retained;

static void reset_locked(void)
{
    if (primary && primary->alive)
        soft_context_end(primary);
    wanted_flags = 0;
}

SOFT_API cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CUresult result = soft_check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;

    pthread_mutex_lock(&lock);
    if (!primary || !primary->alive)
        result = soft_context_start(&primary, wanted_flags, true);
    if (result == CUDA_SUCCESS) {
        retained++;
        *pctx = primary->handle;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

SOFT_API cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    CUresult result = soft_check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;

    pthread_mutex_lock(&lock);
    if (retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--retained == 0)
        reset_locked();
    pthread_mutex_unlock(&lock);
    return result;
}

/* Whoever retained it still has to release it. */
SOFT_API cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    CUresult result = soft_check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;

    pthread_mutex_lock(&lock);
    reset_locked();
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    CUresult result = soft_check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (soft_context_check_flags(flags) != CUDA_SUCCESS || (flags & CU_CTX_MAP_HOST))
        return CUDA_ERROR_INVALID_VALUE;

    pthread_mutex_lock(&lock);
    wanted_flags = flags;
    pthread_mutex_lock(&soft_lock);
    if (primary)
        primary->flags = flags;
    pthread_mutex_unlock(&soft_lock);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult result = soft_check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;

    pthread_mutex_lock(&lock);
    *flags = wanted_flags;
    *active = primary && primary->alive;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cuDevicePrimaryCtxRelease_v2(dev);
}

SOFT_API cuDevicePrimaryCtxReset(CUdevice dev)
{
    return cuDevicePrimaryCtxReset_v2(dev);
}

SOFT_API cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}
