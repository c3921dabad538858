/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side that fills frames with CUDA: a thread, or a process without OpenGL. */
#define _GNU_SOURCE
#include <stdlib.h>

#include <grinterop/ring.h>
#include <grinterop/share.h>

#include "bench/processes/processes.h"

enum { PATIENCE_MS = 20000 };

static bool fill(const struct processes *p, CUdeviceptr pointer, int frame)
{
    return bench_cuda_ok(
        p->f.cuda->MemsetD32Async(pointer, (unsigned)frame, p->f.bytes / 4, p->f.on.stream),
        "cuMemsetD32Async");
}

static bool fill_slot(struct processes *p, int frame)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(p->ring, p->f.on.stream, &slot, 1, PATIENCE_MS) != GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_write");
    if (!fill(p, gr_buffer_ptr(slot->buffer), frame)) {
        gr_ring_cancel_write(p->ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(p->ring, &slot, 1) == GR_OK ||
           bench_grinterop_failed("gr_ring_hand_over");
}

static bool fill_by_hand(struct processes *p, int frame)
{
    const uint64_t number = (uint64_t)frame, slots = (uint64_t)p->slots;
    if (number > slots && (!processes_await(p->page, &p->page->given, number - slots) ||
                           !hand_cuda_wait(&p->f, &p->hand, number - slots)))
        return false;
    if (!fill(p, p->hand.buffers[frame % p->slots].pointer, frame) ||
        !hand_cuda_signal(&p->f, &p->hand, number))
        return false;
    atomic_store(&p->page->handed, number);
    return true;
}

bool processes_produce(struct processes *p)
{
    bool good = bench_cuda_ok(p->f.cuda->CtxSetCurrent(p->f.on.context), "cuCtxSetCurrent");
    for (int frame = 1; good && frame <= processes_total(p); frame++)
        good = p->kind->raw ? fill_by_hand(p, frame) : fill_slot(p, frame);
    if (!good && p->kind->raw)
        atomic_store(&p->page->failed, true);
    else if (!good)
        gr_ring_stop(p->ring);
    p->f.cuda->StreamSynchronize(p->f.on.stream);
    return good;
}

/* ---- A process of its own -------------------------------------------------------------------- */

static bool import_memory(struct processes *p, int fd, struct hand_buffer *b)
{
    const gr_cuda_api *cuda = p->f.cuda;
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = p->f.on.ordinal},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    b->size = hand_buffer_size(&p->f);
    return b->size > 0 &&
           bench_cuda_ok(
               cuda->MemImportFromShareableHandle(&b->memory, (void *)(intptr_t)fd,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
               "cuMemImportFromShareableHandle") &&
           bench_cuda_ok(cuda->MemAddressReserve(&b->pointer, b->size, 0, 0, 0),
                         "cuMemAddressReserve") &&
           bench_cuda_ok(cuda->MemMap(b->pointer, b->size, 0, b->memory, 0), "cuMemMap") &&
           bench_cuda_ok(cuda->MemSetAccess(b->pointer, b->size, &access, 1), "cuMemSetAccess");
}

/* The descriptors of the page, of both timelines, and of the slots. */
static bool import_all(struct processes *p, const int *fds)
{
    p->page = processes_page_map(fds[0]);
    bool good = p->page && hand_import_into_cuda(&p->f, fds[1], &p->hand.drawn.cuda) &&
                hand_import_into_cuda(&p->f, fds[2], &p->hand.computed.cuda);
    for (int i = 0; good && i < p->slots; i++)
        good = import_memory(p, fds[3 + i], &p->hand.buffers[i]);
    if (!good)
        frames_print_error(false);
    return good;
}

bool processes_child(struct processes *p, const char *descriptors)
{
    int fds[3 + FRAMES_MOST_SLOTS] = {0};
    char *text = (char *)descriptors;
    for (int i = 0; *text != '\0' && i < 3 + FRAMES_MOST_SLOTS; i++)
        fds[i] = (int)strtol(text + (*text == ','), &text, 10);
    p->f.cuda = gr_cuda();
    if (!bench_device_open(&p->f.on))
        return false;
    if (p->kind->raw)
        return import_all(p, fds) && processes_produce(p);
    p->ring = gr_ring_receive(fds[0], NULL, 0, NULL, PATIENCE_MS);
    const bool good = p->ring ? processes_produce(p) : bench_grinterop_failed("gr_ring_receive");
    gr_ring_free(p->ring);
    return good;
}
