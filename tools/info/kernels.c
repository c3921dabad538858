/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels' text is PTX, which every driver compiles for its GPU, so that building this program
 * needs no nvcc.
 *
 *     copy    four bytes a thread, a word
 *     mesh    a vertex a thread, on a grid of 256 by 256 from -1 to 1: (x, y + phase / 10, phase,
 *             1)
 */
#include "tools/info/kernels.h"

static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry copy(.param .u64 to, .param .u64 from, "
                          ".param .u32 words)\n"
                          "{\n"
                          "    .reg .pred %p;\n"
                          "    .reg .b32 %r<7>;\n"
                          "    .reg .b64 %d<6>;\n"
                          "    ld.param.u64 %d1, [to];\n"
                          "    ld.param.u64 %d2, [from];\n"
                          "    ld.param.u32 %r6, [words];\n"
                          "    mov.u32 %r1, %ctaid.x;\n"
                          "    mov.u32 %r2, %ntid.x;\n"
                          "    mov.u32 %r3, %tid.x;\n"
                          "    mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "    setp.ge.u32 %p, %r4, %r6;\n"
                          "    @%p ret;\n"
                          "    cvta.to.global.u64 %d1, %d1;\n"
                          "    cvta.to.global.u64 %d2, %d2;\n"
                          "    mul.wide.u32 %d3, %r4, 4;\n"
                          "    add.s64 %d4, %d1, %d3;\n"
                          "    add.s64 %d5, %d2, %d3;\n"
                          "    ld.global.u32 %r5, [%d5];\n"
                          "    st.global.u32 [%d4], %r5;\n"
                          "    ret;\n"
                          "}\n"
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

CUresult kernels_find(const gr_cuda_api *cu, const char *name, CUfunction *kernel)
{
    CUmodule module;
    *kernel = NULL;
    if (gr_cuda_is_software())
        return CUDA_SUCCESS;
    CUresult result = cu->ModuleLoadData(&module, ptx);
    return result == CUDA_SUCCESS ? cu->ModuleGetFunction(kernel, module, name) : result;
}
