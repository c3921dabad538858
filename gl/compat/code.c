/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts errors to the return codes of the functions of compat.h. */
#include "gl/compat/compat.h"

#include "lib/base/error.h"
#include "lib/cuda/driver_outside.h"

CUresult compat_begin(void)
{
    gr_status status = gr_cuda_load(false);
    /* GR_ERR_STATE: the process is a forked child. */
    return status == GR_OK          ? CUDA_SUCCESS
           : status == GR_ERR_STATE ? CUDA_ERROR_NOT_INITIALIZED
                                    : compat_code();
}

const struct gr_driver_api *compat_cuda(void)
{
    return gr_driver_functions();
}

CUresult compat_current(CUcontext *current, const char *call)
{
    *current = NULL;
    CUresult code = compat_cuda()->CtxGetCurrent(current);
    if (code != CUDA_SUCCESS)
        return COMPAT_REFUSE(code, "cuCtxGetCurrent",
                             "%s could not query the current CUDA context.", call);
    if (!*current)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_CONTEXT, call,
                             "No CUDA context is current on this thread: make the context of the "
                             "resource, or of the GPU that draws, current (cuCtxSetCurrent).");
    return CUDA_SUCCESS;
}

CUresult compat_code(void)
{
    const gr_error *error = gr_last_error();
    if (error->domain == GR_DOMAIN_CUDA && error->code)
        return (CUresult)error->code;
    switch (error->status) {
    /* the arguments were checked, so the stream belongs to another GPU */
    case GR_ERR_INVALID_VALUE:
    case GR_ERR_CUDA:
        return CUDA_ERROR_INVALID_HANDLE;
    case GR_ERR_STATE: /* the OpenGL object was deleted or has other storage */
        return CUDA_ERROR_MAP_FAILED;
    case GR_ERR_GL:
        return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    case GR_ERR_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case GR_ERR_NO_DRIVER:
        return CUDA_ERROR_NOT_INITIALIZED;
    case GR_ERR_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}

CUresult compat_no_memory(const char *call)
{
    gr_fail_code(GR_ERR_NO_MEMORY, GR_DOMAIN_NONE, 0, NULL, call, "The process is out of memory.");
    return CUDA_ERROR_OUT_OF_MEMORY;
}
