/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See driver_symbol.h. */
#define _GNU_SOURCE
#include "driver_symbol.h"

#include <dlfcn.h>

static void *library;

void driver_symbols_of(const char *path)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library, "%s", dlerror());
}

driver_call driver_symbol(const char *name)
{
    driver_call call = NULL;
    if (!library) {
        assert_ok(gr_cuda_load(false));
        driver_symbols_of(gr_cuda_driver_path());
    }
    *(void **)(void *)&call = dlsym(library, name);
    ck_assert_msg(call, "the driver has no %s", name);
    return call;
}
