/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, their variables and kernels, and launches. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include "tests/support/child_check.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t image_size(void)
{
    return (size_t)(soft_kernels()->host_end - soft_kernels()->host);
}

static CUmodule new_module(void)
{
    CUmodule module = NULL;
    DRV(cuModuleLoadData, (&module, soft_kernels()->host));
    return module;
}

static CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    DRV(cuModuleGetFunction, (&function, module, name));
    return function;
}

GROUP("modules", add_case)

/* A file of the first bytes of the image, which the caller unlinks. */
static void write_image(char path[], const void *bytes, size_t size)
{
    strcpy(path, "/tmp/soft-calls-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_assert_int_eq(close(fd), 0);
}

TEST(modules_of_files)
{
    need_software();
    char path[32];
    CUmodule module = NULL;
    write_image(path, soft_kernels()->host, image_size());
    DRV(cuModuleLoad, (&module, path));
    ck_assert_ptr_ne(function_of(module, "add_counters"), NULL);
    DRV(cuModuleUnload, (module));
    unlink(path);
    GIVES(ERROR_FILE_NOT_FOUND, cuModuleLoad, (&module, path));
    GIVES(ERROR_INVALID_VALUE, cuModuleLoad, (&module, ""));
}

CHILD(module_of_a_text)
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

/* Catches: the line did not say which file. */
TEST(files_that_are_no_modules)
{
    need_software();
    char said[2048];
    ck_assert_int_eq(child_run("module_of_a_text", said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, ": /tmp/soft-calls-") && strstr(said, " is neither a shared object"),
                  "%s", said);
}

/* Wherever it was cut. */
TEST(files_that_are_cut_off)
{
    need_software();
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

/* A copy of the image, whose header the caller changes. */
static ElfW(Ehdr) * copy_image(void)
{
    void *copy = must_allocate(image_size());
    memcpy(copy, soft_kernels()->host, image_size());
    return copy;
}

TEST(objects_that_are_no_modules)
{
    need_software();
    CUmodule module = NULL;
    ElfW(Ehdr) *copy = copy_image();
    const ElfW(Ehdr) good = *copy;
    copy->e_ident[EI_CLASS] = ELFCLASS32;
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, copy));
    *copy = good;
    copy->e_machine = EM_68K;
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, copy));
    *copy = good;
    copy->e_machine = 190; /* a GPU's */
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, copy));
    *copy = good;
    copy->e_type = ET_EXEC;
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, copy));
    *copy = good;
    copy->e_phentsize++;
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, copy));
    *copy = good;
    copy->e_version = 99; /* which the loader refuses */
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, copy));
    free(copy);
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData, (&module, "/* a comment */ .version 8.0"));
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, "/* that has no end .version 8.0"));
    GIVES(ERROR_INVALID_IMAGE, cuModuleLoadData, (&module, "// of one line .version 8.0"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadFatBinary, (&module, "\xb1\x43\x62\x46\1\0\0\0"));
    ck_assert_ptr_eq(module, NULL);
}

/* Nothing is compiled, so what a compiler would say is nothing. */
TEST(options_of_a_compiler)
{
    need_software();
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
    DRV(cuModuleUnload, (module));
    /* One that has no room stays as it is. */
    strcpy(info, "before");
    values[1] = NULL;
    DRV(cuModuleLoadDataEx, (&module, soft_kernels()->host, 2, options, values));
    ck_assert_str_eq(info, "before");
    DRV(cuModuleUnload, (module));
    GIVES(ERROR_INVALID_VALUE, cuModuleLoadDataEx,
          (&module, soft_kernels()->host, 1, NULL, values));
    GIVES(ERROR_INVALID_VALUE, cuModuleLoadDataEx,
          (&module, soft_kernels()->host, 1, options, NULL));
    CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
    DRV(cuModuleGetLoadingMode, (&mode));
    ck_assert_int_eq(mode, CU_MODULE_EAGER_LOADING);
}

/* ---- Variables ------------------------------------------------------------------------------- */

