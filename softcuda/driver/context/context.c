/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Contexts: the list of all contexts, each thread's stack of current contexts, and queries of the
 * current context. The stack contains handles instead of addresses, so that a destroyed context is
 * noticed while it is still current.
 */
#include "softcuda/driver/context/context.h"

#include <grinterop/cuhost.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH   64
#define API_VERSION 3020

soft_context *soft_contexts;

static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local unsigned depth;

/* ---- Creation -------------------------------------------------------------------------------- */

static void set_default_limits(soft_context *context)
{
    memset(context->limits, 0, sizeof(context->limits));
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
#if CUDA_VERSION >= 13000
    context->limits[CU_LIMIT_SHMEM_SIZE] = GR_CUHOST_SHARED_MAX;
#endif
}

static soft_context *context_new_locked(void)
{
    for (soft_context *context = soft_contexts; context; context = context->next)
        if (!context->alive && !context->primary && !context->streams)
            return context;
    soft_context *context = calloc(1, sizeof(*context));
    if (!context)
        return NULL;
    context->next = soft_contexts;
    soft_contexts = context;
    return context;
}

static CUresult start_locked(soft_context *context, unsigned flags)
{
    if (!context->handle)
        context->handle = soft_handle_new(SOFT_KIND_CONTEXT, context);
    SOFT_FAIL_IF(!context->handle, CUDA_ERROR_OUT_OF_MEMORY);
    context->legacy = soft_stream_open(context, SOFT_STREAM_LEGACY, 0);
    SOFT_FAIL_IF(!context->legacy, CUDA_ERROR_OUT_OF_MEMORY);
    context->id = soft_next_id();
    context->flags = flags;
    context->sticky = CUDA_SUCCESS;
    context->attached = 0;
    memset(context->cache_settings, 0, sizeof(context->cache_settings));
    context->alive = true;
    set_default_limits(context);
    return CUDA_SUCCESS;
}

CUresult soft_context_start(soft_context **context, CUdevice device, unsigned flags, bool primary)
{
    SOFT_LOCK(&soft_lock);
    if (!*context)
        *context = context_new_locked();
    SOFT_FAIL_IF(!*context, CUDA_ERROR_OUT_OF_MEMORY);
    (*context)->primary = primary;
    (*context)->device = device;
    return start_locked(*context, flags);
}

/* ---- The current context --------------------------------------------------------------------- */

void soft_context_leave_if_current(CUcontext handle)
{
    if (depth && stack[depth - 1] == handle)
        depth--;
}

CUresult soft_context_get(CUcontext handle, soft_context **context)
{
    soft_context *found = soft_handle_get(SOFT_KIND_CONTEXT, handle);
    SOFT_FAIL_IF(!found, CUDA_ERROR_INVALID_CONTEXT);
    *context = found;
    SOFT_LOCK(&soft_lock);
    return found->alive ? found->sticky : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult soft_check_context(soft_context **context)
{
    static atomic_bool said;
    CUresult result = soft_query_context(context);
    if (result == CUDA_ERROR_INVALID_CONTEXT && !atomic_exchange(&said, true))
        soft_log(SOFT_WARN, "a call needs a CUDA context, but none is current on its thread: "
                            "cuCtxSetCurrent() makes one current");
    return result;
}

CUresult soft_query_context(soft_context **context)
{
    soft_context *current = NULL;
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(depth == 0, CUDA_ERROR_INVALID_CONTEXT);
    CUresult result = soft_context_get(stack[depth - 1], &current);
    SOFT_FAIL_IF(result == CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (context)
        *context = current;
    return result;
}

CUdevice soft_context_device(const soft_context *context)
{
    return context->device;
}

CUcontext soft_context_handle(const soft_context *context)
{
    return context->handle;
}

void soft_context_fail(soft_context *context, CUresult error)
{
    SOFT_LOCK(&soft_lock);
    if (context->sticky == CUDA_SUCCESS)
        context->sticky = error;
}

void soft_contexts_fail(CUresult error)
{
    SOFT_LOCK(&soft_lock);
    for (soft_context *context = soft_contexts; context; context = context->next)
        if (context->alive && context->sticky == CUDA_SUCCESS)
            context->sticky = error;
}

/* Finds the context that an argument names. NULL means the current context. */
static CUresult resolve_context(CUcontext handle, soft_context **context)
{
    SOFT_TRY(soft_check_init());
    return handle ? soft_context_get(handle, context) : soft_query_context(context);
}

/*
 * For the few calls that accept a current context that was destroyed. If the current context was
 * destroyed, *context is NULL or, for a primary context, its record.
 */
static CUresult current_or_destroyed(soft_context **context)
{
    *context = NULL;
    CUresult result = soft_query_context(context);
    return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_SUCCESS : result;
}

static CUresult push(CUcontext handle)
{
    SOFT_FAIL_IF(depth == MAX_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);
    stack[depth++] = handle;
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

CUresult soft_context_check_flags(unsigned flags)
{
    const unsigned known = 0xff;
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    bool one_schedule = (schedule & (schedule - 1)) == 0;
    return (flags & ~known) || !one_schedule ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SOFT_API cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!pctx || soft_context_check_flags(flags) != CUDA_SUCCESS,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(soft_check_device(dev) != CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE);
    SOFT_FAIL_IF(depth == MAX_DEPTH, CUDA_ERROR_OUT_OF_MEMORY);

    soft_context *context = NULL;
    SOFT_TRY(soft_context_start(&context, dev, flags, false));
    *pctx = context->handle;
    return push(context->handle);
}

SOFT_API cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                        unsigned int flags, CUdevice dev)
{
    (void)paramsArray;
    SOFT_FAIL_IF(numParams < 0, CUDA_ERROR_INVALID_VALUE);
    return numParams ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : cuCtxCreate_v2(pctx, flags, dev);
}

#if CUDA_VERSION >= 12050
SOFT_API cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                        CUdevice dev)
{
    SOFT_FAIL_IF(ctxCreateParams && ctxCreateParams->cigParams, CUDA_ERROR_NOT_SUPPORTED);
    return cuCtxCreate_v3(pctx, ctxCreateParams ? ctxCreateParams->execAffinityParams : NULL,
                          ctxCreateParams ? ctxCreateParams->numExecAffinityParams : 0, flags, dev);
}
#endif

SOFT_API cuCtxPushCurrent_v2(CUcontext ctx)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!ctx, CUDA_ERROR_INVALID_VALUE);
    return soft_handle_get(SOFT_KIND_CONTEXT, ctx) ? push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

