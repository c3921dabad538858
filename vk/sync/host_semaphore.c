/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Timeline semaphores through the host, for semaphores that cannot or should not be exported: a
 * host function in the stream waits and signals, in stream order. A wait blocks its own stream. It
 * may also block other streams, because the driver may run the host functions of several streams
 * one at a time; the software driver does not.
 */
#include "vk/sync/sync.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/exit.h"
#include "lib/base/fork.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/lock.h"
#include "lib/base/machine.h"

/*
 * The duration of one wait, in nanoseconds. Between two waits the host checks whether the process
 * is exiting.
 */
#define WAIT_SLICE 100000000u

/* The maximum time, in milliseconds, that the exit of the process waits for host functions. */
#define EXIT_PAUSES 2000

/*
 * A semaphore through the host. Host functions may run after the last reference is dropped. So the
 * struct remains, and pins that of the device, until the last of them has ended. The end of the
 * last use of the device waits for them: device->points.
 */
struct host_semaphore {
    struct vk_semaphore base;
    struct gr_lock lock;      /* protects the following members */
    struct host_point *spare; /* points that are not in use */
    size_t queued;            /* the number of points in streams */
    bool orphaned;            /* the last reference was dropped while points were in streams */
    VkResult failure;         /* the first error of a host function, or VK_SUCCESS */
};

/* One wait or signal in a stream, or an unused point. The points of one call form a list. */
struct host_point {
    struct host_semaphore *s;
    uint64_t value;
    bool is_signal;
    struct host_point *next;
};

/*
 * The number of points that a new semaphore has. A point is in use until the host function has
 * ended, which may be after the stream went on, so that several frames can need points at once.
 */
#define FIRST_POINTS 8

/* ---- Process exit ---------------------------------------------------------------------------- */

/*
 * Set when the process exits. All waits must then end: the CUDA driver may wait for its streams
 * during the exit, and a signal may never come. When the exit handlers of the libraries run, no
 * host function may be in a Vulkan call. begin_exit() is registered later than those handlers, so
 * it runs before them.
 */
static atomic_bool exiting;
static atomic_uint inside; /* the number of host functions that may be in a Vulkan call */
static gr_once exit_once = GR_ONCE;

static void begin_exit(void)
{
    atomic_store(&exiting, true);
    if (gr_forked || !gr_machine_exits_with_threads())
        return; /* the host functions counted by `inside` run in the parent, or were ended */
    for (int i = 0; i < EXIT_PAUSES && atomic_load(&inside) > 0; i++)
        gr_sleep_us(1000);
}

static void watch_exit(void)
{
    gr_exit_watch();
    if (atexit(begin_exit) != 0)
        gr_log(GR_LOG_WARNING, "host waits will not end when the process exits");
}

/* ---- Points ---------------------------------------------------------------------------------- */

/*
 * Takes a point for the stream. After a failure of the semaphore, waits are refused, because the
 * stream would not wait. Signals are accepted but skipped, because mapped resources must be
 * released.
 */
static gr_status take_point(struct host_semaphore *s, bool is_signal, struct host_point **taken)
{
    struct host_point *point = NULL;
    gr_lock(&s->lock);
    VkResult failure = is_signal ? VK_SUCCESS : s->failure;
    if (failure == VK_SUCCESS) {
        point = s->spare;
        if (point)
            s->spare = point->next;
        else
            point = malloc(sizeof(*point));
        if (point) {
            s->queued++;
            atomic_fetch_add(&s->base.device->points, 1);
        }
    }
    gr_unlock(&s->lock);
    if (failure != VK_SUCCESS)
        return vk_fail(failure, "vkWaitSemaphores",
                       "A stream's earlier wait or signal of the Vulkan semaphore 0x%llx failed, "
                       "and the stream went on without it: the VkDevice is lost, or the semaphore "
                       "was destroyed. Create the device and its objects again.",
                       GR_VK_NUMBER(s->base.semaphore));
    if (!point)
        return gr_fail_memory();
    *taken = point;
    return GR_OK;
}

