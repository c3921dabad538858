/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that all files of bench_processes share. */
#ifndef BENCH_PROCESSES_H
#define BENCH_PROCESSES_H

#include <stdatomic.h>

#include "bench/frames/hand.h"

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

struct processes {
    struct frames f;
    int slots, frames, blocks;
    const struct processes_kind *kind;
    gr_ring *ring;
    struct frames_hand hand;
    struct processes_page *page;
    unsigned target; /* the buffer to which OpenGL copies each frame */
};

/* producer.c: fills all frames with CUDA. False after an error, which has been printed. */
bool processes_produce(struct processes *p);
/* The same as a process of its own, which inherited the descriptors in the list. */
bool processes_child(struct processes *p, const char *descriptors);

/* consumer.c: starts the producer, and copies all frames. Writes the times per frame in us. */
bool processes_consume(struct processes *p, double *us);

/* page.c: memory with a descriptor; waiting for a counter. False after an error. */
int processes_page_create(void);
struct processes_page *processes_page_map(int fd);
void processes_page_unmap(struct processes_page *page);
bool processes_await(struct processes_page *page, _Atomic uint64_t *counter, uint64_t value);

static inline int processes_total(const struct processes *p)
{
    return p->frames * (p->blocks + 1);
}

#endif
