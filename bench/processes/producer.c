/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side that fills frames with CUDA: a thread, or a process without OpenGL. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <grinterop/share.h>

#include "bench/processes/processes.h"

bool processes_page_map(int fd)
{
    void *page = mmap(NULL, sizeof(*processes.page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    processes.page = page == MAP_FAILED ? NULL : page;
    return processes.page || bench_failed("cannot map the page of the counters");
}

bool processes_await(_Atomic uint64_t *counter, uint64_t value)
{
    const double begin = bench_now_us();
    while (atomic_load(counter) < value) {
        if (atomic_load(&processes.page->failed) ||
            bench_now_us() - begin > PROCESSES_PATIENCE_MS * 1e3)
            return bench_failed("the other side has stopped");
        sched_yield();
    }
    return true;
}

static bool fill(CUdeviceptr pointer, int frame)
{
    return CU(MemsetD32Async, pointer, (unsigned)frame, scene.bytes / 4, scene.on.stream);
}

static bool fill_slot(int frame)
{
    const gr_slot *slot;
    if (!GR(ring_acquire_write, processes.ring, scene.on.stream, &slot, 1, PROCESSES_PATIENCE_MS))
        return false;
    if (fill(gr_buffer_ptr(slot->buffer), frame))
        return GR(ring_hand_over, processes.ring, &slot, 1);
    gr_ring_cancel_write(processes.ring, &slot, 1);
    return false;
}

static bool fill_by_hand(int frame)
{
    const uint64_t number = (uint64_t)frame, slots = (uint64_t)processes.slots;
    if (number > slots && (!processes_await(&processes.page->given, number - slots) ||
                           !hand_cuda_wait(&processes.hand, number - slots)))
        return false;
    if (!fill(processes.hand.buffers[frame % processes.slots].pointer, frame) ||
        !hand_cuda_signal(&processes.hand, number))
        return false;
    atomic_store(&processes.page->handed, number);
    return true;
}

bool processes_produce(void)
{
    bool good = CU(CtxSetCurrent, scene.on.context);
    for (int frame = 1; good && frame <= processes_total(); frame++)
        good = processes.kind->raw ? fill_by_hand(frame) : fill_slot(frame);
    if (!good && processes.kind->raw)
        atomic_store(&processes.page->failed, true);
    else if (!good)
        gr_ring_stop(processes.ring);
    bench_cuda->StreamSynchronize(scene.on.stream);
    return bench_print_error(good); /* of this thread */
}

/* ---- A process of its own -------------------------------------------------------------------- */

/* The descriptors of the page, of both timelines, and of the slots. */
static bool import_all(const int *fds)
{
    bool good = processes_page_map(fds[0]) &&
                bench_import_timeline(fds[1], &processes.hand.drawn.cuda) &&
                bench_import_timeline(fds[2], &processes.hand.computed.cuda);
    for (int i = 0; good && i < processes.slots; i++)
        good = hand_buffer_import(&processes.hand.buffers[i], fds[3 + i]);
    return good;
}

bool processes_child(const char *descriptors)
{
    int fds[3 + FRAMES_MOST_SLOTS] = {0};
    char *text = (char *)descriptors;
    for (int i = 0; *text != '\0' && i < 3 + FRAMES_MOST_SLOTS; i++)
        fds[i] = (int)strtol(text + (*text == ','), &text, 10);
    if (!bench_device_open(&scene.on))
        return false;
    if (processes.kind->raw)
        return import_all(fds) && processes_produce();
    const bool good =
        GR_NEW(processes.ring, ring_receive, fds[0], NULL, 0, NULL, PROCESSES_PATIENCE_MS) &&
        processes_produce();
    gr_ring_free(processes.ring);
    return good;
}
