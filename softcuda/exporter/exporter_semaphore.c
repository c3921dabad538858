/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphores of the layer, see exporter_layer.h. Each is a timeline below the layer, even if it
 * is binary above the layer. Each signal and each wait of a binary semaphore then takes the next
 * value. While any semaphore exists, a thread copies signals between Vulkan and the software CUDA
 * driver at short intervals.
 */
#define _GNU_SOURCE
#include "exporter_layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softcuda/driver/stream/shared_semaphore.h"

#define TURN_NANOSECONDS 200000
#define MOST_STEPS       64

/* A signal or wait of a binary semaphore, in the order of the submits. */
struct step {
    bool is_signal;
    uint64_t value; /* the value of the timeline below the layer */
};

static struct exported {
    struct exported *next;
    struct exporter_device *device;
    VkSemaphore semaphore;
    bool timeline;
    int fd; /* -1: not exported yet */
    gr_softcuda_semaphore *shared;
    /* The last value that was copied; for a binary semaphore, the value of its last step. */
    uint64_t last;
    struct step steps[MOST_STEPS];
    size_t step_count; /* the steps that are still pending */
} * all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool carrying, ended;

static PFN_gr_softcuda_semaphore_create soft_create;
static PFN_gr_softcuda_semaphore_open soft_open;
static PFN_gr_softcuda_semaphore_close soft_close;
static PFN_gr_softcuda_semaphore_signal soft_signal;
static PFN_gr_softcuda_semaphore_wait soft_wait;
static PFN_gr_softcuda_semaphore_value soft_value;

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol;
}

/* The driver is loaded when CUDA first imports something, and is never unloaded. */
static bool find_driver(void)
{
    void *library = dlopen("libgrinterop-softcuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) /* the Python tests load the software driver by this name */
        library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library && find(library, "gr_softcuda_semaphore_create", &soft_create) &&
           find(library, "gr_softcuda_semaphore_open", &soft_open) &&
           find(library, "gr_softcuda_semaphore_close", &soft_close) &&
           find(library, "gr_softcuda_semaphore_signal", &soft_signal) &&
           find(library, "gr_softcuda_semaphore_wait", &soft_wait) &&
           find(library, "gr_softcuda_semaphore_value", &soft_value);
}

static struct exported *of(VkSemaphore semaphore)
{
    struct exported *e = all;
    while (e && e->semaphore != semaphore)
        e = e->next;
    return e;
}

/* ---- Copies of values ------------------------------------------------------------------------ */

static void signal_below(const struct exported *e, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = e->semaphore,
                                        .value = value};
    e->device->SignalSemaphore(e->device->device, &info);
}

/* Copies each value only once, so that a later reset of the value is not undone. */
static void carry_timeline(struct exported *e, uint64_t below)
{
    uint64_t above = soft_value(e->shared);
    if (below > e->last && below > above)
        soft_signal(e->shared, below);
    else if (above > e->last && above > below)
        signal_below(e, above);
    if (e->last < below)
        e->last = below;
    if (e->last < above)
        e->last = above;
}

/* Completes the steps whose values have been reached, in order. */
static void carry_binary(struct exported *e, uint64_t below)
{
    while (e->step_count) {
        const struct step *step = &e->steps[0];
        if (step->is_signal ? below < step->value : soft_wait(e->shared, 0, 0) != CUDA_SUCCESS)
            return;
        if (step->is_signal)
            soft_signal(e->shared, 1);
        else
            signal_below(e, step->value);
        memmove(&e->steps[0], &e->steps[1], --e->step_count * sizeof(e->steps[0]));
    }
}

static void carry(struct exported *e)
{
    uint64_t below = 0;
    if (!e->shared ||
        e->device->GetSemaphoreCounterValue(e->device->device, e->semaphore, &below) != VK_SUCCESS)
        return;
    if (e->timeline)
        carry_timeline(e, below);
    else
        carry_binary(e, below);
}

static void *carry_all(void *unused)
{
    const struct timespec turn = {.tv_nsec = TURN_NANOSECONDS};
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        carrying = all && !ended;
        for (struct exported *e = all; carrying && e; e = e->next)
            carry(e);
        pthread_mutex_unlock(&lock);
        if (!carrying)
            return NULL;
        nanosleep(&turn, NULL);
    }
}

