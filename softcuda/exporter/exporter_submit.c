/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Submits, see exporter_layer.h. The binary semaphores of the layer are timelines below it, so each
 * signal and wait needs a value.
 */
#include "exporter_layer.h"

#include <stdlib.h>
#include <string.h>

#define MOST 16

/* Timeline values of a submit, for binary semaphores to which the application gives no values. */
struct values {
    VkTimelineSemaphoreSubmitInfo info;
    uint64_t wait[MOST], signal[MOST];
};

static bool number(const VkSemaphore semaphores[], uint32_t count, bool is_signal,
                   const uint64_t given[], uint32_t given_count, uint64_t values[])
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = given && i < given_count ? given[i] : 0;
        any |= exporter_next_value(semaphores[i], is_signal, &values[i]);
    }
    return any;
}

/* Without other structures than VkTimelineSemaphoreSubmitInfo in the chain: the tests use none. */
static void translate(VkSubmitInfo *submit, struct values *v)
{
    const VkTimelineSemaphoreSubmitInfo *given = submit->pNext;
    bool has = given && given->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    if (submit->waitSemaphoreCount > MOST || submit->signalSemaphoreCount > MOST)
        return;
    bool waits = number(submit->pWaitSemaphores, submit->waitSemaphoreCount, false,
                        has ? given->pWaitSemaphoreValues : NULL,
                        has ? given->waitSemaphoreValueCount : 0, v->wait);
    bool signals = number(submit->pSignalSemaphores, submit->signalSemaphoreCount, true,
                          has ? given->pSignalSemaphoreValues : NULL,
                          has ? given->signalSemaphoreValueCount : 0, v->signal);
    if (!waits && !signals)
        return;
    v->info =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .pNext = has ? given->pNext : submit->pNext,
                                        .waitSemaphoreValueCount = submit->waitSemaphoreCount,
                                        .pWaitSemaphoreValues = v->wait,
                                        .signalSemaphoreValueCount = submit->signalSemaphoreCount,
                                        .pSignalSemaphoreValues = v->signal};
    submit->pNext = &v->info;
}

VkResult VKAPI_CALL exporter_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                    VkFence fence)
{
    struct exporter_device *device = exporter_device_of(queue);
    VkSubmitInfo *copies = calloc(count ? count : 1, sizeof(*copies));
    struct values *values = calloc(count ? count : 1, sizeof(*values));
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (copies && values) {
        for (uint32_t i = 0; i < count; i++) {
            copies[i] = submits[i];
            translate(&copies[i], &values[i]);
        }
        result = device->QueueSubmit(queue, count, copies, fence);
    }
    free(copies);
    free(values);
    return result;
}

/*
 * In VkSubmitInfo2 the semaphore entries contain the values. The memory of the application is not
 * modified.
 */
static VkSemaphoreSubmitInfo *translate2(const VkSemaphoreSubmitInfo *given, uint32_t count,
                                         bool is_signal)
{
    VkSemaphoreSubmitInfo *copies = calloc(count ? count : 1, sizeof(*copies));
    for (uint32_t i = 0; copies && i < count; i++) {
        copies[i] = given[i];
        exporter_next_value(given[i].semaphore, is_signal, &copies[i].value);
    }
    return copies;
}

VkResult VKAPI_CALL exporter_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits,
                                     VkFence fence)
{
    struct exporter_device *device = exporter_device_of(queue);
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
        VkSubmitInfo2 copy = submits[i];
        VkSemaphoreSubmitInfo *waits =
            translate2(copy.pWaitSemaphoreInfos, copy.waitSemaphoreInfoCount, false);
        VkSemaphoreSubmitInfo *signals =
            translate2(copy.pSignalSemaphoreInfos, copy.signalSemaphoreInfoCount, true);
        copy.pWaitSemaphoreInfos = waits;
        copy.pSignalSemaphoreInfos = signals;
        result = waits && signals ? device->QueueSubmit2(queue, 1, &copy,
                                                         i + 1 == count ? fence : VK_NULL_HANDLE)
                                  : VK_ERROR_OUT_OF_HOST_MEMORY;
        free(waits);
        free(signals);
    }
    return count ? result : device->QueueSubmit2(queue, 0, NULL, fence);
}
