/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Output files. A full disk may show only when a file is closed, so a failed close is an error: the
 * results would be truncated.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "bench/bench.h"

FILE *bench_create(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        fprintf(stderr, "%s: cannot write %s: %s\n", bench_program, path, strerror(errno));
    return file;
}

bool bench_finish(FILE *file, const char *path)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return true;
    fprintf(stderr, "%s: cannot write %s: %s\n", bench_program, path, strerror(errno));
    return false;
}
