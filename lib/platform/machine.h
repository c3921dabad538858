/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the machine is, for messages that name the cause, and what it tells a process: the system's
 * part (machine_posix.c, machine_windows.c).
 */
#ifndef GR_LIB_MACHINE_H
#define GR_LIB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this is Linux on Windows, where Windows's driver has the GPU. */
bool gr_machine_is_wsl(void);

/* Whether the driver comes to the GPU by device nodes. */
bool gr_machine_has_nodes(void);

/* Whether this is a Tegra, such as Jetson, whose GPU has device nodes of its own. */
bool gr_machine_is_tegra(void);

/* Of a device node: "there", "not there" or "closed to this user". */
const char *gr_machine_node(const char *path);

/*
 * A variable of the environment; NULL where it is not set, and in a program that has more rights
 * than who started it (set-uid), whose code and files that one must not choose.
 */
const char *gr_machine_setting(const char *name);

/* Calls `in_child` in each forked child from now on, before anything else there. */
void gr_machine_watch_fork(void (*in_child)(void));

/* Bytes of a page of memory. */
size_t gr_machine_page(void);

#endif
