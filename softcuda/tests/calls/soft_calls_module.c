/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Modules, libraries, and their variables. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include "tests/support/child_check.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t image_size(void)
{
    return (size_t)(soft_kernels()->host_end - soft_kernels()->host);
}

CUmodule new_module(void)
{
    CUmodule module = NULL;
    DRV(cuModuleLoadData, (&module, soft_kernels()->host));
    return module;
}

CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    DRV(cuModuleGetFunction, (&function, module, name));
    return function;
}

GROUP("modules", add_case)

/* Writes the first bytes of the image to a file, which the caller unlinks. */
static void write_image(char path[], const void *bytes, size_t size)
{
    strcpy(path, "/tmp/soft-calls-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_assert_int_eq(close(fd), 0);
}

SOFT_TEST(modules_can_be_loaded_from_files)
{
    char path[32];
    CUmodule module = NULL;
    write_image(path, soft_kernels()->host, image_size());
    DRV(cuModuleLoad, (&module, path));
    ck_assert_ptr_ne(function_of(module, "add_counters"), NULL);
    DRV(cuModuleUnload, (module));
    unlink(path);
    GIVES(ERROR_FILE_NOT_FOUND, cuModuleLoad, (&module, path));
    INVALID(cuModuleLoad, (&module, ""));
}

/* Catches: the message about a file that is no module did not name the file. */
SAYS(module_of_a_text, ": /tmp/soft-calls-", " is neither a shared object")
{
    char path[32];
    CUmodule module = NULL;
    fixture_setup();
    write_image(path, "a text", 6);
    CUresult result = DRIVER(cuModuleLoad)(&module, path);
    unlink(path);
    child_check(result == CUDA_ERROR_INVALID_IMAGE);
    return 0;
}

/* A file may be cut off at any length. */
SOFT_TEST(truncated_module_files_are_refused)
{
    const size_t sizes[] = {0, 10, sizeof(ElfW(Ehdr)) + 8, image_size() / 2, image_size() - 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char path[32];
        CUmodule module = NULL;
        CUlibrary library = NULL;
        write_image(path, soft_kernels()->host, sizes[i]);
        CUresult loaded = DRIVER(cuModuleLoad)(&module, path);
        CUresult as_library =
            DRIVER(cuLibraryLoadFromFile)(&library, path, NULL, NULL, 0, NULL, NULL, 0);
        unlink(path);
        ck_assert_int_eq(loaded, CUDA_ERROR_INVALID_IMAGE);
        ck_assert_int_eq(as_library, CUDA_ERROR_INVALID_IMAGE);
    }
}

SOFT_TEST(images_that_are_no_modules_are_refused)
{
    CUmodule module = NULL;
    ElfW(Ehdr) *copy = must_allocate(image_size());
    memcpy(copy, soft_kernels()->host, image_size());
    const ElfW(Ehdr) good = *copy;
#define LOAD(code, change)                                                                         \
    do {                                                                                           \
        *copy = good;                                                                              \
        copy->change;                                                                              \
        assert_result(CUDA_##code, DRIVER(cuModuleLoadData)(&module, copy), #change);              \
    } while (0)
    LOAD(ERROR_INVALID_IMAGE, e_ident[EI_CLASS] = ELFCLASS32);
    LOAD(ERROR_INVALID_IMAGE, e_machine = EM_68K);
    LOAD(ERROR_NO_BINARY_FOR_GPU, e_machine = 190); /* a GPU */
    LOAD(ERROR_INVALID_IMAGE, e_type = ET_EXEC);
    LOAD(ERROR_INVALID_IMAGE, e_phentsize++);
    LOAD(ERROR_INVALID_IMAGE, e_version = 99); /* the loader refuses this version */
#undef LOAD
    free(copy);
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, "/* a comment */ .version 8.0"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, "// \n//\n\n.version 8.0\n.target"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, "\x50\xed\x55\xba\1\0\0\0"));
    if (soft_kernels()->gpu != soft_kernels()->gpu_end)
        GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, soft_kernels()->gpu));
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, "/* that has no end .version 8.0"));
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, "// of one line .version 8.0"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadFatBinary, (&module, "\xb1\x43\x62\x46\1\0\0\0"));
    ck_assert_ptr_eq(module, NULL);
}

/* Nothing is compiled, so the logs of the compiler are empty. */
SOFT_TEST(compiler_logs_are_empty)
{
    char info[8] = "before", error[8] = "before";
    CUmodule module = NULL;
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_LOG_VERBOSE};
    void *values[] = {info, (void *)sizeof(info), (void *)sizeof(error), error, (void *)1};
    DRV(cuModuleLoadDataEx, (&module, soft_kernels()->host, 5, options, values));
    ck_assert_str_eq(info, "");
    ck_assert_str_eq(error, "");
    ck_assert_ptr_eq(values[1], NULL);
    ck_assert_ptr_eq(values[2], NULL);
    ck_assert_ptr_eq(values[4], (void *)1);
    /* A log of size 0 stays unchanged. */
    strcpy(info, "before");
    values[1] = NULL;
    DRV(cuModuleLoadDataEx, (&module, soft_kernels()->host, 2, options, values));
    ck_assert_str_eq(info, "before");
    INVALID(cuModuleLoadDataEx, (&module, soft_kernels()->host, 1, NULL, values));
    INVALID(cuModuleLoadDataEx, (&module, soft_kernels()->host, 1, options, NULL));
    CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
    READS(mode, CU_MODULE_EAGER_LOADING, cuModuleGetLoadingMode, (&mode));
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* Runs add_counters with the factor 2. */
static unsigned twice_the_sum(CUfunction function)
{
    unsigned sum = 0;
    CUdeviceptr out = soft_memory(&sum, sizeof(sum));
    struct {
        unsigned char factor;
        double rest;
    } by = {2, 0};
    void *parameters[] = {&out, &by};
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, parameters, NULL));
    return soft_word(out);
}

