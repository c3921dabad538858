/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads libraries at run time. Each system has its own implementation (loader_posix.c,
 * loader_windows.c).
 */
#ifndef GR_LIB_LOADER_H
#define GR_LIB_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef _WIN32
#define GR_REAL_DRIVER "nvcuda.dll"
#define GR_LOADER_CALL "LoadLibraryExW"
#else
#define GR_REAL_DRIVER "libcuda.so.1"
#define GR_LOADER_CALL "dlopen"
#endif

/* The size of a buffer for any path that grinterop builds. */
#define GR_PATH_SIZE 4096

/* Loads a library. NULL if the file cannot be loaded; `why` receives the system's message. */
void *gr_loader_open(const char *path, char *why, size_t size);
void *gr_loader_symbol(void *file, const char *name);
void gr_loader_close(void *file);

/*
 * Finds a loaded library that defines `symbol`, whatever its name and scope, at another address
 * than `except`. Writes the path of the library; false if there is none.
 */
bool gr_loader_loaded(const char *symbol, const void *except, char *path, size_t size);

/* Returns the folder from which grinterop was loaded; "." if unknown. */
void gr_loader_own_folder(char *folder, size_t size);

bool gr_loader_can_read(const char *path);

/*
 * Keeps the file that contains grinterop loaded: the shared library, or a plug-in that contains the
 * static one. It is called at the first thing that may call grinterop at any time: a driver, an
 * object of the program, a thread or an exit handler. Until then dlclose() unloads the file. The
 * handlers of fork() need no call: dlclose() removes them.
 */
void gr_loader_stay(void);

#endif
