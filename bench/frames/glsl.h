/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Embeds shaders in the program, as text for OpenGL and as SPIR-V for Vulkan.
 *
 *     GLSL(NAME, STAGE);
 *
 * at file scope embeds both forms of the file NAME.STAGE as NAME_STAGE. The assembler finds
 * NAME.STAGE and NAME.STAGE.spv through -Wa,-I. The .spv file is empty if it was not built.
 */
#ifndef GLSL_H
#define GLSL_H

#include "examples/support/kernel_image.h"

struct glsl {
    const char *text; /* zero-terminated */
    const unsigned char *spirv, *spirv_end;
};

/* Only one file of a program may embed a given shader, since its symbols are global. */
#define GLSL(NAME, STAGE)                                                                          \
    __asm__(".pushsection .rodata\n" KERNEL_IMAGE_FILE(#NAME, #STAGE, #STAGE)                      \
                KERNEL_IMAGE_FILE(#NAME, #STAGE "_spirv", #STAGE ".spv") ".popsection\n");         \
    KERNEL_IMAGE_SYMBOLS(kernel_image_##NAME##_##STAGE)                                            \
    KERNEL_IMAGE_SYMBOLS(kernel_image_##NAME##_##STAGE##_spirv)                                    \
    const struct glsl NAME##_##STAGE = {                                                           \
        (const char *)kernel_image_##NAME##_##STAGE,                                               \
        kernel_image_##NAME##_##STAGE##_spirv,                                                     \
        kernel_image_##NAME##_##STAGE##_spirv_end,                                                 \
    }

#endif
