/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Retains the primary context of a device, makes it current and creates a stream, in one call. */
#include <stdlib.h>

#include "lib/cuda/context.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/live_objects.h"

struct primary {
    gr_cuda_context shown; /* `shown.context` is NULL until the primary context is retained */
    CUdevice device;
    CUcontext before; /* the context that was current before gr_cuda_context_create() */
};

/*
 * Retains the context and creates the stream. Records the driver function of each step for the
 * error message.
 */
static gr_status open_context(struct primary *c)
{
    const gr_cuda_api *cu = gr_driver();
    const char *step = "cuCtxGetCurrent";
    CUresult result = cu->CtxGetCurrent(&c->before);
    if (result == CUDA_SUCCESS) {
        step = "cuDevicePrimaryCtxRetain";
        result = cu->DevicePrimaryCtxRetain(&c->shown.context, c->device);
        if (result != CUDA_SUCCESS)
            c->shown.context = NULL;
    }
    if (result == CUDA_SUCCESS) {
        step = "cuCtxSetCurrent";
        result = cu->CtxSetCurrent(c->shown.context);
    }
    if (result == CUDA_SUCCESS) {
        step = "cuStreamCreate";
        result = cu->StreamCreate(&c->shown.stream, CU_STREAM_NON_BLOCKING);
    }
    if (result == CUDA_SUCCESS)
        return GR_OK;
    char text[200];
    gr_device_text(c->device, text, sizeof(text));
    return gr_fail_cuda(result, step,
                        "The primary context of %s with a stream could not be created.", text);
}

/* Closes the context, even one that open_context() did not complete. */
static void close_context(struct primary *c)
{
    const gr_cuda_api *cu = gr_driver();
    CUcontext current = NULL;
    if (c->shown.stream) { /* the lines below may end the context, so destroy the stream first */
        gr_event_poll(NULL, c->shown.stream, GR_WAIT_FOREVER);
        cu->StreamDestroy(c->shown.stream);
    }
    if (c->shown.context && cu->CtxGetCurrent(&current) == CUDA_SUCCESS &&
        current == c->shown.context)
        cu->CtxSetCurrent(c->before);
    if (c->shown.context)
        cu->DevicePrimaryCtxRelease(c->device);
    free(c);
}

gr_cuda_context *gr_cuda_context_create(int device)
{
    CUdevice found;
    if (!gr_driver_load() || gr_device_get(device, &found, __func__) != GR_OK)
        return NULL;
    struct primary *c = gr_check_memory(calloc(1, sizeof(*c)), __func__);
    if (!c)
        return NULL;
    c->device = found;
    if (open_context(c) != GR_OK) {
        close_context(c);
        return NULL;
    }
    gr_live_add(GR_LIVE_CUDA_CONTEXT, &c->shown);
    return &c->shown;
}

void gr_cuda_context_free(gr_cuda_context *context)
{
    if (context && gr_live_end(GR_LIVE_CUDA_CONTEXT, context, __func__))
        close_context((struct primary *)context);
}
