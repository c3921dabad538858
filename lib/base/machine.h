/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Properties of the machine for error messages, and services of the operating system. Each system
 * has its own implementation (machine_posix.c, machine_windows.c).
 */
#ifndef GR_LIB_MACHINE_H
#define GR_LIB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/base.h>

/* Whether this is Linux on Windows (WSL), where the Windows driver controls the GPU. */
bool gr_machine_is_wsl(void);

/* Whether the driver accesses the GPU through device nodes. */
bool gr_machine_has_nodes(void);

/* Whether this is a Tegra, such as a Jetson, whose GPU has other device nodes. */
bool gr_machine_is_tegra(void);

/* Returns the state of a device node: "there", "not there" or "not accessible to this user". */
const char *gr_machine_node(const char *path);

/*
 * Reads an environment variable. NULL if it is not set. Also NULL in a set-uid program: it has more
 * rights than its user, so the user must not choose the code and files that it loads.
 */
GR_API const char *gr_machine_setting(const char *name);

/* Registers a function: from now on, each forked child calls `in_child` first. */
void gr_machine_watch_fork(void (*in_child)(void));

/* Whether other threads still run while a library handles the exit of the process. */
bool gr_machine_exits_with_threads(void);

/* Returns the size of a memory page in bytes. */
size_t gr_machine_page(void);

#endif
