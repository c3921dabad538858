/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuLaunchKernel and related calls: the checks, and the launch as a task of its stream. */
#include "softcuda/driver/context/context.h"
#include "softcuda/driver/graph/graph_work.h"
#include "softcuda/driver/image/image_object.h"
#include "softcuda/driver/kernel/kernel_access.h"
#include "softcuda/driver/kernel/kernel_run.h"
#include "softcuda/driver/kernel/module.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * The data of a launch task: this struct, then a pointer per parameter, then the bytes of the
 * parameters, laid out as in the buffer of `extra`. The pointers are set when the task runs,
 * because the queue moves the data before that.
 */
typedef struct {
    soft_module *module;
    soft_context *context;
    const gr_cuhost_kernel *kernel;
    size_t stack;
    unsigned shared;
    unsigned grid[3];
    unsigned block[3];
} launch;

static void **launch_pointers(launch *l)
{
    return (void **)(void *)(l + 1);
}

static unsigned char *launch_bytes(launch *l)
{
    return (unsigned char *)(launch_pointers(l) + l->kernel->param_count);
}

static size_t launch_size(const gr_cuhost_kernel *kernel)
{
    return sizeof(launch) + kernel->param_count * sizeof(void *) + kernel->params_size;
}

static void **set_pointers(launch *l)
{
    void **pointers = launch_pointers(l);
    for (uint32_t i = 0; i < l->kernel->param_count; i++)
        pointers[i] = launch_bytes(l) + l->kernel->param_offsets[i];
    return pointers;
}

void soft_launch_run(void *copy)
{
    launch *l = copy;
    CUresult result = soft_task_error;
    soft_grid grid = {
        .kernel = l->kernel, .params = set_pointers(l), .stack = l->stack, .shared = l->shared};
    memcpy(grid.grid, l->grid, sizeof(grid.grid));
    memcpy(grid.block, l->block, sizeof(grid.block));
    soft_images_end_unused();
    if (result == CUDA_SUCCESS) {
        if (!soft_kernel_may_have(l->context, l->kernel, launch_bytes(l)))
            soft_contexts_fail(CUDA_ERROR_ILLEGAL_ADDRESS);
        else if ((result = soft_grid_run(&grid)) != CUDA_SUCCESS)
            soft_context_fail(l->context, result);
    }
    soft_module_release(l->module);
}

void soft_launch_hold(const void *payload)
{
    soft_module_hold(((const launch *)payload)->module);
}

void soft_launch_drop(const void *payload)
{
    soft_module_release(((const launch *)payload)->module);
}

void soft_launch_describe(void *payload, CUDA_KERNEL_NODE_PARAMS *params)
{
    launch *l = payload;
    soft_function *function = NULL;
    soft_function_of(l->module, l->kernel, &function);
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = function ? function->function_handle : NULL,
                                        .kern = function ? function->kernel_handle : NULL,
                                        .gridDimX = l->grid[0],
                                        .gridDimY = l->grid[1],
                                        .gridDimZ = l->grid[2],
                                        .blockDimX = l->block[0],
                                        .blockDimY = l->block[1],
                                        .blockDimZ = l->block[2],
                                        .sharedMemBytes = l->shared,
                                        .kernelParams = set_pointers(l),
                                        .ctx = soft_context_handle(l->context)};
}

void soft_launch_log_slow(void (*run)(void *copy), const void *copy)
{
    static bool said;
    const launch *l = copy;
    if (run != soft_launch_run || said)
        return;
    said = true;
    soft_log(SOFT_WARN,
             "kernel %s has run for %u seconds: it never ends if its blocks, or the threads of a "
             "block, wait for each other in a loop, because only one block per core runs at a "
             "time, and the threads of a block run one after the other, from barrier to barrier",
             l->kernel->name, soft_patience());
}

static bool dimensions_are_valid(const unsigned grid[3], const unsigned block[3])
{
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0)
            return false;
    return grid[0] <= INT_MAX && grid[1] <= 65535 && grid[2] <= 65535 &&
           block[0] <= SOFT_MAX_THREADS && block[1] <= SOFT_MAX_THREADS && block[2] <= 64 &&
           block[0] * block[1] * block[2] <= SOFT_MAX_THREADS;
}

/* No memory is mapped below this address. */
#define FIRST_ADDRESS ((uintptr_t)65536)

