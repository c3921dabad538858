/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures the cost of the parts of a submit: 64 command buffers are submitted to an idle queue,
 * with and without each part of a round-trip submit, by many vkQueueSubmit calls or by few. Reports
 * the enqueue time and the time until the queue is idle again. Reports the first and the later
 * calls separately: their times differ if a queue accepts few submits at a time. CUDA is idle
 * meanwhile.
 *
 * "gated" submits wait for a semaphore that is signalled when all of them are enqueued. Until then
 * the GPU has nothing to do, so enqueueing does not wait for the GPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/vulkan/probe.h"

struct variant {
    const char *label;
    enum probe_content content;
    bool wait, signal;
    unsigned submits; /* the submits per call */
    unsigned buffers; /* the command buffers per submit; may be 0 */
    bool plain;       /* whether the semaphores are not exported */
    bool submit2, gated;
};

static const struct variant VARIANTS[] = {
    {"no command buffer, no semaphore", PROBE_EMPTY, false, false, 1, 0, false, false, false},
    {"no command buffer, wait+signal", PROBE_EMPTY, true, true, 1, 0, false, false, false},
    {"empty command buffer", PROBE_EMPTY, false, false, 1, 1, false, false, false},
    {"copy of 4 bytes", PROBE_WORD, false, false, 1, 1, false, false, false},
    {"copy", PROBE_COPY, false, false, 1, 1, false, false, false},
    {"copy, signal", PROBE_COPY, false, true, 1, 1, false, false, false},
    {"copy, wait", PROBE_COPY, true, false, 1, 1, false, false, false},
    {"copy, wait+signal", PROBE_COPY, true, true, 1, 1, false, false, false},
    {"copy+ownership", PROBE_HANDED, false, false, 1, 1, false, false, false},
    {"copy+ownership, signal", PROBE_HANDED, false, true, 1, 1, false, false, false},
    {"copy+ownership, wait", PROBE_HANDED, true, false, 1, 1, false, false, false},
    {"copy+ownership, wait+signal", PROBE_HANDED, true, true, 1, 1, false, false, false},
    {"  semaphores not exported", PROBE_HANDED, true, true, 1, 1, true, false, false},
    {"  gated", PROBE_HANDED, true, true, 1, 1, false, false, true},
    {"  4 submits a call", PROBE_HANDED, true, true, 4, 1, false, false, false},
    {"  8 submits a call", PROBE_HANDED, true, true, 8, 1, false, false, false},
    {"  8 submits a call, gated", PROBE_HANDED, true, true, 8, 1, false, false, true},
    {"  16 submits a call", PROBE_HANDED, true, true, 16, 1, false, false, false},
    {"  8 command buffers a submit", PROBE_HANDED, true, true, 1, 8, false, false, false},
    {"  vkQueueSubmit2", PROBE_HANDED, true, true, 1, 1, false, true, false},
    {"  vkQueueSubmit2, 8 a call", PROBE_HANDED, true, true, 8, 1, false, true, false},
    {"  vkQueueSubmit2, 16 a call", PROBE_HANDED, true, true, 16, 1, false, true, false},
};

/* The submits of one sample for both submit functions, with the data that they point to. */
struct submits {
    unsigned count;
    VkSemaphore wait, signal;
    uint64_t wait_values[PROBE_COPIES], signal_values[PROBE_COPIES];
    VkTimelineSemaphoreSubmitInfo values[PROBE_COPIES];
    VkSubmitInfo infos[PROBE_COPIES];
    VkSemaphoreSubmitInfo waits2[PROBE_COPIES], signals2[PROBE_COPIES];
    VkCommandBufferSubmitInfo buffers2[PROBE_COPIES];
    VkSubmitInfo2 infos2[PROBE_COPIES];
};

/* The measured numbers, in microseconds: three per command buffer, two per call. */
enum { ENQUEUE, THREAD_CPU, UNTIL_IDLE, FIRST_CALL, LATE_CALL, NUMBERS };

/* ---- Submits --------------------------------------------------------------------------------- */

static void fill_one(struct submits *s, const struct variant *v, const VkCommandBuffer commands[],
                     unsigned i)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    s->values[i] =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = v->wait,
                                        .pWaitSemaphoreValues = &s->wait_values[i],
                                        .signalSemaphoreValueCount = v->signal,
                                        .pSignalSemaphoreValues = &s->signal_values[i]};
    s->infos[i] =
        (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .pNext = v->wait || v->signal ? &s->values[i] : NULL,
                       .waitSemaphoreCount = v->wait,
                       .pWaitSemaphores = &s->wait,
                       .pWaitDstStageMask = &stage,
                       .commandBufferCount = v->buffers,
                       .pCommandBuffers = v->buffers != 0 ? &commands[i * v->buffers] : NULL,
                       .signalSemaphoreCount = v->signal,
                       .pSignalSemaphores = &s->signal};
}