TEST(variables_of_modules)
{
    need_software();
    CUmodule module = new_module();
    CUdeviceptr counters = 0, again = 0;
    size_t size = 0;
    unsigned numbers[4] = {0}, expected[4] = {1, 2, 3, 4}, sum = 0;
    DRV(cuModuleGetGlobal_v2, (&counters, &size, module, "counters"));
    ck_assert_uint_eq(size, sizeof(numbers));
    DRV(cuMemcpyDtoH_v2, (numbers, counters, size));
    ck_assert_mem_eq(numbers, expected, sizeof(numbers));
    DRV(cuModuleGetGlobal_v2, (&again, NULL, module, "counters"));
    ck_assert_uint_eq(again, counters);
    size = 0;
    DRV(cuModuleGetGlobal_v2, (NULL, &size, module, "counters"));
    ck_assert_uint_eq(size, sizeof(numbers));
    /* A kernel sees what was copied there. */
    DRV(cuMemsetD32_v2, (counters, 10, 4));
    CU(CtxSynchronize());
    CUdeviceptr out = soft_memory(&sum, sizeof(sum));
    struct {
        unsigned char factor;
        double rest;
    } by = {3, 0};
    void *parameters[] = {&out, &by};
    CU(LaunchKernel(function_of(module, "add_counters"), 1, 1, 1, 1, 1, 1, 0, fx.stream, parameters,
                    NULL));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&sum, out, sizeof(sum)));
    ck_assert_uint_eq(sum, 120);
    GIVES(ERROR_INVALID_VALUE, cuMemsetD32_v2, (counters, 10, 5));
    GIVES(ERROR_INVALID_VALUE, cuMemFree_v2, (counters));
    GIVES(ERROR_INVALID_VALUE, cuMemFreeAsync, (counters, fx.stream));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&again, &size, module, "no_such_variable"));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&again, &size, module, "round_each"));
    GIVES(ERROR_NOT_FOUND, cuModuleGetGlobal_v2, (&again, &size, module, "environ")); /* libc's */
    GIVES(ERROR_INVALID_VALUE, cuModuleGetGlobal_v2, (&again, &size, module, NULL));
    GIVES(ERROR_INVALID_VALUE, cuModuleGetGlobal_v2, (NULL, NULL, module, "counters"));
    DRV(cuModuleUnload, (module));
    GIVES(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2, (numbers, counters, sizeof(numbers)));
    GIVES(ERROR_INVALID_HANDLE, cuModuleGetGlobal_v2, (&again, &size, module, "counters"));
    CU(MemFree(out));
}

GROUP("kernels", add_case)

