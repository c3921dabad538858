/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The device of each thread, and the context that a call uses. A call uses the current context,
 * whoever created it. If there is none, it uses the primary context of the thread's device.
 */
#include "softcuda/runtime/runtime.h"

#include <pthread.h>

#define MAX_DEVICES 64

_Thread_local bool rt_per_thread;
_Thread_local CUresult rt_begun;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[MAX_DEVICES]; /* retained once each */

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
    SOFT_TRY(cuDeviceGetCount(&count));
    return device >= 0 && device < count && device < MAX_DEVICES ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_DEVICE;
}

static bool is_active(int device)
{
    unsigned flags;
    int active = 0;
    return cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* Gets the primary context of the device. Retains it again if a reset ended it. */
static CUresult retain_primary(int device, CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;
    SOFT_LOCK(&lock);
    if (!primaries[device] || !is_active(device))
        result = cuDevicePrimaryCtxRetain(&primaries[device], device);
    *context = primaries[device];
    return result;
}

CUresult rt_primary(int device, CUcontext *context)
{
    SOFT_TRY(check_device(device));
    return retain_primary(device, context);
}

/* The device whose primary context this is; -1 if it is not a primary context. */
static int device_of_primary(CUcontext context)
{
    SOFT_LOCK(&lock);
    for (int i = 0; i < MAX_DEVICES; i++)
        if (primaries[i] == context)
            return i;
    return -1;
}

static CUresult enter_primary(int device)
{
    SOFT_GET(CUcontext, context, retain_primary(device, &context));
    return cuCtxSetCurrent(context);
}

CUresult rt_begin(void)
{
    CUcontext current = NULL;
    SOFT_TRY(cuInit(0));
    SOFT_TRY(cuCtxGetCurrent(&current));
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
    SOFT_TRY(check_device(device));
    chosen_device = device;
    return enter_primary(device);
}

RT_FORWARD_STARTED(cudaSetDevice, (int device), set_device(device))

static CUresult get_device(int *device)
{
    SOFT_FAIL_IF(!device, CUDA_ERROR_INVALID_VALUE);
    *device = rt_device();
    return CUDA_SUCCESS;
}

RT_FORWARD_STARTED(cudaGetDevice, (int *device), get_device(device))

/*
 * `devices` is the order in which to try the devices. No device is ever refused here, so the first
 * is chosen.
 */
static CUresult choose_device(const int *devices, int length)
{
    int count = 0;
    SOFT_TRY(cuDeviceGetCount(&count));
    SOFT_FAIL_IF(length < 0 || length > count || (length > 0 && !devices),
                 CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < length; i++)
        SOFT_TRY(check_device(devices[i]));
    chosen_device = length > 0 ? devices[0] : 0;
    return CUDA_SUCCESS;
}

RT_FORWARD_STARTED(cudaSetValidDevices, (int *device_arr, int len), choose_device(device_arr, len))

/* cudaDeviceMapHost has no effect: pinned memory can always be mapped. */
static CUresult set_flags(int device, unsigned flags)
{
    SOFT_TRY(check_device(device));
    return cuDevicePrimaryCtxSetFlags_v2(device, flags & ~(unsigned)cudaDeviceMapHost);
}

RT_FORWARD_STARTED(cudaSetDeviceFlags, (unsigned int flags), set_flags(rt_device(), flags))

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
    SOFT_TRY(check_device(device));
    SOFT_FAIL_IF(flags & ~(unsigned)cudaInitDeviceFlagsAreValid, CUDA_ERROR_INVALID_VALUE);
    if (flags & cudaInitDeviceFlagsAreValid)
        SOFT_TRY(set_flags(device, device_flags));
    return retain_primary(device, &context);
}

RT_FORWARD_STARTED(cudaInitDevice, (int device, unsigned int deviceFlags, unsigned int flags),
                   init_device(device, deviceFlags, flags))

/* The next call that needs a context starts the primary context again. */
static CUresult reset(int device)
{
    SOFT_LOCK(&lock);
    CUresult result = cuDevicePrimaryCtxReset_v2(device);
    if (result == CUDA_SUCCESS && primaries[device])
        (void)cuDevicePrimaryCtxRelease_v2(device);
    rt_error_clear();
    return result;
}

RT_FORWARD_STARTED(cudaDeviceReset, (void), reset(rt_device()))

RT_FORWARD(cudaDeviceSynchronize, (void), cuCtxSynchronize())
