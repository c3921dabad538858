/* SPDX-License-Identifier: Apache-2.0 */
#include "softcuda/nvcc/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softcuda/nvcc/libraries.h"

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

static pid_t start(const words *command, const posix_spawn_file_actions_t *actions)
{
    pid_t child;
    int error = posix_spawnp(&child, command->items[0], actions, NULL,
                             (char *const *)command->items, environ);
    if (error != 0)
        die("%s could not be started: %s%s", command->items[0], strerror(error),
            error == ENOENT ? ". Name the host's C++ compiler by -ccbin" : "");
    return child;
}

static int wait_for(pid_t child, const char *name)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            die("%s could not be waited for: %s", name, strerror(errno));
    if (WIFSIGNALED(status))
        die("%s was ended by signal %d", name, WTERMSIG(status));
    return WEXITSTATUS(status);
}

static bool is_to_run(const options *o, const words *command)
{
    if (o->verbose || o->dry_run)
        print_command(command);
    return !o->dry_run;
}

void command_run(const options *o, const words *command)
{
    if (!is_to_run(o, command))
        return;
    int status = wait_for(start(command, NULL), command->items[0]);
    if (status != 0)
        exit(status);
}

/* All that is written to the pipe, which is printed as it comes. */
static const char *read_errors(int from)
{
    char part[4096];
    char *all = keep_text("%s", "");
    ssize_t length;
    while ((length = read(from, part, sizeof(part))) > 0 || (length < 0 && errno == EINTR)) {
        if (length < 0)
            continue;
        fwrite(part, 1, (size_t)length, stderr);
        all = keep_text("%s%.*s", all, (int)length, part);
    }
    close(from);
    return all;
}

void command_preprocess(const options *o, const words *command)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (!is_to_run(o, command))
        return;
    if (pipe2(ends, O_CLOEXEC) != 0)
        die("there is no pipe for the errors of %s: %s", command->items[0], strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t child = start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const char *errors = read_errors(ends[0]);
    int status = wait_for(child, command->items[0]);
    if (status == 0)
        return;
    print_header_refusals(errors);
    exit(status);
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
