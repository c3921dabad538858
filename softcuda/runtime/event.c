/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Events. A cudaEvent_t is a CUevent, and the flags have the same values as in the driver API. */
#include "softcuda/runtime/runtime.h"

RT_FORWARD(cudaEventCreate, (cudaEvent_t * event), cuEventCreate(event, CU_EVENT_DEFAULT))
RT_FORWARD(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned int flags),
           cuEventCreate(event, flags))
RT_FORWARD(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy_v2(event))
RT_FORWARD_ptsz(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
                cuEventRecord(event, rt_stream(stream)))
RT_FORWARD_ptsz(cudaEventRecordWithFlags,
                (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
                cuEventRecordWithFlags(event, rt_stream(stream), flags))
RT_FORWARD(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event))
RT_FORWARD(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize(event))
RT_FORWARD(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
           cuEventElapsedTime_v2(ms, start, end))