/* Copies the parameters from the application's array of pointers. */
static bool pack_pointers(const gr_cuhost_kernel *kernel, void **params, unsigned char *to)
{
    if (!params && kernel->param_count > 0)
        soft_log(SOFT_WARN, "kernel %s has %u parameters, but kernelParams is NULL", kernel->name,
                 kernel->param_count);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (!params)
            return false;
        if ((uintptr_t)params[i] < FIRST_ADDRESS) {
            soft_log(SOFT_WARN,
                     "kernelParams[%u] of kernel %s is %p: pass the address of each argument, not "
                     "its value",
                     i, kernel->name, params[i]);
            return false;
        }
        memcpy(to + kernel->param_offsets[i], params[i], kernel->param_sizes[i]);
    }
    return true;
}

/* Copies the parameters from the buffer in the application's list of names and values. */
static bool pack_buffer(const gr_cuhost_kernel *kernel, void **extra, unsigned char *to)
{
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return false;
    }
    if (kernel->params_size == 0)
        return true;
    if (!buffer || !size || *size < kernel->params_size)
        return false;
    memcpy(to, buffer, kernel->params_size);
    return true;
}

static CUresult push_launch(soft_stream *stream, const launch *l, bool is_first, void **params,
                            void **extra)
{
    size_t size = launch_size(l->kernel);
    _Alignas(launch) unsigned char small[SOFT_PAYLOAD];
    launch *record = size <= sizeof(small) ? (launch *)(void *)small : malloc(size);
    SOFT_FAIL_IF(!record, CUDA_ERROR_OUT_OF_MEMORY);
    memset(record, 0, size);
    *record = *l;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (extra ? pack_buffer(l->kernel, extra, launch_bytes(record))
              : pack_pointers(l->kernel, params, launch_bytes(record))) {
        if (is_first)
            soft_kernel_look_at(l->kernel, launch_bytes(record));
        soft_module_hold(l->module);
        result = soft_stream_push_work(stream, soft_launch_run, record, size);
        if (result != CUDA_SUCCESS)
            soft_module_release(l->module);
    }
    if ((void *)record != (void *)small)
        free(record);
    return result;
}

static CUresult start_launch(CUfunction f, const unsigned grid[3], const unsigned block[3],
                             unsigned shared, CUstream handle, void **params, void **extra)
{
    SOFT_TRY(soft_check_init());
    soft_function *function = soft_function_get(f);
    SOFT_FAIL_IF(!function, CUDA_ERROR_INVALID_HANDLE);
    if (!dimensions_are_valid(grid, block)) {
        soft_log(SOFT_WARN,
                 "kernel %s was launched with %u x %u x %u blocks of %u x %u x %u threads: each "
                 "must be at least 1, and a block has at most %u threads, 64 of them in z",
                 function->kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                 SOFT_MAX_THREADS);
        return CUDA_ERROR_INVALID_VALUE;
    }
    SOFT_FAIL_IF((params && extra) || shared > (unsigned)atomic_load(&function->max_dynamic_shared),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    soft_module *module = function->module;
    SOFT_FAIL_IF(module->owned.context && module->owned.context != soft_stream_context(stream),
                 CUDA_ERROR_INVALID_HANDLE);

    launch l = {.module = module, .kernel = function->kernel, .shared = shared};
    l.context = soft_stream_context(stream);
    l.stack = soft_context_stack_size(l.context);
    memcpy(l.grid, grid, sizeof(l.grid));
    memcpy(l.block, block, sizeof(l.block));
    const bool is_first = !atomic_load_explicit(&function->was_launched, memory_order_relaxed) &&
                          !atomic_exchange(&function->was_launched, true);
    return push_launch(stream, &l, is_first, params, extra);
}

SOFT_API_ptsz(cuLaunchKernel,
              (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
               unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra),
              (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
               hStream, kernelParams, extra))
{
    const unsigned grid[3] = {gridDimX, gridDimY, gridDimZ};
    const unsigned block[3] = {blockDimX, blockDimY, blockDimZ};
    return start_launch(f, grid, block, sharedMemBytes, hStream, kernelParams, extra);
}

/*
 * Attributes that are hints can be ignored, unlike attributes that change the meaning of a launch.
 */
static bool attribute_is_harmless(const CUlaunchAttribute *attribute)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return true;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return attribute->value.cooperative == 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return attribute->value.clusterDim.x == 1 && attribute->value.clusterDim.y == 1 &&
               attribute->value.clusterDim.z == 1;
    default:
        return false;
    }
}

SOFT_API_ptsz(cuLaunchKernelEx,
              (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
              (config, f, kernelParams, extra))
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!config || (config->numAttrs > 0 && !config->attrs), CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        static int logged;
        if (!attribute_is_harmless(&config->attrs[i]))
            return soft_unsupported(&logged, "a launch attribute of cuLaunchKernelEx");
    }
    const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return start_launch(f, grid, block, config->sharedMemBytes, config->hStream, kernelParams,
                        extra);
}
