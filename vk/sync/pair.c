/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The pair of timeline semaphores for the new resources of a device; see pair.h. */
#include "vk/sync/pair.h"

#include "vk/sync/host_semaphore.h"
#include "vk/sync/semaphore.h"

/*
 * Ends the pair. Resources that are about to end may still hold it, and drop the last reference
 * later.
 */
static void end_pair(gr_vk_device *device, bool wait)
{
    if (wait) {
        vk_host_semaphore_finish(device->pair->acquire);
        vk_host_semaphore_finish(device->pair->release);
    }
    gr_pair_drop(device->pair);
}

static gr_semaphore *make_semaphore(gr_vk_device *device, const char *call)
{
    return vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE, VK_OF_DEVICE, call);
}

static gr_status make_pair(gr_vk_device *device, const char *call)
{
    gr_semaphore *acquire = make_semaphore(device, call);
    gr_semaphore *release = acquire ? make_semaphore(device, call) : NULL;
    device->pair = gr_pair_of_new(acquire, release, call);
    if (!device->pair)
        return gr_last_error()->status;
    device->pair->of_device = true;
    device->end_pair = end_pair;
    return GR_OK;
}

gr_status vk_pair_get(gr_vk_device *device, struct gr_semaphore_pair **pair, const char *call)
{
    gr_status status = GR_OK;
    *pair = NULL;
    if (!device->has_timeline || device->without_pair)
        return GR_OK;
    pthread_mutex_lock(&device->lock);
    if (!device->pair)
        status = make_pair(device, call);
    *pair = device->pair;
    pthread_mutex_unlock(&device->lock);
    return status;
}
