/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's part of a frame. It is a kernel and no copy: the GPU changes sides between OpenGL's draws
 * and CUDA's kernels, which copies and fills do not make it do, and that is most of what sharing
 * costs.
 */
#include "tools/info/bench.h"

#include "tools/info/kernels.h"

static bool is_fine(struct bench *bench, CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS && !bench->failed)
        bench->failed = call;
    return result == CUDA_SUCCESS;
}

bool bench_cuda_open(struct bench *bench, int device)
{
    bench->cu = gr_cuda();
    bench->context = bench->cu ? gr_cuda_context_create(device) : NULL;
    if (!bench->context)
        return false;
    bench->stream = gr_cuda_context_stream(bench->context);
    return is_fine(bench, kernels_find(bench->cu, "mesh", &bench->kernel), "cuModuleLoadData");
}

void bench_cuda_close(struct bench *bench)
{
    gr_cuda_context_free(bench->context);
}

bool bench_cuda_write(struct bench *bench, CUdeviceptr vertices, float phase)
{
    void *arguments[] = {&vertices, &phase};
    if (!bench->kernel)
        return is_fine(bench,
                       bench->cu->MemsetD32Async(vertices, 0, BENCH_BYTES / 4, bench->stream),
                       "cuMemsetD32Async");
    return is_fine(bench,
                   bench->cu->LaunchKernel(bench->kernel, BENCH_VERTICES / KERNELS_THREADS, 1, 1,
                                           KERNELS_THREADS, 1, 1, 0, bench->stream, arguments,
                                           NULL),
                   "cuLaunchKernel");
}

bool bench_cuda_wait(struct bench *bench)
{
    return is_fine(bench, bench->cu->StreamSynchronize(bench->stream), "cuStreamSynchronize");
}
