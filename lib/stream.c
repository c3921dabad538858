/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that the caller names: checked, and made to wait for each other. */
#include "lib/stream.h"

#include "lib/driver.h"
#include "lib/error.h"

gr_status gr_stream_check(CUstream stream, bool of_map_allowed, const char *call)
{
    if (!stream)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The stream is NULL. Name it: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD for a default "
            "stream%s.",
            of_map_allowed ? ", GR_STREAM_OF_MAP for the one that the map was given" : "");
    if (stream == GR_STREAM_NONE)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "GR_STREAM_NONE is for the graphics API's side of a ring: CUDA's work needs "
                       "a stream, so name it.");
    if (stream == GR_STREAM_OF_MAP && !of_map_allowed)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "GR_STREAM_OF_MAP has no meaning before something is mapped: name the stream.");
    return GR_OK;
}

gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    CUresult result = CUDA_SUCCESS;
    if (!resource->order)
        result = cu->EventCreate(&resource->order, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->EventRecord(resource->order, earlier);
    if (result == CUDA_SUCCESS)
        result = cu->StreamWaitEvent(stream, resource->order, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuStreamWaitEvent",
                        "The stream of a release, or one to be in step with the map, could not be "
                        "made to wait for the map's.");
}
