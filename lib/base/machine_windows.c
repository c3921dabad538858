/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Windows has no device nodes, no WSL, no set-uid programs and no fork. */
#include "lib/base/machine.h"

#include <stdlib.h>

bool gr_machine_is_wsl(void)
{
    return false;
}

bool gr_machine_has_nodes(void)
{
    return false;
}

bool gr_machine_is_tegra(void)
{
    return false;
}

const char *gr_machine_node(const char *path)
{
    (void)path;
    return "not there";
}

const char *gr_machine_setting(const char *name)
{
    return getenv(name);
}

void gr_machine_watch_fork(void (*in_child)(void))
{
    (void)in_child;
}

/* Windows ends the threads first. */
bool gr_machine_exits_with_threads(void)
{
    return false;
}

size_t gr_machine_page(void)
{
    return 4096;
}