static void fill_one2(struct submits *s, const struct variant *v, const VkCommandBuffer commands[],
                      unsigned i)
{
    s->waits2[i] = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                           .semaphore = s->wait,
                                           .value = s->wait_values[i],
                                           .stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
    s->signals2[i] = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                             .semaphore = s->signal,
                                             .value = s->signal_values[i],
                                             .stageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
    s->buffers2[i] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = commands[i]};
    s->infos2[i] = (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                   .waitSemaphoreInfoCount = v->wait,
                                   .pWaitSemaphoreInfos = &s->waits2[i],
                                   .commandBufferInfoCount = 1,
                                   .pCommandBufferInfos = &s->buffers2[i],
                                   .signalSemaphoreInfoCount = v->signal,
                                   .pSignalSemaphoreInfos = &s->signals2[i]};
}

/*
 * Prepares the submits. Each submit waits for a different semaphore value or, if gated, all wait
 * for the same value. Each submit signals a different value.
 */
static void prepare(struct probe *probe, const struct variant *v, struct submits *s)
{
    struct vkb_side *side = &probe->bench.sides[VKB_RAW];
    uint64_t *waited = v->plain ? &probe->plain_waited : &side->computed;
    uint64_t *signalled = v->plain ? &probe->plain_signalled : &side->drawn;
    s->wait = v->plain ? probe->plain_wait : side->release;
    s->signal = v->plain ? probe->plain_signal : side->acquire;
    s->count = v->buffers != 0 ? PROBE_COPIES / v->buffers : PROBE_COPIES;
    for (unsigned i = 0; i < s->count; i++) {
        s->wait_values[i] = v->wait ? (v->gated && i > 0 ? *waited : ++*waited) : 0;
        s->signal_values[i] = v->signal ? ++*signalled : 0;
        fill_one(s, v, probe->commands[v->content], i);
        if (v->submit2)
            fill_one2(s, v, probe->commands[v->content], i);
    }
}

static VkResult open_gate(struct probe *probe, const struct submits *s)
{
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = s->wait,
                                        .value = s->wait_values[s->count - 1]};
    return probe->bench.vk.vkSignalSemaphore(probe->handles.device, &info);
}

/*
 * Opens the gate after a timeout, from another thread: a driver with a short queue would block the
 * submitting thread forever.
 */
struct gate {
    struct probe *probe;
    const struct submits *submits;
    atomic_bool all_submitted;
    VkResult result;
};

