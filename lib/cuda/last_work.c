/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/last_work.h"

#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"

gr_status gr_work_mark(struct gr_last_work *work, CUstream stream)
{
    GR_TRY(work->event ? GR_OK : gr_event_create(&work->event));
    GR_TRY_WORK(gr_driver()->EventRecord(work->event, stream), "cuEventRecord",
                "No event could be recorded after the last copy or wait on the stream.");
    work->stream = stream;
    work->recorded = true;
    return GR_OK;
}

gr_status gr_work_mark_or_finish(struct gr_last_work *work, CUstream stream)
{
    gr_status status = gr_work_mark(work, stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
    return status;
}

gr_status gr_work_follow(const struct gr_last_work *work, CUstream stream)
{
    GR_TRY_WORK(work->recorded ? gr_driver()->StreamWaitEvent(stream, work->event, 0)
                               : CUDA_SUCCESS,
                "cuStreamWaitEvent", "The stream could not wait for the resource's last use.");
    return GR_OK;
}

CUresult gr_work_finish(const struct gr_last_work *work)
{
    return work->recorded ? gr_event_finish(work->event) : CUDA_SUCCESS;
}

CUevent gr_work_take(struct gr_last_work *work)
{
    if (!work->recorded)
        return NULL;
    CUevent event = work->event;
    work->event = NULL;
    work->recorded = false;
    return event;
}

void gr_work_end(struct gr_last_work *work, bool alive)
{
    if (alive && work->event)
        gr_driver()->EventDestroy(work->event);
    *work = (struct gr_last_work){0};
}
