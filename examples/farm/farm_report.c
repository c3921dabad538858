/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The output of a farm. */
#define _GNU_SOURCE
#include "farm_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "examples/support/clock.h"

/* The maximum number of ranks listed. */
enum { MOST_LISTED = 16 };

static int listed(const struct farm_sum *sum)
{
    return sum->ranks < MOST_LISTED ? sum->ranks : MOST_LISTED;
}

static void say_more(const struct farm_sum *sum)
{
    if (sum->ranks > MOST_LISTED)
        printf("          and %d more\n", sum->ranks - MOST_LISTED);
}

/*
 * Warns if ranks are bound to few CPU cores. By default, Open MPI binds each rank to one core, so
 * its writers compete for that core.
 */
static void warn_of_binding(const struct farm_rank ranks[], const struct farm_sum *sum)
{
    for (int i = 0; i < sum->ranks; i++)
        if (ranks[i].processors < ranks[i].node_processors && ranks[i].processors < sum->writers) {
            printf("slow      rank %d may use %d of %d CPUs, for %d writers: with Open MPI use "
                   "mpirun --bind-to none\n",
                   i, ranks[i].processors, ranks[i].node_processors, sum->writers);
            return;
        }
}

void farm_report_ranks(const struct farm_rank ranks[], const struct farm_sum *sum)
{
    double slowest = 0;
    for (int i = 0; i < sum->ranks; i++)
        if (ranks[i].opened > slowest)
            slowest = ranks[i].opened;
    printf("farm      %d rank%s on %d node%s, up after %.1f s\n", sum->ranks,
           sum->ranks == 1 ? "" : "s", sum->nodes, sum->nodes == 1 ? "" : "s", slowest);
    for (int i = 0; i < listed(sum); i++)
        printf("rank %-4d %s, process %d, device %d: %s%s\n", i, ranks[i].host, ranks[i].process,
               ranks[i].device, ranks[i].device_name, ranks[i].software ? ", no GPU is used" : "");
    say_more(sum);
    warn_of_binding(ranks, sum);
    fflush(stdout);
}

/* ---- Progress -------------------------------------------------------------------------------- */

/* Whether the parent process writes to a terminal: mpirun forwards the output of the ranks. */
static bool parent_has_terminal(void)
{
    char path[64], file[64] = "";
    snprintf(path, sizeof(path), "/proc/%ld/fd/2", (long)getppid());
    if (readlink(path, file, sizeof(file) - 1) < 0)
        return false;
    return strncmp(file, "/dev/pts/", 9) == 0 || strncmp(file, "/dev/tty", 8) == 0;
}

void farm_progress_begin(struct farm_progress *p, int total)
{
    *p = (struct farm_progress){.total = total, .begun = clock_seconds()};
    p->terminal = isatty(STDERR_FILENO) || parent_has_terminal();
}

static bool worth_a_line(struct farm_progress *p, int done, double now)
{
    const int tenth = (int)(10.0 * done / p->total);
    if (p->terminal ? now - p->shown < 0.2 : tenth == p->shown_tenth && now - p->shown < 60.0)
        return false;
    p->shown = now;
    p->shown_tenth = tenth;
    return true;
}

void farm_progress_show(struct farm_progress *p, int done)
{
    const double now = clock_seconds(), seconds = now - p->begun;
    if (done == 0 || done > p->total || !worth_a_line(p, done, now))
        return;
    const double rate = done / seconds;
    fprintf(stderr, "%sframe %d of %d, %.1f a second, %.0f s left%s", p->terminal ? "\r" : "", done,
            p->total, rate, (p->total - done) / rate, p->terminal ? "   " : "\n");
}

void farm_progress_end(const struct farm_progress *p)
{
    if (p->terminal)
        fprintf(stderr, "\r%60s\r", "");
}

/* ---- Summary --------------------------------------------------------------------------------- */

static double rate_of(const struct farm_rank *rank)
{
    return rank->seconds > 0 ? rank->frames / rank->seconds : 0;
}

static int slowest_of(const struct farm_rank ranks[], int count)
{
    int slowest = 0;
    for (int i = 1; i < count; i++)
        if (rate_of(&ranks[i]) < rate_of(&ranks[slowest]))
            slowest = i;
    return slowest;
}

static void report_files(const struct farm_sum *sum, uint64_t bytes)
{
    if (sum->files)
        printf("files     %.1f MB: %.1f files and %.2f MB a second\n", 1e-6 * (double)bytes,
               sum->frames / sum->seconds, 1e-6 * (double)bytes / sum->seconds);
}

void farm_report_sum(const struct farm_rank ranks[], const struct farm_sum *sum)
{
    uint64_t checksum = 0, bytes = 0;
    for (int i = 0; i < sum->ranks; i++) {
        checksum += ranks[i].checksum;
        bytes += ranks[i].bytes;
    }
    for (int i = 0; i < listed(sum); i++)
        printf("rank %-4d %d frames in %.2f s, %.2f a second\n", i, ranks[i].frames,
               ranks[i].seconds, rate_of(&ranks[i]));
    say_more(sum);
    const int slowest = slowest_of(ranks, sum->ranks);
    printf("slowest   rank %d on %s, device %d: %.2f frames a second\n", slowest,
           ranks[slowest].host, ranks[slowest].device, rate_of(&ranks[slowest]));
    report_files(sum, bytes);
    printf("all       %d frames in %.2f s, %.2f a second; %d were there\n", sum->frames,
           sum->seconds, sum->frames / sum->seconds, sum->found);
    printf("checksum  %016" PRIx64 "\n", checksum);
    fflush(stdout);
}
