/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls that start and stop recording by a profiler. There is no profiler. */
#include "softcuda/driver/soft.h"

/* The header that declares these functions is not in every CUDA Toolkit. */
SOFT_API cuProfilerStart(void);
SOFT_API cuProfilerStop(void);
SOFT_API cuProfilerInitialize(const char *configFile, const char *outputFile, int outputMode);

SOFT_FORWARD(cuProfilerStart, (void), soft_check_context(NULL))
SOFT_FORWARD(cuProfilerStop, (void), soft_check_context(NULL))

/* The driver of CUDA 13 does not support this call either. */
SOFT_API cuProfilerInitialize(const char *configFile, const char *outputFile, int outputMode)
{
    (void)configFile, (void)outputFile, (void)outputMode;
    CUresult result = soft_check_init();
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_SUPPORTED;
}
