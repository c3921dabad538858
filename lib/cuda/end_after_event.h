/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects that were freed while streams may still use them, or while they were mapped. The driver
 * ends imports immediately, not in stream order, and a closing thread must not wait. So these
 * objects stay in a queue until the streams have finished. A later call of grinterop ends them, and
 * no thread of grinterop or of the driver, because ending an object may call functions of the
 * application.
 */
#ifndef GR_LIB_CUDA_END_AFTER_EVENT_H
#define GR_LIB_CUDA_END_AFTER_EVENT_H

#include <stdatomic.h>

#include "lib/base/clock.h"
#include "lib/cuda/context.h"
#include "lib/cuda/stream_uses.h"

/* The queue entry, which is embedded in the struct of each object. */
struct gr_ending {
    _Atomic(struct gr_ending *) next;
    /* the reference to the CUDA context, which is released after end() */
    struct gr_context context;
    /* What the end waits for: an event, which is destroyed after end(), or uses, or nothing. */
    CUevent after;
    struct gr_stream_uses *uses;
    /*
     * Whether graphics work of the device `owner` uses the object after the event; NULL: no. Called
     * with a lock.
     */
    bool (*is_drawn)(const struct gr_ending *ending);
    const void *owner;
    /* end() itself follows the uses in stream order: it only cannot run while a stream captures */
    bool follows;
    /*
     * Ends the object. `alive` says whether its CUDA context still exists; if so, that context is
     * current. Unless finally() is set, end() also frees the object.
     */
    void (*end)(struct gr_ending *ending, bool alive);
    /* Called last, in the caller's CUDA context, because it may call the application. */
    void (*finally)(struct gr_ending *ending);
};

/* Adds an object to the queue, which takes ownership. */
void gr_ending_add(struct gr_ending *ending);

/* Ends the object if it waits for nothing; otherwise like gr_ending_add(). */
void gr_ending_start(struct gr_ending *ending);

/*
 * Ends the object if `after` has passed or is NULL, and is_drawn(), which the caller may have set,
 * returns false; otherwise adds the object to the queue, and takes ownership of the context, which
 * is current. Takes ownership of `after` in both cases.
 */
void gr_ending_after(struct gr_ending *ending, struct gr_context *context, CUevent after,
                     void (*end)(struct gr_ending *ending, bool alive));

/*
 * Ends the objects whose work is done. Every call that creates or frees such objects calls
 * gr_endings_collect(), which does nothing within end(), so that chains of objects need no deep
 * stack. At process exit the remaining objects are leaked, because end() may call code that no
 * longer exists.
 */
void gr_endings_collect(void);
void gr_endings_collect_now(void);

/* How long an end waits for graphics work, which a correct program has finished by then. */
#define GR_DRAWN_PATIENCE_MS 2000

/*
 * Waits until the streams have finished with an object. False if it waits for the end of a capture,
 * because this thread may have to end it, or for graphics work of another device than `owner`.
 * *patience, which begins as zeros, ends the wait for the work of `owner` GR_DRAWN_PATIENCE_MS
 * after the first such object.
 */
bool gr_ending_wait(const struct gr_ending *ending, const void *owner,
                    struct gr_deadline *patience);

/* Waits in this way for all objects of the CUDA context, and ends them, or leaves them queued. */
void gr_endings_finish(const struct gr_context *context, const void *owner,
                       struct gr_deadline *patience);

#endif
