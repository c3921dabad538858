/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The primary context of each device: alive while it is retained, always with the same handle. */
#include "softcuda/driver/context/context.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* must be taken before soft_lock */
static struct {
    soft_context *context;
    unsigned wanted_flags;
    unsigned retained;
} primaries[SOFT_MAX_DEVICES];

static bool is_alive_locked(CUdevice dev)
{
    return primaries[dev].context && primaries[dev].context->alive;
}

static void reset_locked(CUdevice dev)
{
    if (is_alive_locked(dev))
        soft_context_end(primaries[dev].context);
    primaries[dev].wanted_flags = 0;
}

SOFT_API cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    SOFT_TRY(soft_check_device(dev));
    SOFT_FAIL_IF(!pctx, CUDA_ERROR_INVALID_VALUE);

    SOFT_LOCK(&lock);
    if (!is_alive_locked(dev))
        SOFT_TRY(
            soft_context_start(&primaries[dev].context, dev, primaries[dev].wanted_flags, true));
    primaries[dev].retained++;
    *pctx = primaries[dev].context->handle;
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    SOFT_TRY(soft_check_device(dev));

    SOFT_LOCK(&lock);
    SOFT_FAIL_IF(primaries[dev].retained == 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primaries[dev].retained == 0)
        reset_locked(dev);
    return CUDA_SUCCESS;
}

/* A reset does not change the retain count: each retain still needs its release. */
SOFT_API cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    SOFT_TRY(soft_check_device(dev));

    SOFT_LOCK(&lock);
    reset_locked(dev);
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    SOFT_TRY(soft_check_device(dev));
    SOFT_FAIL_IF(soft_context_check_flags(flags) != CUDA_SUCCESS || (flags & CU_CTX_MAP_HOST),
                 CUDA_ERROR_INVALID_VALUE);

    SOFT_LOCK(&lock);
    primaries[dev].wanted_flags = flags;
    SOFT_LOCK(&soft_lock);
    if (primaries[dev].context)
        primaries[dev].context->flags = flags;
    return CUDA_SUCCESS;
}

SOFT_API cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    SOFT_TRY(soft_check_device(dev));
    SOFT_FAIL_IF(!flags || !active, CUDA_ERROR_INVALID_VALUE);

    SOFT_LOCK(&lock);
    *flags = primaries[dev].wanted_flags;
    *active = is_alive_locked(dev);
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuDevicePrimaryCtxRelease, (CUdevice dev), (dev))
SOFT_API_v1(cuDevicePrimaryCtxReset, (CUdevice dev), (dev))
SOFT_API_v1(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned int flags), (dev, flags))
