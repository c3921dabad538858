/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel "copy" as PTX: one 4-byte word per thread. Every driver compiles PTX for its GPU, so
 * the build needs no nvcc.
 */
#include "tools/info/try.h"

const char copy_ptx[] = ".version 6.0\n"
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
                        "}\n";
