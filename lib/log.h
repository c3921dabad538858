/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Log lines, for gr_log_set() or the environment variable GR_LOG. */
#ifndef GR_LIB_LOG_H
#define GR_LIB_LOG_H

#include <grinterop/gr.h>

#include <stdatomic.h>

#include "lib/printf.h"

/* The highest level that is logged. GR_LOG sets it when grinterop is loaded. */
extern atomic_int gr_log_threshold;

/* Whether a level is logged: one load, because each map and release checks it. */
static inline bool gr_log_wanted(gr_log_level level)
{
    return (int)level <= atomic_load_explicit(&gr_log_threshold, memory_order_relaxed);
}

void gr_log(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

/*
 * The same at exit: the program's log function may be gone by then, so with one nothing is logged.
 */
void gr_log_at_end(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

#endif
