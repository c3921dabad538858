/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The log: its level and destination. */
#include "lib/base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "lib/base/machine.h"

static const char *const level_names[] = {"none", "error", "warning", "info", "debug"};

atomic_int gr_log_threshold;

/* The lock keeps the function and its `user` argument consistent. */
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static gr_log_fn sink;
static void *sink_user;

/*
 * Creates a new lock in a forked child, because another thread of the parent may have held the
 * lock.
 */
static void renew_lock(void)
{
    pthread_mutex_init(&sink_lock, NULL);
}

__attribute__((constructor)) static void watch_fork(void)
{
    gr_machine_watch_fork(renew_lock);
}

/*
 * Reads GR_LOG. An unknown word is reported, because it would otherwise disable the log silently.
 */
__attribute__((constructor)) static void read_environment(void)
{
    const char *wanted = gr_machine_setting("GR_LOG");
    if (!wanted || !*wanted)
        return;
    for (int level = GR_LOG_NONE; level <= GR_LOG_DEBUG; level++)
        if (strcasecmp(wanted, level_names[level]) == 0) {
            atomic_store(&gr_log_threshold, level);
            return;
        }
    fprintf(stderr,
            "grinterop: GR_LOG is \"%.40s\", but must be none, error, warning, info or debug: "
            "nothing is logged.\n",
            wanted);
}

void gr_log_set(gr_log_level level, gr_log_fn fn, void *user)
{
    pthread_mutex_lock(&sink_lock);
    sink = fn;
    sink_user = user;
    pthread_mutex_unlock(&sink_lock);
    atomic_store(&gr_log_threshold, (int)level);
}

/* The maximum length of a logged line. */
#define LINE_SIZE 1200

static void write_line(gr_log_level level, const char *line)
{
    fprintf(stderr, "grinterop %s: %s\n", level_names[level], line);
}

void gr_log(gr_log_level level, const char *format, ...)
{
    if (level == GR_LOG_NONE || !gr_log_wanted(level))
        return;
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);

    pthread_mutex_lock(&sink_lock);
    gr_log_fn fn = sink;
    void *user = sink_user;
    pthread_mutex_unlock(&sink_lock);
    if (fn)
        fn(user, level, line);
    else
        write_line(level, line);
}

void gr_log_at_end(gr_log_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    if (sink || !gr_log_wanted(level))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    write_line(level, line);
}
