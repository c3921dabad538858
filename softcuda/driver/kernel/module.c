/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuModule...: modules of contexts, and their global variables. */
#include "softcuda/driver/kernel/module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * A variable that the application has looked up. It is a known range until the module is unloaded.
 */
typedef struct soft_global {
    struct soft_global *next;
    void *address;
} soft_global;

static void unload(void *module)
{
    soft_module_close(module);
}

SOFT_OWNED_LIST(modules, SOFT_KIND_MODULE, unload)

CUresult soft_module_new(soft_context *context, enum soft_kind kind, void *object,
                         soft_module **module)
{
    soft_module *m = calloc(1, sizeof(*m));
    void *handle = m ? soft_handle_new(kind, m) : NULL;
    if (!handle) {
        free(m);
        dlclose(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    m->owned.context = context;
    m->holds = 1;
    m->owned.handle = handle;
    m->object = object;
    pthread_mutex_init(&m->lock, NULL);
    soft_owned_add(&modules, &m->owned);
    *module = m;
    return CUDA_SUCCESS;
}

void soft_module_close(soft_module *module)
{
    soft_owned_remove(&modules, &module->owned);
    soft_function_free_all(module);
    while (module->globals) {
        soft_global *global = module->globals;
        module->globals = global->next;
        soft_range_remove(global->address, SOFT_MEMORY_DEVICE, NULL);
        free(global);
    }
    soft_module_release(module);
}

void soft_module_hold(soft_module *module)
{
    atomic_fetch_add_explicit(&module->holds, 1, memory_order_relaxed);
}

void soft_module_release(soft_module *module)
{
    if (atomic_fetch_sub_explicit(&module->holds, 1, memory_order_acq_rel) != 1)
        return;
    dlclose(module->object);
    pthread_mutex_destroy(&module->lock);
    free(module);
}

/*
 * Finds a variable of the module itself: dlsym() also finds functions, and symbols of the module's
 * dependencies.
 */
static bool find_variable(soft_module *module, const char *name, void **address, size_t *size)
{
    struct link_map *map = NULL;
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *extra = NULL;
    *address = dlsym(module->object, name);
    if (!*address || dlinfo(module->object, RTLD_DI_LINKMAP, &map) != 0 ||
        !dladdr1(*address, &info, &extra, RTLD_DL_SYMENT) || !extra)
        return false;
    symbol = extra;
    *size = symbol->st_size;
    return (ElfW(Addr))info.dli_fbase == map->l_addr && info.dli_saddr == *address &&
           ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && *size > 0;
}

static CUresult add_global(soft_module *module, void *address, size_t size)
{
    for (soft_global *g = module->globals; g; g = g->next)
        if (g->address == address)
            return CUDA_SUCCESS;
    soft_global *global = calloc(1, sizeof(*global));
    SOFT_FAIL_IF(!global, CUDA_ERROR_OUT_OF_MEMORY);
    const soft_range range = {.base = address,
                              .size = size,
                              .kind = SOFT_MEMORY_DEVICE,
                              .what = "a variable of a module",
                              .context = module->owned.context,
                              .owner = module};
    CUresult result = soft_range_add(&range);
    if (result != CUDA_SUCCESS) {
        free(global);
        return result;
    }
    global->address = address;
    global->next = module->globals;
    module->globals = global;
    return CUDA_SUCCESS;
}

CUresult soft_module_global(enum soft_kind kind, const void *handle, const char *name,
                            CUdeviceptr *address, size_t *size)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_module *module = soft_handle_get(kind, handle);
    SOFT_FAIL_IF(!module, CUDA_ERROR_INVALID_HANDLE);
    SOFT_FAIL_IF(!name || (!address && !size), CUDA_ERROR_INVALID_VALUE);
    void *found;
    size_t bytes;
    SOFT_FAIL_IF(!find_variable(module, name, &found, &bytes), CUDA_ERROR_NOT_FOUND);
    SOFT_LOCK(&module->lock);
    SOFT_TRY(add_global(module, found, bytes));
    if (address)
        *address = (CUdeviceptr)(uintptr_t)found;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

/* Loads a file, or an image in memory if there is no path. */
static CUresult load(CUmodule *module, const char *path, const void *image)
{
    void *object;
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!module || (!path && !image), CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(path ? soft_image_open_file(path, &object) : soft_image_open(image, &object));
    SOFT_GET(soft_module *, made, soft_module_new(context, SOFT_KIND_MODULE, object, &made));
    *module = made->owned.handle;
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuModuleLoad, (CUmodule * module, const char *fname), load(module, fname, NULL))
SOFT_FORWARD(cuModuleLoadData, (CUmodule * module, const void *image), load(module, NULL, image))

/* Empties the log buffers of the caller, who may print them: nothing is compiled here. */
static void empty_logs(unsigned count, const CUjit_option *options, void **values)
{
    static const struct {
        CUjit_option buffer, size;
    } logs[] = {
        {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES},
        {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
    };
    for (size_t k = 0; k < sizeof(logs) / sizeof(*logs); k++) {
        char *buffer = NULL;
        void **size = NULL;
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == logs[k].buffer)
                buffer = values[i];
            if (options[i] == logs[k].size)
                size = &values[i];
        }
        if (!size)
            continue;
        if (buffer && (unsigned)(uintptr_t)*size > 0)
            *buffer = '\0';
        *size = NULL;
    }
}

SOFT_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues)
{
    if (numOptions > 0 && (!options || !optionValues)) {
        CUresult result = soft_check_context(NULL);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    }
    empty_logs(numOptions, options, optionValues);
    return cuModuleLoadData(module, image);
}

SOFT_FORWARD(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin),
             cuModuleLoadData(module, fatCubin))

SOFT_API cuModuleUnload(CUmodule hmod)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_module *module = soft_handle_drop(SOFT_KIND_MODULE, hmod);
    SOFT_FAIL_IF(!module, CUDA_ERROR_INVALID_HANDLE);
    /*
     * Copies to the module's globals may be queued, so wait for them. Ignore a sticky error of the
     * context.
     */
    (void)soft_context_wait(module->owned.context);
    soft_module_close(module);
    return CUDA_SUCCESS;
}

SOFT_API cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_FAIL_IF(!hfunc || !name || !*name, CUDA_ERROR_INVALID_VALUE);
    soft_function *function;
    SOFT_TRY(soft_function_find(SOFT_KIND_MODULE, hmod, name, &function));
    *hfunc = function->function_handle;
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuModuleGetGlobal_v2,
             (CUdeviceptr * dptr, size_t *bytes, CUmodule hmod, const char *name),
             soft_module_global(SOFT_KIND_MODULE, hmod, name, dptr, bytes))

/* Kernels are loaded together with their module. */
SOFT_API cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!mode, CUDA_ERROR_INVALID_VALUE);
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
