/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine is, for messages that name the cause: the system's part (machine_posix.c,
 * machine_windows.c).
 */
#ifndef GR_LIB_MACHINE_H
#define GR_LIB_MACHINE_H

#include <stdbool.h>

/* Whether this is Linux on Windows, where Windows's driver has the GPU. */
bool gr_machine_is_wsl(void);

/* Of a device node: "there", "not there" or "closed to this user". */
const char *gr_machine_node(const char *path);

#endif
