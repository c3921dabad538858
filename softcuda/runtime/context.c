/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Each thread's device, and the context that a call uses: the current one, whoever created it, or
 * else the primary context of the thread's device.
 */
#include "softcuda/runtime/runtime.h"

#include <pthread.h>

#define MAX_DEVICES 64

_Thread_local bool rt_per_thread;
_Thread_local CUresult rt_begun;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[MAX_DEVICES]; /* each is retained once */

static _Thread_local int chosen_device;

CUstream rt_stream(cudaStream_t stream)
{
    return !stream && rt_per_thread ? CU_STREAM_PER_THREAD : stream;
}

CUresult rt_start(void)
{
    return cuInit(0);
}

static CUresult check_device(int device)
{
    int count = 0;
    CUresult result = cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return result;
    return device >= 0 && device < count && device < MAX_DEVICES ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_DEVICE;
}

static bool is_active(int device)
{
    unsigned flags;
    int active = 0;
    return cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* The device's primary context, retained again if a reset ended it. */
static CUresult retain_primary(int device, CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (!primaries[device] || !is_active(device))
        result = cuDevicePrimaryCtxRetain(&primaries[device], device);
    *context = primaries[device];
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult rt_primary(int device, CUcontext *context)
{
    CUresult result = check_device(device);
    return result == CUDA_SUCCESS ? retain_primary(device, context) : result;
}

/* The device whose primary context this is, or -1. */
static int device_of_primary(CUcontext context)
{
    int found = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES && found < 0; i++)
        if (primaries[i] == context)
            found = i;
    pthread_mutex_unlock(&lock);
    return found;
}

static CUresult enter_primary(int device)
{
    CUcontext context;
    CUresult result = retain_primary(device, &context);
    return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

CUresult rt_begin(void)
{
    CUresult result = cuInit(0);
    CUcontext current = NULL;
    if (result == CUDA_SUCCESS)
        result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return result;
    if (!current)
        return enter_primary(chosen_device);
    int device = device_of_primary(current);
    return device < 0 || is_active(device) ? CUDA_SUCCESS : enter_primary(device);
}

int rt_device(void)
{
    CUcontext current = NULL;
    CUdevice device;
    if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return chosen_device;
    int primary = device_of_primary(current);
    if (primary >= 0)
        return primary;
    return cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : chosen_device;
}

static CUresult set_device(int device)
{
    CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    chosen_device = device;
    return enter_primary(device);
}

RT_API cudaSetDevice(int device)
{
    return RT_STARTED(set_device(device));
}

RT_API cudaGetDevice(int *device)
{
    CUresult result = rt_start();
    if (result == CUDA_SUCCESS && !device)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = rt_device();
    return rt_end(result);
}

/* The order in which to try devices. None is ever refused here, so the first is taken. */
RT_API cudaSetValidDevices(int *device_arr, int len)
{
    int count = 0;
    CUresult result = rt_start();
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetCount(&count);
    if (result == CUDA_SUCCESS && (len < 0 || len > count || (len > 0 && !device_arr)))
        result = CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < len && result == CUDA_SUCCESS; i++)
        result = check_device(device_arr[i]);
    if (result == CUDA_SUCCESS)
        chosen_device = len > 0 ? device_arr[0] : 0;
    return rt_end(result);
}

/* Pinned memory can always be mapped, with or without cudaDeviceMapHost. */
static CUresult set_flags(int device, unsigned flags)
{
    CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    return cuDevicePrimaryCtxSetFlags_v2(device, flags & ~(unsigned)cudaDeviceMapHost);
}

RT_API cudaSetDeviceFlags(unsigned int flags)
{
    return RT_STARTED(set_flags(rt_device(), flags));
}

RT_API cudaGetDeviceFlags(unsigned int *flags)
{
    int active;
    if (!flags)
        return rt_fail(cudaErrorInvalidValue);
    cudaError_t error = RT_STARTED(cuDevicePrimaryCtxGetState(rt_device(), flags, &active));
    if (error == cudaSuccess)
        *flags |= cudaDeviceMapHost;
    return error;
}

static CUresult init_device(int device, unsigned device_flags, unsigned flags)
{
    CUcontext context;
    CUresult result = check_device(device);
    if (result == CUDA_SUCCESS && (flags & ~(unsigned)cudaInitDeviceFlagsAreValid))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (flags & cudaInitDeviceFlagsAreValid))
        result = set_flags(device, device_flags);
    return result == CUDA_SUCCESS ? retain_primary(device, &context) : result;
}

RT_API cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    return RT_STARTED(init_device(device, deviceFlags, flags));
}

/* The next call that needs a context starts it again. */
static CUresult reset(int device)
{
    pthread_mutex_lock(&lock);
    CUresult result = cuDevicePrimaryCtxReset_v2(device);
    if (result == CUDA_SUCCESS && primaries[device])
        (void)cuDevicePrimaryCtxRelease_v2(device);
    pthread_mutex_unlock(&lock);
    rt_error_clear();
    return result;
}

RT_API cudaDeviceReset(void)
{
    return RT_STARTED(reset(rt_device()));
}

RT_API cudaDeviceSynchronize(void)
{
    return RT_IN_CONTEXT(cuCtxSynchronize());
}
