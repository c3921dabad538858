/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for whoever asked for them: gr_log_set() or the environment variable GR_LOG. */
#ifndef GR_LIB_LOG_H
#define GR_LIB_LOG_H

#include <grinterop/gr.h>

#include <stdatomic.h>

#include "lib/printf.h"

/* The highest level that goes anywhere. GR_LOG sets it when grinterop is loaded. */
extern atomic_int gr_log_threshold;

/* Whether a line of this level goes anywhere: one load, since each map and release asks. */
static inline bool gr_log_wanted(gr_log_level level)
{
    return (int)level <= atomic_load_explicit(&gr_log_threshold, memory_order_relaxed);
}

void gr_log(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

/*
 * Likewise, while the process ends: what gr_log_set() was given may be gone by then, so with a
 * function of the program's there is no line.
 */
void gr_log_at_end(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

#endif
