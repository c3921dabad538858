/* SPDX-License-Identifier: Apache-2.0 */
/* Loading files of code with dlopen(). */
#include "lib/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
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

void gr_loader_own_folder(char *folder, size_t size)
{
    static const char inside;
    Dl_info self;
    const char *slash = NULL;
    if (dladdr(&inside, &self) && self.dli_fname)
        slash = strrchr(self.dli_fname, '/');
    snprintf(folder, size, "%.*s", slash ? (int)(slash - self.dli_fname) : 1,
             slash ? self.dli_fname : ".");
}

bool gr_loader_can_read(const char *path)
{
    return access(path, R_OK) == 0;
}
