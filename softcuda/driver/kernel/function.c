/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels as CUfunction: lookup, attributes, parameters and occupancy. */
#include "softcuda/driver/kernel/module.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_PREFIX "gr_cuhost_kernel_"

/*
 * The number for compute capability 8.0, which the software device reports. On this device a
 * multiprocessor is a CPU core.
 */
#define MAX_THREADS_OF_MULTIPROCESSOR 2048

static const gr_cuhost_kernel *find_record(soft_module *module, const char *name)
{
    char *symbol = NULL;
    if (asprintf(&symbol, RECORD_PREFIX "%s", name) < 0)
        return NULL;
    const gr_cuhost_kernel *record = dlsym(module->object, symbol);
    free(symbol);
    if (!record && dlsym(module->object, name))
        soft_log(SOFT_WARN,
                 "the module has a symbol %s, but no GR_KERNEL(%s) or GR_KERNEL_SYNC(%s) line",
                 name, name, name);
    return record;
}

static soft_function *new_function(soft_module *module, const gr_cuhost_kernel *record)
{
    soft_function *function = calloc(1, sizeof(*function));
    if (!function)
        return NULL;
    function->module = module;
    function->kernel = record;
    function->max_dynamic_shared = SOFT_SHARED;
    function->carveout = -1;
    function->function_handle = soft_handle_new(SOFT_KIND_FUNCTION, function);
    if (!module->owned.context)
        function->kernel_handle = soft_handle_new(SOFT_KIND_KERNEL, function);
    if (!function->function_handle || (!module->owned.context && !function->kernel_handle)) {
        soft_handle_drop(SOFT_KIND_FUNCTION, function->function_handle);
        free(function);
        return NULL;
    }
    function->next = module->functions;
    module->functions = function;
    return function;
}

CUresult soft_function_find(enum soft_kind kind, const void *handle, const char *name,
                            soft_function **function)
{
    soft_module *module = soft_handle_get(kind, handle);
    SOFT_FAIL_IF(!module, CUDA_ERROR_INVALID_HANDLE);
    const gr_cuhost_kernel *record = find_record(module, name);
    if (record)
        return soft_function_of(module, record, function);
    soft_log(SOFT_WARN,
             "the module has no kernel %s: declare it extern \"C\", and write GR_KERNEL(%s) below "
             "it, unless grinterop-nvcc compiles it",
             name, name);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult soft_function_of(soft_module *module, const gr_cuhost_kernel *record,
                          soft_function **function)
{
    if (record->abi != GR_CUHOST_ABI || record->size != sizeof(*record)) {
        soft_log(SOFT_WARN,
                 "kernel %s was built with version %u of the records in grinterop/cuhost.h, but "
                 "this driver has %u: rebuild the module",
                 record->name, (unsigned)record->abi, GR_CUHOST_ABI);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    SOFT_LOCK(&module->lock);
    soft_function *found = module->functions;
    while (found && found->kernel != record)
        found = found->next;
    if (!found)
        found = new_function(module, record);
    *function = found;
    return found ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

soft_function *soft_function_get(const void *handle)
{
    soft_function *function = soft_handle_get(SOFT_KIND_FUNCTION, handle);
    return function ? function : soft_handle_get(SOFT_KIND_KERNEL, handle);
}

void soft_function_free_all(soft_module *module)
{
    while (module->functions) {
        soft_function *function = module->functions;
        module->functions = function->next;
        soft_handle_drop(SOFT_KIND_FUNCTION, function->function_handle);
        soft_handle_drop(SOFT_KIND_KERNEL, function->kernel_handle);
        free(function);
    }
}

/* Finds the function; CUDA_ERROR_INVALID_HANDLE for an invalid handle. */
static CUresult get(const void *handle, soft_function **function)
{
    SOFT_TRY(soft_check_init());
    *function = soft_function_get(handle);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SOFT_API cuFuncGetName(const char **name, CUfunction hfunc)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!name || !hfunc, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(soft_function *, function, get(hfunc, &function));
    *name = function->kernel->name;
    return CUDA_SUCCESS;
}

SOFT_API cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    SOFT_GET(soft_function *, function, get(hfunc, &function));
    SOFT_FAIL_IF(!hmod, CUDA_ERROR_INVALID_VALUE);
    /* Kernels of a library belong to no CUmodule. */
    SOFT_FAIL_IF(!function->module->owned.context, CUDA_ERROR_NOT_SUPPORTED);
    *hmod = function->module->owned.handle;
    return CUDA_SUCCESS;
}

SOFT_API cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                            size_t *paramSize)
{
    SOFT_GET(soft_function *, function, get(func, &function));
    SOFT_FAIL_IF(!paramOffset || paramIndex >= function->kernel->param_count,
                 CUDA_ERROR_INVALID_VALUE);
    *paramOffset = function->kernel->param_offsets[paramIndex];
    if (paramSize)
        *paramSize = function->kernel->param_sizes[paramIndex];
    return CUDA_SUCCESS;
}

SOFT_API cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    SOFT_GET(soft_function *, function, get(hfunc, &function));
    SOFT_FAIL_IF(!pi || (int)attrib < 0 || attrib >= CU_FUNC_ATTRIBUTE_MAX,
                 CUDA_ERROR_INVALID_VALUE);
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *pi = SOFT_MAX_THREADS;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *pi = atomic_load(&function->max_dynamic_shared);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *pi = atomic_load(&function->carveout);
        break;
    default:
        /*
         * A host compiler's function has no registers, no static shared and local memory, and no
         * version of GPU code.
         */
        *pi = 0;
        break;
    }
    return CUDA_SUCCESS;
}

