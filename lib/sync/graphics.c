/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphore values of the graphics API: its signals before a map, and its waits after a
 * release.
 */
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/event.h"
#include "lib/sync/sync.h"

gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number)
{
    GR_LOCKED(&acquire->lock);
    if (!acquire->timeline && acquire->signalled > acquire->waited)
        return gr_fail(GR_ERR_STATE,
                       "The binary semaphore has been signalled and no map has waited for it yet: "
                       "map a resource in between, or use timeline semaphores.");
    *number = ++acquire->signalled;
    return GR_OK;
}

void gr_sync_skip_signal(gr_semaphore *acquire)
{
    GR_LOCKED(&acquire->lock);
    if (!acquire->timeline && acquire->signalled > acquire->waited)
        acquire->signalled--;
}

gr_status gr_sync_wait_for_retaken(gr_semaphore *release)
{
    gr_lock(&release->lock);
    CUevent passed = release->retaken ? release->passed.event : NULL;
    gr_unlock(&release->lock);
    if (!passed)
        return GR_OK;
    GR_ENTER(&release->context);
    CUresult result = gr_event_finish(passed);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuEventQuery",
                            "%s: a stream that signals the binary semaphore failed.", gr_call);
    gr_lock(&release->lock);
    release->retaken = false;
    gr_unlock(&release->lock);
    return GR_OK;
}

bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value)
{
    gr_semaphore *release = resources[0]->sync.release;
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        if (resources[i]->sync.computed > last)
            last = resources[i]->sync.computed;
    if (!release || last == 0)
        return false;
    GR_LOCKED(&release->lock);
    bool pending = release->timeline || last > release->waited;
    *value = release->timeline ? last : 0;
    if (pending && !release->timeline)
        release->waited = release->signalled;
    return pending;
}

void gr_sync_skip_wait(gr_semaphore *release)
{
    GR_LOCKED(&release->lock);
    release->waited -= !release->timeline;
}
