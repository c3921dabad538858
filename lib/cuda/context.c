/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/context.h"

#include "lib/base/cuda_error_text.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/exit.h"
#include "lib/base/fork.h"
#include "lib/base/log.h"

void gr_context_identify(const struct gr_driver_api *cu, struct gr_context *context)
{
    context->id = 0;
    if (GR_DRIVER_HAS(cu, CtxGetId))
        cu->CtxGetId(context->handle, &context->id);
}

/*
 * A driver may accept the handle of a destroyed context in a push and crash later. Only the query
 * below reports the destroyed context.
 */
bool gr_context_is_gone(const struct gr_context *context)
{
    const struct gr_driver_api *cu = gr_driver();
    unsigned long long id;
    if (!GR_DRIVER_HAS(cu, CtxGetId))
        return false;
    CUresult result = cu->CtxGetId(context->handle, &id);
    return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           (result == CUDA_SUCCESS && context->id && id != context->id);
}

static gr_status refuse(CUresult result, const char *driver_call)
{
    return gr_fail_cuda(result, driver_call, "%s could not use the resource's CUDA context%s",
                        gr_call,
                        result == CUDA_ERROR_CONTEXT_IS_DESTROYED
                            ? ": it was destroyed or reset."
                            : ". Was it destroyed? It must outlive the resource: free the "
                              "resource, and create it again in another context.");
}

gr_status gr_context_check(const struct gr_context *context)
{
    return gr_context_is_gone(context) ? refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "cuCtxGetId")
                                       : GR_OK;
}

int gr_capture_mode(int mode)
{
    const struct gr_driver_api *cu = gr_driver();
    CUstreamCaptureMode exchanged = (CUstreamCaptureMode)mode;
    if (mode < 0 || !cu || gr_forked || gr_is_exiting() ||
        cu->ThreadExchangeStreamCaptureMode(&exchanged) != CUDA_SUCCESS)
        return -1;
    return (int)exchanged;
}

gr_status gr_context_retain(struct gr_context *context, CUdevice device, const char *why)
{
    const struct gr_driver_api *cu = gr_driver();
    CUresult result = cu->DevicePrimaryCtxRetain(&context->handle, device);
    if (result == CUDA_SUCCESS) {
        context->primary_of = device;
        gr_context_identify(cu, context);
        return GR_OK;
    }
    char text[200];
    gr_device_text(device, text, sizeof(text));
    return gr_fail_cuda(result, "cuDevicePrimaryCtxRetain",
                        "%s: %s, and the primary context of %s could not be retained. Does another "
                        "process use the device exclusively (nvidia-smi -q -d COMPUTE)?",
                        gr_call, why, text);
}

gr_status gr_context_choose(struct gr_context *context, gr_status (*find_device)(CUdevice *device))
{
    const struct gr_driver_api *cu = gr_driver();
    *context = (struct gr_context){.primary_of = -1};
    GR_TRY_CUDA(cu->CtxGetCurrent(&context->handle), "cuCtxGetCurrent",
                "%s could not query the current CUDA context.", gr_call);
    if (context->handle) {
        gr_context_identify(cu, context);
        return GR_OK;
    }
    CUdevice device = 0;
    GR_TRY(find_device(&device));
    GR_TRY(gr_context_retain(context, device, "no CUDA context is current on this thread"));
    gr_log(GR_LOG_INFO, "%s: no CUDA context was current; using the primary context of device %d",
           gr_call, device);
    return GR_OK;
}

gr_status gr_context_hold(const struct gr_context *context, struct gr_context *copy)
{
    *copy = *context;
    if (copy->primary_of < 0)
        return GR_OK;
    const struct gr_driver_api *cu = gr_driver();
    CUresult result = cu->DevicePrimaryCtxRetain(&copy->handle, copy->primary_of);
    if (result == CUDA_SUCCESS) {
        gr_context_identify(cu, copy);
        if (!context->handle || gr_context_same(copy, context))
            return GR_OK;
        cu->DevicePrimaryCtxRelease(copy->primary_of);
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *copy = (struct gr_context){.primary_of = -1};
    return gr_fail_cuda(result, "cuDevicePrimaryCtxRetain",
                        "%s: the primary context of CUDA device %d could not be retained again: "
                        "was it reset (cuDevicePrimaryCtxReset)?",
                        gr_call, context->primary_of);
}

void gr_context_drop(struct gr_context *context)
{
    if (context->primary_of >= 0)
        gr_driver()->DevicePrimaryCtxRelease(context->primary_of);
    context->handle = NULL;
    context->primary_of = -1;
}

/*
 * A reset of a primary context keeps its handle, but not its id. If the id cannot be queried, which
 * is so after a failed kernel, the handle decides.
 */
static inline bool is_current(const struct gr_driver_api *cu, const struct gr_context *context)
{
    CUcontext current = NULL;
    unsigned long long id = 0;
    if (context->id) {
        CUresult result = cu->CtxGetId(NULL, &id);
        if (result == CUDA_SUCCESS)
            return id == context->id;
        if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT)
            return false;
    }
    return cu->CtxGetCurrent(&current) == CUDA_SUCCESS && current == context->handle;
}

/* A context that was pushed, and the mode to restore plus 1; relaxed needs no restoring. */
enum { PUSHED = 1, MODE = 2 };

gr_entered gr_context_entered(const struct gr_driver_api *cu, bool pushed)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (cu->ThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return (pushed ? PUSHED : 0) |
           (mode == CU_STREAM_CAPTURE_MODE_RELAXED ? 0 : MODE * ((gr_entered)mode + 1));
}

void gr_context_restore(gr_entered entered)
{
    CUcontext popped;
    CUstreamCaptureMode mode = (CUstreamCaptureMode)(entered / MODE - 1);
    if (entered >= MODE)
        gr_driver()->ThreadExchangeStreamCaptureMode(&mode);
    if (entered & PUSHED)
        gr_driver()->CtxPopCurrent(&popped);
}

/* Other failures of the query than a destroyed context are left to the push. */
static inline CUresult enter(const struct gr_context *context, gr_entered *entered,
                             const char **driver_call)
{
    const struct gr_driver_api *cu = gr_driver();
    bool pushed = false;
    *entered = 0;
    if (!is_current(cu, context)) {
        *driver_call = "cuCtxGetId";
        if (gr_context_is_gone(context))
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        *driver_call = "cuCtxPushCurrent";
        CUresult result = cu->CtxPushCurrent(context->handle);
        if (result != CUDA_SUCCESS)
            return result;
        pushed = true;
    }
    *entered = gr_context_entered(cu, pushed);
    return CUDA_SUCCESS;
}

gr_status gr_context_enter(const struct gr_context *context, gr_entered *entered)
{
    const char *driver_call;
    const CUresult result = enter(context, entered, &driver_call);
    return result == CUDA_SUCCESS ? GR_OK : refuse(result, driver_call);
}

bool gr_context_try(const struct gr_context *context, gr_entered *entered)
{
    const char *driver_call;
    return enter(context, entered, &driver_call) == CUDA_SUCCESS;
}

bool gr_context_has_failed(const struct gr_context *context)
{
    gr_entered entered;
    const char *driver_call;
    const CUresult result = enter(context, &entered, &driver_call);
    bool failed = gr_cuda_is_sticky(result);
    if (result == CUDA_SUCCESS) {
        failed = gr_cuda_is_sticky(gr_driver()->StreamQuery(CU_STREAM_PER_THREAD));
        gr_context_leave(entered);
    }
    return failed;
}
