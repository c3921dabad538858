/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graphics API's side of the points: which semaphores a resource has, and what a submit waits
 * for.
 */
#include "lib/error.h"
#include "lib/resource/resource.h"
#include "lib/sync/acquire_release.h"
#include "lib/sync/semaphore_rules.h"

static gr_status check_resource(const gr_resource *resource, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status != GR_OK)
        return status;
    if (!resource->sync || resource->sync->by_commands)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The resource is shared by the transport %s, which needs no semaphores: map "
                       "and release order the work by themselves.",
                       resource->transport);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, call, "The resource is mapped: release its buffer first.");
    return GR_OK;
}

/* ---- Which semaphores ------------------------------------------------------------------------ */

static bool is_plain(CUexternalSemaphoreHandleType type)
{
    return type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC &&
           type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX &&
           type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT;
}

static gr_status check_semaphore(const gr_resource *resource, const gr_semaphore *semaphore,
                                 const char *call)
{
    if (!semaphore)
        return GR_OK;
    if (!is_plain(semaphore->type))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "A semaphore of type %s has more to it than a value: use "
                       "gr_semaphore_wait() before gr_map() and gr_semaphore_signal() after the "
                       "release.",
                       gr_semaphore_type_name(semaphore->type));
    if (semaphore->context.handle != resource->context.handle)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The semaphore was imported into another CUDA context than the resource.");
    return GR_OK;
}

gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release)
{
    gr_status status = check_resource(resource, __func__);
    if (status == GR_OK && acquire && acquire == release)
        status =
            gr_fail(GR_ERR_INVALID_VALUE, __func__,
                    "`acquire` and `release` are the same semaphore: each side signals its own, "
                    "since values only grow.");
    if (status == GR_OK)
        status = check_semaphore(resource, acquire, __func__);
    if (status == GR_OK)
        status = check_semaphore(resource, release, __func__);
    return status == GR_OK ? gr_sync_set(resource, acquire, release, __func__) : status;
}

/* ---- Submits --------------------------------------------------------------------------------- */

static gr_status check_resources(gr_resource *const resources[], size_t n, const gr_submit *submit,
                                 const char *call)
{
    if (!resources || !submit || n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       !resources ? "`resources` is NULL"
                       : !submit  ? "`submit` is NULL: there is no place for the result"
                                  : "There is nothing to submit: n is 0");
    for (size_t i = 0; i < n; i++) {
        gr_status status = check_resource(resources[i], call);
        if (status != GR_OK)
            return status;
        if (gr_sync_of(resources[i])->acquire != gr_sync_of(resources[0])->acquire ||
            gr_sync_of(resources[i])->release != gr_sync_of(resources[0])->release)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "The resources have different semaphores: begin a submit for each pair, "
                           "or give all of them the same two.");
    }
    return GR_OK;
}

gr_status gr_submit_begin(gr_resource *const resources[], size_t n, gr_submit *submit)
{
    gr_submit begun;
    gr_status status = check_resources(resources, n, submit, __func__);
    if (status == GR_OK)
        status = gr_sync_begin_signal(resources, n, &begun, __func__);
    if (status != GR_OK)
        return status;
    gr_sync_begin_wait(resources, n, &begun);
    *submit = begun;
    return GR_OK;
}

static gr_status cancel_signal(gr_semaphore *acquire, uint64_t number, const char *call)
{
    gr_status status = GR_OK;
    pthread_mutex_lock(&acquire->lock);
    if (number == 0 || acquire->signalled != number)
        status = gr_fail(GR_ERR_STATE, call,
                         "The submit was not the last one that was begun on these semaphores, or a "
                         "map waits for it already.");
    else
        acquire->signalled--;
    pthread_mutex_unlock(&acquire->lock);
    return status;
}

gr_status gr_submit_free(gr_resource *const resources[], size_t n, const gr_submit *submit)
{
    gr_status status = check_resources(resources, n, submit, __func__);
    if (status != GR_OK)
        return status;
    const struct gr_sync *sync = gr_sync_of(resources[0]);
    if (sync->acquire)
        status = cancel_signal(sync->acquire, sync->drawn, __func__);
    if (status != GR_OK)
        return status;
    if (submit->wait && !submit->wait->timeline) {
        pthread_mutex_lock(&submit->wait->lock);
        submit->wait->waited--;
        pthread_mutex_unlock(&submit->wait->lock);
    }
    for (size_t i = 0; i < n; i++)
        gr_sync_of(resources[i])->drawn = gr_sync_of(resources[i])->drawn_before;
    return GR_OK;
}
