/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A forked child inherits its parent's handles, but not the threads, CUDA contexts and connections
 * of these handles. Freeing a handle in the child does nothing. Every other call is refused.
 */
#ifndef GR_LIB_FORK_H
#define GR_LIB_FORK_H

#include <grinterop/gr.h>

/*
 * Whether this is a forked child of a process that used grinterop. Set while the child has one
 * thread.
 */
extern bool gr_forked;

gr_status gr_refuse_forked(const char *call) __attribute__((cold));

/* Refuses a call in a forked child. */
static inline gr_status gr_fork_check(const char *call)
{
    return gr_forked ? gr_refuse_forked(call) : GR_OK;
}

#endif
