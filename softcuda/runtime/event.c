/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Events. A cudaEvent_t is a CUevent, and the flags have the same values as in the driver API. */
#include "softcuda/runtime/runtime.h"

RT_API cudaEventCreate(cudaEvent_t *event)
{
    return RT_IN_CONTEXT(cuEventCreate(event, CU_EVENT_DEFAULT));
}

RT_API cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return RT_IN_CONTEXT(cuEventCreate(event, flags));
}

RT_API cudaEventDestroy(cudaEvent_t event)
{
    return RT_IN_CONTEXT(cuEventDestroy_v2(event));
}

RT_API_ptsz(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
{
    return RT_IN_CONTEXT(cuEventRecord(event, rt_stream(stream)));
}

RT_API_ptsz(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
            (event, stream, flags))
{
    return RT_IN_CONTEXT(cuEventRecordWithFlags(event, rt_stream(stream), flags));
}

RT_API cudaEventQuery(cudaEvent_t event)
{
    return RT_IN_CONTEXT(cuEventQuery(event));
}

RT_API cudaEventSynchronize(cudaEvent_t event)
{
    return RT_IN_CONTEXT(cuEventSynchronize(event));
}

RT_API cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return RT_IN_CONTEXT(cuEventElapsedTime_v2(ms, start, end));
}
