/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See soft_semaphores.h. */
#include "soft_semaphores.h"

#include <dlfcn.h>
#include <string.h>

#include "support.h"

struct soft_semaphore_api soft;

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol, "the software driver has no %s", name);
    memcpy(function, &symbol, sizeof(symbol));
}

bool soft_semaphores_load(void)
{
    if (!gr_cuda_is_software())
        return false;
    void *library = dlopen(gr_cuda_driver_path(), RTLD_LAZY | RTLD_NOLOAD);
    ck_assert_msg(library, "%s", dlerror());
    find(library, "gr_softcuda_semaphore_create", &soft.create);
    find(library, "gr_softcuda_semaphore_open", &soft.open);
    find(library, "gr_softcuda_semaphore_close", &soft.close);
    find(library, "gr_softcuda_semaphore_signal", &soft.signal);
    find(library, "gr_softcuda_semaphore_value", &soft.value);
    find(library, "gr_softcuda_semaphore_wait", &soft.wait);
    dlclose(library);
    return true;
}
