/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softcuda/nvcc/libraries.h"

extern char **environ;

static words files; /* intermediate files that are removed at exit */
static const char *folder;
static volatile pid_t running; /* the running child; 0 if there is none */

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
#define END_COUNT (sizeof(ends) / sizeof(*ends))

static void remove_files(void)
{
    for (size_t i = 0; i < files.count; i++)
        unlink(files.items[i]);
    if (folder)
        rmdir(folder);
    files.count = 0;
    folder = NULL;
}

/* Ends the child before it removes the files, because the child may write them. */
static void handle_signal(int signal_number)
{
    if (running) {
        kill(running, signal_number);
        waitpid(running, NULL, 0);
    }
    remove_files();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/*
 * Blocks the signals that end the program, while the program changes data that handle_signal()
 * uses.
 */
static sigset_t block_signals(void)
{
    sigset_t held, before;
    sigemptyset(&held);
    for (size_t i = 0; i < END_COUNT; i++)
        sigaddset(&held, ends[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    return before;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < END_COUNT; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
}

/* Prints a word, quoted for a shell if it contains a character that a shell may change. */
static void print_word(const char *word)
{
    if (*word && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "_-+=./,:@%")] == '\0') {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, stderr);
    fputc('\'', stderr);
}

static void print_command(const words *command)
{
    fputs("#$", stderr);
    for (size_t i = 0; i < command->count; i++) {
        fputc(' ', stderr);
        print_word(command->items[i]);
    }
    fputc('\n', stderr);
}

static void start(const words *command, const posix_spawn_file_actions_t *actions)
{
    pid_t child;
    sigset_t before = block_signals();
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before);
    int error = posix_spawnp(&child, command->items[0], actions, &attributes,
                             (char *const *)command->items, environ);
    posix_spawnattr_destroy(&attributes);
    if (error == 0)
        running = child;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        die("%s could not be started: %s%s", command->items[0], strerror(error),
            error == ENOENT ? ". Set the host C++ compiler with -ccbin" : "");
}

/* Waits for the program that start() started last. */
static int wait_for(const char *name)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(running, &status, 0)) < 0 && errno == EINTR)
        ;
    running = 0;
    if (ended < 0)
        die("waiting for %s failed: %s", name, strerror(errno));
    if (WIFSIGNALED(status))
        die("%s was killed by signal %d", name, WTERMSIG(status));
    return WEXITSTATUS(status);
}

static bool should_run(const options *o, const words *command)
{
    if (o->verbose || o->dry_run)
        print_command(command);
    return !o->dry_run;
}

void command_run(const options *o, const words *command)
{
    if (!should_run(o, command))
        return;
    start(command, NULL);
    int status = wait_for(command->items[0]);
    if (status != 0)
        exit(status);
}

/* Reads everything that is written to the pipe, and prints it as it arrives. */
static const char *read_errors(int from)
{
    size_t length = 0, room = 1 << 16;
    char *all = keep(room);
    ssize_t got;
    while ((got = read(from, all + length, room - length - 1)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        fwrite(all + length, 1, (size_t)got, stderr);
        length += (size_t)got;
        if (length + 1 < room)
            continue;
        char *larger = keep(2 * room);
        memcpy(larger, all, length);
        all = larger;
        room *= 2;
    }
    close(from);
    return all;
}

void command_preprocess(const options *o, const words *command)
{
    int pipe_ends[2];
    posix_spawn_file_actions_t actions;
    if (!should_run(o, command))
        return;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        die("cannot create a pipe for the errors of %s: %s", command->items[0], strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    const char *errors = read_errors(pipe_ends[0]);
    int status = wait_for(command->items[0]);
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
        die("cannot create a folder for intermediate files: %s: %s", path, strerror(errno));
    return path;
}

const char *command_file(const options *o, const char *name)
{
    if (o->keep) {
        if (o->keep_dir && mkdir(o->keep_dir, 0777) != 0 && errno != EEXIST)
            die("cannot create the folder %s: %s", o->keep_dir, strerror(errno));
        return keep_text("%s/%s", o->keep_dir ? o->keep_dir : ".", name);
    }
    sigset_t before = block_signals();
    if (!folder) {
        handle_signals();
        folder = make_folder();
        atexit(remove_files);
    }
    const char *path = keep_text("%s/%zu-%s", folder, files.count, name);
    words_add(&files, path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return path;
}
