/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads shared objects with dlopen(). */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "lib/base/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

void *gr_loader_open(const char *path, char *why, size_t size)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!file) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "no reason given");
    }
    return file;
}

void *gr_loader_symbol(void *file, const char *name)
{
    return dlsym(file, name);
}

void gr_loader_close(void *file)
{
    dlclose(file);
}

struct nth_library {
    size_t n;
    char *path;
    size_t size;
};

static int copy_nth(struct dl_phdr_info *info, size_t info_size, void *user)
{
    struct nth_library *nth = user;
    (void)info_size;
    if (nth->n-- > 0)
        return 0;
    snprintf(nth->path, nth->size, "%s", info->dlpi_name);
    return 1;
}

/*
 * Each library is opened outside of dl_iterate_phdr(), which holds a lock of the loader. The
 * program itself has no name and is skipped.
 */
bool gr_loader_loaded(const char *symbol, const void *except, char *path, size_t size)
{
    Dl_info info;
    for (size_t i = 0; dl_iterate_phdr(copy_nth, &(struct nth_library){i, path, size}); i++) {
        void *file = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *address = file ? dlsym(file, symbol) : NULL;
        if (file)
            dlclose(file);
        if (address && address != except && dladdr(address, &info) && info.dli_fname)
            return snprintf(path, size, "%s", info.dli_fname) < (int)size;
    }
    return false;
}

void gr_loader_own_folder(char *folder, size_t size)
{
    static const char inside;
    char path[GR_PATH_SIZE];
    Dl_info self, program;
    const char *file = NULL;
    if (dladdr(&inside, &self))
        file = self.dli_fname;
    /*
     * For a static grinterop dladdr() reports the name by which the program was started, which the
     * caller of the program chooses.
     */
    if (file && dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
        program.dli_fbase == self.dli_fbase) {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
        if (length > 0) {
            path[length] = '\0';
            file = path;
        }
    }
    const char *slash = file ? strrchr(file, '/') : NULL;
    snprintf(folder, size, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
}

/* Tries once: dlopen() always fails for the file of a program, which cannot be unloaded. */
void gr_loader_stay(void)
{
    static const char inside;
    static atomic_bool tried;
    Dl_info self;
    if (atomic_load_explicit(&tried, memory_order_relaxed) ||
        atomic_exchange_explicit(&tried, true, memory_order_relaxed))
        return;
    if (dladdr(&inside, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool gr_loader_can_read(const char *path)
{
    return access(path, R_OK) == 0;
}