static void end_host_part(struct host_semaphore *s)
{
    while (s->spare) {
        struct host_point *next = s->spare->next;
        free(s->spare);
        s->spare = next;
    }
    if (s->base.owner != VK_OF_APPLICATION)
        s->base.device->vk.vkDestroySemaphore(s->base.device->device, s->base.semaphore, NULL);
    gr_lock_end(&s->lock);
    gr_live_free_memory(GR_LIVE_SEMAPHORE, s);
}

/*
 * Makes a point unused. If there are no references, the last point destroys the semaphore. Then the
 * VkDevice may end, but not the struct of the device.
 */
static void return_point(struct host_point *point)
{
    struct host_semaphore *s = point->s;
    gr_vk_device *device = s->base.device;
    gr_lock(&s->lock);
    point->next = s->spare;
    s->spare = point;
    bool last = --s->queued == 0 && s->orphaned;
    if (!last) /* with the lock: without it another thread may free the semaphore and the device */
        atomic_fetch_sub(&device->points, 1);
    gr_unlock(&s->lock);
    if (!last)
        return;
    end_host_part(s);
    atomic_fetch_sub(&device->points, 1);
    vk_device_unpin(device);
}

static void return_points(struct host_point *points)
{
    while (points) {
        struct host_point *next = points->next;
        return_point(points);
        points = next;
    }
}

/* ---- On the driver's thread, where CUDA calls are not allowed -------------------------------- */

static void note_failure(struct host_semaphore *s, VkResult result, const char *vulkan_call)
{
    gr_lock(&s->lock);
    if (s->failure == VK_SUCCESS)
        s->failure = result;
    gr_unlock(&s->lock);
    gr_log(GR_LOG_WARNING, "%s of Vulkan semaphore 0x%llx in a stream: %s", vulkan_call,
           GR_VK_NUMBER(s->base.semaphore), vk_result_name(result));
}

static void wait_here(struct host_semaphore *s, uint64_t value)
{
    gr_vk_device *device = s->base.device;
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &s->base.semaphore,
        .pValues = &value,
    };
    VkResult result = VK_TIMEOUT;
    atomic_fetch_add(&device->waiting, 1);
    while (result == VK_TIMEOUT && !atomic_load(&exiting) && !atomic_load(&device->gives_up))
        result = device->vk.vkWaitSemaphores(device->device, &info, WAIT_SLICE);
    atomic_fetch_sub(&device->waiting, 1);
    if (result < 0)
        note_failure(s, result, "vkWaitSemaphores");
}

static VkResult raise_to(const struct host_semaphore *s, uint64_t value, uint64_t *now)
{
    const gr_vk_device *device = s->base.device;
    return vk_semaphore_raise(&device->vk, device->device, s->base.semaphore, value, now);
}

/*
 * Signals a value on the driver's thread. If the timeline has already reached the value, the signal
 * is skipped: it would be invalid and lose the device, and all waits for the value are satisfied.
 * The lock keeps other streams from signalling at the same time.
 */
static void signal_here(struct host_semaphore *s, uint64_t value)
{
    uint64_t now = 0;
    gr_lock(&s->lock);
    VkResult result = s->failure;
    bool failed_before = result != VK_SUCCESS;
    if (!failed_before)
        result = raise_to(s, value, &now);
    gr_unlock(&s->lock);
    if (result < 0 && !failed_before)
        note_failure(s, result, now < value ? "vkSignalSemaphore" : "vkGetSemaphoreCounterValue");
    else if (result == VK_SUCCESS && now >= value)
        gr_log(GR_LOG_WARNING,
               "a stream's signal of Vulkan semaphore 0x%llx to %llu is skipped: the semaphore has "
               "already reached %llu",
               GR_VK_NUMBER(s->base.semaphore), (unsigned long long)value, (unsigned long long)now);
}

