/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of options. A wrong one ends the program before it measures anything, since a run can take
 * minutes.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench.h"

unsigned long bench_whole_number(const char *option, const char *text, unsigned long least,
                                 unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && value >= least && value <= most)
        return value;
    fprintf(stderr, "%s: --%s takes a number from %lu to %lu, not '%s'\n", bench_program, option,
            least, most, text);
    exit(2);
}

double bench_real_number(const char *option, const char *text, double least, double most,
                         const char *what)
{
    char *end;
    double value = strtod(text, &end);
    if (end != text && *end == '\0' && value >= least && value <= most)
        return value;
    fprintf(stderr, "%s: --%s takes %s, not '%s'\n", bench_program, option, what, text);
    exit(2);
}

void bench_end_options(int argc, char *argv[])
{
    if (optind >= argc)
        return;
    fprintf(stderr, "%s: unexpected argument '%s'; see --help\n", bench_program, argv[optind]);
    exit(2);
}

/* Looks beside the program and in share/ of a bundle. */
static bool search_script(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *folder = dirname(self);
    static const char *const BESIDE[] = {"", "/../share"};
    for (size_t i = 0; i < 2; i++) {
        int written = snprintf(path, size, "%s%s/%s.py", folder, BESIDE[i], bench_program);
        if ((size_t)written < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool bench_find_script(const char *given, char *path, size_t size)
{
    if (given)
        snprintf(path, size, "%s", given);
    if (given ? access(path, R_OK) == 0 : search_script(path, size))
        return true;
    fprintf(stderr, "%s: no %s.py found; say where it is with --script\n", bench_program,
            bench_program);
    return false;
}