static void *keep_gate(void *argument)
{
    struct gate *gate = argument;
    const struct timespec nap = {.tv_nsec = 200000};
    for (unsigned i = 0; i < 250 && !atomic_load(&gate->all_submitted); i++)
        nanosleep(&nap, NULL);
    gate->result = open_gate(gate->probe, gate->submits);
    return NULL;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static bool submit_all(struct probe *probe, const struct variant *v, const struct submits *s,
                       double numbers[NUMBERS])
{
    VkQueue queue = probe->bench.queues[probe->queue];
    VkResult result = VK_SUCCESS;
    double cpu = bench_thread_cpu_us(), start = bench_now_us(), first = start, half = start;
    for (unsigned i = 0; i < s->count && result == VK_SUCCESS; i += v->submits) {
        if (i == s->count / 2)
            half = bench_now_us();
        result = v->submit2 ? probe->submit2(queue, v->submits, &s->infos2[i], VK_NULL_HANDLE)
                            : probe->bench.vk.vkQueueSubmit(queue, v->submits, &s->infos[i],
                                                            VK_NULL_HANDLE);
        if (i == 0)
            first = bench_now_us();
    }
    double end = bench_now_us();
    numbers[ENQUEUE] = (end - start) / PROBE_COPIES;
    numbers[THREAD_CPU] = (bench_thread_cpu_us() - cpu) / PROBE_COPIES;
    numbers[UNTIL_IDLE] = -start; /* The end time is added when the queue is idle. */
    numbers[FIRST_CALL] = first - start;
    numbers[LATE_CALL] = (end - half) * 2 * v->submits / s->count;
    return vkb_ok(result, "vkQueueSubmit");
}

static bool submit_gated(struct probe *probe, const struct variant *v, const struct submits *s,
                         double numbers[NUMBERS])
{
    struct gate gate = {.probe = probe, .submits = s};
    pthread_t thread;
    if (pthread_create(&thread, NULL, keep_gate, &gate) != 0) {
        fputs("bench_vulkan: cannot create a thread\n", stderr);
        return false;
    }
    bool good = submit_all(probe, v, s, numbers);
    atomic_store(&gate.all_submitted, true);
    pthread_join(thread, NULL);
    return good && vkb_ok(gate.result, "vkSignalSemaphore");
}

static bool take_sample(struct probe *probe, const struct variant *v, double numbers[NUMBERS])
{
    static struct submits submits;
    prepare(probe, v, &submits);
    if (!vkb_ok(v->wait && !v->gated ? open_gate(probe, &submits) : VK_SUCCESS,
                "vkSignalSemaphore"))
        return false;
    if (!(v->gated ? submit_gated : submit_all)(probe, v, &submits, numbers))
        return false;
    const VkResult idle = probe->wait_idle(probe->bench.queues[probe->queue]);
    numbers[UNTIL_IDLE] = (numbers[UNTIL_IDLE] + bench_now_us()) / PROBE_COPIES;
    return vkb_ok(idle, "vkQueueWaitIdle");
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/*
 * Prints the share of kernel time, and how often the thread slept per sample. A sample includes the
 * final wait.
 */
static void print_usage(const struct rusage *before, const struct rusage *after, unsigned samples)
{
    double kernel = seconds(after->ru_stime) - seconds(before->ru_stime);
    double user = seconds(after->ru_utime) - seconds(before->ru_utime);
    printf(" %10.0f %10.1f\n", kernel + user > 0 ? 100 * kernel / (kernel + user) : 0,
           (double)(after->ru_nvcsw - before->ru_nvcsw) / samples);
    fflush(stdout);
}

static bool take_variant(struct probe *probe, const struct variant *v, unsigned samples)
{
    enum { MOST = 51, WARM_UP = 2 };
    double all[NUMBERS][MOST], numbers[NUMBERS];
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    for (unsigned i = 0; i < samples + WARM_UP; i++) {
        if (!take_sample(probe, v, numbers))
            return false;
        for (unsigned n = 0; n < NUMBERS && i >= WARM_UP; n++)
            all[n][i - WARM_UP] = numbers[n];
    }
    getrusage(RUSAGE_THREAD, &after);
    printf("  %-34s", v->label);
    for (unsigned n = 0; n < NUMBERS; n++) {
        if (n == UNTIL_IDLE && v->gated)
            printf(" %10s", "-"); /* This time would include the wait for the gate. */
        else
            printf(" %10.2f", bench_spread_of(all[n], samples).median);
    }
    print_usage(&before, &after, samples + WARM_UP);
    return true;
}

static bool probe_submits(struct probe *probe, bool quick)
{
    static const char *const HEADS[] = {"enqueueing", "thread CPU", "until idle", "the first",
                                        "2nd half",   "kernel, %",  "sleeps"};
    printf("  %-34s %32s %21s %21s\n  %-34s", "64 copies into an idle queue", "us a copy",
           "us a call", "of a sample", "");
    for (size_t i = 0; i < sizeof(HEADS) / sizeof(HEADS[0]); i++)
        printf(" %10s", HEADS[i]);
    printf("\n");
    for (size_t i = 0; i < sizeof(VARIANTS) / sizeof(VARIANTS[0]); i++) {
        if (VARIANTS[i].submit2 && !probe->submit2)
            printf("  %-34s the device has no vkQueueSubmit2\n", VARIANTS[i].label);
        else if (!take_variant(probe, &VARIANTS[i], quick ? 5 : 51))
            return false;
    }
    return true;
}

bool vkb_probe(struct vkb *bench, const char *only, bool quick)
{
    static const char *const NAMES[VKB_QUEUES] = {"graphics", "compute", "transfer"};
    static struct probe probe;
    if (!probe_open(&probe, bench))
        return false;
    for (unsigned q = VKB_QUEUES; q-- > 0;) {
        if (bench->queues[q] == VK_NULL_HANDLE || strncmp(NAMES[q], only, strlen(only)) != 0)
            continue;
        printf("\nThe %s queue, by raw calls; medians\n", NAMES[q]);
        if (!vkb_drain(&probe.bench) || !probe_choose_queue(&probe, (enum vkb_queue)q) ||
            !probe_submits(&probe, quick) || !probe_trips(&probe, quick))
            return false;
    }
    probe_close(&probe);
    return true;
}
