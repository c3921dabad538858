/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Whole round trips with 32 resources in turn, on one thread or on two. With two threads, one
 * enqueues the CUDA work and the other only submits to Vulkan. "ahead" means that a submit may be
 * made before the CUDA signal that it waits for is enqueued.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "bench/vulkan/probe.h"

struct way {
    const char *label;
    unsigned submits; /* the submits per call */
    bool two_threads, ahead;
};

static const struct way WAYS[] = {
    {"one thread, 1 submit a call", 1, false, false},
    {"one thread, 4 submits a call", 4, false, false},
    {"one thread, 8 submits a call", 8, false, false},
    {"one thread, 16 submits a call", 16, false, false},
    {"one thread, 8 a call, ahead", 8, false, true},
    {"two threads, 1 submit a call", 1, true, false},
    {"two threads, 4 submits a call", 4, true, false},
    {"two threads, 8 submits a call", 8, true, false},
    {"two threads, 16 submits a call", 16, true, false},
    {"two threads, 8 a call, ahead", 8, true, true},
};

/*
 * One run of round trips. `enqueued` and `submitted` only grow. A thread that fails stops the other
 * thread.
 */
struct trips {
    struct probe *probe;
    const struct way *way;
    unsigned count;
    uint64_t computed, drawn; /* the semaphore values before the first trip */
    atomic_uint enqueued, submitted;
    atomic_bool failed;
    double submit_cpu; /* the CPU time of the submitting thread, if there are two threads */
};

/* ---- The two halves -------------------------------------------------------------------------- */

static bool enqueue_one(struct trips *trips, unsigned i)
{
    struct vkb *bench = &trips->probe->bench;
    struct vkb_side *side = &bench->sides[VKB_RAW];
    if (i >= VKB_RESOURCES && !vkb_raw_wait(bench, side, trips->drawn + i + 1 - VKB_RESOURCES))
        return false;
    side->frames = i;
    if (!vkb_fill(bench, side, i % VKB_RESOURCES) ||
        !vkb_raw_signal(bench, side, trips->computed + i + 1))
        return false;
    atomic_store(&trips->enqueued, i + 1);
    return true;
}

static bool submit_some(struct trips *trips, unsigned first)
{
    enum { MOST = 16 };
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    struct probe *probe = trips->probe;
    const struct vkb_side *side = &probe->bench.sides[VKB_RAW];
    uint64_t waits[MOST], signals[MOST];
    VkTimelineSemaphoreSubmitInfo values[MOST];
    VkSubmitInfo infos[MOST];
    unsigned n = trips->way->submits;
    for (unsigned i = 0; i < n; i++) {
        waits[i] = trips->computed + first + i + 1;
        signals[i] = trips->drawn + first + i + 1;
        values[i] = (VkTimelineSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = 1,
            .pWaitSemaphoreValues = &waits[i],
            .signalSemaphoreValueCount = 1,
            .pSignalSemaphoreValues = &signals[i]};
        infos[i] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .pNext = &values[i],
                                  .waitSemaphoreCount = 1,
                                  .pWaitSemaphores = &side->release,
                                  .pWaitDstStageMask = &stage,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers =
                                      &probe->commands[PROBE_HANDED][(first + i) % PROBE_COPIES],
                                  .signalSemaphoreCount = 1,
                                  .pSignalSemaphores = &side->acquire};
    }
    if (!vkb_ok(probe->bench.vk.vkQueueSubmit(probe->bench.queues[probe->queue], n, infos,
                                              VK_NULL_HANDLE),
                "vkQueueSubmit"))
        return false;
    atomic_store(&trips->submitted, first + n);
    return true;
}

/*
 * Waits until command buffers can be reused. A command buffer is submitted again after PROBE_COPIES
 * trips, so the earlier trip must be done. Waiting only once per STEP trips is cheaper.
 */
static bool wait_for_commands(struct trips *trips, unsigned first)
{
    enum { STEP = 16 };
    struct vkb *bench = &trips->probe->bench;
    if (first % STEP != 0 || first + STEP <= PROBE_COPIES)
        return true;
    const uint64_t timeout_ns = 20000000000, value = trips->drawn + first + STEP - PROBE_COPIES;
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &bench->sides[VKB_RAW].acquire,
                                      .pValues = &value};
    return vkb_ok(bench->vk.vkWaitSemaphores(bench->handles->device, &info, timeout_ns),
                  "vkWaitSemaphores");
}

static bool wait_until(struct trips *trips, atomic_uint *count, unsigned wanted)
{
    while (atomic_load(count) < wanted && !atomic_load(&trips->failed))
        sched_yield();
    return !atomic_load(&trips->failed);
}

