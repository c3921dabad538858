/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side that fills frames with CUDA: a thread, or a process without OpenGL. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <grinterop/share.h>

#include "bench/processes/processes.h"

static void unmap(void *page)
{
    munmap(page, sizeof(*processes.page));
}

void processes_page_map(int fd)
{
    void *page = mmap(NULL, sizeof(*processes.page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        bench_fail("cannot map the page of the counters");
    bench_later(unmap, page);
    processes.page = page;
}

void processes_await(_Atomic uint64_t *counter, uint64_t value)
{
    const double begin = bench_now_us();
    while (atomic_load(counter) < value) {
        if (atomic_load(&processes.page->failed) ||
            bench_now_us() - begin > PROCESSES_PATIENCE_MS * 1e3)
            bench_fail("the other side has stopped");
        sched_yield();
    }
}

static void fill(CUdeviceptr pointer, int frame)
{
    CU(MemsetD32Async, pointer, (unsigned)frame, scene.bytes / 4, scene.on.stream);
}

static void fill_slot(int frame)
{
    const gr_slot *slot;
    GR(ring_acquire_write, processes.ring, scene.on.stream, &slot, 1, PROCESSES_PATIENCE_MS);
    fill(gr_buffer_ptr(slot->buffer), frame);
    GR(ring_hand_over, processes.ring, &slot, 1);
}

static void fill_by_hand(int frame)
{
    const uint64_t number = (uint64_t)frame, slots = (uint64_t)processes.slots;
    if (number > slots) {
        processes_await(&processes.page->given, number - slots);
        hand_cuda_wait(&processes.hand, number - slots);
    }
    fill(processes.hand.buffers[frame % processes.slots].pointer, frame);
    hand_cuda_signal(&processes.hand, number);
    atomic_store(&processes.page->handed, number);
}

static void fill_all(void *none)
{
    (void)none;
    CU(CtxSetCurrent, scene.on.context);
    for (int frame = 1; frame <= processes_total(); frame++)
        (processes.kind->raw ? fill_by_hand : fill_slot)(frame);
}

bool processes_produce(void)
{
    const bool good = bench_print_error(bench_try(fill_all, NULL));
    if (!good && processes.kind->raw)
        atomic_store(&processes.page->failed, true);
    else if (!good)
        gr_ring_stop(processes.ring);
    bench_cuda->StreamSynchronize(scene.on.stream);
    return good;
}

/* ---- A process of its own -------------------------------------------------------------------- */

/* The descriptors of the page, of both timelines, and of the slots. */
static void import_all(const int *fds)
{
    processes_page_map(fds[0]);
    processes.hand.drawn.cuda = bench_import_timeline(fds[1]);
    processes.hand.computed.cuda = bench_import_timeline(fds[2]);
    for (int i = 0; i < processes.slots; i++)
        hand_buffer_import(&processes.hand.buffers[i], fds[3 + i]);
}

void processes_child(void *descriptors)
{
    int fds[3 + FRAMES_MOST_SLOTS] = {0};
    char *text = descriptors;
    for (int i = 0; *text != '\0' && i < 3 + FRAMES_MOST_SLOTS; i++)
        fds[i] = (int)strtol(text + (*text == ','), &text, 10);
    bench_device_open(&scene.on);
    if (processes.kind->raw)
        import_all(fds);
    else
        GR_KEEP(processes.ring, ring_receive, fds[0], NULL, 0, NULL, PROCESSES_PATIENCE_MS);
    if (!processes_produce())
        bench_give_up();
}
