/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA's last work with an object. A stream is enough for most objects: recording an event at each
 * release would slow down every frame for a rare query. An event is recorded if the stream may not
 * exist any more when the event is needed.
 */
#ifndef GR_LIB_CUDA_LAST_WORK_H
#define GR_LIB_CUDA_LAST_WORK_H

#include <stdbool.h>

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

struct gr_last_work {
    CUstream stream; /* NULL: there was no work */
    CUevent event;   /* kept for reuse; NULL until there is one */
    bool recorded;   /* `event` was recorded after the work */
};

/* Notes the work so far in the stream as the last work. */
static inline void gr_work_note(struct gr_last_work *work, CUstream stream)
{
    work->stream = stream;
    work->recorded = false;
}

/* Also records the event. After an error `work` has not changed. The CUDA context is current. */
gr_status gr_work_mark(struct gr_last_work *work, CUstream stream);

/*
 * Like gr_work_mark(), for callers whose next step may free the object: after an error the calling
 * thread has waited for the stream.
 */
gr_status gr_work_mark_or_finish(struct gr_last_work *work, CUstream stream);

/* Makes the stream wait for the last work, if its event was recorded. */
gr_status gr_work_follow(const struct gr_last_work *work, CUstream stream);

/* Blocks until the event has passed, if it was recorded. Records no error. */
CUresult gr_work_finish(const struct gr_last_work *work);

/* Returns the event of the last work, which the caller then owns; NULL if none was recorded. */
CUevent gr_work_take(struct gr_last_work *work);

/* Destroys the event. The CUDA context is current if `alive`; otherwise the event ended with it. */
void gr_work_end(struct gr_last_work *work, bool alive);

#endif
