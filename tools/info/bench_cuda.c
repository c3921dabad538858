/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's part of a frame. It is a kernel and no copy: the GPU changes sides between OpenGL's draws
 * and CUDA's kernels, which copies and fills do not make it do, and that is most of what sharing
 * costs. Its text is PTX, which every driver compiles for its GPU, so that building this program
 * needs no nvcc.
 */
#include "tools/info/bench.h"

/* One vertex a thread, on a grid of 256 by 256 from -1 to 1: (x, y + phase / 10, phase, 1). */
static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry mesh(.param .u64 out, .param .f32 phase)\n"
                          "{\n"
                          "    .reg .f32 %f<6>;\n"
                          "    .reg .b32 %r<7>;\n"
                          "    .reg .b64 %d<4>;\n"
                          "    ld.param.u64 %d1, [out];\n"
                          "    ld.param.f32 %f1, [phase];\n"
                          "    mov.u32 %r1, %ctaid.x;\n"
                          "    mov.u32 %r2, %ntid.x;\n"
                          "    mov.u32 %r3, %tid.x;\n"
                          "    mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "    and.b32 %r5, %r4, 255;\n"
                          "    shr.u32 %r6, %r4, 8;\n"
                          "    cvt.rn.f32.u32 %f2, %r5;\n"
                          "    cvt.rn.f32.u32 %f3, %r6;\n"
                          "    fma.rn.f32 %f2, %f2, 0f3C000000, 0fBF7F0000;\n"
                          "    fma.rn.f32 %f3, %f3, 0f3C000000, 0fBF7F0000;\n"
                          "    fma.rn.f32 %f3, %f1, 0f3DCCCCCD, %f3;\n"
                          "    mov.f32 %f4, 0f3F800000;\n"
                          "    cvta.to.global.u64 %d1, %d1;\n"
                          "    mul.wide.u32 %d2, %r4, 16;\n"
                          "    add.s64 %d3, %d1, %d2;\n"
                          "    st.global.v4.f32 [%d3], {%f2, %f3, %f1, %f4};\n"
                          "    ret;\n"
                          "}\n";

enum { THREADS = 256 };

static bool is_fine(struct bench *bench, CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS && !bench->failed)
        bench->failed = call;
    return result == CUDA_SUCCESS;
}

static bool load(struct bench *bench)
{
    if (gr_cuda_is_software())
        return true;
    return is_fine(bench, bench->cu->ModuleLoadData(&bench->module, ptx), "cuModuleLoadData") &&
           is_fine(bench, bench->cu->ModuleGetFunction(&bench->kernel, bench->module, "mesh"),
                   "cuModuleGetFunction");
}

bool bench_cuda_open(struct bench *bench, int device)
{
    bench->cu = gr_cuda();
    bench->context = bench->cu ? gr_cuda_context_create(device) : NULL;
    if (!bench->context)
        return false;
    bench->stream = gr_cuda_context_stream(bench->context);
    return load(bench);
}

void bench_cuda_close(struct bench *bench)
{
    if (bench->module)
        bench->cu->ModuleUnload(bench->module);
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
                   bench->cu->LaunchKernel(bench->kernel, BENCH_VERTICES / THREADS, 1, 1, THREADS,
                                           1, 1, 0, bench->stream, arguments, NULL),
                   "cuLaunchKernel");
}

bool bench_cuda_wait(struct bench *bench)
{
    return is_fine(bench, bench->cu->StreamSynchronize(bench->stream), "cuStreamSynchronize");
}
