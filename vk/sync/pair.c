/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The pair of timeline semaphores for the new resources of a device; see pair.h. */
#include "vk/sync/pair.h"

#include "lib/sync/semaphore.h"
#include "vk/sync/host_semaphore.h"
#include "vk/sync/semaphore.h"

/*
 * Ends the pair. Resources that are about to end may still hold the semaphores, and drop the last
 * reference later.
 */
static void end_pair(gr_vk_device *device, bool wait)
{
    if (wait) {
        vk_host_semaphore_finish(device->acquire);
        vk_host_semaphore_finish(device->release);
    }
    gr_semaphore_drop(device->acquire);
    gr_semaphore_drop(device->release);
}

static gr_status make_pair(gr_vk_device *device, const char *call)
{
    gr_semaphore *acquire =
        vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE, VK_OF_DEVICE, call);
    gr_semaphore *release =
        acquire ? vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE, VK_OF_DEVICE, call)
                : NULL;
    if (!release) {
        gr_semaphore_drop(acquire);
        return gr_last_error()->status;
    }
    device->acquire = acquire;
    device->release = release;
    device->end_pair = end_pair;
    return GR_OK;
}

gr_status vk_pair_get(gr_vk_device *device, gr_semaphore **acquire, gr_semaphore **release,
                      const char *call)
{
    gr_status status = GR_OK;
    *acquire = *release = NULL;
    if (!device->has_timeline || device->without_pair)
        return GR_OK;
    pthread_mutex_lock(&device->lock);
    if (!device->acquire)
        status = make_pair(device, call);
    *acquire = device->acquire;
    *release = device->release;
    pthread_mutex_unlock(&device->lock);
    return status;
}
