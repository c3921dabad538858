/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A list of streams that use an object, each with an event after that use. Later work on the
 * object, and its destruction, wait for these events.
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_LIB_CUDA_STREAM_USES_H
#define GR_LIB_CUDA_STREAM_USES_H

#include <stdatomic.h>

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"
#include "lib/base/lock.h"

struct gr_stream_use {
    CUstream stream;
    /* the context of a default stream, of which each context has its own; otherwise NULL */
    CUcontext of;
    CUevent event;     /* an event of the stream's context; kept for reuse by a later entry */
    CUcontext context; /* the context of the event */
    /* the number of open uses: while there is one, later work of the stream counts, too */
    unsigned open;
    bool wrote;
    bool captures; /* the stream captures a graph: record the event after the capture */
};

/* An empty list is all 0 except for the lock: gr_uses_init(). */
struct gr_stream_uses {
    /* `room` is 0 while `first` is used; entries beyond `count` may hold events */
    atomic_size_t count;
    size_t room;
    struct gr_stream_use *items; /* NULL: use `first` */
    struct gr_lock lock;
    struct gr_stream_use first[2];
};

/* `kind` is GR_LOCK_MAPPING_USES for the list of a resource, to which those of its tensors move. */
static inline void gr_uses_init(struct gr_stream_uses *list, enum gr_lock_kind kind)
{
    *list = (struct gr_stream_uses){.lock = {GR_MUTEX, kind}};
}

/* Whether the list is empty. Only valid if no other thread adds to the list. */
static inline bool gr_uses_none(const struct gr_stream_uses *list)
{
    return !atomic_load_explicit(&list->count, memory_order_acquire);
}

/*
 * Adds the work so far in the stream: records an event, or waits for the stream if no event can be
 * recorded. The context of a default stream must be current.
 *
 * In a stream that captures a graph no event is recorded: the work of the stream counts as not done
 * until the capture ends.
 */
void gr_uses_add(struct gr_stream_uses *list, CUstream stream, bool wrote);

/*
 * Returns a stream through which any thread can wait for `stream`: the legacy stream for
 * CU_STREAM_PER_THREAD, and `stream` itself otherwise.
 */
CUstream gr_stream_for_any_thread(CUstream stream);

/* Whether the handle is a default stream, of which each CUDA context has its own. */
static inline bool gr_stream_is_default(CUstream stream)
{
    return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* Whether all unfinished uses are in this stream. The CUDA context is current. */
bool gr_uses_only(struct gr_stream_uses *list, CUstream stream);

/*
 * Opens a use that lasts until gr_uses_close(). If `writes` is set, the use may write at any time.
 * If `stream` is a default stream, `context` is its CUDA context. False if out of memory.
 */
bool gr_uses_open(struct gr_stream_uses *list, CUstream stream, CUcontext context, bool writes);

/* Closes a use. The CUDA context is current if `alive`; otherwise the driver is not called. */
void gr_uses_close(struct gr_stream_uses *list, CUstream stream, CUcontext context, bool alive);

/*
 * Makes `stream` wait for all uses, or only for uses that wrote. For an open use, `stream` waits
 * for the work so far in the stream of that use. The CUDA context of `stream` is current. Returns
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if a stream captures a graph.
 */
CUresult gr_uses_wait(struct gr_stream_uses *list, CUstream stream, bool wrote_only);

/*
 * Closes all open uses, and moves all uses to another list, whose lock is taken after the lock of
 * this list.
 */
void gr_uses_move(struct gr_stream_uses *list, struct gr_stream_uses *to);

/* Whether all uses are done; a use that failed counts as done. The CUDA context is current. */
bool gr_uses_done(struct gr_stream_uses *list);

/* Whether one of the streams captures a graph, so that no stream can wait for its use. */
bool gr_uses_capture(struct gr_stream_uses *list);

/*
 * Whether each list has one use, both in one stream. If the use in `list` was recorded later, it
 * ends after that in `earlier`. Locks nothing.
 */
bool gr_uses_follows(const struct gr_stream_uses *list, const struct gr_stream_uses *earlier);

/* Empties the list but keeps its events. */
void gr_uses_clear(struct gr_stream_uses *list);

/* Frees the list. The CUDA context is current if `alive`; otherwise the driver is not called. */
void gr_uses_free(struct gr_stream_uses *list, bool alive);

#endif
