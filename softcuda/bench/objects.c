/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The objects that bench_softcuda uses: two buffers, and the module of kernels. */
#include "softcuda/bench/softcuda.h"

KERNEL_IMAGE(loops);

void soft_open(struct soft_bench *bench)
{
    bench_device_open(&bench->on);
    if (!gr_cuda_is_software())
        bench_fail("measures the software CUDA driver: set GR_CUDA_DRIVER=soft");
    bench->module = bench_cuda_module(&loops_image);
    bench->to = bench_cuda_alloc(bench->most_bytes);
    bench->from = bench_cuda_alloc(bench->most_bytes);
}

void soft_launch(struct soft_bench *bench, const char *kernel, const unsigned grid[2],
                 const unsigned block[2], void **parameters)
{
    CUfunction function;
    CU(ModuleGetFunction, &function, bench->module, kernel);
    CU(LaunchKernel, function, grid[0], grid[1], 1, block[0], block[1], 1, 0, bench->on.stream,
       parameters, NULL);
}

void soft_wait(struct soft_bench *bench)
{
    CU(StreamSynchronize, bench->on.stream);
}
