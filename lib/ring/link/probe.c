/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries the value of a semaphore: see probe.h. */
#include "lib/ring/link/probe.h"

#include "lib/base/error.h"
#include "lib/cuda/driver.h"

/*
 * The number of polls without a result that count as "no". A driver thread may be delayed past one
 * poll, but not past several.
 */
#define LOOKS_FOR_NO 3

static CUresult make(struct gr_peer_probe *probe)
{
    const struct gr_driver_api *cu = gr_driver();
    if (probe->stream)
        return CUDA_SUCCESS;
    CUresult result = cu->StreamCreate(&probe->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = cu->EventCreate(&probe->before, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->EventCreate(&probe->after, CU_EVENT_DISABLE_TIMING);
    return result;
}

static gr_status refuse_query(CUresult result, const char *call)
{
    return gr_fail_cuda(result, call,
                        "The driver cannot report how much work the other process has finished.");
}

static gr_status enqueue_query(const struct gr_peer_probe *probe, gr_semaphore *semaphore,
                               uint64_t value)
{
    const struct gr_driver_api *cu = gr_driver();
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = value);
    CUresult result = cu->EventRecord(probe->before, probe->stream);
    if (result != CUDA_SUCCESS)
        return refuse_query(result, "cuEventRecord");
    GR_TRY(semaphore->ops->wait(&point, 1, probe->stream));
    result = cu->EventRecord(probe->after, probe->stream);
    return result == CUDA_SUCCESS ? GR_OK : refuse_query(result, "cuEventRecord");
}

gr_status gr_peer_probe_query(struct gr_peer_probe *probe, gr_semaphore *semaphore, uint64_t value)
{
    if (probe->value)
        gr_peer_probe_end(probe);
    CUresult result = make(probe);
    gr_status status = result == CUDA_SUCCESS ? enqueue_query(probe, semaphore, value)
                                              : refuse_query(result, "cuStreamCreate");
    if (status == GR_OK)
        probe->value = value;
    else
        gr_peer_probe_end(probe);
    return status;
}

static bool has_passed(CUevent event)
{
    return gr_driver()->EventQuery(event) != CUDA_ERROR_NOT_READY;
}

enum gr_peer_result gr_peer_probe_poll(struct gr_peer_probe *probe)
{
    if (probe->value == 0)
        return GR_PEER_UNKNOWN;
    if (has_passed(probe->after)) {
        probe->value = 0;
        probe->looks = 0;
        return GR_PEER_HAS;
    }
    if (probe->looks < LOOKS_FOR_NO && (probe->looks > 0 || has_passed(probe->before)))
        probe->looks++;
    return probe->looks < LOOKS_FOR_NO ? GR_PEER_UNKNOWN : GR_PEER_LACKS;
}

/* Ends a probe. Work that is already in its stream still completes. */
void gr_peer_probe_end(struct gr_peer_probe *probe)
{
    const struct gr_driver_api *cu = gr_driver();
    if (probe->before)
        cu->EventDestroy(probe->before);
    if (probe->after)
        cu->EventDestroy(probe->after);
    if (probe->stream)
        cu->StreamDestroy(probe->stream);
    *probe = (struct gr_peer_probe){0};
}
