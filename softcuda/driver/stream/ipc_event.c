/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of events for other processes. */
#include "softcuda/driver/stream/event.h"

#include <string.h>

SOFT_API cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    CUresult result = soft_check_context(NULL);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pHandle)
        return CUDA_ERROR_INVALID_VALUE;
    soft_ipc_handle handle;
    result = soft_event_describe(event, &handle);
    if (result != CUDA_SUCCESS)
        return result;
    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

SOFT_API cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    soft_context *context;
    CUresult result = soft_check_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phEvent)
        return CUDA_ERROR_INVALID_VALUE;
    soft_ipc_handle found;
    memcpy(&found, &handle, sizeof(found));
    soft_shared_event *shared;
    result = soft_shared_event_open(&found, &shared);
    if (result != CUDA_SUCCESS)
        return result;
    return soft_event_new(context, CU_EVENT_DISABLE_TIMING, shared, phEvent);
}
