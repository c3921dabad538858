/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends a context: waits for its work, then destroys its objects in the order of their dependencies.
 */
#include "softcuda/driver/context/context.h"
#include "softcuda/driver/memory/peer_access.h"

#define MAX_HOOKS 12

static void (*hooks[MAX_HOOKS])(soft_context *);
static unsigned hook_count;

void soft_context_at_destroy(void (*hook)(soft_context *context))
{
    if (hook_count < MAX_HOOKS)
        hooks[hook_count++] = hook;
}

void soft_context_end(soft_context *context)
{
    pthread_mutex_lock(&soft_lock);
    context->alive = false;
    soft_context_drain(context);
    pthread_mutex_unlock(&soft_lock);

    for (unsigned i = 0; i < hook_count; i++)
        hooks[i](context);
    soft_event_destroy_all(context);

    pthread_mutex_lock(&soft_lock);
    soft_context_drain(context);
    pthread_mutex_unlock(&soft_lock);
    /*
     * The memory is freed before the streams: a context without streams may be reused for a new
     * context, whose memory would then be freed, too.
     */
    soft_memory_destroy_all(context);
    soft_peers_remove(context);

    SOFT_LOCK(&soft_lock);
    context->legacy = NULL;
    soft_stream *next;
    for (soft_stream *stream = context->streams; stream; stream = next) {
        next = stream->next;
        soft_stream_close(stream);
    }
    if (!context->primary)
        context->handle = NULL;
}

SOFT_API cuCtxDestroy_v2(CUcontext ctx)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!ctx, CUDA_ERROR_INVALID_VALUE);
    soft_context *context = soft_handle_get(SOFT_KIND_CONTEXT, ctx);
    SOFT_FAIL_IF(!context || context->primary || !soft_handle_drop(SOFT_KIND_CONTEXT, ctx),
                 CUDA_ERROR_INVALID_CONTEXT);
    soft_context_end(context);
    soft_context_leave_if_current(ctx);
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuCtxDestroy, (CUcontext ctx), (ctx))
