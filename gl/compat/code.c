/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts errors to the return codes of the functions of compat.h. */
#include "gl/compat/code.h"

#include <stdarg.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"

CUresult compat_refuse(CUresult code, const char *call, const char *format, ...)
{
    const char *name = NULL;
    if (gr_driver())
        gr_driver()->GetErrorName(code, &name);
    va_list arguments;
    va_start(arguments, format);
    gr_fail_list(GR_ERR_CUDA, GR_DOMAIN_CUDA, (int)code, name, call, format, arguments);
    va_end(arguments);
    return code;
}

CUresult compat_begin(void)
{
    if (gr_fork_check("compat.h") != GR_OK)
        return CUDA_ERROR_NOT_INITIALIZED;
    return gr_driver() || gr_driver_load() ? CUDA_SUCCESS : compat_code();
}

CUresult compat_current(CUcontext *current, const char *call)
{
    *current = NULL;
    CUresult code = gr_driver()->CtxGetCurrent(current);
    if (code != CUDA_SUCCESS)
        return compat_refuse(code, "cuCtxGetCurrent",
                             "%s could not query the current CUDA context.", call);
    if (!*current)
        return compat_refuse(CUDA_ERROR_INVALID_CONTEXT, call,
                             "No CUDA context is current on this thread: make the context of the "
                             "resource, or of the GPU that draws, current (cuCtxSetCurrent).");
    return CUDA_SUCCESS;
}

static CUresult code_of_class(gr_status status)
{
    switch (status) {
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

CUresult compat_code(void)
{
    const gr_error *error = gr_last_error();
    if (error->domain == GR_DOMAIN_CUDA && error->code)
        return (CUresult)error->code;
    return code_of_class(error->status);
}
