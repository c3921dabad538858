/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects that were freed while streams may still use them. The driver ends imports at the call,
 * not in stream order, and a closing thread must not wait; so they stay in a list until their event
 * has passed.
 */
#ifndef GR_LIB_RETIRE_H
#define GR_LIB_RETIRE_H

#include "lib/context.h"

/* The beginning of the struct of a retired object. */
struct gr_retired {
    struct gr_retired *next;
    struct gr_context context; /* released after end() */
    CUevent after;             /* destroyed with it */
    /*
     * Ends and frees it. `alive` says whether its CUDA context, which is then current, still
     * exists.
     */
    void (*end)(struct gr_retired *retired, bool alive);
};

/* Takes ownership. */
void gr_retire(struct gr_retired *retired);

/*
 * Ends the object if `after` has passed, otherwise retires it. Takes `after`, and if it retires the
 * object also the context, which is current.
 */
void gr_retire_after(struct gr_retired *retired, struct gr_context *context, CUevent after,
                     void (*end)(struct gr_retired *retired, bool alive));

/* Ends those whose work is done. Called wherever such objects are created or freed. */
void gr_retired_collect(void);

/* Waits until the streams have passed everything retired in the CUDA context, and ends it. */
void gr_retired_finish(const struct gr_context *context);

#endif
