/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Streams. A cudaStream_t is a CUstream, and the flags have the same values as in the driver API.
 */
#include "softcuda/runtime/runtime.h"

#include <stdlib.h>

RT_FORWARD(cudaStreamCreate, (cudaStream_t * pStream), cuStreamCreate(pStream, CU_STREAM_DEFAULT))
RT_FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned int flags),
           cuStreamCreate(pStream, flags))
RT_FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * pStream, unsigned int flags, int priority),
           cuStreamCreateWithPriority(pStream, flags, priority))

/* Fails for default streams, which live as long as their context. */
RT_FORWARD(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy_v2(stream))
RT_FORWARD_ptsz(cudaStreamGetPriority, (cudaStream_t hStream, int *priority),
                cuStreamGetPriority(rt_stream(hStream), priority))
RT_FORWARD_ptsz(cudaStreamGetFlags, (cudaStream_t hStream, unsigned int *flags),
                cuStreamGetFlags(rt_stream(hStream), flags))
RT_FORWARD_ptsz(cudaStreamGetId, (cudaStream_t hStream, unsigned long long *streamId),
                cuStreamGetId(rt_stream(hStream), streamId))
RT_FORWARD_ptsz(cudaStreamGetDevice, (cudaStream_t hStream, int *device),
                cuStreamGetDevice(rt_stream(hStream), device))
RT_FORWARD_ptsz(cudaStreamSynchronize, (cudaStream_t stream),
                cuStreamSynchronize(rt_stream(stream)))
RT_FORWARD_ptsz(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery(rt_stream(stream)))
RT_FORWARD_ptsz(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
                cuStreamWaitEvent(rt_stream(stream), event, flags))

/* ---- Host functions and callbacks ------------------------------------------------------------ */

RT_FORWARD_ptsz(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
                cuLaunchHostFunc(rt_stream(stream), fn, userData))

/*
 * The data of a callback for the driver, which calls the callback of the program. The two
 * callbacks have different types.
 */
struct callback {
    cudaStreamCallback_t call;
    cudaStream_t stream; /* the stream that the program passed */
    void *data;
};

static void CUDA_CB call_back(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    struct callback callback = *(struct callback *)data;
    free(data);
    callback.call(callback.stream, (cudaError_t)status, callback.data);
}

static CUresult add_callback(cudaStream_t stream, cudaStreamCallback_t call, void *data,
                             unsigned flags)
{
    struct callback *callback = malloc(sizeof(*callback));
    SOFT_FAIL_IF(!callback, CUDA_ERROR_OUT_OF_MEMORY);
    *callback = (struct callback){.call = call, .stream = stream, .data = data};
    CUresult result = cuStreamAddCallback(rt_stream(stream), call_back, callback, flags);
    if (result != CUDA_SUCCESS)
        free(callback);
    return result;
}

RT_FORWARD_ptsz(cudaStreamAddCallback,
                (cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                 unsigned int flags),
                callback ? add_callback(stream, callback, userData, flags)
                         : CUDA_ERROR_INVALID_VALUE)
