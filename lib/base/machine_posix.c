/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries the kernel for properties of the machine. */
#define _GNU_SOURCE /* secure_getenv() */
#include "lib/base/machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool kernel_is(const char *word)
{
    struct utsname name;
    return uname(&name) == 0 && strstr(name.release, word);
}

/* WSL kernels have names like "5.15.90.1-microsoft-standard-WSL2". */
bool gr_machine_is_wsl(void)
{
    return kernel_is("microsoft") || kernel_is("Microsoft");
}

/*
 * NVIDIA's kernels for Tegra have names like "5.15.148-tegra". If the kernel has another name, the
 * device node identifies a Tegra.
 */
bool gr_machine_is_tegra(void)
{
    return kernel_is("tegra") || access("/dev/nvmap", F_OK) == 0;
}

bool gr_machine_has_nodes(void)
{
    return true;
}

const char *gr_machine_node(const char *path)
{
    if (access(path, F_OK) != 0)
        return "not there";
    /* users often cannot write to /dev/nvmap, and read access is enough there */
    const char *name = strrchr(path, '/');
    const int mode = name && strcmp(name, "/nvmap") == 0 ? R_OK : R_OK | W_OK;
    return access(path, mode) == 0 ? "there" : "not accessible to this user";
}

const char *gr_machine_setting(const char *name)
{
    return secure_getenv(name);
}

/* pthread_atfork() fails only if memory runs out. A forked child is then not recognised. */
void gr_machine_watch_fork(void (*in_child)(void))
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

bool gr_machine_exits_with_threads(void)
{
    return true;
}

size_t gr_machine_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}
