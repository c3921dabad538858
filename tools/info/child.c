/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs a finder in its own process, with limits for its time and output. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tools/info/report.h"

enum { MOST_BYTES = 1 << 20, MOST_MESSAGE = 4096, KILL_MS = 1000 };

struct child {
    pid_t pid;
    int from; /* the read end of the finder's standard output */
    double until;
    bool late, too_much;
    char *lines;
    size_t length;
};

static bool start(struct child *child, const struct report *report, const char *finder,
                  const char *driver)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    child->pid = fork();
    if (child->pid == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        if (!report->noisy)
            dup2(nothing, STDERR_FILENO);
        if (driver)
            setenv("GR_CUDA_DRIVER", driver, 1);
        execl("/proc/self/exe", "grinterop-info", "--root", report->root, "--find", finder,
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    child->from = ends[0];
    child->until = gr_clock_ms() + 1000.0 * report->limit;
    if (child->pid < 0)
        close(ends[0]);
    return child->pid > 0;
}

/*
 * Whether the last line of the finder was read, so that reading can stop. The end of the pipe may
 * come much later: another process that a driver started may keep the pipe open.
 */
static bool is_whole(const struct child *child)
{
    size_t size = strlen(SAY_END);
    if (child->length < size)
        return false;
    const char *last = child->lines + child->length - size;
    return memcmp(last, SAY_END, size) == 0 && (last == child->lines || last[-1] == '\n');
}

/* Reads until the finder ends, or exceeds its time limit or output limit. */
static void read_lines(struct child *child)
{
    ssize_t got = 1;
    while (got > 0 && child->length < MOST_BYTES && !is_whole(child)) {
        struct pollfd ready = {.fd = child->from, .events = POLLIN};
        double left = child->until - gr_clock_ms();
        int polled = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (polled < 0 && errno == EINTR)
            continue;
        if (polled <= 0) {
            child->late = true;
            return;
        }
        got = read(child->from, child->lines + child->length, MOST_BYTES - child->length);
        if (got > 0)
            child->length += (size_t)got;
    }
    child->too_much = child->length == MOST_BYTES && !is_whole(child);
}

static bool wait_until(pid_t pid, int *status, double until)
{
    static const struct timespec pause = {.tv_nsec = 2000000};
    pid_t ended;
    while ((ended = waitpid(pid, status, WNOHANG)) == 0 && gr_clock_ms() < until)
        nanosleep(&pause, NULL);
    return ended == pid;
}

/*
 * Ends the process and returns its wait status. A process that hangs in the kernel survives the
 * kill signal, so the wait for it has a limit.
 */
static int end(struct child *child)
{
    int status = 0;
    if (!child->late && !child->too_much && !wait_until(child->pid, &status, child->until))
        child->late = true;
    if (child->late || child->too_much) {
        kill(child->pid, SIGKILL);
        wait_until(child->pid, &status, gr_clock_ms() + KILL_MS);
    }
    close(child->from);
    child->lines[child->length] = '\0';
    return status;
}

/* The last step that the finder named: such as " in gr_map()". "" if it named none. */
static const char *last_step(const char *lines)
{
    const char *step = NULL;
    for (const char *at = lines; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, SAY_STEP, strlen(SAY_STEP)) == 0)
            step = at + strlen(SAY_STEP);
    }
    return step ? text_of(" in %.*s", (int)strcspn(step, "\n"), step) : "";
}

/* Describes how the process failed. NULL if it ended normally. */
static const char *bad_end(const struct child *child, int status, int limit, const char *finder)
{
    const char *in = last_step(child->lines);
    if (child->too_much)
        return text_of("More than %d KiB were found%s, so the rest is missing, and the process was "
                       "ended. grinterop-info --find %s shows everything.",
                       MOST_BYTES >> 10, in, finder);
    if (child->late)
        return text_of("There was no answer within %d s: a driver hangs%s. The process that called "
                       "it was ended. Check the kernel's messages (dmesg: NVRM, Xid); if "
                       "nvidia-smi hangs as well, restart the machine. --limit sets a longer time.",
                       limit, in);
    if (WIFSIGNALED(status))
        return text_of(
            "A driver crashed%s: its process was ended by signal %d (%s). To find out which "
            "driver, run gdb --args grinterop-info --find %s; update or reinstall that driver.",
            in, WTERMSIG(status), strsignal(WTERMSIG(status)), finder);
    if (WEXITSTATUS(status) != 0)
        return text_of("A driver ended the process with status %d%s. grinterop-info --find %s "
                       "shows what it prints.",
                       WEXITSTATUS(status), in, finder);
    return NULL;
}

void report_run_finder(struct report *report, enum section section, const char *finder,
                       const char *driver, const char *about)
{
    const char *badly = "Cannot start a process for this check: is there memory, and does ulimit "
                        "-u allow another process?";
    struct child child = {.lines = malloc(MOST_BYTES + MOST_MESSAGE)};
    if (!child.lines) {
        perror("grinterop-info");
        exit(1);
    }
    child.lines[0] = '\0';
    if (start(&child, report, finder, driver)) {
        read_lines(&child);
        int status = end(&child);
        badly = bad_end(&child, status, report->limit, finder);
    }
    /* The message replaces an incomplete last line. */
    if (badly) {
        const char *last = strrchr(child.lines, '\n');
        child.length = last ? (size_t)(last + 1 - child.lines) : 0;
        child.length += (size_t)snprintf(child.lines + child.length, MOST_MESSAGE,
                                         "finding\t-\ts\t%s\t%s\t%s\n", finder, about, badly);
    }
    char *lines = realloc(child.lines, child.length + 1);
    findings_take(&report->sections[section], lines ? lines : child.lines);
}
