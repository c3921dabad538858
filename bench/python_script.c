/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the Python script lies that measures the same.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "bench/bench.h"

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
