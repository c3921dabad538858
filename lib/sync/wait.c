/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lets the host wait for CUDA's last work with a resource. */
#include "lib/cuda/driver.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cuda/event.h"
#include "lib/resource/resource.h"
#include "lib/sync/sync.h"

/*
 * The time in milliseconds that a new event needs to pass, even on an idle stream. The resource
 * keeps the event: if each poll used a new event, the caller would never see one that has passed.
 */
#define MOMENT_MS 1

/* Whether a stream waits for a signal of the graphics API, if that can be queried. */
static bool is_awaited(const gr_semaphore *acquire)
{
    uint64_t now;
    return acquire && acquire->timeline && !acquire->of_application && acquire->ops->value &&
           acquire->ops->value(acquire, &now) &&
           now < atomic_load_explicit(&acquire->awaited, memory_order_relaxed);
}

void gr_sync_warn_of_wait(const struct gr_sync *sync, const struct gr_context *context)
{
    struct gr_deadline deadline = {0};
    unsigned polls = 0;
    char semaphore[300];
    while (is_awaited(sync->acquire) && !gr_context_has_failed(context)) {
        if (polls == 0)
            deadline = gr_deadline_in(GR_DRAWN_PATIENCE_MS);
        if (gr_deadline_is_over(&deadline)) {
            gr_semaphore_describe_wait(sync->acquire, semaphore, sizeof(semaphore));
            gr_log(GR_LOG_WARNING,
                   "The free or close of a resource blocks until all work in its CUDA context is "
                   "done, and a stream has waited for graphics work for 2 s. Was a committed "
                   "submit never passed to a queue?%s",
                   semaphore);
            return;
        }
        gr_host_pause(&polls);
    }
}

static gr_status wait_for(const gr_resource *resource, bool is_new, unsigned timeout_ms)
{
    CUresult result = gr_event_poll(resource->sync.work.event, NULL,
                                    timeout_ms || !is_new ? timeout_ms : MOMENT_MS);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result != CUDA_ERROR_NOT_READY)
        return gr_fail_cuda(result, "cuEventQuery", "CUDA's work with the resource failed.");
    if (!timeout_ms)
        return gr_fail(GR_ERR_NOT_READY, "CUDA's work with the resource is not done.");
    char semaphore[300];
    gr_semaphore_describe_wait(resource->sync.acquire, semaphore, sizeof(semaphore));
    return gr_fail(GR_ERR_TIMEOUT,
                   "CUDA's work with the resource is not done after %u ms: wait longer, or find "
                   "what its stream waits for.%s",
                   timeout_ms, semaphore);
}

gr_status gr_resource_wait(gr_resource *resource, unsigned timeout_ms)
{
    GR_CALL();
    GR_TRY(gr_resource_check_slot(resource));
    GR_TRY(gr_resource_check_open(resource));
    gr_resource_collect(resource);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, "The resource is mapped, and CUDA may still add work: call "
                                     "gr_buffer_release() before you wait.");
    GR_ENTER(&resource->context);
    const bool is_new = !resource->sync.work.recorded;
    gr_status status = gr_sync_record_work(resource);
    if (status == GR_OK && resource->sync.work.recorded)
        status = wait_for(resource, is_new, timeout_ms);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(&resource, 1);
    return status;
}
