/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuLibrary... and cuKernel...: modules that are loaded without a context, and their kernels. */
#include "softcuda/driver/kernel/module.h"

/*
 * Checks the arrays of options. The options themselves have no effect: they control a compiler that
 * does not exist here, or the time of loading.
 */
static bool options_are_there(unsigned jit, const void *jit_options, void **jit_values,
                              unsigned library, const void *library_options)
{
    return (jit == 0 || (jit_options && jit_values)) && (library == 0 || library_options);
}

/* Loads the file at the path or, if the path is NULL, the image in memory. */
static CUresult load(CUlibrary *library, const void *image, const char *path, bool has_options)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!library || (!image && !path) || !has_options, CUDA_ERROR_INVALID_VALUE);
    void *object;
    SOFT_TRY(path ? soft_image_open_file(path, &object) : soft_image_open(image, &object));
    SOFT_GET(soft_module *, module, soft_module_new(NULL, SOFT_KIND_LIBRARY, object, &module));
    *library = module->owned.handle;
    return CUDA_SUCCESS;
}

SOFT_API cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptionValues;
    return load(library, code, NULL,
                options_are_there(numJitOptions, jitOptions, jitOptionsValues, numLibraryOptions,
                                  libraryOptions));
}

SOFT_API cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    (void)libraryOptionValues;
    return load(library, NULL, fileName,
                options_are_there(numJitOptions, jitOptions, jitOptionsValues, numLibraryOptions,
                                  libraryOptions));
}

SOFT_API cuLibraryUnload(CUlibrary library)
{
    SOFT_TRY(soft_check_init());
    soft_module *module = soft_handle_drop(SOFT_KIND_LIBRARY, library);
    SOFT_FAIL_IF(!module, CUDA_ERROR_INVALID_HANDLE);
    soft_module_close(module);
    return CUDA_SUCCESS;
}

SOFT_API cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!pKernel || !name, CUDA_ERROR_INVALID_VALUE);
    soft_function *function;
    SOFT_TRY(soft_function_find(SOFT_KIND_LIBRARY, library, name, &function));
    *pKernel = function->kernel_handle;
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuLibraryGetGlobal,
             (CUdeviceptr * dptr, size_t *bytes, CUlibrary library, const char *name),
             soft_module_global(SOFT_KIND_LIBRARY, library, name, dptr, bytes))

SOFT_API cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_FAIL_IF(!pFunc, CUDA_ERROR_INVALID_VALUE);
    soft_function *function = soft_handle_get(SOFT_KIND_KERNEL, kernel);
    SOFT_FAIL_IF(!function, CUDA_ERROR_INVALID_HANDLE);
    *pFunc = function->function_handle;
    return CUDA_SUCCESS;
}

SOFT_API cuKernelGetName(const char **name, CUkernel hfunc)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!name || !hfunc, CUDA_ERROR_INVALID_VALUE);
    soft_function *function = soft_handle_get(SOFT_KIND_KERNEL, hfunc);
    SOFT_FAIL_IF(!function, CUDA_ERROR_INVALID_HANDLE);
    *name = function->kernel->name;
    return CUDA_SUCCESS;
}
