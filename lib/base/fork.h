/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A forked child inherits handles of its parent, but not the threads, CUDA contexts and connections
 * that these handles need. In the child, freeing a handle does nothing, and every other call is
 * refused.
 */
#ifndef GR_LIB_FORK_H
#define GR_LIB_FORK_H

#include <grinterop/gr.h>

#include "lib/base/compiler.h"

/*
 * Whether this process is a forked child of a process that used grinterop. The variable is set
 * while the child has only one thread.
 */
extern bool gr_forked;

gr_status gr_refuse_forked(void) GR_COLD;

/* Refuses a call in a forked child. */
static inline gr_status gr_fork_check(void)
{
    return gr_forked ? gr_refuse_forked() : GR_OK;
}

#endif
