/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks of the caller's streams, and waits between streams. */
#include "lib/resource/stream.h"

#include "lib/base/compiler.h"
#include "lib/cuda/context.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/fork.h"
#include "lib/cuda/device.h"

/* Records the error with the driver's code, which callers of compat.h receive. */
static gr_status refuse_capture(const char *reason)
{
    gr_fail_cuda(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamIsCapturing", "%s: %s", gr_call,
                 reason);
    return gr_error_set_class(GR_ERR_STATE);
}

gr_status gr_stream_refuse_user(void)
{
    return refuse_capture("a stream that uses the tensor is capturing a graph, so "
                          "nothing can wait for that stream. End the capture first.");
}

/* Checks a result of gr_event_capture(). */
static gr_status check_capture(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return refuse_capture(
            "the legacy stream cannot be used while a stream that it waits for is capturing "
            "a graph. End the capture first, or pass another stream.");
    return refuse_capture(
        "the stream is capturing a graph, and this call cannot be part of a graph. Call it "
        "before or after the capture. Launch a graph that uses mapped memory between the map "
        "and the release.");
}

gr_status gr_stream_check_capture(CUstream stream)
{
    return gr_driver() && !gr_forked ? check_capture(gr_event_capture(stream)) : GR_OK;
}

gr_status gr_stream_refuse(CUstream stream, bool of_map_allowed)
{
    GR_REFUSE_IF(
        !stream,
        "The stream is NULL. Pass GR_STREAM_LEGACY or GR_STREAM_PER_THREAD for a default stream%s.",
        of_map_allowed ? ", or GR_STREAM_OF_MAP for the stream of the map" : "");
    GR_REFUSE_IF(stream == GR_STREAM_NONE,
                 "GR_STREAM_NONE is only for the graphics side of a ring: CUDA's work needs a "
                 "stream, so pass one.");
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "GR_STREAM_OF_MAP has no meaning before something is mapped: pass the stream itself.");
}

gr_status gr_stream_check(const struct gr_context *context, CUstream stream, bool of_map_allowed)
{
    GR_TRY(gr_stream_check_given(stream, of_map_allowed));
    if (stream == GR_STREAM_OF_MAP || (context && gr_context_is_gone(context)))
        return GR_OK;
    return gr_stream_check_capture(stream);
}

static gr_status get_device(CUcontext of, CUdevice *device)
{
    const struct gr_context context = {.handle = of, .primary_of = -1};
    GR_ENTER(&context);
    return gr_current_device(device);
}

static gr_status refuse_unknown(const gr_resource *resource, CUresult result)
{
    char copies[GR_COPIES_SIZE];
    const char *remedy = "Pass an existing stream.";
    gr_driver_second_copy(copies, sizeof(copies));
    if (resource->mapped && resource->in_a_ring)
        remedy = "The slot cannot be returned to its ring any more: free the ring, which ends the "
                 "mapping, and create another.";
    else if (resource->mapped)
        remedy = "A mapping can be ended on any stream of its context: gr_buffer_release_many(), "
                 "gr_resource_unmap() and gr_resource_close() take one.";
    return gr_fail_cuda(result, "cuStreamGetCtx",
                        "%s: the stream's CUDA context could not be queried. Was the stream or its "
                        "context destroyed? %s%s",
                        gr_call, remedy, copies);
}

/*
 * Checks a stream of another context than that of the resource, which is current: events of the
 * resource's context can also be recorded in a stream of a green context that shares it. Not
 * inlined: the check of a stream of the same context needs no registers for this.
 */
GR_NOINLINE static gr_status check_other(gr_resource *resource, CUstream stream,
                                         CUcontext of_stream)
{
    CUdevice device, wanted;
    GR_TRY(gr_current_device(&wanted));
    GR_TRY(get_device(of_stream, &device));
    if (device != wanted) {
        char is_of[200], of_resource[200];
        gr_device_text(device, is_of, sizeof(is_of));
        gr_device_text(wanted, of_resource, sizeof(of_resource));
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The stream belongs to %s, but the resource's CUDA context to %s: pass a "
                       "stream of that context, and let your own stream wait for the passed stream "
                       "by an event (cuStreamWaitEvent).",
                       is_of, of_resource);
    }
    GR_TRY(gr_event_create(&resource->order));
    GR_TRY_CUDA(gr_driver()->EventRecord(resource->order, stream), "cuEventRecord",
                "%s: the stream belongs to another CUDA context than the resource. Pass a stream "
                "that was created in the resource's context, and let your own stream wait for the "
                "passed stream by an event (cuStreamWaitEvent).",
                gr_call);
    return GR_OK;
}

gr_status gr_stream_check_context(gr_resource *resource, CUstream stream)
{
    CUcontext context = NULL;
    GR_TRY(check_capture(gr_event_capture(stream)));
    if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
        (stream == resource->checked && !gr_driver_traits()->refuses_destroyed))
        return GR_OK;
    CUresult result = gr_driver()->StreamGetCtx(stream, &context);
    /* drivers cannot query the context of some kinds of streams */
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        return GR_OK;
    if (result != CUDA_SUCCESS)
        return refuse_unknown(resource, result);
    if (context != resource->context.handle)
        GR_TRY(check_other(resource, stream, context));
    resource->checked = stream;
    return GR_OK;
}

gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream)
{
    const struct gr_driver_api *cu = gr_driver();
    CUresult result = CUDA_SUCCESS;
    if (!resource->order)
        result = cu->EventCreate(&resource->order, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->EventRecord(resource->order, earlier);
    /* the stream was destroyed, perhaps before its work was done, or belongs to another context */
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT ||
        result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        result = gr_stream_finish(earlier);
    else if (result == CUDA_SUCCESS)
        result = cu->StreamWaitEvent(stream, resource->order, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuStreamWaitEvent",
                        "A stream could not be made to wait for the stream of the map.");
}
