/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Delta debugging: removes parts of the list as long as the rest still fails, first halves, finally
 * single calls. Each list runs in its own process. Calls whose object does not exist are skipped,
 * so every list is valid.
 */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_SECONDS 300

/* The calls of all threads in one list. */
struct list {
    unsigned count;
    struct {
        unsigned thread;
        struct call call;
    } at[MOST_THREADS * MOST_CALLS];
};

static void take(struct list *list, const struct journal *journal)
{
    list->count = 0;
    for (unsigned t = 0; t < MOST_THREADS; t++)
        for (unsigned i = 0; i < journal->scripts[t].count; i++) {
            list->at[list->count].thread = t;
            list->at[list->count++].call = journal->scripts[t].calls[i];
        }
}

/* Copies all calls to the journal, except those from `first` up to but not including `end`. */
static void put(const struct list *list, unsigned first, unsigned end, struct journal *journal)
{
    for (unsigned t = 0; t < MOST_THREADS; t++)
        journal->scripts[t].count = 0;
    for (unsigned i = 0; i < list->count; i++) {
        struct script *script = &journal->scripts[list->at[i].thread];
        if (i < first || i >= end)
            script->calls[script->count++] = list->at[i].call;
    }
}

/*
 * Whether two failures are the same: compares the text before the colon, which names the failed
 * call or how the process ended.
 */
static bool is_same(const struct verdict *a, const struct verdict *b)
{
    size_t length = strcspn(a->text, ":");
    return b->failed && strncmp(a->text, b->text, length + 1) == 0;
}

/*
 * Whether the list still fails in the same way. With several threads, a list may fail in only some
 * of its runs, so it is run several times.
 */
static bool fails(const struct run *run, const struct verdict *failure)
{
    struct journal *kept = malloc(sizeof(*kept));
    bool same = false;
    if (!kept)
        return false;
    *kept = *run->journal;
    for (unsigned i = 0; i < (run->threads > 1 ? 5 : 1) && !same; i++) {
        struct verdict v = child_run(run, true, true);
        same = is_same(failure, &v);
        memcpy(run->journal->scripts, kept->scripts, sizeof(kept->scripts));
    }
    free(kept);
    return same;
}

/* One round: tries to remove each part of `size` calls. Returns the number of calls removed. */
static unsigned remove_parts(const struct run *run, const struct verdict *failure,
                             struct list *list, unsigned part, time_t end)
{
    unsigned before = list->count;
    for (unsigned at = 0; at < list->count && time(NULL) < end;) {
        put(list, at, at + part, run->journal);
        if (fails(run, failure))
            take(list, run->journal);
        else
            at += part;
    }
    return before - list->count;
}

bool shrink(const struct run *run, const struct verdict *failure)
{
    struct list *list = malloc(sizeof(*list));
    time_t end = time(NULL) + MOST_SECONDS;
    if (!list)
        return false;
    take(list, run->journal);
    bool reproduced = fails(run, failure);
    for (unsigned part = list->count / 2; reproduced && part > 0 && time(NULL) < end;) {
        unsigned gone = remove_parts(run, failure, list, part, end);
        if (!gone || part > 1)
            part /= 2;
    }
    put(list, 0, 0, run->journal);
    free(list);
    return reproduced;
}
