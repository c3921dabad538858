/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The objects that bench_softcuda uses: OpenGL on the CPU, two buffers, and the module of kernels.
 */
#include "softcuda/bench/softcuda.h"

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(loops);

bool soft_open(struct soft_bench *bench)
{
    bench->cuda = gr_cuda();
    if (!bench->cuda)
        return bench_grinterop_failed("gr_cuda");
    if (!gr_cuda_is_software()) {
        fprintf(stderr, "%s: measures the software CUDA driver: set GR_CUDA_DRIVER=soft\n",
                bench_program);
        return false;
    }
    const size_t bytes = bench->most_bytes;
    return bench_device_open(&bench->on) && kernel_image_load(&loops_image, &bench->module) &&
           bench_cuda_ok(bench->cuda->MemAlloc(&bench->to, bytes), "cuMemAlloc") &&
           bench_cuda_ok(bench->cuda->MemAlloc(&bench->from, bytes), "cuMemAlloc");
}

bool soft_open_opengl(struct soft_bench *bench)
{
    bench->egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = bench->on.ordinal));
    return bench->egl || bench_grinterop_failed("gr_egl_create");
}

void soft_close(struct soft_bench *bench)
{
    if (bench->cuda) {
        bench->cuda->MemFree(bench->to);
        bench->cuda->MemFree(bench->from);
        if (bench->module)
            bench->cuda->ModuleUnload(bench->module);
        bench_device_close(&bench->on);
    }
    gr_egl_free(bench->egl);
}

bool soft_launch(struct soft_bench *bench, const char *kernel, const unsigned grid[2],
                 const unsigned block[2], void **parameters)
{
    CUfunction function;
    return bench_cuda_ok(bench->cuda->ModuleGetFunction(&function, bench->module, kernel),
                         "cuModuleGetFunction") &&
           bench_cuda_ok(bench->cuda->LaunchKernel(function, grid[0], grid[1], 1, block[0],
                                                   block[1], 1, 0, bench->on.stream, parameters,
                                                   NULL),
                         "cuLaunchKernel");
}

bool soft_wait(struct soft_bench *bench)
{
    return bench_cuda_ok(bench->cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize");
}