SOFT_API_v1(cuCtxPushCurrent, (CUcontext ctx), (ctx))

SOFT_API cuCtxPopCurrent_v2(CUcontext *pctx)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(depth == 0, CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (pctx)
        *pctx = stack[depth];
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuCtxPopCurrent, (CUcontext * pctx), (pctx))

SOFT_API cuCtxSetCurrent(CUcontext ctx)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(ctx && !soft_handle_get(SOFT_KIND_CONTEXT, ctx), CUDA_ERROR_INVALID_CONTEXT);
    if (depth)
        depth--;
    return ctx ? push(ctx) : CUDA_SUCCESS;
}

SOFT_API cuCtxGetCurrent(CUcontext *pctx)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!pctx, CUDA_ERROR_INVALID_VALUE);
    *pctx = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

SOFT_API cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    soft_context *context;
    SOFT_TRY(ctx ? resolve_context(ctx, &context) : current_or_destroyed(&context));
    SOFT_FAIL_IF(!device, CUDA_ERROR_INVALID_VALUE);
    *device = context ? context->device : 0;
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuCtxGetDevice, (CUdevice * device), cuCtxGetDevice_v2(device, NULL))

SOFT_API cuCtxSynchronize_v2(CUcontext ctx)
{
    SOFT_GET(soft_context *, context, resolve_context(ctx, &context));
    SOFT_TRY(soft_capture_check_context(context));
    return soft_context_wait(context);
}

SOFT_FORWARD(cuCtxSynchronize, (void), cuCtxSynchronize_v2(NULL))

/*
 * If the context was destroyed, a GPU driver returns CUDA_ERROR_CONTEXT_IS_DESTROYED from this
 * query and CUDA_ERROR_INVALID_CONTEXT from all other calls with its handle.
 */
SOFT_API cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    soft_context *context;
    CUresult result = resolve_context(ctx, &context);
    SOFT_FAIL_IF(ctx && result == CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (result != CUDA_SUCCESS)
        return result;
    SOFT_FAIL_IF(!ctxId, CUDA_ERROR_INVALID_VALUE);
    *ctxId = context->id;
    return CUDA_SUCCESS;
}

SOFT_API cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    SOFT_GET(soft_context *, context, resolve_context(ctx, &context));
    SOFT_FAIL_IF(!version, CUDA_ERROR_INVALID_VALUE);
    *version = API_VERSION;
    return CUDA_SUCCESS;
}

SOFT_API cuCtxGetFlags(unsigned int *flags)
{
    SOFT_GET(soft_context *, context, current_or_destroyed(&context));
    SOFT_FAIL_IF(!flags, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    *flags = context ? context->flags : 0;
    if (context && context->primary) /* a GPU driver reports this flag for every primary context */
        *flags |= CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}

SOFT_API cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    SOFT_TRY(soft_check_context(NULL));
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = SOFT_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

/*
 * On an H200, two limits are read-only: the largest shared memory of a block, and whether the
 * context is part of a graphics context. The values after these two are unsupported limits.
 */
static bool is_read_only_limit(CUlimit limit)
{
    return limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE &&
           limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 2;
}

static bool is_unsupported_limit(CUlimit limit)
{
    return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH ||
           limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 2;
}

SOFT_API cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!pvalue || (unsigned)limit >= CU_LIMIT_MAX, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(is_unsupported_limit(limit), CUDA_ERROR_UNSUPPORTED_LIMIT);
    SOFT_LOCK(&soft_lock);
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

SOFT_API cuCtxSetLimit(CUlimit limit, size_t value)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF((unsigned)limit >= CU_LIMIT_MAX, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(is_unsupported_limit(limit), CUDA_ERROR_UNSUPPORTED_LIMIT);
    SOFT_FAIL_IF(is_read_only_limit(limit), CUDA_ERROR_NOT_PERMITTED);
    SOFT_FAIL_IF(limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&soft_lock);
    __atomic_store_n(&context->limits[limit], value,
                     __ATOMIC_RELAXED); /* launches read the limit without the lock */
    return CUDA_SUCCESS;
}

size_t soft_context_stack_size(const soft_context *context)
{
    return __atomic_load_n(&context->limits[CU_LIMIT_STACK_SIZE], __ATOMIC_RELAXED);
}
