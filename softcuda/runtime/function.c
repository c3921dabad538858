/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries and settings of a kernel by its address: attributes, parameters, occupancy. */
#include "softcuda/runtime/kernel.h"

#include <string.h>

static CUresult read_attributes(struct cudaFuncAttributes *to, const void *address)
{
    CUfunction function;
    int value[CU_FUNC_ATTRIBUTE_MAX] = {0};
    SOFT_TRY(to ? rt_function(address, &function) : CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++)
        SOFT_TRY(cuFuncGetAttribute(&value[i], (CUfunction_attribute)i, function));
    memset(to, 0, sizeof(*to));
    to->sharedSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
    to->constSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES];
    to->localSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES];
    to->maxThreadsPerBlock = value[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    to->numRegs = value[CU_FUNC_ATTRIBUTE_NUM_REGS];
    to->ptxVersion = value[CU_FUNC_ATTRIBUTE_PTX_VERSION];
    to->binaryVersion = value[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
    to->cacheModeCA = value[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
    to->maxDynamicSharedSizeBytes = value[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    to->preferredShmemCarveout = value[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaFuncGetAttributes, (struct cudaFuncAttributes * attr, const void *func),
           read_attributes(attr, func))

/* The attributes have the same numbers as in the driver API. */
RT_FORWARD(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attr, int value),
           rt_function_set(func, (CUfunction_attribute)attr, value))

static CUresult set_cache(const void *address, enum cudaFuncCache config)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    return cuFuncSetCacheConfig(function, (CUfunc_cache)config);
}

RT_FORWARD(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache cacheConfig),
           set_cache(func, cacheConfig))

/* Only checks the arguments: shared memory has no banks here. */
RT_API cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CUfunction function;
    return RT_IN_CONTEXT((unsigned)config > cudaSharedMemBankSizeEightByte
                             ? CUDA_ERROR_INVALID_VALUE
                             : rt_function(func, &function));
}

static CUresult read_name(const char **name, const void *address)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    return cuFuncGetName(name, function);
}

RT_FORWARD(cudaFuncGetName, (const char **name, const void *func), read_name(name, func))

static CUresult read_parameter(const void *address, size_t index, size_t *offset, size_t *size)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    return cuFuncGetParamInfo(function, index, offset, size);
}

RT_FORWARD(cudaFuncGetParamInfo,
           (const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
           read_parameter(func, paramIndex, paramOffset, paramSize))
RT_FORWARD(cudaGetFuncBySymbol, (cudaFunction_t * functionPtr, const void *symbolPtr),
           functionPtr ? rt_function(symbolPtr, functionPtr) : CUDA_ERROR_INVALID_VALUE)

/* ---- Occupancy ------------------------------------------------------------------------------- */

static CUresult active_blocks(int *blocks, const void *address, int block, size_t shared,
                              unsigned flags)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block, shared,
                                                                flags);
}

RT_FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize),
           active_blocks(numBlocks, func, blockSize, dynamicSMemSize, 0))
RT_FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
            unsigned int flags),
           active_blocks(numBlocks, func, blockSize, dynamicSMemSize, flags))

/*
 * The shared memory of a multiprocessor divided by the number of blocks, but at most the limit per
 * block.
 */
static CUresult available_shared(size_t *size, const void *address, int blocks, int block)
{
    int most = 0, of_processor = 0, active = 0;
    SOFT_FAIL_IF(!size || blocks <= 0, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(active_blocks(&active, address, block, 0, 0));
    SOFT_FAIL_IF(blocks > active, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    SOFT_TRY(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    SOFT_TRY(cuDeviceGetAttribute(
        &of_processor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, rt_device()));
    *size = (size_t)(of_processor / blocks < most ? of_processor / blocks : most);
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaOccupancyAvailableDynamicSMemPerBlock,
           (size_t * dynamicSmemSize, const void *func, int numBlocks, int blockSize),
           available_shared(dynamicSmemSize, func, numBlocks, blockSize))