/*
 * A process may exit with semaphores open. The thread must end before the drivers below the layer
 * do.
 */
static void end_carrying(void)
{
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_mutex_unlock(&lock);
}

/* The child of a fork has neither the copying thread nor the devices. */
static void forget(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    carrying = false;
    all = NULL;
}

static bool begin_carrying(void)
{
    static bool prepared;
    pthread_t thread;
    if (!prepared)
        prepared = pthread_atfork(NULL, NULL, forget) == 0 && atexit(end_carrying) == 0;
    if (!carrying && pthread_create(&thread, NULL, carry_all, NULL) == 0) {
        pthread_detach(thread);
        carrying = true;
    }
    return carrying;
}

/* ---- Replacements for Vulkan functions ------------------------------------------------------- */

static const void *chained(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;
    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

VkResult VKAPI_CALL exporter_create(VkDevice handle, const VkSemaphoreCreateInfo *info,
                                    const VkAllocationCallbacks *memory, VkSemaphore *made)
{
    struct exporter_device *device = exporter_device_of(handle);
    const VkSemaphoreTypeCreateInfo *type =
        chained(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    if (!chained(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO))
        return device->CreateSemaphore(handle, info, memory, made);
    struct exported *e = calloc(1, sizeof(*e));
    if (!e)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                                .initialValue = type ? type->initialValue : 0};
    VkSemaphoreCreateInfo below = *info;
    below.pNext = &timeline;
    VkResult result = device->CreateSemaphore(handle, &below, memory, made);
    if (result != VK_SUCCESS) {
        free(e);
        return result;
    }
    e->device = device;
    e->semaphore = *made;
    e->timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    e->fd = -1;
    pthread_mutex_lock(&lock);
    e->next = all;
    all = e;
    pthread_mutex_unlock(&lock);
    return result;
}

void VKAPI_CALL exporter_destroy(VkDevice device, VkSemaphore semaphore,
                                 const VkAllocationCallbacks *memory)
{
    pthread_mutex_lock(&lock);
    struct exported **link = &all, *e = of(semaphore);
    while (e && *link != e)
        link = &(*link)->next;
    if (e) {
        carry(e);
        *link = e->next;
    }
    pthread_mutex_unlock(&lock);
    if (e && e->shared) {
        soft_close(e->shared);
        close(e->fd);
    }
    free(e);
    exporter_device_of(device)->DestroySemaphore(device, semaphore, memory);
}

/* Exports the semaphore, with its current value. */
static VkResult export_first(struct exported *e)
{
    uint64_t value = 0;
    if (!find_driver() || !begin_carrying())
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    e->device->GetSemaphoreCounterValue(e->device->device, e->semaphore, &value);
    if (soft_create(e->timeline, e->timeline ? value : 0, &e->fd) != CUDA_SUCCESS)
        return VK_ERROR_TOO_MANY_OBJECTS;
    return soft_open(e->fd, &e->shared) == CUDA_SUCCESS ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult VKAPI_CALL exporter_get_fd(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
    VkResult result = VK_SUCCESS;
    (void)device;
    pthread_mutex_lock(&lock);
    struct exported *e = of(info->semaphore);
    if (!e)
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    else if (!e->shared)
        result = export_first(e);
    *fd = result == VK_SUCCESS ? dup(e->fd) : -1;
    pthread_mutex_unlock(&lock);
    return result == VK_SUCCESS && *fd < 0 ? VK_ERROR_TOO_MANY_OBJECTS : result;
}

/* Copies first, so that values that CUDA has signalled are visible at once. */
VkResult VKAPI_CALL exporter_counter(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    pthread_mutex_lock(&lock);
    struct exported *e = of(semaphore);
    if (e)
        carry(e);
    pthread_mutex_unlock(&lock);
    return exporter_device_of(device)->GetSemaphoreCounterValue(device, semaphore, value);
}

bool exporter_next_value(VkSemaphore semaphore, bool is_signal, uint64_t *value)
{
    pthread_mutex_lock(&lock);
    struct exported *e = of(semaphore);
    bool binary = e && !e->timeline && e->step_count < MOST_STEPS;
    if (binary) {
        *value = ++e->last;
        e->steps[e->step_count++] = (struct step){.is_signal = is_signal, .value = *value};
    }
    pthread_mutex_unlock(&lock);
    return binary;
}
