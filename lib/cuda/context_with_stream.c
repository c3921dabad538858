/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Retains the primary context of a device, makes it current and creates a stream, in one call. */
#include <stdlib.h>

#include "lib/cuda/context.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/end_after_event.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cuda/event.h"
#include "lib/base/live_objects.h"

struct primary {
    gr_cuda_context_info
        info; /* first, as programs for 0.2.0 read it in place of a gr_cuda_context */
    struct gr_context context; /* the reference to the primary context */
    CUcontext before;          /* the context that was current before gr_cuda_context_create() */
};

static gr_status open_context(struct primary *c, CUdevice device)
{
    const struct gr_driver_api *cu = gr_driver();
    GR_TRY_CUDA(cu->CtxGetCurrent(&c->before), "cuCtxGetCurrent",
                "%s could not query the current CUDA context.", gr_call);
    GR_TRY(gr_context_retain(&c->context, device, "the program creates a context"));
    c->info.context = c->context.handle;
    GR_TRY_CUDA(cu->CtxSetCurrent(c->info.context), "cuCtxSetCurrent",
                "%s could not make the primary context of CUDA device %d current.", gr_call,
                device);
    GR_TRY_CUDA(cu->StreamCreate(&c->info.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
                "%s could not create a stream on CUDA device %d.", gr_call, device);
    return GR_OK;
}

/* Closes the context, even one that open_context() did not complete. */
static void close_context(struct primary *c)
{
    const struct gr_driver_api *cu = gr_driver();
    CUcontext current = NULL;
    /* a reset has ended the stream; the lines below may end the context, and so do this first */
    if (c->info.stream && !gr_context_is_gone(&c->context)) {
        if (gr_event_poll(NULL, c->info.stream, GR_DRAWN_PATIENCE_MS) == CUDA_ERROR_NOT_READY)
            gr_log(GR_LOG_WARNING,
                   "gr_cuda_context_free: the work in the stream of the context is not done after "
                   "2 s. If the stream waits for graphics work that was never submitted, this call "
                   "never returns: gr_resource_wait() names the semaphore.");
        gr_event_poll(NULL, c->info.stream, GR_WAIT_FOREVER);
        cu->StreamDestroy(c->info.stream);
    }
    if (c->info.context && cu->CtxGetCurrent(&current) == CUDA_SUCCESS &&
        current == c->info.context)
        cu->CtxSetCurrent(c->before);
    gr_context_drop(&c->context);
    gr_live_free_memory(GR_LIVE_CUDA_CONTEXT, c);
}

gr_cuda_context *gr_cuda_context_create(int device)
{
    GR_CALL();
    CUdevice found;
    if (!gr_driver_load() || gr_device_get(device, &found) != GR_OK)
        return NULL;
    struct primary *c = gr_check_memory(calloc(1, sizeof(*c)));
    if (!c)
        return NULL;
    c->context.primary_of = -1;
    if (open_context(c, found) != GR_OK) {
        close_context(c);
        return NULL;
    }
    gr_live_add(GR_LIVE_CUDA_CONTEXT, c);
    return (gr_cuda_context *)c;
}

const gr_cuda_context_info *gr_cuda_context_get_info(const gr_cuda_context *context)
{
    GR_CALL();
    if (!context)
        gr_fail(GR_ERR_INVALID_VALUE, "The context is NULL: did gr_cuda_context_create() fail?");
    bool there = context && gr_live_check(GR_LIVE_CUDA_CONTEXT, context) == GR_OK;
    return there ? &((const struct primary *)context)->info : NULL;
}

void gr_cuda_context_free(gr_cuda_context *context)
{
    GR_CALL();
    if (context && gr_live_end(GR_LIVE_CUDA_CONTEXT, context))
        close_context((struct primary *)context);
}
