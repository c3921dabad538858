/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What all files of bench_processes share. */
#ifndef BENCH_PROCESSES_H
#define BENCH_PROCESSES_H

#include <stdatomic.h>

#include "bench/frames/hand.h"

enum { PROCESSES_PATIENCE_MS = 20000 };

/* The two sides of the frames: raw calls, or a ring; two threads, or two processes. */
struct processes_kind {
    struct bench_row row;
    bool raw, apart;
};

/* What the raw calls of both sides count in memory that both share. */
struct processes_page {
    _Atomic uint64_t handed, given; /* the last frame that CUDA signals, and that OpenGL signals */
    _Atomic bool failed;
};

extern struct processes {
    int slots, frames, blocks;
    const struct processes_kind *kind;
    gr_ring *ring;
    struct frames_hand hand;
    struct processes_page *page;
    unsigned target; /* the buffer to which OpenGL copies each frame */
} processes;

/* producer.c: fills all frames with CUDA. False after an error, which has been printed. */
bool processes_produce(void);
/* The same as a process of its own, which inherited the descriptors in the list. */
void processes_child(void *descriptors);
/* The page, and waiting for a counter of it, which a side polls without sleeping. */
void processes_page_map(int fd);
void processes_await(_Atomic uint64_t *counter, uint64_t value);

/* consumer.c: starts the producer, and copies all frames. Writes the times per frame in us. */
void processes_consume(double *us);

static inline int processes_total(void)
{
    return processes.frames * (processes.blocks + 1);
}

#endif
