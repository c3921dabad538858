/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/event.h"

#include "lib/base/clock.h"
#include "lib/base/cuda_error_text.h"
#include "lib/cuda/driver.h"

gr_status gr_event_create(CUevent *event)
{
    if (*event)
        return GR_OK;
    CUresult result = gr_driver()->EventCreate(event, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    *event = NULL;
    return gr_fail_cuda(result, "cuEventCreate", "An event could not be created.");
}

gr_status gr_event_wait(CUstream stream, CUevent wait_event)
{
    GR_TRY_CUDA(
        wait_event ? gr_driver()->StreamWaitEvent(stream, wait_event, 0) : CUDA_SUCCESS,
        "cuStreamWaitEvent",
        "The stream cannot wait for `wait_event`; nothing was done. Was the event destroyed?");
    return GR_OK;
}

CUresult gr_event_poll(CUevent event, CUstream stream, unsigned timeout_ms)
{
    const struct gr_driver_api *cu = gr_driver();
    const bool forever = timeout_ms == GR_WAIT_FOREVER;
    const struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    unsigned polls = 0;
    for (;;) {
        CUresult result = event ? cu->EventQuery(event) : cu->StreamQuery(stream);
        if (result == CUDA_SUCCESS || gr_cuda_is_sticky(result) ||
            (!forever && (result != CUDA_ERROR_NOT_READY || gr_deadline_is_over(&deadline))))
            return result;
        if (result != CUDA_ERROR_NOT_READY) {
            /* the query failed: the work may still use memory that the caller frees next */
            (void)(event ? cu->EventSynchronize(event) : cu->StreamSynchronize(stream));
            return result;
        }
        gr_host_pause(&polls);
    }
}

CUresult gr_stream_finish(CUstream stream)
{
    CUresult result = gr_event_poll(NULL, stream, GR_WAIT_FOREVER);
    if (result == CUDA_SUCCESS || gr_cuda_is_sticky(result))
        return result;
    return gr_driver()->CtxSynchronize();
}

bool gr_event_has_passed(CUevent event)
{
    CUresult result = gr_driver()->EventQuery(event);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) /* this thread captures a graph */
        return false;
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && !gr_cuda_is_sticky(result))
        gr_driver()->EventSynchronize(event);
    return result != CUDA_ERROR_NOT_READY;
}

bool gr_event_has_failed(CUevent event)
{
    return gr_cuda_is_sticky(gr_driver()->EventQuery(event));
}

CUresult gr_event_capture(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = gr_driver()->StreamIsCapturing(stream, &status);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return result;
    return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : CUDA_SUCCESS;
}
