/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds and runs the Python script that takes the same measurements. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

extern char **environ;

/*
 * Finds the script: beside the program, in share/ of a bundle, or in the source folder if the
 * program runs from ./build.
 */
const char *bench_find_script(void)
{
    static const char *const BESIDE[] = {"", "/../share", "/../../bench"};
    static char path[PATH_MAX];
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof(BESIDE) / sizeof(BESIDE[0]); i++) {
        int written = snprintf(path, sizeof(path), "%s%s/%s.py", folder, BESIDE[i], bench_program);
        if ((size_t)written < sizeof(path) && access(path, R_OK) == 0)
            return path;
    }
    fprintf(stderr, "%s: %s.py is not beside it\n", bench_program, bench_program);
    return NULL;
}

/*
 * Starts the program with its output piped. Returns the read end of the pipe, or NULL on failure.
 */
static FILE *start(char *const arguments[], pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        fprintf(stderr, "%s: cannot run %s: %s\n", bench_program, arguments[0], strerror(error));
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

static bool read_lines(FILE *output, bool (*take)(char *line, void *of), void *of)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, output) > 0) {
        line[strcspn(line, "\n")] = '\0';
        good = take(line, of);
        if (!good)
            fprintf(stderr, "%s: cannot parse a line that the script printed: %s\n", bench_program,
                    line);
    }
    free(line);
    return good;
}

static bool run(char *const arguments[], bool (*take)(char *line, void *of), void *of)
{
    pid_t child;
    int status = 0;
    fflush(stdout);
    FILE *output = start(arguments, &child);
    if (!output)
        return false;
    bool good = read_lines(output, take, of);
    fclose(output);
    waitpid(child, &status, 0);
    if (good && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        fprintf(stderr, "%s: %s %s failed\n", bench_program, arguments[0], arguments[1]);
        return false;
    }
    return good;
}

bool bench_run_script(const char *const arguments[], const char *more,
                      bool (*take)(char *line, void *of), void *of)
{
    char *all[64], *copy = strdup(more), *rest = copy, *word;
    size_t count = 0;
    for (; arguments[count]; count++)
        all[count] = (char *)arguments[count];
    while (count < 63 && (word = strsep(&rest, " ")))
        all[count++] = word;
    all[count] = NULL;
    bool good = copy && run(all, take, of);
    free(copy);
    return good;
}
