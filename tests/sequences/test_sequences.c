/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sequences of valid and invalid calls, compared after each call with a model of the headers
 * (model.h). A failing sequence is shrunk to few calls, printed, and written to a file.
 *
 * test_sequences                          kept failures, then 35,000 calls; for make check
 * test_sequences --calls N --seed N       that many calls
 * test_sequences --seconds N              as many calls as fit in the time
 * test_sequences --replay FILE            the calls of a file
 */
#define _GNU_SOURCE
#include "calls.h"
#include "shrink.h"
#include "tests/drivers/fault_driver.h"

#include <getopt.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LENGTH 40

static const char usage[] =
    "usage: test_sequences [--seed N] [--calls N] [--seconds N] [--threads N] [--length N]\n"
    "                      [--replay FILE] [--verbose]\n";

static int checks, failures, skipped;
static bool verbose;

static void print_failure(const struct run *run, const struct verdict *v)
{
    printf("sequences: FAILED: %s\n", v->text);
    printf("  seed %u, %llu calls before this sequence of seed %u, threads %u, length %u\n",
           run->seed, (unsigned long long)run->journal->made, run->journal->seed, run->threads,
           run->length);
}

/*
 * Writes the shrunk sequence of calls to a file, for --replay and for the folder
 * tests/sequences/kept/.
 */
static void keep(const struct run *run, const struct verdict *v)
{
    char path[64];
    snprintf(path, sizeof(path), "sequence_%u.txt", run->journal->seed);
    script_write(stdout, run->journal->scripts);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "# %s\n", v->text);
    script_write(file, run->journal->scripts);
    fclose(file);
    printf("  written to %s: test_sequences --replay %s\n", path, path);
}

static void found(const struct run *run, const struct verdict *v)
{
    failures++;
    print_failure(run, v);
    if (shrink(run, v))
        printf("  the calls, shrunk:\n");
    else
        printf("these calls alone do not fail: they need the calls before\n");
    keep(run, v);
}

static void make_calls(const struct run *run)
{
    struct timespec begun, ended;
    checks++;
    run->journal->made = 0;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    struct verdict v = child_run(run, false, false);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (v.failed)
        found(run, &v);
    if (v.cannot) {
        skipped++;
        printf("skipped: sequences: %s\n", v.text);
    }
    printf("seed %u, threads %u, length %u: %llu calls in %.1f s\n", run->seed, run->threads,
           run->length, (unsigned long long)run->journal->made,
           (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec));
}

static void replay(struct run *run, const char *path)
{
    FILE *file = fopen(path, "r");
    checks++;
    if (!file || !script_read(file, run->journal->scripts)) {
        failures++;
        printf("sequences: FAILED: cannot read %s\n", path);
    } else {
        struct verdict v = child_run(run, true, false);
        failures += v.failed;
        skipped += v.cannot;
        printf("%s: %s: %s\n", v.cannot ? "skipped" : v.failed ? "FAILED" : "passed", path, v.text);
    }
    if (file)
        fclose(file);
}

/*
 * Replays the sequences that once failed. They are beside this file or, in the bundle, beside
 * run-test.
 */
static void replay_kept(struct run *run)
{
    static const char *const places[] = {"../sequences/kept", "."};
    const char *data = getenv("GR_TEST_DATA");
    for (size_t i = 0; data && i < sizeof(places) / sizeof(places[0]); i++) {
        glob_t files;
        char pattern[600];
        snprintf(pattern, sizeof(pattern), "%s/%s/sequence_*.txt", data, places[i]);
        if (glob(pattern, 0, NULL, &files) == 0)
            for (size_t k = 0; k < files.gl_pathc; k++)
                replay(run, files.gl_pathv[k]);
        globfree(&files);
    }
}

/* Checks that every call was made and succeeded at least once: otherwise the run tests little. */
static void check_variety(const struct run *run)
{
    bool missing = false;
    checks++;
    for (int i = 0; entry_at(i); i++) {
        if (verbose)
            printf("%-32s %u, refused %u\n", entry_at(i)->name, run->journal->good[i],
                   run->journal->refused[i]);
        if (run->journal->good[i] || !entry_at(i)->weight ||
            (entry_at(i)->software_only && !run->journal->software))
            continue;
        printf("sequences: FAILED: %s never succeeded\n", entry_at(i)->name);
        missing = true;
    }
    failures += missing;
}

/* The run of make check, which makes the same calls each time. */
static void run_short(struct run *run)
{
    replay_kept(run);
    run->calls = 25000;
    make_calls(run);
    run->seed = 2;
    run->threads = 3;
    run->calls = 10000;
    make_calls(run);
    if (!failures && !skipped)
        check_variety(run);
}

static const struct option options[] = {
    {"seed", required_argument, NULL, 's'},    {"calls", required_argument, NULL, 'c'},
    {"seconds", required_argument, NULL, 't'}, {"threads", required_argument, NULL, 'n'},
    {"length", required_argument, NULL, 'l'},  {"replay", required_argument, NULL, 'r'},
    {"verbose", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0},
};

/* Reads the command line. Returns false for an unknown option. */
static bool read_options(int argc, char **argv, struct run *run, const char **file)
{
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        unsigned long number = optarg ? strtoul(optarg, NULL, 10) : 0;
        switch (c) {
        case 's':
            run->seed = (uint32_t)number;
            break;
        case 'c':
            run->calls = number;
            break;
        case 't':
            run->seconds = (unsigned)number;
            break;
        case 'n':
            run->threads = (unsigned)number;
            break;
        case 'l':
            run->length = (unsigned)number;
            break;
        case 'v':
            verbose = true;
            break;
        case 'r':
            *file = optarg;
            break;
        default:
            return false;
        }
    }
    return optind == argc && run->length > 0 && run->length <= MOST_CALLS && run->threads > 0 &&
           run->threads <= MOST_THREADS;
}

int main(int argc, char **argv)
{
    struct run run = {.seed = 1, .length = LENGTH, .threads = 1};
    const char *file = NULL;
    entries_collect();
    gr_log_add(GR_LOG_NONE, NULL, NULL); /* second frees would fill the log */
    fault_control_start();
    if (!read_options(argc, argv, &run, &file)) {
        fputs(usage, stderr);
        return 2;
    }
    run.journal =
        mmap(NULL, sizeof(*run.journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.journal == MAP_FAILED)
        return 2;
    if (file)
        replay(&run, file);
    else if (run.calls || run.seconds)
        make_calls(&run);
    else
        run_short(&run);
    printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n",
           checks ? 100 * (checks - failures) / checks : 0, checks, failures);
    return failures ? 1 : skipped == checks ? 77 : 0;
}