TEST(kernels_that_cannot_be_had)
{
    need_software();
    CUmodule module = new_module();
    CUfunction function = NULL;
    GIVES(ERROR_NOT_FOUND, cuModuleGetFunction, (&function, module, "without_a_line"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleGetFunction, (&function, module, "of_before"));
    ck_assert_ptr_eq(function, NULL);
    DRV(cuModuleUnload, (module));
}

TEST(what_kernels_are_asked)
{
    need_software();
    CUmodule module = new_module(), found = NULL;
    CUfunction function = function_of(module, "add_counters");
    int value = -1;
    ck_assert_ptr_eq(function_of(module, "add_counters"), function);
    DRV(cuFuncGetModule, (&found, function));
    ck_assert_ptr_eq(found, module);
    GIVES(ERROR_INVALID_VALUE, cuFuncGetModule, (NULL, function));
    DRV(cuFuncGetAttribute, (&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    ck_assert_int_eq(value, 1024);
    DRV(cuFuncGetAttribute, (&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    ck_assert_int_eq(value, 0); /* a host's function has no such number */
    GIVES(ERROR_INVALID_VALUE, cuFuncGetAttribute,
          (NULL, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    GIVES(ERROR_INVALID_VALUE, cuFuncGetAttribute, (&value, CU_FUNC_ATTRIBUTE_MAX, function));
    GIVES(ERROR_INVALID_VALUE, cuFuncGetAttribute, (&value, (CUfunction_attribute)-1, function));
    DRV(cuFuncSetCacheConfig, (function, CU_FUNC_CACHE_PREFER_EQUAL));
    GIVES(ERROR_INVALID_VALUE, cuFuncSetCacheConfig, (function, (CUfunc_cache)4));
#if CUDA_VERSION >= 13000
    const char *name = NULL;
    size_t offset = 7, size = 7;
    DRV(cuFuncGetName, (&name, function));
    ck_assert_str_eq(name, "add_counters");
    GIVES(ERROR_INVALID_VALUE, cuFuncGetName, (NULL, function));
    DRV(cuFuncGetParamInfo, (function, 1, &offset, &size));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(size, 16);
    DRV(cuFuncGetParamInfo, (function, 0, &offset, NULL));
    ck_assert_uint_eq(offset, 0);
    GIVES(ERROR_INVALID_VALUE, cuFuncGetParamInfo, (function, 2, &offset, &size));
    GIVES(ERROR_INVALID_VALUE, cuFuncGetParamInfo, (function, 0, NULL, &size));
#endif
    DRV(cuModuleUnload, (module));
    GIVES(ERROR_INVALID_HANDLE, cuFuncGetModule, (&found, function));
}

TEST(attributes_that_are_set)
{
    need_software();
    const CUfunction_attribute shared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    int value = -7;
    DRV(cuFuncGetAttribute, (&value, shared, function));
    ck_assert_int_eq(value, 49152);
    GIVES(ERROR_INVALID_VALUE, cuLaunchKernel,
          (function, 1, 1, 1, 1, 1, 1, 65536, fx.stream, NULL, NULL));
    DRV(cuFuncSetAttribute, (function, shared, 65536));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 65536, fx.stream, NULL, NULL));
    CU(StreamSynchronize(fx.stream));
    DRV(cuFuncGetAttribute, (&value, shared, function));
    ck_assert_int_eq(value, 65536);
    GIVES(ERROR_INVALID_VALUE, cuFuncSetAttribute, (function, shared, 101377));
    GIVES(ERROR_INVALID_VALUE, cuFuncSetAttribute, (function, shared, -1));
    DRV(cuFuncGetAttribute, (&value, carveout, function));
    ck_assert_int_eq(value, -1);
    DRV(cuFuncSetAttribute, (function, carveout, 100));
    DRV(cuFuncGetAttribute, (&value, carveout, function));
    ck_assert_int_eq(value, 100);
    GIVES(ERROR_INVALID_VALUE, cuFuncSetAttribute, (function, carveout, 101));
    GIVES(ERROR_INVALID_VALUE, cuFuncSetAttribute, (function, carveout, -2));
    GIVES(ERROR_INVALID_VALUE, cuFuncSetAttribute, (function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
    DRV(cuModuleUnload, (module));
}

static size_t CUDA_CB kilobyte_per_thread(int threads)
{
    return (size_t)threads * 1024;
}

TEST(occupancy)
{
    need_software();
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    int blocks = -1, grid = 0, block = 0, processors = 0;
    DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 128, 0));
    ck_assert_int_eq(blocks, 16); /* of 2048 threads */
    DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 128, 40000));
    ck_assert_int_eq(blocks, 2); /* of 101376 bytes of shared memory */
    DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 1024, 40000));
    ck_assert_int_eq(blocks, 2);
    DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 128, 49153));
    ck_assert_int_eq(blocks, 0);
    DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 1025, 0));
    ck_assert_int_eq(blocks, 0);
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (&blocks, function, 0, 0));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (NULL, function, 128, 0));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (&blocks, function, 128, 0, 2));

    CU(DeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, fx.device));
    DRV(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 0));
    ck_assert_int_eq(block, 1024);
    ck_assert_int_eq(grid, 2 * processors);
    DRV(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 100));
    ck_assert_int_eq(block, 100);
    ck_assert_int_eq(grid, 20 * processors);
    DRV(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 5000));
    ck_assert_int_eq(block, 1024);
    /* 48 threads would fill the shared memory, of which 32 are whole warps. */
    DRV(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, kilobyte_per_thread, 0, 0));
    ck_assert_int_eq(block, 32);
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize,
          (&grid, &block, function, NULL, 49153, 0));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize,
          (&grid, &block, function, NULL, 0, -1));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize,
          (NULL, &block, function, NULL, 0, 0));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize,
          (&grid, NULL, function, NULL, 0, 0));
    GIVES(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSizeWithFlags,
          (&grid, &block, function, NULL, 0, 0, 2));
    DRV(cuModuleUnload, (module));
}

GROUP("modules", add_case)