/* ---- One thread, or two ---------------------------------------------------------------------- */

static bool enqueue_many(struct trips *trips, unsigned first)
{
    for (unsigned i = first; i < first + trips->way->submits; i++)
        if (!enqueue_one(trips, i))
            return false;
    return true;
}

static bool run_alone(struct trips *trips)
{
    for (unsigned i = 0; i < trips->count; i += trips->way->submits)
        if (!wait_for_commands(trips, i) || (!trips->way->ahead && !enqueue_many(trips, i)) ||
            !submit_some(trips, i) || (trips->way->ahead && !enqueue_many(trips, i)))
            return false;
    return true;
}

static void *submit_only(void *argument)
{
    struct trips *trips = argument;
    unsigned n = trips->way->submits;
    double cpu = bench_thread_cpu_us();
    for (unsigned i = 0; i < trips->count; i += n) {
        if (!trips->way->ahead && !wait_until(trips, &trips->enqueued, i + n))
            break;
        if (!wait_for_commands(trips, i) || !submit_some(trips, i)) {
            atomic_store(&trips->failed, true);
            break;
        }
    }
    trips->submit_cpu = bench_thread_cpu_us() - cpu;
    return NULL;
}

/* Enqueues the CUDA work. CUDA never waits for a value whose submit is still to come. */
static bool enqueue_only(struct trips *trips)
{
    for (unsigned i = 0; i < trips->count; i++) {
        if (i >= VKB_RESOURCES && !wait_until(trips, &trips->submitted, i + 1 - VKB_RESOURCES))
            return false;
        if (!enqueue_one(trips, i)) {
            atomic_store(&trips->failed, true);
            return false;
        }
    }
    return true;
}

static bool run_two(struct trips *trips)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, submit_only, trips) != 0) {
        fputs("bench_vulkan: cannot create a thread\n", stderr);
        return false;
    }
    bool good = enqueue_only(trips);
    pthread_join(thread, NULL);
    return good && !atomic_load(&trips->failed);
}

/* ---- Samples --------------------------------------------------------------------------------- */

struct numbers {
    double wall, enqueueing, cpu, submit_cpu;
};

static bool take_sample(struct probe *probe, const struct way *way, unsigned count,
                        struct numbers *numbers)
{
    struct vkb_side *side = &probe->bench.sides[VKB_RAW];
    struct trips trips = {.probe = probe,
                          .way = way,
                          .count = count,
                          .computed = side->computed,
                          .drawn = side->drawn};
    if (!vkb_drain(&probe->bench))
        return false;
    double cpu = bench_thread_cpu_us(), start = bench_now_us();
    if (!(way->two_threads ? run_two : run_alone)(&trips))
        return false;
    double enqueued = bench_now_us();
    cpu = bench_thread_cpu_us() - cpu;
    if (!vkb_drain(&probe->bench))
        return false;
    *numbers = (struct numbers){.wall = (bench_now_us() - start) / count,
                                .enqueueing = (enqueued - start) / count,
                                .cpu = cpu / count,
                                .submit_cpu = trips.submit_cpu / count};
    side->computed += count;
    side->drawn += count;
    return true;
}

static bool take_way(struct probe *probe, const struct way *way, bool quick)
{
    enum { MOST = 5 };
    double wall[MOST], enqueueing[MOST], cpu[MOST], submit_cpu[MOST];
    unsigned samples = quick ? 2 : MOST, count = quick ? 128 : 512;
    for (unsigned i = 0; i < samples; i++) {
        struct numbers n;
        if (!take_sample(probe, way, count, &n))
            return false;
        wall[i] = n.wall, enqueueing[i] = n.enqueueing, cpu[i] = n.cpu;
        submit_cpu[i] = n.submit_cpu;
    }
    printf("  %-34s %10.2f %10.2f %10.2f", way->label, bench_spread_of(wall, samples).median,
           bench_spread_of(enqueueing, samples).median, bench_spread_of(cpu, samples).median);
    if (way->two_threads)
        printf(" %10.2f\n", bench_spread_of(submit_cpu, samples).median);
    else
        printf(" %10s\n", "-");
    fflush(stdout);
    return true;
}

bool probe_trips(struct probe *probe, bool quick)
{
    printf("  %-34s %10s %10s %10s %10s\n", "Round trips, 32 in turn; us each", "until idle",
           "enqueueing", "thread CPU", "submitter");
    for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++)
        if (!take_way(probe, &WAYS[i], quick))
            return false;
    return true;
}
