/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory and events of other processes. A handle contains the same bytes as in the driver API. */
#include "softcuda/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                   sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle),
               "handles must have the driver's size");

static CUresult describe_memory(cudaIpcMemHandle_t *handle, const void *memory)
{
    SOFT_GET(CUipcMemHandle, made, cuIpcGetMemHandle(&made, (CUdeviceptr)(uintptr_t)memory));
    memcpy(handle, &made, sizeof(made));
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *devPtr),
           handle ? describe_memory(handle, devPtr) : CUDA_ERROR_INVALID_VALUE)

static CUresult open_memory(void **memory, cudaIpcMemHandle_t handle, unsigned flags)
{
    CUipcMemHandle given;
    CUdeviceptr opened = 0;
    memcpy(&given, &handle, sizeof(given));
    SOFT_TRY(cuIpcOpenMemHandle_v2(&opened, given, flags));
    *memory = (void *)(uintptr_t)opened;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaIpcOpenMemHandle, (void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags),
           devPtr ? open_memory(devPtr, handle, flags) : CUDA_ERROR_INVALID_VALUE)
RT_FORWARD(cudaIpcCloseMemHandle, (void *devPtr),
           cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)devPtr))

static CUresult describe_event(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    SOFT_GET(CUipcEventHandle, made, cuIpcGetEventHandle(&made, event));
    memcpy(handle, &made, sizeof(made));
    return CUDA_SUCCESS;
}

/*
 * For a NULL event, libcudart returns cudaErrorInvalidValue. The driver would report an invalid
 * event.
 */
RT_FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
           handle &&event ? describe_event(handle, event) : CUDA_ERROR_INVALID_VALUE)

static CUresult open_event(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle given;
    memcpy(&given, &handle, sizeof(given));
    return cuIpcOpenEventHandle(event, given);
}

RT_FORWARD(cudaIpcOpenEventHandle, (cudaEvent_t * event, cudaIpcEventHandle_t handle),
           open_event(event, handle))
