/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Files of code that are loaded at run time: the system's part (loader_posix.c, loader_windows.c).
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

/* Room for any path that grinterop makes. */
#define GR_PATH_SIZE 4096

/* NULL, with the system's words in `why`, if the file can't be loaded. */
void *gr_loader_open(const char *path, char *why, size_t size);
void *gr_loader_symbol(void *file, const char *name);
void gr_loader_close(void *file);

/*
 * The path of the file that the program has this symbol from, or that is in the process under this
 * name and has it; false if there is none.
 */
bool gr_loader_loaded(const char *name, const char *symbol, char *path, size_t size);

/* The folder that grinterop itself was loaded from; "." where the system does not tell. */
void gr_loader_own_folder(char *folder, size_t size);

bool gr_loader_can_read(const char *path);

#endif
