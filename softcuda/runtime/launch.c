/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Launches by the address of a kernel, and by <<< >>>, which makes two calls. */
#include "softcuda/runtime/kernel.h"

#include "softcuda/driver/kernel/program.h"

#include <grinterop/cuhost_launch.h>

/*
 * Checks the launch configuration. The driver would return CUDA_ERROR_INVALID_VALUE instead of
 * cudaErrorInvalidConfiguration.
 */
static bool is_configuration(const unsigned grid[3], const unsigned block[3])
{
    unsigned long long threads = 1;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0 || block[i] > 1024)
            return false;
        threads *= block[i];
    }
    return threads <= 1024 && block[2] <= 64 && grid[0] <= 0x7fffffff && grid[1] <= 65535 &&
           grid[2] <= 65535;
}

#define RT_ERROR_CONFIGURATION ((CUresult)cudaErrorInvalidConfiguration)

static CUresult launch(CUfunction function, const gr_cuhost_config *config, void **params,
                       void **extra)
{
    SOFT_FAIL_IF(!is_configuration(config->grid, config->block), RT_ERROR_CONFIGURATION);
    return config->shared > 0xffffffff
               ? CUDA_ERROR_INVALID_VALUE
               : cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                                config->block[0], config->block[1], config->block[2],
                                (unsigned)config->shared, rt_stream(config->stream), params, extra);
}

/* ---- <<< >>> --------------------------------------------------------------------------------- */

static _Thread_local gr_cuhost_config next_config;
static _Thread_local bool is_configured;

SOFT_EXPORTED void gr_cuhost_configure(const gr_cuhost_config *config)
{
    next_config = *config;
    is_configured = true;
}

static CUresult run(const gr_cuhost_kernel *kernel, const void *address, const void *closure)
{
    CUfunction function;
    if (!is_configured)
        return (CUresult)cudaErrorMissingConfiguration;
    is_configured = false;
    SOFT_TRY(rt_closure_function(kernel, address, &function));
    size_t size = kernel->params_size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(size_t)closure,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return launch(function, &next_config, NULL, extra);
}

SOFT_EXPORTED void gr_cuhost_run(const gr_cuhost_kernel *kernel, const void *address,
                                 const void *closure)
{
    (void)RT_IN_CONTEXT(run(kernel, address, closure));
}

SOFT_EXPORTED void gr_cuhost_assert(const char *expression, const char *file, unsigned line,
                                    const unsigned block[3], const unsigned thread[3])
{
    gr_softcuda_assert(expression, file, line, block, thread);
}

/* ---- Launches by address --------------------------------------------------------------------- */

static CUresult launch_address(const void *address, gr_cuhost_config config, void **params)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    return launch(function, &config, params, NULL);
}

static gr_cuhost_config config_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    return (gr_cuhost_config){.grid = {grid.x, grid.y, grid.z},
                              .block = {block.x, block.y, block.z},
                              .shared = shared,
                              .stream = stream};
}

RT_FORWARD_ptsz(cudaLaunchKernel,
                (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                 cudaStream_t stream),
                launch_address(func, config_of(gridDim, blockDim, sharedMem, stream), args))

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value),
               "a launch attribute must have the driver's layout");

static CUresult launch_config(const cudaLaunchConfig_t *config, const void *address, void **params)
{
    CUfunction function;
    SOFT_FAIL_IF(!config, CUDA_ERROR_INVALID_VALUE);
    const gr_cuhost_config shape =
        config_of(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    CUresult result = rt_function(address, &function);
    if (result == CUDA_SUCCESS && !is_configuration(shape.grid, shape.block))
        result = RT_ERROR_CONFIGURATION;
    if (result != CUDA_SUCCESS)
        return result;
    const CUlaunchConfig driver = {.gridDimX = shape.grid[0],
                                   .gridDimY = shape.grid[1],
                                   .gridDimZ = shape.grid[2],
                                   .blockDimX = shape.block[0],
                                   .blockDimY = shape.block[1],
                                   .blockDimZ = shape.block[2],
                                   .sharedMemBytes = (unsigned)shape.shared,
                                   .hStream = rt_stream(shape.stream),
                                   .attrs = (CUlaunchAttribute *)(void *)config->attrs,
                                   .numAttrs = config->numAttrs};
    return cuLaunchKernelEx(&driver, function, params, NULL);
}

RT_FORWARD_ptsz(cudaLaunchKernelExC,
                (const cudaLaunchConfig_t *config, const void *func, void **args),
                launch_config(config, func, args))
