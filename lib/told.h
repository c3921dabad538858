/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams that are known to use something, each with an event after the work that counts. What
 * is done with it later, its end above all, comes after them.
 *
 * Thread   any thread, several at once
 */
#ifndef GR_LIB_TOLD_H
#define GR_LIB_TOLD_H

#include <pthread.h>

#include <grinterop/gr.h>

struct gr_told {
    CUstream stream;
    CUcontext of;  /* a default stream's context, since each has its own; NULL: another stream */
    CUevent event; /* of the stream's context; kept when the entry is empty */
    CUcontext context; /* that one */
    unsigned open;     /* as long as there is such a use, what the stream is given counts too */
    bool wrote;
    bool late; /* it captures a graph: the event is recorded after the capture */
};

/* All 0 but for the lock is an empty list: GR_TOLD_EMPTY or gr_told_init(). */
struct gr_told_list {
    size_t count, room;    /* room 0: that of `first`; events may stand in entries past count */
    struct gr_told *items; /* NULL: `first` */
    pthread_mutex_t lock;
    struct gr_told first[2];
};

void gr_told_init(struct gr_told_list *list);

/* Whether it is empty, where no other thread adds to it. */
static inline bool gr_told_none(const struct gr_told_list *list)
{
    return !__atomic_load_n(&list->count, __ATOMIC_ACQUIRE);
}

/*
 * Work of the stream that it has been given already. The CUDA context is current, which of a
 * default stream is its own. Where there is no event it waits for the stream.
 * Nothing is put into a stream that captures a graph: its work is not done before the capture ends.
 */
void gr_told_add(struct gr_told_list *list, CUstream stream, bool wrote);

/* The stream as any thread can name it, for work that is to come. */
CUstream gr_told_stream(CUstream stream);

/* Whether this is a stream of its own in each CUDA context. */
bool gr_told_is_default(CUstream stream);

/* Whether all that was told and is not done is of this stream. The CUDA context is current. */
bool gr_told_only(struct gr_told_list *list, CUstream stream);

/*
 * A use that goes on until gr_told_close(), and may write at any time; `context` is that of a
 * default stream. False: no memory.
 */
bool gr_told_open(struct gr_told_list *list, CUstream stream, CUcontext context, bool writes);

/* The CUDA context is current, if it is alive; else the driver is not asked. */
void gr_told_close(struct gr_told_list *list, CUstream stream, CUcontext context, bool alive);

/*
 * Makes `stream` wait for all of them, or for those that wrote. Uses that go on count up to here.
 * The stream's CUDA context is current. CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: one captures a
 * graph.
 */
CUresult gr_told_wait(struct gr_told_list *list, CUstream stream, bool wrote_only);

/* Ends what is open, and moves all to another list, whose lock is taken within this one's. */
void gr_told_move(struct gr_told_list *list, struct gr_told_list *to);

/*
 * An event, the caller's, after all of them. NULL: all is done; where no event could be made, it
 * was waited for. The CUDA context is current.
 */
CUevent gr_told_event(struct gr_told_list *list);

/* Whether all that was told is done; an error counts as done. The CUDA context is current. */
bool gr_told_done(struct gr_told_list *list);

/* Empties the list, and keeps its events. */
void gr_told_clear(struct gr_told_list *list);

/* Frees the list; `alive` as above. */
void gr_told_free(struct gr_told_list *list, bool alive);

#endif
