/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The last error of each thread. */
#include "softcuda/runtime/runtime.h"

#include <stdio.h>

static _Thread_local cudaError_t last_error = cudaSuccess;

cudaError_t rt_fail(cudaError_t error)
{
    last_error = error;
    return error;
}

/* cudaErrorNotReady is a result, not an error to store. */
cudaError_t rt_end(CUresult result)
{
    if (result == CUDA_ERROR_NOT_READY)
        return cudaErrorNotReady;
    return result == CUDA_SUCCESS ? cudaSuccess : rt_fail((cudaError_t)result);
}

void rt_error_clear(void)
{
    last_error = cudaSuccess;
}

/* Whether the error comes from a failed kernel: the context keeps returning such an error. */
static bool is_sticky(cudaError_t error)
{
    switch ((int)error) {
    case 214: /* ECCUncorrectable */
    case 220: /* NvlinkUncorrectable */
    case 226: /* Contained */
    case 700: /* IllegalAddress */
    case 701: /* LaunchOutOfResources, if a running kernel causes it */
    case 702: /* LaunchTimeout */
    case 710: /* Assert */
    case 714: /* HardwareStackError */
    case 715: /* IllegalInstruction */
    case 716: /* MisalignedAddress */
    case 717: /* InvalidAddressSpace */
    case 718: /* InvalidPc */
    case 719: /* LaunchFailure */
        return cuStreamQuery(CU_STREAM_LEGACY) == (CUresult)error;
    default:
        return false;
    }
}

RT_API cudaGetLastError(void)
{
    cudaError_t error = last_error;
    if (!is_sticky(error))
        last_error = cudaSuccess;
    return error;
}

RT_API cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t rt_unsupported(int *logged, const char *what)
{
    if (!__atomic_exchange_n(logged, 1, __ATOMIC_RELAXED))
        fprintf(stderr,
                "grinterop software CUDA runtime: %s is not implemented; it returns "
                "cudaErrorNotSupported\n",
                what);
    return rt_fail(cudaErrorNotSupported);
}
