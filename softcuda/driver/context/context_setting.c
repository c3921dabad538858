/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Settings of the current context that are stored without an effect: how its threads wait, and how
 * a GPU would divide its caches. Also cuCtxAttach and cuCtxDetach, which count the users of a
 * context.
 */
#include "softcuda/driver/context/context.h"

/* The highest values of CUfunc_cache and CUsharedconfig. */
#define LAST_CACHE_CONFIG  3
#define LAST_SHARED_CONFIG 2

SOFT_API cuCtxSetFlags(unsigned int flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(soft_context_check_flags(flags) != CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    context->flags = flags;
    return CUDA_SUCCESS;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static CUresult set(size_t which, unsigned value, unsigned last)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(value > last, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    context->cache_settings[which] = value;
    return CUDA_SUCCESS;
}

/* `initial` is the value of a setting that was never set. */
static CUresult get(size_t which, unsigned *value, unsigned initial)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!value, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    *value = context->cache_settings[which] ? context->cache_settings[which] : initial;
    return CUDA_SUCCESS;
}

enum {
    FOR_FUNCTIONS,
    FOR_SHARED_MEMORY,
};

SOFT_FORWARD(cuCtxSetCacheConfig, (CUfunc_cache config),
             set(FOR_FUNCTIONS, (unsigned)config, LAST_CACHE_CONFIG))
SOFT_FORWARD(cuCtxGetCacheConfig, (CUfunc_cache * pconfig),
             get(FOR_FUNCTIONS, (unsigned *)pconfig, CU_FUNC_CACHE_PREFER_NONE))
SOFT_FORWARD(cuCtxSetSharedMemConfig, (CUsharedconfig config),
             set(FOR_SHARED_MEMORY, (unsigned)config, LAST_SHARED_CONFIG))
SOFT_FORWARD(cuCtxGetSharedMemConfig, (CUsharedconfig * pConfig),
             get(FOR_SHARED_MEMORY, (unsigned *)pConfig, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE))
SOFT_FORWARD(cuCtxResetPersistingL2Cache, (void), soft_check_context(NULL))

/* ---- Number of users ------------------------------------------------------------------------- */

SOFT_API cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!pctx || flags != 0, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    context->attached++;
    *pctx = context->handle;
    return CUDA_SUCCESS;
}

static bool detach(soft_context *context)
{
    SOFT_LOCK(&soft_lock);
    bool was_attached = context->attached > 0;
    if (was_attached)
        context->attached--;
    return was_attached;
}

/* Removes one user that cuCtxAttach added. If there is none, the context ends. */
SOFT_API cuCtxDetach(CUcontext ctx)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!ctx || ctx != context->handle, CUDA_ERROR_INVALID_CONTEXT);
    return detach(context) ? CUDA_SUCCESS : cuCtxDestroy_v2(ctx);
}
