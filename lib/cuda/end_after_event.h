/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects that were freed while streams may still use them. The driver ends imports immediately,
 * not in stream order, and a closing thread must not wait. So these objects stay in a list until
 * their event has passed.
 */
#ifndef GR_LIB_CUDA_END_AFTER_EVENT_H
#define GR_LIB_CUDA_END_AFTER_EVENT_H

#include "lib/cuda/context.h"

/* The beginning of the struct of every retired object. */
struct gr_retired {
    struct gr_retired *next;
    /* the reference to the CUDA context, which is released after end() */
    struct gr_context context;
    CUevent after; /* an event, which is destroyed with the object */
    bool failed;   /* set before end(): earlier work in the CUDA context has failed */
    /*
     * Ends and frees the object. `alive` says whether its CUDA context still exists; if so, that
     * context is current.
     */
    void (*end)(struct gr_retired *retired, bool alive);
};

/* Adds an object to the list, which takes ownership. */
void gr_retire(struct gr_retired *retired);

/*
 * Ends the object if `after` has passed; otherwise retires the object, and takes ownership of the
 * context, which is current. Takes ownership of `after` in both cases.
 */
void gr_retire_after(struct gr_retired *retired, struct gr_context *context, CUevent after,
                     void (*end)(struct gr_retired *retired, bool alive));

/*
 * Ends the retired objects whose work is done. Every call that creates or frees such objects calls
 * this function.
 */
void gr_retired_collect(void);

/*
 * Waits until the streams have finished with all objects that were retired in the CUDA context, and
 * ends these objects.
 */
void gr_retired_finish(const struct gr_context *context);

#endif