static unsigned run_in(CUfunction function)
{
    unsigned sum = 0;
    CUdeviceptr out = soft_memory(&sum, sizeof(sum));
    struct {
        unsigned char factor;
        double rest;
    } by = {2, 0};
    void *parameters[] = {&out, &by};
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, parameters, NULL));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&sum, out, sizeof(sum)));
    CU(MemFree(out));
    return sum;
}

TEST(libraries)
{
    need_software();
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
    ck_assert_uint_eq(run_in(function), 20);
    ck_assert_uint_eq(run_in((CUfunction)kernel), 20);
    DRV(cuLibraryGetGlobal, (&counters, &size, library, "counters"));
    ck_assert_uint_eq(size, 4 * sizeof(unsigned));
    DRV(cuMemsetD32_v2, (counters, 1, 4));
    CU(CtxSynchronize());
    ck_assert_uint_eq(run_in(function), 8);
    GIVES(ERROR_NOT_SUPPORTED, cuFuncGetModule, (&module, function));
    GIVES(ERROR_NOT_FOUND, cuLibraryGetKernel, (&kernel, library, "no_such_kernel"));
    GIVES(ERROR_INVALID_VALUE, cuKernelGetFunction, (NULL, kernel));
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
    GIVES(ERROR_INVALID_VALUE, cuMemsetD32_v2, (counters, 1, 4));
}

TEST(options_of_libraries)
{
    need_software();
    const void *image = soft_kernels()->host;
    CUlibrary library = NULL;
    CUjit_option option = CU_JIT_LOG_VERBOSE;
    CUlibraryOption hint = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *values[] = {NULL};
    DRV(cuLibraryLoadData, (&library, image, &option, values, 1, &hint, values, 1));
    DRV(cuLibraryUnload, (library));
    GIVES(ERROR_INVALID_VALUE, cuLibraryLoadData,
          (&library, image, NULL, values, 1, NULL, NULL, 0));
    GIVES(ERROR_INVALID_VALUE, cuLibraryLoadData,
          (&library, image, &option, NULL, 1, NULL, NULL, 0));
    GIVES(ERROR_INVALID_VALUE, cuLibraryLoadData,
          (&library, image, NULL, NULL, 0, NULL, values, 1));
    GIVES(ERROR_INVALID_IMAGE, cuLibraryLoadData,
          (&library, "no image", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile,
          (&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
}

GROUP("kernels", add_case)

static unsigned counter_of(CUmodule module)
{
    unsigned counters[4];
    CUdeviceptr address = 0;
    DRV(cuModuleGetGlobal_v2, (&address, NULL, module, "counters"));
    CU(MemcpyDtoH(counters, address, sizeof(counters)));
    return counters[3];
}

/* What may be left out of a launch is; what would change it is refused. */
TEST(attributes_of_launches)
{
    need_software();
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY},
                                       {.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = fx.stream,
                             .attrs = attributes,
                             .numAttrs = 2};
    DRV(cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE; /* is off */
    DRV(cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1].value.cooperative = 1;
    GIVES(ERROR_NOT_SUPPORTED, cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        .value.clusterDim = {1, 1, 1}};
    DRV(cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1].value.clusterDim.y = 2;
    GIVES(ERROR_NOT_SUPPORTED, cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    GIVES(ERROR_NOT_SUPPORTED, cuLaunchKernelEx, (&config, function, NULL, NULL));
    config.attrs = NULL;
    GIVES(ERROR_INVALID_VALUE, cuLaunchKernelEx, (&config, function, NULL, NULL));
    config.numAttrs = 0;
    GIVES(ERROR_INVALID_VALUE, cuLaunchKernelEx, (NULL, function, NULL, NULL));
    GIVES(ERROR_INVALID_HANDLE, cuLaunchKernelEx, (&config, NULL, NULL, NULL));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(counter_of(module), 7); /* three launches ran */
    DRV(cuModuleUnload, (module));
}

TEST(twins_of_launches)
{
    need_software();
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    CUstream blocking = NULL;
    CU(StreamCreate(&blocking, CU_STREAM_DEFAULT));
    struct gate *gate = gate_put(blocking);
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    TWIN(cuLaunchKernel, _ptsz, (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    TWIN(cuLaunchKernelEx, _ptsz, (&config, function, NULL, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL)); /* the legacy stream would wait for the gate */
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
    CU(StreamSynchronize(blocking));
    CU(StreamDestroy(blocking));
    ck_assert_uint_eq(counter_of(module), 6);
    DRV(cuModuleUnload, (module));
}

/* The other form of parameters: one buffer, in a list of names and values. */
TEST(parameters_in_one_buffer)
{
    need_software();
    CUmodule module = new_module();
    CUfunction function = function_of(module, "add_counters"),
               none = function_of(module, "without_parameters");
    unsigned sum = 0;
    struct {
        CUdeviceptr out;
        struct {
            unsigned char factor;
            double rest;
        } by;
    } packed = {soft_memory(&sum, sizeof(sum)), {4, 0}};
    size_t size = sizeof(packed), small = sizeof(packed) - 1;
    void *good[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
    void *cut[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &small,
                   CU_LAUNCH_PARAM_END};
    void *sizeless[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_END};
    void *pointerless[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *unknown[] = {(void *)9, &size, CU_LAUNCH_PARAM_END}, *empty[] = {CU_LAUNCH_PARAM_END};
    void **const bad[] = {cut, sizeless, pointerless, unknown, empty};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        GIVES(ERROR_INVALID_VALUE, cuLaunchKernel,
              (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, bad[i]));
    void *half[] = {&packed.out, NULL};
    GIVES(ERROR_INVALID_VALUE, cuLaunchKernel,
          (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, half, NULL));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, good));
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&sum, packed.out, sizeof(sum)));
    ck_assert_uint_eq(sum, 40);
    DRV(cuLaunchKernel, (none, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, empty));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(counter_of(module), 5);
    CU(MemFree(packed.out));
    DRV(cuModuleUnload, (module));
}

/* More than a stream's task has room for. */
TEST(large_parameters)
{
    need_software();
    CUmodule module = new_module();
    struct {
        unsigned numbers[500];
    } much;
    unsigned sum = 0;
    for (unsigned i = 0; i < 500; i++)
        much.numbers[i] = i;
    CUdeviceptr out = soft_memory(&sum, sizeof(sum));
    void *parameters[] = {&out, &much}, *missing[] = {&out, NULL};
    CUfunction function = function_of(module, "add_numbers");
    GIVES(ERROR_INVALID_VALUE, cuLaunchKernel,
          (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, missing, NULL));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, parameters, NULL));
    much.numbers[0] = 1000; /* the launch has its own copy */
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&sum, out, sizeof(sum)));
    ck_assert_uint_eq(sum, 499 * 500 / 2);
    CU(MemFree(out));
    DRV(cuModuleUnload, (module));
}

