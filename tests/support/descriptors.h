/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts the open file descriptors of the process, and limits them. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static inline unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    /* Not counted: ".", ".." and the descriptor of the folder itself. */
    return count > 3 ? count - 3 : 0;
}

/* Lets the process open only this many more, at most 32. Returns the limit to set afterwards. */
static inline struct rlimit limit_descriptors(unsigned more)
{
    int fds[33];
    struct rlimit before, now;
    for (unsigned i = 0; i <= more; i++)
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    getrlimit(RLIMIT_NOFILE, &before);
    now = before;
    now.rlim_cur = (rlim_t)fds[more];
    for (unsigned i = 0; i <= more; i++)
        close(fds[i]);
    setrlimit(RLIMIT_NOFILE, &now);
    return before;
}

#endif
