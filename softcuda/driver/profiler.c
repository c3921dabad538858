/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls that delimit what a profiler records. There is no profiler. */
#include "softcuda/driver/soft.h"

/* Not every toolkit has the header that declares them. */
SOFT_API cuProfilerStart(void);
SOFT_API cuProfilerStop(void);
SOFT_API cuProfilerInitialize(const char *configFile, const char *outputFile, int outputMode);

SOFT_API cuProfilerStart(void)
{
    return soft_check_context(NULL);
}

SOFT_API cuProfilerStop(void)
{
    return soft_check_context(NULL);
}

/* Behaves like the driver of CUDA 13, which has no profiler either. */
SOFT_API cuProfilerInitialize(const char *configFile, const char *outputFile, int outputMode)
{
    (void)configFile, (void)outputFile, (void)outputMode;
    CUresult result = soft_check_init();
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_SUPPORTED;
}
