/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuIpc...EventHandle: handles by which other processes open events. */
#include "softcuda/driver/stream/event.h"

#include <string.h>

SOFT_API cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_FAIL_IF(!pHandle, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(soft_ipc_handle, handle, soft_event_describe(event, &handle));
    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

SOFT_API cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!phEvent, CUDA_ERROR_INVALID_VALUE);
    soft_ipc_handle found;
    memcpy(&found, &handle, sizeof(found));
    SOFT_GET(soft_shared_event *, shared, soft_shared_event_open(&found, &shared));
    return soft_event_new(context, CU_EVENT_DISABLE_TIMING, shared, phEvent);
}