/*
 * Runs the points of one call. During the exit of the process the points are leaked, because Vulkan
 * may no longer exist.
 */
static void CUDA_CB run_points(void *user)
{
    struct host_point *point = user;
    atomic_fetch_add(&inside, 1);
    if (atomic_load(&exiting))
        point = NULL;
    for (struct host_point *next; point; point = next) {
        next = point->next;
        if (point->is_signal)
            signal_here(point->s, point->value);
        else
            wait_here(point->s, point->value);
        return_point(point);
    }
    atomic_fetch_sub(&inside, 1);
}

/* ---- Enqueueing points ----------------------------------------------------------------------- */

static gr_status enqueue(const gr_semaphore_point points[], size_t n, bool is_signal,
                         CUstream stream)
{
    struct host_point *first = NULL, **end = &first;
    for (size_t i = 0; i < n; i++) {
        struct host_semaphore *s = (struct host_semaphore *)points[i].semaphore;
        struct host_point *point = NULL;
        gr_status status = take_point(s, is_signal, &point);
        if (status != GR_OK) {
            return_points(first);
            return status;
        }
        *point = (struct host_point){.s = s, .value = points[i].value, .is_signal = is_signal};
        *end = point;
        end = &point->next;
    }
    CUresult result = gr_driver()->LaunchHostFunc(stream, run_points, first);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return_points(first);
    return gr_fail_work(
        result, "cuLaunchHostFunc",
        "The host function that %s for %zu semaphore%s could not be enqueued into the stream.",
        is_signal ? "signals" : "waits", n, gr_s(n));
}

static gr_status wait_by_host(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    return enqueue(points, n, false, stream);
}

static gr_status signal_by_host(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    return enqueue(points, n, true, stream);
}

/* Destroys the semaphore, or leaves that to the points in streams. */
static void destroy_host(gr_semaphore *semaphore)
{
    struct host_semaphore *s = (struct host_semaphore *)semaphore;
    gr_vk_device *device = s->base.device;
    const enum vk_semaphore_owner owner = s->base.owner;
    gr_lock(&s->lock);
    s->orphaned = true;
    bool last = s->queued == 0;
    gr_unlock(&s->lock);
    if (last) {
        end_host_part(s);
        vk_device_unpin(device);
    }
    vk_device_drop_by(device, owner);
}

static void signal_host_in_place(gr_semaphore *semaphore, uint64_t value)
{
    struct host_semaphore *s = (struct host_semaphore *)semaphore;
    uint64_t now;
    GR_LOCKED(&s->lock);
    raise_to(s, value, &now);
}

static const struct gr_semaphore_ops host_ops = {
    .wait = wait_by_host,
    .signal = signal_by_host,
    .signal_in_place = signal_host_in_place,
    .describe = vk_semaphore_describe,
    .value = vk_semaphore_value,
    .free = vk_semaphore_free,
    .destroy = destroy_host,
};

gr_semaphore *vk_semaphore_by_host(const struct vk_semaphore *draft, uint64_t value,
                                   const struct gr_context *context)
{
    gr_call_once(&exit_once, watch_exit);
    struct host_semaphore *s = calloc(1, sizeof(*s));
    if (!s || !gr_lock_init(&s->lock, GR_LOCK_HOST_SEMAPHORE)) {
        free(s);
        return gr_null(gr_fail_memory());
    }
    s->base = *draft;
    s->failure = VK_SUCCESS;
    /* without memory for them the points are allocated when they are needed */
    for (int i = 0; i < FIRST_POINTS; i++) {
        struct host_point *point = malloc(sizeof(*point));
        if (!point)
            break;
        point->next = s->spare;
        s->spare = point;
    }
    if (gr_semaphore_init(&s->base.base, &host_ops, context, true, value) == GR_OK) {
        vk_device_pin(draft->device);
        return &s->base.base;
    }
    s->base.owner = VK_OF_APPLICATION; /* the VkSemaphore stays with the caller */
    end_host_part(s);
    return NULL;
}
