/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that the caller names: checked, and made to wait for each other. */
#include "lib/stream.h"

#include "lib/context.h"
#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/peer_device.h"

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

static gr_status get_device(const struct gr_context *context, CUdevice *device, const char *call)
{
    bool pushed;
    gr_status status = gr_context_enter(context, &pushed, call);
    if (status != GR_OK)
        return status;
    status = gr_current_device(device);
    gr_context_leave(pushed);
    return status;
}

static gr_status refuse_device(CUdevice is, CUdevice wanted, const char *call)
{
    char of_stream[200], of_resource[200];
    gr_device_text(is, of_stream, sizeof(of_stream));
    gr_device_text(wanted, of_resource, sizeof(of_resource));
    return gr_fail(
        GR_ERR_INVALID_VALUE, call,
        "The stream is of %s, but the resource's CUDA context is of %s: name a stream of "
        "that one, and let the other wait for it by an event (cuStreamWaitEvent).",
        of_stream, of_resource);
}

gr_status gr_stream_check_device(gr_resource *resource, CUstream stream, const char *call)
{
    struct gr_context context = {.primary_of = -1};
    CUdevice is, wanted;
    if (stream == resource->checked || stream == CU_STREAM_LEGACY ||
        stream == CU_STREAM_PER_THREAD ||
        gr_driver()->StreamGetCtx(stream, &context.handle) != CUDA_SUCCESS)
        return GR_OK;
    if (context.handle != resource->context.handle) {
        gr_status status = gr_current_device(&wanted);
        if (status == GR_OK)
            status = get_device(&context, &is, call);
        if (status == GR_OK && is != wanted)
            status = refuse_device(is, wanted, call);
        if (status != GR_OK)
            return status;
    }
    resource->checked = stream;
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
