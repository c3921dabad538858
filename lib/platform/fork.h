/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A forked child inherits its parent's handles, but not the threads, CUDA contexts and connections
 * behind them. It may free the handles, which does nothing; every other call is refused.
 */
#ifndef GR_LIB_FORK_H
#define GR_LIB_FORK_H

#include <grinterop/gr.h>

/* Whether this is the child of a process that used grinterop. Set while it has one thread only. */
extern bool gr_forked;

gr_status gr_refuse_forked(const char *call) __attribute__((cold));

/* Refuses a call in such a child. */
static inline gr_status gr_fork_check(const char *call)
{
    return gr_forked ? gr_refuse_forked(call) : GR_OK;
}

#endif
