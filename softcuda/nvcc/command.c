/* SPDX-License-Identifier: Apache-2.0 */
#include "softcuda/nvcc/command.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static words files; /* that are removed at exit */
static const char *folder;

static void remove_files(void)
{
    for (size_t i = 0; i < files.count; i++)
        unlink(files.items[i]);
    if (folder)
        rmdir(folder);
}

static void print_command(const words *command)
{
    fputs("#$ ", stderr);
    for (size_t i = 0; i < command->count; i++) {
        bool plain = strcspn(command->items[i], " \t\"'\\$()<>|&;*?") == strlen(command->items[i]);
        fprintf(stderr, plain ? "%s%s" : "%s'%s'", i ? " " : "", command->items[i]);
    }
    fputc('\n', stderr);
}

void command_run(const options *o, const words *command)
{
    if (o->verbose || o->dry_run)
        print_command(command);
    if (o->dry_run)
        return;
    pid_t child;
    int error =
        posix_spawnp(&child, command->items[0], NULL, NULL, (char *const *)command->items, environ);
    if (error != 0)
        die("%s could not be started: %s%s", command->items[0], strerror(error),
            error == ENOENT ? ". Name the host's C++ compiler by -ccbin" : "");
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            die("%s could not be waited for: %s", command->items[0], strerror(errno));
    if (WIFSIGNALED(status))
        die("%s was ended by signal %d", command->items[0], WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        exit(WEXITSTATUS(status));
}

static const char *make_folder(void)
{
    const char *place = secure_getenv("TMPDIR");
    char *path = keep_text("%s/grinterop-nvcc-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(path))
        die("there is no folder for the files between: %s: %s", path, strerror(errno));
    return path;
}

const char *command_file(const options *o, const char *name)
{
    if (o->keep) {
        if (o->keep_dir && mkdir(o->keep_dir, 0777) != 0 && errno != EEXIST)
            die("the folder %s could not be made: %s", o->keep_dir, strerror(errno));
        return keep_text("%s/%s", o->keep_dir ? o->keep_dir : ".", name);
    }
    if (!folder) {
        folder = make_folder();
        atexit(remove_files);
    }
    const char *path = keep_text("%s/%zu-%s", folder, files.count, name);
    words_add(&files, path);
    return path;
}
