/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Log lines, for gr_log_add() or the environment variable GR_LOG. */
#ifndef GR_LIB_BASE_LOG_H
#define GR_LIB_BASE_LOG_H

#include <grinterop/gr.h>

#include <stdatomic.h>

#include "lib/base/compiler.h"

/* The number of listeners, with the standard error stream. */
#define GR_LOG_SINKS 32

/* Adds a listener, or changes its level. False: there are too many. */
bool gr_log_put(gr_log_level level, gr_log_fn fn, void *user);

/* The highest level of all listeners. */
extern atomic_int gr_log_threshold;

/*
 * Whether lines of a level are logged. This is a single load, because each map and release calls
 * it.
 */
static inline bool gr_log_wanted(gr_log_level level)
{
    return (int)level <= atomic_load_explicit(&gr_log_threshold, memory_order_relaxed);
}

/* Whether lines of a level go to standard error. */
GR_API bool gr_log_prints(gr_log_level level);

/* Whether GR_LOG or the program chose the level of standard error. */
bool gr_log_is_chosen(void);

GR_API void gr_log(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

/*
 * Logs a line at exit, to standard error only, because the functions of the program may no longer
 * exist.
 */
void gr_log_at_end(gr_log_level level, const char *format, ...) GR_PRINTF(2, 3);

#endif
