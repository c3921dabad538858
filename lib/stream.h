/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that the caller names: checked, and made to wait for each other. */
#ifndef GR_LIB_STREAM_H
#define GR_LIB_STREAM_H

#include "lib/resource_types.h"

/* CU_STREAM_PER_THREAD is another stream in each thread. */
static inline bool gr_stream_is_same(CUstream a, CUstream b)
{
    return a == b && a != CU_STREAM_PER_THREAD;
}

/*
 * Makes `stream` wait for all that `earlier` has been given so far. Where that was destroyed, or is
 * of another CUDA context, the thread waits instead. The resource's CUDA context is current.
 */
gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream);

/*
 * Makes the thread wait for the stream: for work that no event could be put behind, before what it
 * uses may go. Where the stream cannot be asked any more the whole context is waited for, which is
 * current. It records no error.
 */
CUresult gr_stream_finish(CUstream stream);

/*
 * Refuses a stream that does not live, or that is of another CUDA context than the resource's,
 * which is current. The stream was checked otherwise. The driver is asked once for each that
 * follows another one, or each time if it refuses destroyed streams.
 */
gr_status gr_stream_check_context(gr_resource *resource, CUstream stream, const char *call);

/*
 * Refuses a stream in which a graph is captured, for GR_ERR_STATE: each launch of the graph would
 * repeat a wait, a signal or a record that is meant once. Without a driver there is no stream.
 */
gr_status gr_stream_check_capture(CUstream stream, const char *call);

/* Records that a call cannot wait for a stream that uses a tensor, since that captures. */
gr_status gr_stream_refuse_user(const char *call);

/*
 * Refuses NULL, a capture, and GR_STREAM_OF_MAP where there is no map yet. The stream that
 * GR_STREAM_OF_MAP stands for is not looked at.
 */
gr_status gr_stream_check(CUstream stream, bool of_map_allowed, const char *call);

#endif
