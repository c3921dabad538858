/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks of the caller's streams, and waits between streams. */
#ifndef GR_LIB_RESOURCE_STREAM_H
#define GR_LIB_RESOURCE_STREAM_H

#include "lib/base/compiler.h"
#include "lib/base/cuda_abi.h"
#include "lib/resource/resource_types.h"

/*
 * Makes `stream` wait for the work so far in `earlier`. If `earlier` was destroyed or belongs to
 * another CUDA context, the calling thread waits instead. The resource's CUDA context is current.
 */
gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream);

/*
 * Refuses a stream that captures a graph, a destroyed stream, and a stream of another CUDA context
 * than that of the resource, which is current. For the last two the driver is queried once per
 * change of stream, or at each call if the driver refuses destroyed streams.
 */
gr_status gr_stream_check_context(gr_resource *resource, CUstream stream);

/*
 * Returns GR_ERR_STATE if the stream captures a graph: each launch of the graph would repeat a
 * wait, a signal or a record that must happen once. If no driver is loaded, returns GR_OK, because
 * there is no stream.
 */
gr_status gr_stream_check_capture(CUstream stream);

/* Records that a call cannot wait for a stream that uses a tensor and captures a graph. */
gr_status gr_stream_refuse_user(void);

/*
 * Refuses NULL, GR_STREAM_NONE, and GR_STREAM_OF_MAP unless `of_map_allowed` is set. Calls no
 * driver function, since the driver crashes if the stream and its context were destroyed:
 * gr_context_enter() detects this before the stream is used.
 */
gr_status gr_stream_refuse(CUstream stream, bool of_map_allowed) GR_COLD;
static inline gr_status gr_stream_check_given(CUstream stream, bool of_map_allowed)
{
    bool refused =
        !stream || stream == GR_STREAM_NONE || (stream == GR_STREAM_OF_MAP && !of_map_allowed);
    return refused ? gr_stream_refuse(stream, of_map_allowed) : GR_OK;
}

/*
 * Also refuses a stream that captures a graph. The stream that GR_STREAM_OF_MAP means is not
 * checked, nor is any stream if the context in which the stream will be used was destroyed. The
 * context is NULL if it is not known yet.
 */
gr_status gr_stream_check(const struct gr_context *context, CUstream stream, bool of_map_allowed);

#endif
