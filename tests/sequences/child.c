/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * For how long a child may make no call before it counts as hanging, in the first run and in
 * repeated runs. The first calls of a process take longest.
 */
#define PATIENCE_S       60
#define PATIENCE_AGAIN_S 10

static void silence_output(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
}

static uint64_t progress(const struct journal *journal)
{
    uint64_t made = journal->made;
    for (unsigned t = 0; t < MOST_THREADS; t++)
        made += __atomic_load_n(&journal->scripts[t].count, __ATOMIC_RELAXED);
    return made;
}

/* Waits for a child and returns its status. Kills a child that makes no progress. */
static int wait_for(pid_t pid, const struct journal *journal, int patience_s, bool *hung)
{
    const struct timespec moment = {0, 5000000};
    uint64_t last = progress(journal);
    time_t since = time(NULL);
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        nanosleep(&moment, NULL);
        if (progress(journal) != last) {
            last = progress(journal);
            since = time(NULL);
        } else if (time(NULL) - since > patience_s) {
            *hung = true;
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            break;
        }
    }
    return status;
}

static struct verdict judge_status(int status, bool hung, const char *failure)
{
    struct verdict v = {.failed = true};
    bool ended = WIFEXITED(status);
    if (hung)
        snprintf(v.text, sizeof(v.text), "hangs: the last call does not return");
    else if (ended && WEXITSTATUS(status) == 0)
        v.failed = false;
    else if (ended && WEXITSTATUS(status) == RUN_FAILED)
        snprintf(v.text, sizeof(v.text), "%s", failure);
    else if (ended && WEXITSTATUS(status) == RUN_CANNOT)
        v = (struct verdict){.cannot = true};
    else if (ended)
        snprintf(v.text, sizeof(v.text), "exits with status %d", WEXITSTATUS(status));
    else
        snprintf(v.text, sizeof(v.text), "is killed by signal %d", WTERMSIG(status));
    if (v.cannot)
        snprintf(v.text, sizeof(v.text), "%s", failure);
    return v;
}

struct verdict child_run(const struct run *run, bool again, bool quiet)
{
    bool hung = false;
    run->journal->failure[0] = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return (struct verdict){.cannot = true, .text = "cannot create a child process"};
    if (pid == 0) {
        if (quiet)
            silence_output();
        exit(again ? run_again(run) : run_sequences(run));
    }
    int status = wait_for(pid, run->journal, again ? PATIENCE_AGAIN_S : PATIENCE_S, &hung);
    return judge_status(status, hung, run->journal->failure);
}
