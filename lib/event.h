/* SPDX-License-Identifier: Apache-2.0 */
/* Events of CUDA's, behind which something ends. */
#ifndef GR_LIB_EVENT_H
#define GR_LIB_EVENT_H

#include <stdbool.h>

#include <grinterop/gr.h>

/* Creates an event without timing, unless *event is one. */
gr_status gr_event_create(CUevent *event);

/* Makes the stream wait for an event of the caller's; NULL: for nothing. */
gr_status gr_event_wait(CUstream stream, CUevent wait_event);

/*
 * Whether the work before an event is done, which decides what may go. Where the driver does not
 * say it is waited for: only an answer that the work is under way is one. The event's CUDA context
 * is current. It records no error.
 */
bool gr_event_has_passed(CUevent event);

/*
 * CUDA_ERROR_STREAM_CAPTURE_... while an event that is recorded in the stream would become a part
 * of a graph. Any other error of the stream is left to the next call. The CUDA context of a default
 * stream is current. It records no error.
 */
CUresult gr_event_capture(CUstream stream);

#endif