SOFT_API cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    SOFT_GET(soft_function *, function, get(hfunc, &function));
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        SOFT_FAIL_IF(value < 0 || value > (int)GR_CUHOST_SHARED_MAX, CUDA_ERROR_INVALID_VALUE);
        atomic_store(&function->max_dynamic_shared, value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        SOFT_FAIL_IF(value < -1 || value > 100, CUDA_ERROR_INVALID_VALUE);
        atomic_store(&function->carveout, value);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The setting is a hint, which GPU drivers may ignore as well. */
SOFT_API cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    SOFT_GET(soft_function *, function, get(hfunc, &function));
    return config <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags)
{
    SOFT_GET(soft_function *, function, get(func, &function));
    SOFT_FAIL_IF(!numBlocks || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE,
                 CUDA_ERROR_INVALID_VALUE);
    if (blockSize > SOFT_MAX_THREADS ||
        dynamicSMemSize > (size_t)atomic_load(&function->max_dynamic_shared))
        *numBlocks = 0;
    else
        *numBlocks = MAX_THREADS_OF_MULTIPROCESSOR / blockSize;
    if (dynamicSMemSize > 0 && *numBlocks > 0 &&
        (size_t)*numBlocks > GR_CUHOST_SHARED_MAX / dynamicSMemSize)
        *numBlocks = (int)(GR_CUHOST_SHARED_MAX / dynamicSMemSize);
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor,
             (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
             cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                  dynamicSMemSize, 0))

/* The number of threads in the largest block of whole warps whose shared memory fits. */
static int potential_block(soft_function *function, CUoccupancyB2DSize shared_of, size_t shared,
                           int limit)
{
    int block = limit;
    for (; block > 0; block = (block - 1) / 32 * 32)
        if ((shared_of ? shared_of(block) : shared) <=
            (size_t)atomic_load(&function->max_dynamic_shared))
            break;
    return block;
}

SOFT_API cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags)
{
    SOFT_GET(soft_function *, function, get(func, &function));
    SOFT_FAIL_IF(!minGridSize || !blockSize || blockSizeLimit < 0 ||
                     flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE,
                 CUDA_ERROR_INVALID_VALUE);
    int limit = blockSizeLimit == 0 || blockSizeLimit > SOFT_MAX_THREADS ? SOFT_MAX_THREADS
                                                                         : blockSizeLimit;
    int block = potential_block(function, blockSizeToDynamicSMemSize, dynamicSMemSize, limit);
    SOFT_FAIL_IF(block == 0, CUDA_ERROR_INVALID_VALUE);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *blockSize = block;
    *minGridSize = (processors > 0 ? (int)processors : 1) * (MAX_THREADS_OF_MULTIPROCESSOR / block);
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuOccupancyMaxPotentialBlockSize,
             (int *minGridSize, int *blockSize, CUfunction func,
              CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
              int blockSizeLimit),
             cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                       blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                       blockSizeLimit, 0))
