/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads DLLs with LoadLibraryExW(). Paths use the code page of getenv(). */
#include "lib/base/loader.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <windows.h>

static void write_reason(char *why, size_t size)
{
    char words[200] = "";
    DWORD code = GetLastError();
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                  code, 0, words, sizeof(words), NULL);
    /* Messages of the system end with a full stop and a line break, which are removed. */
    while (length > 0 && strchr("\r\n. ", words[length - 1]))
        words[--length] = '\0';
    snprintf(why, size, "%s (error %lu)", length ? words : "no reason given", code);
}

void *gr_loader_open(const char *path, char *why, size_t size)
{
    wchar_t wide[GR_PATH_SIZE], full[GR_PATH_SIZE];
    HMODULE file = NULL;
    if (MultiByteToWideChar(CP_ACP, 0, path, -1, wide, GR_PATH_SIZE) <= 0) {
        write_reason(why, size);
        return NULL;
    }
    if (!strpbrk(path, "/\\")) {
        /*
         * A name without a folder selects a file of the system folder, not of the current folder.
         */
        file = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    } else {
        DWORD length = GetFullPathNameW(wide, GR_PATH_SIZE, full, NULL);
        if (length > 0 && length < GR_PATH_SIZE)
            file = LoadLibraryExW(full, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    }
    if (!file)
        write_reason(why, size);
    return file;
}

void *gr_loader_symbol(void *file, const char *name)
{
    FARPROC function = GetProcAddress(file, name);
    void *symbol;
    memcpy(&symbol, &function, sizeof(symbol));
    return symbol;
}

void gr_loader_close(void *file)
{
    FreeLibrary(file);
}

/* There is no software driver for Windows, which this function would find. */
bool gr_loader_loaded(const char *symbol, const void *except, char *path, size_t size)
{
    (void)symbol, (void)except, (void)path, (void)size;
    return false;
}

void gr_loader_own_folder(char *folder, size_t size)
{
    static const char inside;
    HMODULE self = NULL;
    char path[GR_PATH_SIZE] = "";
    const DWORD flags =
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (GetModuleHandleExA(flags, &inside, &self))
        GetModuleFileNameA(self, path, sizeof(path));
    const char *slash = strrchr(path, '\\');
    snprintf(folder, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

void gr_loader_stay(void)
{
    static const char inside;
    static atomic_bool tried;
    HMODULE self;
    if (atomic_exchange_explicit(&tried, true, memory_order_relaxed))
        return;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       &inside, &self);
}

bool gr_loader_can_read(const char *path)
{
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
}
