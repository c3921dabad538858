/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels: their queries and launches. */
#define _GNU_SOURCE
#include "soft_calls.h"

GROUP("kernels", add_case)

SOFT_TEST(unregistered_and_outdated_kernels_are_refused)
{
    CUmodule module = new_module();
    CUfunction function = NULL;
    GIVES(ERROR_NOT_FOUND, cuModuleGetFunction, (&function, module, "without_registration"));
    GIVES(ERROR_NO_BINARY_FOR_GPU, cuModuleGetFunction, (&function, module, "of_before"));
    ck_assert_ptr_eq(function, NULL);
}

SOFT_TEST(kernel_queries_return_properties)
{
    CUmodule module = new_module(), found = NULL;
    CUfunction function = function_of(module, "add_counters");
    int value = -1;
    ck_assert_ptr_eq(function_of(module, "add_counters"), function);
    READS(found, module, cuFuncGetModule, (&found, function));
    INVALID(cuFuncGetModule, (NULL, function));
    READS(value, 1024, cuFuncGetAttribute,
          (&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    READS(value, 0, cuFuncGetAttribute,
          (&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function)); /* host functions have no registers */
    INVALID(cuFuncGetAttribute, (NULL, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    INVALID(cuFuncGetAttribute, (&value, CU_FUNC_ATTRIBUTE_MAX, function));
    INVALID(cuFuncGetAttribute, (&value, (CUfunction_attribute)-1, function));
    DRV(cuFuncSetCacheConfig, (function, CU_FUNC_CACHE_PREFER_EQUAL));
    INVALID(cuFuncSetCacheConfig, (function, (CUfunc_cache)4));
#if CUDA_VERSION >= 13000
    const char *name = NULL;
    size_t offset = 7, size = 7;
    DRV(cuFuncGetName, (&name, function));
    ck_assert_str_eq(name, "add_counters");
    INVALID(cuFuncGetName, (NULL, function));
    READS(offset, 8, cuFuncGetParamInfo, (function, 1, &offset, &size));
    ck_assert_uint_eq(size, 16);
    READS(offset, 0, cuFuncGetParamInfo, (function, 0, &offset, NULL));
    INVALID(cuFuncGetParamInfo, (function, 2, &offset, &size));
    INVALID(cuFuncGetParamInfo, (function, 0, NULL, &size));
#endif
    DRV(cuModuleUnload, (module));
    GIVES(ERROR_INVALID_HANDLE, cuFuncGetModule, (&found, function));
}

SOFT_TEST(kernel_attributes_can_be_set)
{
    const CUfunction_attribute shared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    int value = -7;
    READS(value, 49152, cuFuncGetAttribute, (&value, shared, function));
    INVALID(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 65536, fx.stream, NULL, NULL));
    DRV(cuFuncSetAttribute, (function, shared, 65536));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 65536, fx.stream, NULL, NULL));
    CU(StreamSynchronize(fx.stream));
    READS(value, 65536, cuFuncGetAttribute, (&value, shared, function));
    INVALID(cuFuncSetAttribute, (function, shared, 101377));
    INVALID(cuFuncSetAttribute, (function, shared, -1));
    READS(value, -1, cuFuncGetAttribute, (&value, carveout, function));
    DRV(cuFuncSetAttribute, (function, carveout, 100));
    READS(value, 100, cuFuncGetAttribute, (&value, carveout, function));
    INVALID(cuFuncSetAttribute, (function, carveout, 101));
    INVALID(cuFuncSetAttribute, (function, carveout, -2));
    INVALID(cuFuncSetAttribute, (function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
}

static size_t CUDA_CB kilobyte_per_thread(int threads)
{
    return (size_t)threads * 1024;
}

SOFT_TEST(occupancy_follows_the_limits_of_a_block)
{
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    int blocks = -1, grid = 0, block = 0, processors = 0;
    READS(blocks, 16, cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (&blocks, function, 128, 0)); /* 2048 threads fit 16 blocks */
    READS(blocks, 2, cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (&blocks, function, 128, 40000)); /* 101376 bytes of shared memory fit 2 blocks */
    READS(blocks, 2, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 1024, 40000));
    READS(blocks, 0, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 128, 49153));
    READS(blocks, 0, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 1025, 0));
    INVALID(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 0, 0));
    INVALID(cuOccupancyMaxActiveBlocksPerMultiprocessor, (NULL, function, 128, 0));
    INVALID(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (&blocks, function, 128, 0, 2));

    CU(DeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, fx.device));
    READS(block, 1024, cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 0));
    ck_assert_int_eq(grid, 2 * processors);
    READS(block, 100, cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 100));
    ck_assert_int_eq(grid, 20 * processors);
    READS(block, 1024, cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 5000));
    /* The shared memory would suffice for 48 threads. A block of whole warps has 32. */
    READS(block, 32, cuOccupancyMaxPotentialBlockSize,
          (&grid, &block, function, kilobyte_per_thread, 0, 0));
    INVALID(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 49153, 0));
    INVALID(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, -1));
    INVALID(cuOccupancyMaxPotentialBlockSize, (NULL, &block, function, NULL, 0, 0));
    INVALID(cuOccupancyMaxPotentialBlockSize, (&grid, NULL, function, NULL, 0, 0));
    INVALID(cuOccupancyMaxPotentialBlockSizeWithFlags, (&grid, &block, function, NULL, 0, 0, 2));
}

/* ---- Launches -------------------------------------------------------------------------------- */

static unsigned counter_of(CUmodule module)
{
    CUdeviceptr counters = 0;
    DRV(cuModuleGetGlobal_v2, (&counters, NULL, module, "counters"));
    return soft_word(counters + 3 * sizeof(unsigned));
}

/*
 * Attributes of a launch that are hints are ignored. Attributes that change the meaning of the
 * launch are refused.
 */
SOFT_TEST(launch_attributes_are_ignored_or_refused)
{
    CUmodule module = new_module();
    CUfunction function = function_of(module, "without_parameters");
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY},
                                       {.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, fx.stream, attributes, 2};
    DRV(cuLaunchKernelEx, (&config, function, NULL, NULL));
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE; /* value 0: not cooperative */
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
    INVALID(cuLaunchKernelEx, (&config, function, NULL, NULL));
    config.numAttrs = 0;
    INVALID(cuLaunchKernelEx, (NULL, function, NULL, NULL));
    GIVES(ERROR_INVALID_HANDLE, cuLaunchKernelEx, (&config, NULL, NULL, NULL));
    ck_assert_uint_eq(counter_of(module), 7); /* three launches have run */
}

/*
 * Instead of an array of pointers, parameters can be in one buffer, which a list of names and
 * values describes.
 */
SOFT_TEST(kernel_parameters_can_be_in_one_buffer)
{
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
        INVALID(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, bad[i]));
    void *half[] = {&packed.out, NULL};
    INVALID(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, half, NULL));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, good));
    ck_assert_uint_eq(soft_word(packed.out), 40);
    DRV(cuLaunchKernel, (none, 1, 1, 1, 1, 1, 1, 0, fx.stream, NULL, empty));
    ck_assert_uint_eq(counter_of(module), 5);
}

/* The parameters are larger than SOFT_PAYLOAD, the space for data in the record of a task. */
SOFT_TEST(kernel_parameters_can_exceed_a_task_record)
{
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
    INVALID(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, missing, NULL));
    DRV(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, fx.stream, parameters, NULL));
    much.numbers[0] = 1000; /* the launch has its own copy */
    ck_assert_uint_eq(soft_word(out), 499 * 500 / 2);
}
