/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The log: its listeners and their levels. */
#include "lib/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#ifdef _WIN32
#include <string.h>
#define strcasecmp _stricmp
#else
#include <strings.h>
#endif

#include "lib/base/compiler.h"
#include "lib/base/machine.h"
#include "lib/base/lock.h"

static const char *const level_names[] = {"none", "error", "warning", "info", "debug"};

atomic_int gr_log_threshold;

/* A listener. The first one is the standard error stream; the others are free if `fn` is NULL. */
struct sink {
    atomic_int level;
    gr_log_fn fn;
    void *user;
    unsigned busy; /* the lines that are being delivered */
};

static struct sink sinks[GR_LOG_SINKS];

static atomic_bool is_chosen; /* the level of standard error */

/* Protects the sinks; the condition is signalled when a delivery ends. */
static struct gr_lock sinks_lock = GR_LOCK(LOG_SINKS);
static struct gr_condition delivered = GR_CONDITION;

static void set_level(struct sink *sink, int level)
{
    int highest = GR_LOG_NONE;
    atomic_store(&sink->level, level);
    for (int i = 0; i < GR_LOG_SINKS; i++)
        highest = sinks[i].level > highest ? sinks[i].level : highest;
    atomic_store(&gr_log_threshold, highest);
}

/*
 * In a forked child only the forking thread exists: another thread of the parent may have held the
 * lock or may have been delivering a line. The parent owns the objects, so the child reports none
 * of their failures.
 */
static void begin_child(void)
{
    is_chosen = true;
    (void)gr_lock_init(&sinks_lock, GR_LOCK_LOG_SINKS);
    (void)gr_condition_init(&delivered);
    for (int i = 0; i < GR_LOG_SINKS; i++)
        sinks[i].busy = 0;
}

GR_AT_LOAD static void watch_fork(void)
{
    gr_machine_watch_fork(begin_child);
}

/*
 * Reads GR_LOG. An unknown word is reported, because it would otherwise disable the log silently.
 */
GR_AT_LOAD static void read_environment(void)
{
    const char *wanted = gr_machine_setting("GR_LOG");
    if (!wanted || !*wanted)
        return;
    for (int level = GR_LOG_NONE; level <= GR_LOG_DEBUG; level++)
        if (strcasecmp(wanted, level_names[level]) == 0) {
            set_level(&sinks[0], level);
            is_chosen = true;
            return;
        }
    fprintf(stderr,
            "grinterop: GR_LOG is \"%.40s\", but must be none, error, warning, info or debug: "
            "nothing is logged.\n",
            wanted);
}

/* Finds a sink; if `free` is set, else a free one. NULL: there is none. */
static struct sink *find_sink(gr_log_fn fn, const void *user, bool free)
{
    struct sink *found = NULL;
    if (!fn)
        return &sinks[0];
    for (int i = GR_LOG_SINKS - 1; i > 0; i--) {
        if (sinks[i].fn == fn && sinks[i].user == user)
            return &sinks[i];
        if (free && !sinks[i].fn)
            found = &sinks[i];
    }
    return found;
}

bool gr_log_put(gr_log_level level, gr_log_fn fn, void *user)
{
    gr_lock(&sinks_lock);
    struct sink *sink = find_sink(fn, user, true);
    if (sink) {
        sink->fn = fn;
        sink->user = user;
        set_level(sink, level);
        is_chosen = is_chosen || !fn;
    }
    gr_unlock(&sinks_lock);
    return sink;
}

void gr_log_remove(gr_log_fn fn, void *user)
{
    gr_lock(&sinks_lock);
    struct sink *sink = find_sink(fn, user, false);
    if (sink) {
        set_level(sink, GR_LOG_NONE);
        while (sink->busy)
            gr_condition_wait(&delivered, &sinks_lock.mutex);
        /* meanwhile another thread may have added this pair again, or removed it and added one */
        if (find_sink(fn, user, false) == sink && sink->level == GR_LOG_NONE)
            sink->fn = NULL;
    }
    gr_unlock(&sinks_lock);
}

bool gr_log_prints(gr_log_level level)
{
    return (int)level <= sinks[0].level;
}

bool gr_log_is_chosen(void)
{
    return is_chosen;
}

/* The maximum length of a logged line. */
#define LINE_SIZE 1200

static void write_line(gr_log_level level, const char *line)
{
    fprintf(stderr, "grinterop %s: %s\n", level_names[level], line);
}

static void deliver(struct sink *sink, gr_log_level level, const char *line)
{
    gr_lock(&sinks_lock);
    gr_log_fn fn = sink->fn;
    void *user = sink->user;
    bool wanted = (int)level <= sink->level; /* it may just have been removed */
    sink->busy += wanted;
    gr_unlock(&sinks_lock);
    if (!wanted)
        return;
    fn(user, level, line);
    gr_lock(&sinks_lock);
    sink->busy -= sink->busy > 0; /* 0 in a child that `fn` forked */
    gr_condition_wake(&delivered);
    gr_unlock(&sinks_lock);
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
    if (gr_log_prints(level))
        write_line(level, line);
    for (int i = 1; i < GR_LOG_SINKS; i++)
        if ((int)level <= sinks[i].level)
            deliver(&sinks[i], level, line);
}

void gr_log_at_end(gr_log_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    if ((int)level > sinks[0].level)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    write_line(level, line);
}
