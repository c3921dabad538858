/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Supports the functions of the runtime API that compat.h defines in the program. */
#include "gl/compat/compat.h"

#include "lib/cuda/driver.h"
#include "gl/compat/code.h"

static _Thread_local CUresult kept;

CUresult compat_keep_error(CUresult code)
{
    if (code != CUDA_SUCCESS)
        kept = code;
    return code;
}

CUresult compat_kept_error(bool take)
{
    CUresult code = kept;
    if (take)
        kept = CUDA_SUCCESS;
    return code;
}

bool compat_has_context(void)
{
    CUcontext current = NULL;
    return compat_begin() == CUDA_SUCCESS && gr_driver()->CtxGetCurrent(&current) == CUDA_SUCCESS &&
           current;
}

CUresult compat_explain_runtime(CUresult code)
{
    if (code == CUDA_SUCCESS)
        return code;
    return compat_refuse(code, "cudaFree",
                         "The CUDA runtime of the program did not start. The runtime that NVIDIA's "
                         "nvcc links needs an NVIDIA GPU and its driver: without them compile the "
                         "program with grinterop-nvcc, which links a runtime for the software CUDA "
                         "driver.");
}
