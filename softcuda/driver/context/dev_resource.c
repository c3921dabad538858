/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Device resources that green contexts could divide. No device has such resources. */
#include "softcuda/driver/context/context.h"

#include <string.h>

#if CUDA_VERSION >= 12040
static CUresult fill_in(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    SOFT_FAIL_IF(!resource, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(type != CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    int processors = 0;
    SOFT_TRY(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    memset(resource, 0, sizeof(*resource));
    resource->type = type;
    resource->sm.smCount = (unsigned)processors;
#if CUDA_VERSION >= 13000
    resource->sm.minSmPartitionSize = 1;
    resource->sm.smCoscheduledAlignment = 1;
#endif
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    SOFT_TRY(soft_check_device(device));
    return fill_in(device, resource, type);
}

SOFT_API cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)
{
    SOFT_TRY(soft_check_init());
    SOFT_GET(soft_context *, context, soft_context_get(hCtx, &context));
    return fill_in(soft_context_device(context), resource, type);
}
#endif
