/* SPDX-License-Identifier: Apache-2.0 */
/* Windows has neither device nodes nor another system around it. */
#include "lib/machine.h"

bool gr_machine_is_wsl(void)
{
    return false;
}

const char *gr_machine_node(const char *path)
{
    (void)path;
    return "not there";
}
