/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A list of streams that use something, each with an event after that use. Later work on it, and
 * above all its end, waits for them.
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_LIB_TOLD_H
#define GR_LIB_TOLD_H

#include <cuda.h>
#include <pthread.h>

#include <grinterop/gr.h>

struct gr_told {
    CUstream stream;
    CUcontext
        of; /* context of a default stream, because each context has its own; otherwise NULL */
    CUevent event;     /* in the stream's context; kept while the entry is empty */
    CUcontext context; /* the context of the event */
    unsigned
        open; /* number of open uses: while there is one, later work of the stream counts, too */
    bool wrote;
    bool late; /* the stream captures a graph: record the event after the capture */
};

/* An empty list is all 0 except for the lock: GR_TOLD_EMPTY or gr_told_init(). */
struct gr_told_list {
    size_t count, room;    /* room 0: that of `first`; entries beyond count may hold events */
    struct gr_told *items; /* NULL: use `first` */
    pthread_mutex_t lock;
    struct gr_told first[2];
};

void gr_told_init(struct gr_told_list *list);

/* Whether the list is empty, if no other thread adds to it. */
static inline bool gr_told_none(const struct gr_told_list *list)
{
    return !__atomic_load_n(&list->count, __ATOMIC_ACQUIRE);
}

/*
 * Adds the work so far in the stream, recording an event, or waiting for the stream if there is no
 * event. The context of a default stream must be current.
 *
 * Nothing is recorded in a stream that captures a graph: its work counts as not done until the
 * capture ends.
 */
void gr_told_add(struct gr_told_list *list, CUstream stream, bool wrote);

/* The stream as any thread can name it, for later work. */
CUstream gr_told_stream(CUstream stream);

/* Whether each CUDA context has its own such stream. */
bool gr_told_is_default(CUstream stream);

/* Whether all unfinished uses are in this stream. The CUDA context is current. */
bool gr_told_only(struct gr_told_list *list, CUstream stream);

/*
 * Opens a use that lasts until gr_told_close() and may write at any time; `context` is that of a
 * default stream. False if out of memory.
 */
bool gr_told_open(struct gr_told_list *list, CUstream stream, CUcontext context, bool writes);

/* The CUDA context is current if `alive`; otherwise the driver is not called. */
void gr_told_close(struct gr_told_list *list, CUstream stream, CUcontext context, bool alive);

/*
 * Makes `stream` wait for all uses, or only for those that wrote. Open uses count up to now. The
 * stream's CUDA context is current. CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: a stream captures a
 * graph.
 */
CUresult gr_told_wait(struct gr_told_list *list, CUstream stream, bool wrote_only);

/* Closes open uses, and moves all to another list, whose lock is taken after this one's. */
void gr_told_move(struct gr_told_list *list, struct gr_told_list *to);

/*
 * An event after all uses, owned by the caller. NULL: all is done, or no event could be created and
 * this has waited. The CUDA context is current.
 */
CUevent gr_told_event(struct gr_told_list *list);

/* Whether all uses are done; an error counts as done. The CUDA context is current. */
bool gr_told_done(struct gr_told_list *list);

/* Empties the list but keeps its events. */
void gr_told_clear(struct gr_told_list *list);

/* Frees the list; `alive` as above. */
void gr_told_free(struct gr_told_list *list, bool alive);

#endif