SOFT_TEST(module_variables_can_be_copied)
{
    CUmodule module = new_module();
    CUdeviceptr counters = 0, again = 0;
    size_t size = 0;
    unsigned numbers[4] = {0}, expected[4] = {1, 2, 3, 4};
    READS(size, sizeof(numbers), cuModuleGetGlobal_v2, (&counters, &size, module, "counters"));
    DRV(cuMemcpyDtoH_v2, (numbers, counters, size));
    ck_assert_mem_eq(numbers, expected, sizeof(numbers));
    READS(again, counters, cuModuleGetGlobal_v2, (&again, NULL, module, "counters"));
    READS(size, sizeof(numbers), cuModuleGetGlobal_v2, (NULL, &size, module, "counters"));
    /* A kernel reads the values that cuMemsetD32 has set in the variable. */
    DRV(cuMemsetD32_v2, (counters, 10, 4));
    CU(CtxSynchronize());
    ck_assert_uint_eq(twice_the_sum(function_of(module, "add_counters")), 80);
    INVALID(cuMemsetD32_v2, (counters, 10, 5));
    INVALID(cuMemFree_v2, (counters));
    INVALID(cuMemFreeAsync, (counters, fx.stream));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&again, &size, module, "no_such_variable"));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&again, &size, module, "round_each"));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2,
          (&again, &size, module, "environ")); /* a variable of the C library */
    INVALID(cuModuleGetGlobal_v2, (&again, &size, module, NULL));
    INVALID(cuModuleGetGlobal_v2, (NULL, NULL, module, "counters"));
    DRV(cuModuleUnload, (module));
    INVALID(cuMemcpyDtoH_v2, (numbers, counters, sizeof(numbers)));
    GIVES(ERROR_INVALID_HANDLE, cuModuleGetGlobal_v2, (&again, &size, module, "counters"));
}

/* ---- Libraries ------------------------------------------------------------------------------- */

SOFT_TEST(library_has_kernels_and_variables)
{
    char path[32];
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    CUmodule module = NULL;
    CUdeviceptr counters = 0;
    size_t size = 0;
    write_image(path, soft_kernels()->host, image_size());
    DRV(cuLibraryLoadFromFile, (&library, path, NULL, NULL, 0, NULL, NULL, 0));
    unlink(path);
    DRV(cuLibraryGetKernel, (&kernel, library, "add_counters"));
    DRV(cuKernelGetFunction, (&function, kernel));
    ck_assert_uint_eq(twice_the_sum(function), 20);
    ck_assert_uint_eq(twice_the_sum((CUfunction)kernel), 20);
    READS(size, 4 * sizeof(unsigned), cuLibraryGetGlobal, (&counters, &size, library, "counters"));
    DRV(cuMemsetD32_v2, (counters, 1, 4));
    CU(CtxSynchronize());
    ck_assert_uint_eq(twice_the_sum(function), 8);
    GIVES(ERROR_NOT_SUPPORTED, cuFuncGetModule, (&module, function));
    GIVES(ERROR_NOT_FOUND, cuLibraryGetKernel, (&kernel, library, "no_such_kernel"));
    INVALID(cuKernelGetFunction, (NULL, kernel));
    GIVES(ERROR_INVALID_HANDLE, cuKernelGetFunction, (&function, (CUkernel)function));
#if CUDA_VERSION >= 13000
    const char *name = NULL;
    DRV(cuKernelGetName, (&name, kernel));
    ck_assert_str_eq(name, "add_counters");
    GIVES(ERROR_INVALID_HANDLE, cuKernelGetName, (&name, (CUkernel)function));
#endif
    DRV(cuLibraryUnload, (library));
    GIVES(ERROR_INVALID_HANDLE, cuLibraryUnload, (library));
    GIVES(ERROR_INVALID_HANDLE, cuLibraryGetKernel, (&kernel, library, "add_counters"));
    GIVES(ERROR_INVALID_HANDLE, cuKernelGetFunction, (&function, kernel));
    INVALID(cuMemsetD32_v2, (counters, 1, 4));
}

SOFT_TEST(library_options_are_checked)
{
    const void *image = soft_kernels()->host;
    CUlibrary library = NULL;
    CUjit_option option = CU_JIT_LOG_VERBOSE;
    CUlibraryOption hint = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *values[] = {NULL};
    DRV(cuLibraryLoadData, (&library, image, &option, values, 1, &hint, values, 1));
    DRV(cuLibraryUnload, (library));
    INVALID(cuLibraryLoadData, (&library, image, NULL, values, 1, NULL, NULL, 0));
    INVALID(cuLibraryLoadData, (&library, image, &option, NULL, 1, NULL, NULL, 0));
    INVALID(cuLibraryLoadData, (&library, image, NULL, NULL, 0, NULL, values, 1));
    GIVES(ERROR_INVALID_IMAGE, cuLibraryLoadData,
          (&library, "no image", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile,
          (&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
}
