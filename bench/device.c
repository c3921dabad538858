/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's device, context and stream, and what is said when a call of CUDA's or grinterop's fails.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include <grinterop/gr.h>

#include "bench/bench.h"

bool bench_cuda_failed(CUresult result, const char *call)
{
    const char *name = NULL;
    gr_cuda()->GetErrorName(result, &name);
    fprintf(stderr, "%s: %s: %s\n", bench_program, call, name ? name : "unknown error");
    return false;
}

bool bench_grinterop_failed(const char *call)
{
    gr_error error = *gr_last_error();
    fprintf(stderr, "%s: %s: %s\n", bench_program, call, error.message);
    return false;
}

bool bench_device_open(struct bench_device *d)
{
    const gr_cuda_api *cuda = gr_cuda();
    return bench_cuda_ok(cuda->DeviceGet(&d->device, d->ordinal), "cuDeviceGet") &&
           bench_cuda_ok(cuda->DevicePrimaryCtxRetain(&d->context, d->device),
                         "cuDevicePrimaryCtxRetain") &&
           bench_cuda_ok(cuda->CtxSetCurrent(d->context), "cuCtxSetCurrent") &&
           bench_cuda_ok(cuda->StreamCreate(&d->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

void bench_device_close(struct bench_device *d)
{
    const gr_cuda_api *cuda = gr_cuda();
    if (d->stream)
        cuda->StreamDestroy(d->stream);
    if (d->context) {
        cuda->CtxSetCurrent(NULL);
        cuda->DevicePrimaryCtxRelease(d->device);
    }
}
