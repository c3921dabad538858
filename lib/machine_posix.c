/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of the machine. */
#define _GNU_SOURCE /* secure_getenv() */
#include "lib/machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Windows's own kernels are named so: "5.15.90.1-microsoft-standard-WSL2". */
bool gr_machine_is_wsl(void)
{
    struct utsname name;
    return uname(&name) == 0 &&
           (strstr(name.release, "microsoft") || strstr(name.release, "Microsoft"));
}

bool gr_machine_has_nodes(void)
{
    return true;
}

const char *gr_machine_node(const char *path)
{
    if (access(path, F_OK) != 0)
        return "not there";
    return access(path, R_OK | W_OK) == 0 ? "there" : "closed to this user";
}

const char *gr_machine_setting(const char *name)
{
    return secure_getenv(name);
}

/* It fails without memory only: then a child is as it was before there was this. */
void gr_machine_watch_fork(void (*in_child)(void))
{
    (void)pthread_atfork(NULL, NULL, in_child);
}
