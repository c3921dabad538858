/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What streams may still use when the caller has let go of it. The driver ends imports at the call,
 * not in stream order, and a closing thread must not wait; so they stay in a list until their event
 * has passed.
 */
#ifndef GR_LIB_RETIRE_H
#define GR_LIB_RETIRE_H

#include "lib/context.h"

/* Begins the struct of what is set aside. */
struct gr_retired {
    struct gr_retired *next;
    struct gr_context context; /* its hold is dropped after end() */
    CUevent after;             /* destroyed with it */
    /* Ends and frees it. `alive` says whether its CUDA context, then current, still is. */
    void (*end)(struct gr_retired *retired, bool alive);
};

/* Takes it over. */
void gr_retire(struct gr_retired *retired);

/* Ends those whose work is done. Called by everything that makes or ends such objects. */
void gr_retired_collect(void);

/* Waits until the streams have passed all that was set aside in the CUDA context, and ends it. */
void gr_retired_finish(const struct gr_context *context);

#endif