GROUP("look-ups", add_case)

/* The first version of the call has no status, so what is not there is an error. All as an H200
 * answers. */
TEST(look_ups_without_a_status)
{
    need_software();
    void *found = NULL;
    DRV(cuGetProcAddress, ("cuMemAlloc", &found, 12000, 0));
    ck_assert_ptr_ne(found, NULL);
    void *const before = found;
    GIVES(ERROR_NOT_FOUND, cuGetProcAddress, ("cuNoSuchFunction", &found, 12000, 0));
    GIVES(ERROR_NOT_FOUND, cuGetProcAddress, ("noFunctionOfCuda", &found, 12000, 0));
    GIVES(ERROR_NOT_FOUND, cuGetProcAddress, ("cuMemAllocAsync", &found, 11000, 0));
    ck_assert_ptr_eq(found, before);
    /* Base names alone are names. */
    GIVES(ERROR_NOT_FOUND, cuGetProcAddress, ("cuMemAlloc_v2", &found, 12000, 0));
    GIVES(ERROR_NOT_FOUND, cuGetProcAddress, ("cuMemcpy_ptds", &found, 12000, 0));
    DRV(cuGetProcAddress, ("cuMemAlloc", &found, 12000, 3));
    GIVES(ERROR_INVALID_VALUE, cuGetProcAddress, ("cuMemAlloc", &found, 12000, 8));
    GIVES(ERROR_INVALID_VALUE, cuGetProcAddress, (NULL, &found, 12000, 0));
}
