/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lets the host wait for CUDA's last work with a resource. */
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"

/* An event after the last release of a resource. */
struct last {
    CUevent event; /* NULL: there was no work */
    bool new;      /* the event was recorded for this wait */
};

static gr_status record_end(gr_resource *resource)
{
    const gr_cuda_api *cu = gr_driver();
    CUresult result = CUDA_SUCCESS;
    if (!resource->end)
        result = cu->EventCreate(&resource->end, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuEventCreate", "An event could not be created.");
    result = cu->EventRecord(resource->end, resource->released_on);
    resource->end_is_recorded = result == CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(
        result, "cuEventRecord",
        "The stream of the resource's last release could not be queried. Has it been destroyed?");
}

/*
 * For backends without an event: the first wait after a release records an event in the stream of
 * the release. Recording an event at each release would slow down every frame for a rare query.
 */
static gr_status mark_stream(gr_resource *resource, struct last *last, const char *call)
{
    if (!resource->released_on)
        return GR_OK;
    gr_status status = gr_stream_check_capture(resource->released_on, call);
    if (status != GR_OK || gr_driver()->StreamQuery(resource->released_on) == CUDA_SUCCESS)
        return status;
    status = record_end(resource);
    last->new = true;
    if (status == GR_OK)
        last->event = resource->end;
    return status;
}

/*
 * Gets an event from the backend. A new event is kept for the next query. On a busy GPU an event
 * needs some time to pass. If each poll used a new event, the caller would never see one that has
 * passed.
 */
static gr_status query_backend(gr_resource *resource, struct last *last)
{
    gr_status status = resource->backend->last_work(resource, &last->event, &last->new);
    if (!last->event || !last->new)
        return status;
    if (resource->end)
        gr_driver()->EventDestroy(resource->end);
    resource->end = last->event;
    resource->end_is_recorded = true;
    return status;
}

static gr_status find_last(gr_resource *resource, struct last *last, const char *call)
{
    if (resource->end_is_recorded) {
        last->event = resource->end;
        return GR_OK;
    }
    return resource->backend->last_work ? query_backend(resource, last)
                                        : mark_stream(resource, last, call);
}

/* The time in milliseconds that a new event needs to pass, even on an idle stream. */
#define MOMENT_MS 1

static gr_status refuse_timeout(const gr_resource *resource, unsigned timeout_ms, const char *call)
{
    char semaphore[300] = "";
    if (resource->backend->describe_wait)
        resource->backend->describe_wait(resource, semaphore, sizeof(semaphore));
    return gr_fail(GR_ERR_TIMEOUT, call,
                   "CUDA's work with the resource is not done after %u ms: wait longer, or find "
                   "what its stream waits for.%s",
                   timeout_ms, semaphore);
}

static gr_status wait_for(const gr_resource *resource, const struct last *last, unsigned timeout_ms,
                          const char *call)
{
    CUresult result =
        gr_event_poll(last->event, NULL, timeout_ms || !last->new ? timeout_ms : MOMENT_MS);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result != CUDA_ERROR_NOT_READY)
        return gr_fail_cuda(result, "cuEventQuery", "CUDA's work with the resource failed.");
    if (!timeout_ms)
        return gr_fail(GR_ERR_NOT_READY, call, "CUDA's work with the resource is not done.");
    return refuse_timeout(resource, timeout_ms, call);
}

static gr_status check_waitable(const gr_resource *resource, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status == GR_OK)
        gr_resource_collect(resource);
    if (status == GR_OK && gr_resource_mapping(resource))
        status = gr_fail(GR_ERR_STATE, call,
                         "The resource is mapped, and CUDA may still add work: call "
                         "gr_buffer_release() before you wait.");
    return status;
}

gr_status gr_resource_wait(gr_resource *resource, unsigned timeout_ms)
{
    bool pushed;
    struct last last = {NULL, false};
    GR_TRY(check_waitable(resource, __func__));
    GR_TRY(gr_context_enter(&resource->context, &pushed, __func__));
    gr_status status = find_last(resource, &last, __func__);
    if (status == GR_OK && last.event)
        status = wait_for(resource, &last, timeout_ms, __func__);
    gr_context_leave(pushed);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(&resource, 1);
    return status;
}
