/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Implements process.h through /proc. */
#include "softcuda/driver/context/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char state;
    long threads;
    uint64_t start;
} status;

/*
 * Reads fields 3, 20 and 22 of /proc/PID/stat. Field 2 is a name in parentheses that may contain
 * anything.
 */
static bool parse(const char *text, status *found)
{
    const char *behind = strrchr(text, ')');
    return behind && sscanf(behind + 1,
                            " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                            "%ld %*s %" SCNu64,
                            &found->state, &found->threads, &found->start) == 3;
}

static bool read_status(pid_t process, status *found)
{
    char path[32], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    return parse(text, found);
}

uint64_t soft_process_own_start(void)
{
    static _Atomic uint64_t known;
    uint64_t start = atomic_load_explicit(&known, memory_order_relaxed);
    status own;
    if (start == 0 && read_status(getpid(), &own)) {
        start = own.start;
        atomic_store_explicit(&known, start, memory_order_relaxed);
    }
    return start;
}

/* A process whose first thread has ended is shown as a zombie even while its other threads run. */
bool soft_process_has_ended(pid_t process, uint64_t start)
{
    if (kill(process, 0) != 0 && errno == ESRCH)
        return true;
    status found;
    if (!read_status(process, &found))
        return false;
    bool is_zombie = (found.state == 'Z' || found.state == 'X') && found.threads <= 1;
    return is_zombie || (start != 0 && found.start != start);
}
